"""What do copies to a GPU cost here: beside its own memory, in small pieces, and beside the work?"""

from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.spec import H2D_PIECES, H2D_PINNED_PIECES, LINK_COPIES
from gpuexplain.findings import BreakEven, BreakEvenVerdict, NotFound, PiecesCost
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable
from gpuexplain.trial.say import THE_GPU, say_factor
from gpuexplain.units import format_bandwidth, format_factor, format_percent, format_significant, format_size
from gpuexplain.wording.phrases import say_n

# "Far slower": a factor that no better cable or driver makes up for.
FAR = 4.0
# Beyond this a ratio is a difference.
DIFFERS_ABOVE = 1.05
_ON_LINK = (H2D_PIECES, H2D_PINNED_PIECES)


def judge_link(findings: TransferFindings) -> Ruling:
    """Judge that the link is far slower than the GPU's own memory."""
    links = [s for s in findings.series if s.series in LINK_COPIES and s.is_measured and s.fit is not None]
    known = [s for s in links if s.fit is not None and s.fit.plateau_gbps]
    # No copy to a GPU was measured.
    if not known:
        return untestable(Lack.GPU, "No copy to a GPU was measured.")
    best = max(known, key=lambda s: s.fit.plateau_gbps or 0.0 if s.fit else 0.0)
    assert best.fit is not None
    plateau = best.fit.plateau_gbps or 0.0
    rate = format_bandwidth(plateau * 1e9)
    # The part is not in the table of data sheets.
    if not findings.device_memory_gbps:
        return cannot_tell(f"The best copy reaches {rate}; the bandwidth of this GPU's own memory is not known.")
    own = findings.device_memory_gbps
    told = (
        f"The best copy reaches {rate}, the GPU's own memory {format_bandwidth(own * 1e9)} by its data sheet: "
        f"{format_factor(own / plateau)}."
    )
    low, high = best.plateau_low_gbps, best.plateau_high_gbps
    # Few samples: no bounds.
    if low is None or high is None:
        return cannot_tell(f"{told} The copy has no interval.")
    if FAR * high <= own:
        return held(told)
    return not_held(told) if FAR * low > own else cannot_tell(told)


def judge_small_copies(findings: TransferFindings) -> Ruling:
    """Judge that many small copies to a GPU cost clearly more than one large one."""
    pieces = _link_pieces(findings)
    # No GPU, so no copy to one.
    if pieces is None:
        return untestable(Lack.GPU, f"No copy to a GPU was measured.{_say_memory_pieces(findings)}")
    # The times are too unsteady, or one is missing.
    if isinstance(pieces, NotFound):
        return cannot_tell(f"What small copies cost cannot be told: {pieces.reason}.")
    told = _say_pieces(pieces)
    if pieces.low > DIFFERS_ABOVE:
        return held(told)
    return not_held(told) if pieces.high <= DIFFERS_ABOVE else cannot_tell(told)


def judge_copies(findings: TransferFindings) -> Ruling:
    """Judge "copies do not matter": whether one use pays for them, and what small ones cost."""
    pieces, even = _link_pieces(findings), findings.break_even
    # No GPU, so no copy to one.
    if pieces is None:
        return untestable(Lack.GPU, f"No copy to a GPU was measured.{_say_memory_pieces(findings)}")
    told = " ".join(
        [
            _say_pieces(pieces) if isinstance(pieces, PiecesCost) else f"What small copies cost: {pieces.reason}.",
            _say_break_even(even) if isinstance(even, BreakEven) else f"When copies are paid for: {even.reason}.",
        ]
    )
    costly = isinstance(pieces, PiecesCost) and pieces.low > DIFFERS_ABOVE
    unpaid = isinstance(even, BreakEven) and (even.reuses_low or 0.0) > 1
    # Either of the two is a case in which they matter.
    if costly or unpaid:
        return not_held(told)
    is_cheap = isinstance(pieces, PiecesCost) and pieces.high <= DIFFERS_ABOVE
    is_paid = isinstance(even, BreakEven) and even.verdict is BreakEvenVerdict.AT_ONCE
    return held(told) if is_cheap and is_paid else cannot_tell(told)


def _link_pieces(findings: TransferFindings) -> PiecesCost | NotFound | None:
    """Return what pieces cost on the way to a GPU; None where no copy to one was measured."""
    if not any(s.is_measured and s.series in LINK_COPIES for s in findings.series):
        return None
    return findings.pieces


def _say_pieces(pieces: PiecesCost) -> str:
    where = "in main memory" if pieces.series not in _ON_LINK else f"to {THE_GPU}"
    return (
        f"{format_size(pieces.total_bytes)} copied {where} in pieces of {format_size(pieces.piece_bytes)} take "
        f"{say_factor(pieces.factor, pieces.low, pieces.high)} the time of one copy."
    )


def _say_memory_pieces(findings: TransferFindings) -> str:
    # What a machine without a GPU can tell, called what it is.
    return f" {_say_pieces(findings.pieces)}" if isinstance(findings.pieces, PiecesCost) else ""


def _say_break_even(even: BreakEven) -> str:
    share = even.copy_s / (even.copy_s + even.gpu_s)
    product = f"a product of {say_n(even.side)} on {THE_GPU}"
    there = f"Of {product}, its operands copied there and its result back, {format_percent(share)} is copying"
    match even.verdict:
        # The first product already pays.
        case BreakEvenVerdict.AT_ONCE:
            return f"{there}; the first product pays for it."
        # Several products on the data pay.
        case BreakEvenVerdict.AFTER if even.reuses is not None:
            low, high = even.reuses_low, even.reuses_high
            bounds = f" ({format_significant(low, 2)} to {format_significant(high, 2)})" if low and high else ""
            return f"{there}; it is paid for after {format_significant(even.reuses, 2)}{bounds} products."
        # The GPU is not the faster one.
        case _:
            return f"{there}, and the product is no faster there."
