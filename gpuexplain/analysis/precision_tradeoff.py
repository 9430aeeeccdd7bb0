"""What does a coarser number format gain in speed, and what does that cost in exactness?"""

from collections.abc import Sequence

import pandas as pd

from gpuexplain.analysis.precision_best import FormatBest, find_bests, share_rank, trusted_rates
from gpuexplain.analysis.rows import Rates, require_columns
from gpuexplain.analysis.thresholds import exceeds, falls_short, reaches
from gpuexplain.findings import LostUpdates, NotFound, Speedup, SpeedVerdict, TradeOff

# As for a crossover: a smaller difference is no reason to change a program.
WIN_ABOVE = 1.05
LOSE_BELOW = 0.95
# Half a unit in the last place of bf16, the coarsest format in which models are usually trained as a whole.
ERROR_BOUND = 2.0**-8
# Errors that differ by less are equal: they hardly depend on the size, but a little.
SAME_ERROR_WITHIN = 0.25
# More than half of a sum missing is no rounding any more.
LOST_ABOVE = 0.5


def find_speedup(
    challenger: pd.DataFrame, baseline: pd.DataFrame, *, names: tuple[str, str] = ("", "")
) -> Speedup | NotFound:
    """Return how the rates of two series (``n``, ``seconds`` or ``tflops``) compare at their largest common size.

    The bounds are the worst and the best ratio of the two intervals. ``names`` are challenger, baseline;
    by default what their ``dtype`` columns say.
    """
    named = tuple(name or _dtype_of(frame) for name, frame in zip(names, (challenger, baseline), strict=True))
    ours, theirs = trusted_rates(challenger), trusted_rates(baseline)
    common = sorted(set(ours.sizes.tolist()) & set(theirs.sizes.tolist()))
    if not common:
        return NotFound("speed-up", f"{named[0]} and {named[1]} have no trustworthy size in common; run longer")
    return _compare(ours, theirs, common[-1], named[0], named[1])


def _dtype_of(frame: pd.DataFrame) -> str:
    return str(frame["dtype"].iloc[0]) if "dtype" in frame and len(frame) else "a series"


def _compare(ours: Rates, theirs: Rates, n: float, challenger: str, baseline: str) -> Speedup:
    (rate, low, high), (base, base_low, base_high) = _at(ours, n), _at(theirs, n)
    factor, least, most = rate / base, low / base_high, high / base_low
    verdict = SpeedVerdict.TIE
    if exceeds(least, WIN_ABOVE):
        verdict = SpeedVerdict.FASTER
    elif falls_short(most, LOSE_BELOW):
        verdict = SpeedVerdict.SLOWER
    has_interval = low < high and base_low < base_high
    return Speedup(
        challenger=challenger,
        baseline=baseline,
        factor=factor,
        low=least if has_interval else None,
        high=most if has_interval else None,
        n=n,
        verdict=verdict,
        win_above=WIN_ABOVE,
        lose_below=LOSE_BELOW,
    )


def _at(rates: Rates, n: float) -> tuple[float, float, float]:
    at = rates.sizes.tolist().index(n)
    return float(rates.rates[at]), float(rates.low[at]), float(rates.high[at])


def find_speedups(frame: pd.DataFrame, baseline: str = "fp32") -> dict[str, Speedup | NotFound]:
    """Return how every format of a frame (``dtype``, ``n``, ``seconds`` or ``tflops``) compares with one of them.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("dtype", "n", "seconds|tflops"), "speed-ups")
    by_dtype = {str(name): rows for name, rows in frame.groupby("dtype", sort=False)}
    if baseline not in by_dtype:
        return {name: NotFound("speed-up", f"{baseline} was not measured") for name in by_dtype}
    return {
        name: find_speedup(rows, by_dtype[baseline], names=(name, baseline))
        for name, rows in by_dtype.items()
        if name != baseline
    }


def find_trade_off(
    frame: pd.DataFrame, error_bound: float = ERROR_BOUND, *, on_gpu: bool = False
) -> TradeOff | NotFound:
    """Return the fastest formats that err by less than ``error_bound``, from ``dtype``, ``n``, rate and ``rel_error``.

    Nothing is recommended where a format's best is no property of the format (see the ranking).

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("dtype", "n", "seconds|tflops"), "a trade-off")
    bests = find_bests(frame, on_gpu=on_gpu)
    objections = [f"{best.dtype}: {best.objection}" for best in bests if best.objection]
    if objections:
        return NotFound("trade-off", "; ".join(objections))
    known = [best for best in bests if best.rel_error is not None]
    if not known:
        return NotFound("trade-off", "no point reports its error, so only speeds can be compared")
    exact = sorted((b for b in known if falls_short(_error(b), error_bound)), key=lambda b: (-b.rate, b.dtype))
    if not exact:
        return NotFound("trade-off", f"no format errs by less than {error_bound:.2g}")
    first = exact[0]
    return TradeOff(
        dtypes=tuple(b.dtype for b in exact if share_rank(first, b)),
        best_tflops=first.rate,
        n=first.n,
        rel_error=_error(first),
        error_bound=error_bound,
        front=find_front(known),
    )


def _error(best: FormatBest) -> float:
    assert best.rel_error is not None
    return best.rel_error


def find_front(bests: Sequence[FormatBest]) -> tuple[str, ...]:
    """Return the formats that no other beats in both speed and error, most exact first."""
    known = [best for best in bests if best.rel_error is not None]
    front = [b for b in known if not any(_beats(other, b) for other in known if other is not b)]
    return tuple(b.dtype for b in sorted(front, key=lambda b: (_error(b), -b.rate)))


def _beats(other: FormatBest, best: FormatBest) -> bool:
    """Whether ``other`` is better in one respect and not worse in the other."""
    faster, slower = _is_clearly_faster(other, best), _is_clearly_faster(best, other)
    finer, coarser = _is_clearly_finer(other, best), _is_clearly_finer(best, other)
    return (faster and not coarser) or (finer and not slower)


def _is_clearly_faster(one: FormatBest, other: FormatBest) -> bool:
    return one.rate > other.rate and not share_rank(one, other)


def _is_clearly_finer(one: FormatBest, other: FormatBest) -> bool:
    return falls_short(_error(one), (1 - SAME_ERROR_WITHIN) * _error(other))


def find_lost_updates(dtype: str, lost: Sequence[tuple[float, float]]) -> LostUpdates | NotFound:
    """Return what share of a running sum was lost, from pairs of (how many were added, share lost).

    It is lost from a number on only where it stays lost at every larger one.
    """
    if not lost:
        return NotFound("lost updates", f"no running sum was taken in {dtype}")
    ordered = tuple(sorted(lost))
    lost_from = None
    for count, share in reversed(ordered):
        if not reaches(share, LOST_ABOVE):
            break
        lost_from = count
    return LostUpdates(dtype, ordered, lost_from, LOST_ABOVE)
