"""Which rows of a frame may an analysis use, and what rate does each stand for?

Every finder reads the same columns: a size (``n``, ``batch``, ``bytes``, ...), ``seconds`` and/or a
rate, each with optional ``_lo`` and ``_hi`` bounds, and optionally ``status`` and ``flags`` (names
separated by spaces).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpuexplain.analysis.thresholds import reaches
from gpuexplain.errors import PointsError
from gpuexplain.points import usable_rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rates:
    """The usable points of one series by rising size: size, time of one call, rate and its bounds."""

    sizes: Floats
    seconds: Floats
    rates: Floats
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.sizes)

    def keep(self, mask: npt.NDArray[np.bool_]) -> "Rates":
        """Return the points where ``mask`` is true."""
        return Rates(self.sizes[mask], self.seconds[mask], self.rates[mask], self.low[mask], self.high[mask])


def column(frame: pd.DataFrame, name: str) -> Floats | None:
    """Return a column as floats, missing cells as NaN; None where there is no such column."""
    if name not in frame:
        return None
    return frame[name].to_numpy(dtype=np.float64, na_value=np.nan)


def require_columns(frame: pd.DataFrame, needs: Sequence[str], what: str) -> None:
    """Check that every column in ``needs`` is there; ``"a|b"`` asks for one of the two.

    Raises:
        PointsError: If one is missing; the text names it and what the frame has.
    """
    for need in needs:
        if not any(name in frame for name in need.split("|")):
            raise PointsError(
                f"Cannot find {what}: no column {need.replace('|', ' or ')} "
                f"(have {list(frame.columns)}, {len(frame)} rows). Add that column."
            )


def read_rates(frame: pd.DataFrame, size: str, rate: str, work: Floats, unit: float) -> Rates:
    """Return the usable points of ``frame``, which holds ``seconds``, ``rate`` or both.

    ``work`` is what one call does, by row of ``frame``; a rate of ``r`` means ``r * unit`` of it
    per second. Rows without a time and a rate are left out.
    """
    seconds, rates = column(frame, "seconds"), column(frame, rate)
    if rates is None:
        rates = work / seconds / unit if seconds is not None else np.full(len(frame), np.nan)
    seconds = work / (rates * unit) if seconds is None else seconds
    low, high = _bounds(frame, rate, work, unit)
    low = np.where(np.isnan(low), rates, low)
    high = np.where(np.isnan(high), rates, high)
    sizes = frame[size].to_numpy(dtype=np.float64)
    order = np.argsort(sizes, kind="stable")
    points = Rates(sizes[order], seconds[order], rates[order], low[order], high[order])
    usable = frame.index.isin(usable_rows(frame).index)[order]
    return points.keep(usable & ~np.isnan(points.seconds) & ~np.isnan(points.rates))


def _bounds(frame: pd.DataFrame, rate: str, work: Floats, unit: float) -> tuple[Floats, Floats]:
    unknown = np.full(len(frame), np.nan)
    low, high = column(frame, f"{rate}_lo"), column(frame, f"{rate}_hi")
    shortest, longest = column(frame, "seconds_lo"), column(frame, "seconds_hi")
    if low is None:
        low = unknown if longest is None else work / longest / unit
    if high is None:
        high = unknown if shortest is None else work / shortest / unit
    return low, high


def best_index(rates: Floats) -> int:
    """Return the first position that reaches the largest rate: of equals, the smaller size."""
    top = float(rates.max())
    return next(i for i, rate in enumerate(rates) if reaches(float(rate), top))


def last_step_gain(sizes: Floats, rates: Floats) -> float | None:
    """Return what the rate gained from the largest size of at most half of the last one, to the last.

    A share of the earlier rate; None where no size is small enough. Neighbours of a dense grid
    differ by a few percent even while the rate still doubles with the size, hence the half.
    """
    halves = np.flatnonzero(sizes <= sizes[-1] / 2) if len(sizes) else np.array([], dtype=int)
    if len(halves) == 0:
        return None
    return float(rates[-1] / rates[halves[-1]] - 1)
