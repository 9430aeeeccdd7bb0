"""How fast and how exact is each number format at best?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gpuexplain.analysis.matmul_peak import decline, median_error, read_matmul, split_suspects
from gpuexplain.analysis.rows import Rates, best_index, column
from gpuexplain.analysis.thresholds import exceeds, reaches

# Bests this close change places from run to run.
SAME_RANK_WITHIN = 0.05
# A GPU that loses more than this towards large sizes was throttled, shared or out of its cache:
# its best is then no property of the format.
DECLINE_ABOVE = 0.30


@dataclass(frozen=True, slots=True)
class FormatBest:
    """The best of one format (TFLOP/s) at size ``n``, its bounds, its error, and what speaks against ranking it."""

    dtype: str
    rate: float
    low: float
    high: float
    n: float
    rel_error: float | None
    objection: str = ""


def trusted_rates(rows: pd.DataFrame) -> Rates:
    """Return the usable points of one format that can be true together."""
    return split_suspects(read_matmul(rows))[0]


def find_best(dtype: str, rows: pd.DataFrame, *, on_gpu: bool) -> FormatBest | None:
    """Return the best of one format, None where it has no trustworthy point."""
    points = read_matmul(rows)
    trusted, suspects = split_suspects(points)
    if not len(trusted):
        return None
    best = best_index(trusted.rates)
    objection = ""
    if len(points) > 1 and {float(n) for n in points.sizes[-2:]} <= set(suspects):
        objection = "both largest sizes took impossibly little time; measure again with synchronisation"
    elif on_gpu and exceeds(decline(trusted), DECLINE_ABOVE):
        objection = (
            f"its largest size is {100 * decline(trusted):.0f} % below its best; measure again on an idle, cool GPU"
        )
    n = float(trusted.sizes[best])
    low, high = float(trusted.low[best]), float(trusted.high[best])
    return FormatBest(dtype, float(trusted.rates[best]), low, high, n, _error_at(rows, n), objection)


def _error_at(rows: pd.DataFrame, n: float) -> float | None:
    """Return the error of that size, else of the format's other sizes: it hardly depends on the size."""
    errors = column(rows[rows["n"] == n], "rel_error")
    known = errors[~np.isnan(errors)] if errors is not None else np.array([])
    return float(known[0]) if len(known) else median_error(rows)


def find_bests(frame: pd.DataFrame, *, on_gpu: bool) -> list[FormatBest]:
    """Return the best of each format of a frame of ``dtype``, ``n`` and ``tflops`` or ``seconds``."""
    groups = frame.groupby("dtype", sort=False)
    return [best for name, rows in groups if (best := find_best(str(name), rows, on_gpu=on_gpu))]


def share_rank(first: FormatBest, other: FormatBest) -> bool:
    """Whether the slower ``other`` cannot be told from ``first``: within 5 %, or intervals that overlap."""
    return reaches(other.rate, (1 - SAME_RANK_WITHIN) * first.rate) or other.high >= first.low
