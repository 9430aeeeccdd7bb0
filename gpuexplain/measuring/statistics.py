"""What a handful of samples says: median, interval by order statistics, trend and drift."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, sqrt
from statistics import NormalDist, median, quantiles

CONFIDENCE = 0.95
# Under six samples not even minimum and maximum enclose the median with 95 %.
FEWEST_FOR_INTERVAL = 6
MOST_FOR_EXACT_RANK = 1000


@dataclass(frozen=True, slots=True)
class SampleStatistics:
    """Derived from raw samples (seconds); the interval is None under six samples."""

    n_samples: int
    median_s: float
    q1_s: float
    q3_s: float
    min_s: float
    max_s: float
    ci_low_s: float | None
    ci_high_s: float | None

    @property
    def half_width(self) -> float | None:
        """Half of the interval as a share of the median."""
        if self.ci_low_s is None or self.ci_high_s is None or self.median_s <= 0:
            return None
        return (self.ci_high_s - self.ci_low_s) / 2 / self.median_s


@cache
def interval_rank(n_samples: int, confidence: float = CONFIDENCE) -> int | None:
    """Return r such that the r-th smallest and r-th largest sample enclose the median, or None.

    The true median lies outside with probability 2 P(X < r), X ~ Binomial(n, 1/2), whatever the
    distribution of the samples; r is the largest rank that keeps this under 1 - confidence.
    """
    if n_samples < FEWEST_FOR_INTERVAL:
        return None
    if n_samples > MOST_FOR_EXACT_RANK:  # 2**n would overflow a float; the normal limit is exact enough by far
        distance = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(n_samples) / 2
        return int(n_samples / 2 - distance)
    allowed = (1 - confidence) / 2 * 2**n_samples
    below = 0
    rank = 0
    while below + comb(n_samples, rank) <= allowed:
        below += comb(n_samples, rank)
        rank += 1
    return rank


def summarise(samples_s: Sequence[float]) -> SampleStatistics:
    """Return the statistics of at least one sample."""
    ordered = sorted(samples_s)
    rank = interval_rank(len(ordered))
    q1_s, _, q3_s = quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
    return SampleStatistics(
        n_samples=len(ordered),
        median_s=median(ordered),
        q1_s=q1_s,
        q3_s=q3_s,
        min_s=ordered[0],
        max_s=ordered[-1],
        ci_low_s=ordered[rank - 1] if rank else None,
        ci_high_s=ordered[-rank] if rank else None,
    )


def is_drifting(samples_s: Sequence[float]) -> bool:
    """Return whether the first third of the samples differs from the last by more than their intervals.

    Both thirds need an interval, so under 18 samples the answer is no.
    """
    third = len(samples_s) // 3
    if third < FEWEST_FOR_INTERVAL:
        return False
    first, last = summarise(samples_s[:third]), summarise(samples_s[-third:])
    assert first.ci_low_s is not None
    assert first.ci_high_s is not None
    assert last.ci_low_s is not None
    assert last.ci_high_s is not None
    return first.ci_high_s < last.ci_low_s or last.ci_high_s < first.ci_low_s
