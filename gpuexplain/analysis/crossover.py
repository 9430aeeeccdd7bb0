"""From which size on does the GPU win, at every larger size measured?"""

import math
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import column, require_columns
from gpuexplain.analysis.thresholds import exceeds, falls_short
from gpuexplain.findings import Crossover, CrossoverVerdict
from gpuexplain.points import usable_rows

# Within 5 % nobody wins: two runs of the same case differ by that on a busy machine.
WIN_ABOVE = 1.05
LOSE_BELOW = 0.95
# One size shows who is faster there, not where that changes.
FEWEST_SIZES = 2


class _Winner(Enum):
    GPU = "gpu"
    CPU = "cpu"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class _Ratio:
    """CPU time / GPU time at one size, with its bounds."""

    n: float
    ratio: float
    low: float
    high: float

    @property
    def winner(self) -> _Winner:
        if exceeds(self.low, WIN_ABOVE):
            return _Winner.GPU
        return _Winner.CPU if falls_short(self.high, LOSE_BELOW) else _Winner.TIE


def find_crossover(frame: pd.DataFrame) -> Crossover:
    """Return where the GPU overtakes the CPU, from ``n``, ``cpu_seconds`` and ``gpu_seconds``.

    Bounds of the ratio come from ``cpu_seconds_lo`` and so on, where given. A column
    ``gpu_with_transfer_seconds`` (the total) gives a second answer in ``with_transfer``. Sizes that
    one side lacks do not count. A win before a loss is no crossover: only an unbroken run of GPU
    wins up to the largest size is.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("n", "cpu_seconds", "gpu_seconds"), "a crossover")
    rows = usable_rows(frame)
    including = None
    if "gpu_with_transfer_seconds" in frame:
        including = _decide(_ratios(rows, "gpu_with_transfer_seconds"), None)
    return _decide(_ratios(rows, "gpu_seconds"), including)


def _ratios(frame: pd.DataFrame, gpu: str) -> list[_Ratio]:
    bounds = []
    for name in ("cpu_seconds", gpu):
        middle = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        low, high = column(frame, f"{name}_lo"), column(frame, f"{name}_hi")
        low = middle if low is None else np.where(np.isnan(low), middle, low)
        high = middle if high is None else np.where(np.isnan(high), middle, high)
        bounds.append((middle, low, high))
    (cpu, cpu_lo, cpu_hi), (gpu_s, gpu_lo, gpu_hi) = bounds
    sizes = frame["n"].to_numpy(dtype=np.float64)
    columns = np.column_stack([sizes, cpu / gpu_s, cpu_lo / gpu_hi, cpu_hi / gpu_lo])
    common = columns[~np.isnan(columns).any(axis=1)]
    return [_Ratio(*map(float, row)) for row in common[np.argsort(common[:, 0], kind="stable")]]


def _decide(ratios: list[_Ratio], with_transfer: Crossover | None) -> Crossover:
    verdict, low, high = _bracket(ratios)
    low_is_tie = low is not None and low.winner is _Winner.TIE
    estimate = None
    if low is not None and high is not None and not low_is_tie:
        estimate = _last_passage([r for r in ratios if low.n <= r.n <= high.n])
    last = ratios[-1] if ratios else None
    return Crossover(
        verdict=verdict,
        low=low.n if low else None,
        high=high.n if high else None,
        low_is_tie=low_is_tie,
        estimate=estimate,
        n_sizes=len(ratios),
        speedup=last.ratio if last else None,
        speedup_low=last.low if last else None,
        speedup_high=last.high if last else None,
        speedup_n=last.n if last else None,
        win_above=WIN_ABOVE,
        lose_below=LOSE_BELOW,
        with_transfer=with_transfer,
    )


def _bracket(ratios: list[_Ratio]) -> tuple[CrossoverVerdict, _Ratio | None, _Ratio | None]:
    """Return the verdict and, when crossed, the sizes on both sides of the change."""
    if len(ratios) < FEWEST_SIZES:
        return CrossoverVerdict.TOO_FEW_POINTS, None, None
    winners = [r.winner for r in ratios]
    start = len(ratios)
    while start and winners[start - 1] is _Winner.GPU:
        start -= 1
    if start == 0:
        return CrossoverVerdict.GPU_ALWAYS, None, None
    if _Winner.GPU not in winners:
        return _without_gpu_win(winners), None, None
    if start == len(ratios) or _Winner.GPU in winners[:start]:
        return CrossoverVerdict.INCONCLUSIVE, None, None
    cpu_wins = [r for r in ratios[:start] if r.winner is _Winner.CPU]
    return CrossoverVerdict.CROSSED, cpu_wins[-1] if cpu_wins else ratios[start - 1], ratios[start]


def _without_gpu_win(winners: list[_Winner]) -> CrossoverVerdict:
    if winners[-1] is _Winner.CPU:
        return CrossoverVerdict.CPU_ALWAYS
    return CrossoverVerdict.TIE_AT_END if _Winner.CPU in winners else CrossoverVerdict.TIE


def _last_passage(between: list[_Ratio]) -> float | None:
    """Return the size where the ratio last passes 1, straight between points on log-log axes."""
    for before, after in reversed(list(pairwise(between))):
        if before.ratio <= 1 < after.ratio:
            share = -math.log(before.ratio) / (math.log(after.ratio) - math.log(before.ratio))
            return float(before.n * (after.n / before.n) ** share)
    return None
