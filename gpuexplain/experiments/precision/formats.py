"""What does one format say on one device?"""

import re
from collections.abc import Sequence

from gpuexplain.analysis.precision_best import FormatBest
from gpuexplain.experiments.precision.found import FormatFinding
from gpuexplain.findings import NotFound, Plausibility, PrecisionRanking, Speedup
from gpuexplain.model import BYTES_PER_VALUE, Flag, Point, Status

_KNOWN_PART = "the part is known to have no units for it"


def find_format(
    own: list[Point],
    is_provisional: bool,
    best: FormatBest | None,
    speedup: Speedup | NotFound,
    ranking: PrecisionRanking | NotFound,
) -> FormatFinding:
    """Return the finding of the points of one format, which are by rising size."""
    first, name = own[0], str(own[0].dtype)
    peak = (ranking.by_dtype or {}).get(name) if isinstance(ranking, PrecisionRanking) else None
    checked = next((p for p in reversed(own) if p.gauges is not None and p.gauges.clipped_count is not None), None)
    return FormatFinding(
        dtype=first.dtype,
        best=best,
        speedup=speedup,
        rel_error=best.rel_error if best else _last_error(own),
        bytes_per_value=BYTES_PER_VALUE[first.dtype],
        largest_n=max((p.x for p in own if p.status is Status.OK), default=own[-1].x),
        clipped_share=_share_of_operands(checked, "clipped_count"),
        zeroed_share=_share_of_operands(checked, "zeroed_count"),
        nan_count=max(p.nan_count or 0 for p in own),
        inf_count=max(p.inf_count or 0 for p in own),
        energy_j_per_flop=_find_energy(own),
        energy_reason=next((p.gauges.not_reported.get("energy_j", "") for p in own if p.gauges), ""),
        ran_as=_find_ran_as(own, ranking, peak.ran_as if peak else None),
        emulated_reason=_find_emulation(own, ranking),
        flagged=tuple((f, c) for f in Flag if (c := sum(f in p.flags for p in own))),
        failed=tuple((p.x, p.status, p.reason) for p in own if p.status is not Status.OK),
        suspect_n=peak.suspect_n if peak else (),
        is_withheld=peak is not None and peak.plausibility is Plausibility.IMPLAUSIBLE,
        is_provisional=is_provisional,
    )


def _last_error(own: Sequence[Point]) -> float | None:
    return next((p.rel_error for p in reversed(own) if p.rel_error is not None), None)


def _share_of_operands(point: Point | None, name: str) -> float | None:
    count = getattr(point.gauges, name, None) if point is not None else None
    return None if count is None or point is None else count / (2 * point.x**2)


def _find_energy(own: Sequence[Point]) -> float | None:
    """Return the joules per operation at the largest size where they were read."""
    for point in reversed(own):
        if point.gauges is not None and point.gauges.energy_j is not None and point.flops:
            return point.gauges.energy_j / point.flops
    return None


def _find_ran_as(own: Sequence[Point], ranking: PrecisionRanking | NotFound, by_speed: str | None) -> str:
    told = (re.match(r"ran as (\w+)", p.reason) for p in own if Flag.FALLBACK in p.flags)
    by_error = next((found[1] for found in told if found), "")
    known = ranking.fallback.get(str(own[0].dtype), "") if isinstance(ranking, PrecisionRanking) else ""
    return by_error or known or by_speed or ""


def _find_emulation(own: Sequence[Point], ranking: PrecisionRanking | NotFound) -> str:
    told = next((p.reason for p in own if Flag.EMULATED in p.flags), None)
    is_known = isinstance(ranking, PrecisionRanking) and str(own[0].dtype) in ranking.emulated
    return told or (_KNOWN_PART if told is not None or is_known else "")
