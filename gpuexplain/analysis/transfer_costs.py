"""What does a copy cost beside another one, in pieces, and beside the work it is made for?"""

from collections.abc import Sequence

from gpuexplain.analysis.spans import Span, is_bounded, span_of
from gpuexplain.analysis.thresholds import exceeds, reaches
from gpuexplain.findings import BreakEven, BreakEvenVerdict, CopyRatio, NotFound, Overlap, PiecesCost
from gpuexplain.model import Point
from gpuexplain.points import usable

# A share whose bounds are further apart than this says neither "hidden" nor "not hidden".
WIDEST_SHARE = 0.5
# Likewise for a factor, as high bound / low bound.
WIDEST_FACTOR = 2.0
# And for a number of products that pay for the copies.
WIDEST_REUSES = 4.0
# Within a tenth nobody would rewrite a program to copy larger pieces.
ENOUGH_WITHIN = 1.10


def find_break_even(copy: Point | None, cpu: Point | None, gpu: Point | None, side: int) -> BreakEven | NotFound:
    """Return after how many products on the GPU the copies there and back are paid for.

    copy + r x gpu = r x cpu at r = copy / (cpu - gpu); its bounds are those that the three intervals
    allow. Where the intervals of the two products touch, nobody can say who is faster; where its
    bounds are a factor of four apart or more, nobody can plan with it.
    """
    named = {"copies": copy, "CPU product": cpu, "GPU product": gpu}
    spans = {name: span_of(good) for name, point in named.items() if point for good in _bounded([point])}
    missing = [name for name in named if name not in spans]
    if missing:
        return NotFound("break-even", f"there is no time of known bounds of the {' and the '.join(missing)}")
    copying, on_cpu, on_gpu = spans.values()
    verdict, reuses = _weigh(copying, on_cpu, on_gpu)
    if verdict is None:
        reason = "the products take the same time within their intervals; take more time or a larger n"
        return NotFound("break-even", reason)
    if verdict is BreakEvenVerdict.AFTER and reuses and exceeds(reuses.high, WIDEST_REUSES * reuses.low):
        bounds = f"between {reuses.low:.2g} and {reuses.high:.2g} products"
        return NotFound("break-even", f"{bounds} is all that these times allow; take more time or a larger n")
    return BreakEven(
        verdict=verdict,
        side=side,
        copy_s=copying.middle,
        cpu_s=on_cpu.middle,
        gpu_s=on_gpu.middle,
        reuses=reuses.middle if reuses else None,
        reuses_low=reuses.low if reuses else None,
        reuses_high=reuses.high if reuses else None,
    )


def _weigh(copying: Span, on_cpu: Span, on_gpu: Span) -> tuple[BreakEvenVerdict | None, Span | None]:
    """Return the verdict (None: undecided) and the number of products that pay for the copies."""
    if on_gpu.low >= on_cpu.high:
        return BreakEvenVerdict.NEVER, None
    if on_gpu.high >= on_cpu.low:
        return None, None
    reuses = Span(
        copying.middle / (on_cpu.middle - on_gpu.middle),
        copying.low / (on_cpu.high - on_gpu.low),
        copying.high / (on_cpu.low - on_gpu.high),
    )
    return BreakEvenVerdict.AFTER if exceeds(reuses.high, 1.0) else BreakEvenVerdict.AT_ONCE, reuses


def find_overlap(copies: Sequence[Point], computing: Sequence[Point], both: Sequence[Point]) -> Overlap | NotFound:
    """Return how much of the largest copy measured in all three ways hides behind computing.

    ``copies`` and ``computing`` are each alone, ``both`` side by side, at the same x (bytes).
    """
    alone, work = _by_x(copies), _by_x(computing)
    common = sorted(x for x in _by_x(both) if x in alone and x in work)
    if not common:
        return NotFound("overlap", "no size was copied alone, computed alone and done together often enough")
    size = common[-1]
    copying, working, together = span_of(alone[size]), span_of(work[size]), span_of(_by_x(both)[size])
    shorter = min(copying.middle, working.middle)
    share, low, high = (
        (one + other - both_s) / shorter
        for one, other, both_s in (
            (copying.middle, working.middle, together.middle),
            (copying.low, working.low, together.high),
            (copying.high, working.high, together.low),
        )
    )
    if exceeds(high - low, WIDEST_SHARE):
        return NotFound("overlap", "the times are too unsteady to tell hidden from not hidden; take more time")
    return Overlap(
        bytes=size,
        copy_s=copying.middle,
        compute_s=working.middle,
        both_s=together.middle,
        hidden_share=_clip(share),
        hidden_low=_clip(low),
        hidden_high=_clip(high),
    )


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))


def find_copy_ratio(series: Sequence[Point], beside: Sequence[Point]) -> CopyRatio | NotFound:
    """Return the time of ``series`` / the time of ``beside`` at the largest size that both have."""
    ours, theirs = _by_x(series), _by_x(beside)
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return NotFound("ratio of two copies", "no size was copied often enough in both ways")
    size = common[-1]
    ratio = span_of(ours[size]).over(span_of(theirs[size]))
    if _is_too_wide(ratio):
        return NotFound("ratio of two copies", "the times are too unsteady to compare; take more time")
    return CopyRatio(ours[size].series, theirs[size].series, size, ratio.middle, ratio.low, ratio.high)


def find_pieces_cost(pieces: Sequence[Point], piece_bytes: float) -> PiecesCost | NotFound:
    """Return what a total costs in pieces of ``piece_bytes`` beside one copy of all of it.

    ``pieces`` are one series of one total: x is the bytes of a piece, the time is that of all of
    them, and the largest piece is the total itself. Where ``piece_bytes`` was not measured, the
    smallest piece stands for it.
    """
    by_size = _by_x(pieces)
    totals = {point.bytes for point in by_size.values()}
    if len(totals) != 1 or None in totals or max(by_size) not in totals or len(by_size) < 2:
        return NotFound("cost of small copies", "the total was not copied often enough both in pieces and at once")
    total = max(by_size)
    whole = span_of(by_size[total])
    size = piece_bytes if piece_bytes in by_size and piece_bytes < total else min(by_size)
    ratio = span_of(by_size[size]).over(whole)
    if _is_too_wide(ratio):
        return NotFound("cost of small copies", "the times are too unsteady to compare; take more time")
    return PiecesCost(
        series=by_size[size].series,
        total_bytes=total,
        piece_bytes=size,
        whole_s=whole.middle,
        factor=ratio.middle,
        low=ratio.low,
        high=ratio.high,
        enough_bytes=_enough(by_size, whole),
        within=ENOUGH_WITHIN,
    )


def _enough(by_size: dict[float, Point], whole: Span) -> float:
    """Return the smallest piece from which on every size is within a tenth of the whole."""
    enough = max(by_size)
    for size in sorted(by_size, reverse=True):
        if not reaches(ENOUGH_WITHIN * whole.middle, span_of(by_size[size]).middle):
            break
        enough = size
    return enough


def _is_too_wide(ratio: Span) -> bool:
    return exceeds(ratio.high, WIDEST_FACTOR * ratio.low)


def _by_x(points: Sequence[Point]) -> dict[float, Point]:
    return {point.x: point for point in _bounded(points)}


def _bounded(points: Sequence[Point]) -> list[Point]:
    """Return the trustworthy points of which the bounds are known: one sample compares with nothing."""
    return [point for point in usable(points) if is_bounded(point)]
