"""Between which bounds does the time of a point lie?"""

from dataclasses import dataclass

from gpuexplain.model import Point


@dataclass(frozen=True, slots=True)
class Span:
    """A time in seconds with its bounds; the bounds are the time itself where nothing is known of them."""

    middle: float
    low: float
    high: float

    def over(self, other: "Span") -> "Span":
        """Return the ratio of two times with the bounds that both allow."""
        return Span(self.middle / other.middle, self.low / other.high, self.high / other.low)

    def plus(self, other: "Span") -> "Span":
        """Return the sum of two times with the bounds that both allow."""
        return Span(self.middle + other.middle, self.low + other.low, self.high + other.high)


# The extremes of fewer samples say nothing about where the median lies: those of three hold it in three of four cases.
FEWEST_FOR_EXTREMES = 3


def is_bounded(point: Point) -> bool:
    """Return whether anything is known of how far the time of a point may be off."""
    if point.median_s is None:
        return False
    has_interval = point.ci_low_s is not None and point.ci_high_s is not None
    return has_interval or (point.n_samples >= FEWEST_FOR_EXTREMES and point.min_s is not None)


def span_of(point: Point) -> Span:
    """Return the median of a point with its 95 % interval, else with its extremes.

    Raises:
        ValueError: If the point has no time.
    """
    if point.median_s is None:
        raise ValueError(f"{point.case_id} has no time")
    if point.ci_low_s is not None and point.ci_high_s is not None:
        return Span(point.median_s, point.ci_low_s, point.ci_high_s)
    if point.min_s is not None and point.max_s is not None:
        return Span(point.median_s, point.min_s, point.max_s)
    return Span(point.median_s, point.median_s, point.median_s)
