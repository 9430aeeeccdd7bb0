"""How does one series compare with another at the largest size that both have?"""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from gpuexplain.analysis.precision_tradeoff import find_speedup
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.findings import NotFound, PrecisionRanking, Speedup, SpeedVerdict
from gpuexplain.model import Dtype, Flag, Point, Source
from gpuexplain.points import usable

# How two series compare, and whether only disturbed points could tell.
Compared = tuple[Speedup | NotFound, bool]


def frame_of(points: Sequence[Point]) -> pd.DataFrame:
    """Return points as the finders read them: ``dtype``, ``n``, ``seconds`` with bounds, ``tflops``, error, flags.

    Under six samples the bounds are the extremes of every call that was timed: no interval, but no false
    certainty either.
    """
    bounds = [_bounds(point) for point in points]
    rows = {
        "dtype": [str(p.dtype) for p in points],
        "n": [p.x for p in points],
        "seconds": [p.median_s for p in points],
        "seconds_lo": [low for low, _ in bounds],
        "seconds_hi": [high for _, high in bounds],
        "tflops": [(p.rate_flops or 0.0) / 1e12 if p.rate_flops else None for p in points],
        "rel_error": [p.rel_error for p in points],
        "flags": [" ".join(p.flags) for p in points],
        "status": [str(p.status) for p in points],
    }
    numbers = ("n", "seconds", "seconds_lo", "seconds_hi", "tflops", "rel_error")
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64"))


def _bounds(point: Point) -> tuple[float | None, float | None]:
    if point.half_width is not None:
        return point.ci_low_s, point.ci_high_s
    # A published point is one figure, however well it was measured.
    if point.source is Source.PUBLISHED or point.median_s is None:
        return None, None
    warm = point.warmup_s or (point.first_call_s,)
    calls = [call for call in (point.min_s, point.max_s, point.median_s, *warm) if call]
    return min(calls), max(calls)


def ran_as_others(frame: pd.DataFrame, ranking: PrecisionRanking | NotFound) -> set[str]:
    """Return the formats of a frame that ran in another one: their speed is not theirs."""
    by_error = {
        name for name, flags in zip(frame["dtype"], frame["flags"], strict=True) if Flag.FALLBACK in flags.split()
    }
    return by_error | (set(ranking.fallback) if isinstance(ranking, PrecisionRanking) else set())


def find_format_speedups(products: dict[str, list[Point]], others: set[str]) -> dict[str, Compared]:
    """Return how each format compares with fp32; ``others`` are those that ran in another format."""
    baseline = products.get(str(Dtype.FP32), [])
    compared = [name for name in products if name != Dtype.FP32]
    if str(Dtype.FP32) in others:
        why = NotFound("speed-up", "fp32 ran in another precision, so there is nothing to compare with")
        return dict.fromkeys(compared, (why, False))
    return {name: compare_series(products[name], baseline, (name, str(Dtype.FP32))) for name in compared}


def compare_series(challenger: list[Point], baseline: list[Point], names: tuple[str, str]) -> Compared:
    """Return how two series (names: challenger, baseline) compare; disturbed points are the last resort."""
    if not challenger or not baseline:
        missing = [name for name, own in zip(names, (challenger, baseline), strict=True) if not own]
        return NotFound(
            "speed-up", f"{' and '.join(missing)} {'was' if len(missing) == 1 else 'were'} not measured"
        ), False
    (ours, ours_bent), (theirs, theirs_bent) = most_trustworthy(challenger), most_trustworthy(baseline)
    found = _find(ours, theirs, names, is_provisional=ours_bent or theirs_bent)
    if isinstance(found, Speedup):
        return found, ours_bent or theirs_bent
    again = _find(_with_disturbed(challenger), _with_disturbed(baseline), names, is_provisional=True)
    return again, isinstance(again, Speedup)


def _find(
    ours: list[Point], theirs: list[Point], names: tuple[str, str], *, is_provisional: bool
) -> Speedup | NotFound:
    found = find_speedup(frame_of(ours), frame_of(theirs), names=names)
    if isinstance(found, NotFound):
        return found
    compared = [p for p in (*ours, *theirs) if p.x == found.n]
    if all(p.half_width is not None for p in compared):
        return found
    # Extremes are no 95 % interval. They decide who wins, but not on a machine that others used (or where that is
    # not known yet): there a handful of calls can all have waited.
    is_open = is_provisional or any(p.source is Source.MEASURED and p.conditions is None for p in compared)
    return replace(found, low=None, high=None, verdict=SpeedVerdict.TIE if is_open else found.verdict)


def _with_disturbed(own: list[Point]) -> list[Point]:
    """Return the clean points of a series and the disturbed ones, by rising size."""
    disturbed = most_trustworthy([p for p in own if p.is_hollow])[0]
    return sorted([*usable(own), *disturbed], key=lambda p: p.x)
