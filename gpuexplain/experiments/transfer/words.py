"""What the transfer page says, from findings only: what a copy costs, and why it is so."""

from gpuexplain.experiments.contract import Explanation
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.caveats import list_caveats
from gpuexplain.experiments.transfer.claims import (
    NOTABLE_FACTOR,
    claim_rate,
    is_memory_copy,
    is_withheld,
    name_series,
    plateau_bytes_s,
    say_latency,
    say_reuses,
)
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.experiments.transfer.tell_findings import (
    tell_borrowed,
    tell_break_even,
    tell_fit,
    tell_fresh,
    tell_link,
    tell_overlap,
    tell_pieces,
    tell_pin_then_copy,
    tell_pinned,
    tell_threads,
)
from gpuexplain.findings import BreakEven, BreakEvenVerdict, CopyRatio, PiecesCost
from gpuexplain.model import Source
from gpuexplain.units import format_bandwidth
from gpuexplain.wording.caveats import say_here
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import say_n


def tell(findings: TransferFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured here and nothing published is shown.
    if not findings.series:
        return Explanation(
            answer="Nothing is measured yet. Press Run: the first points appear within seconds.",
            see="",
            why=_why(findings),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(findings),
        see=_see(findings),
        why=_why(findings),
        so_what=_so_what(findings),
        caveats=list_caveats(findings),
    )


# -- the answer ---------------------------------------------------------------------------------


def tell_answer(findings: TransferFindings) -> str:
    """Return the headline: one sentence with its number."""
    leader = findings.headline
    # Every case failed, was skipped or may not be trusted.
    if leader is None:
        return "On this machine nothing could be measured that may be shown; the caveats say why."
    # What is shown was measured by others, or elsewhere.
    if not leader.is_measured:
        return _answer_elsewhere(findings, leader)
    here = say_here(any(found.is_provisional for found in findings.series if found.is_measured))
    # A rate that the link cannot carry: nothing may be claimed from it.
    if is_withheld(findings, leader):
        return f"{here} the rate of the copies cannot be right: it is more than the link can carry."
    parts = [claim_rate(findings, leader), _beside_pinned(findings, leader), say_latency(leader)]
    # A memory copy, or copies over the link; each with its latency.
    return f"{here} {'; '.join(part for part in parts if part)}."


def _beside_pinned(findings: TransferFindings, leader: SeriesFinding) -> str:
    """Return how fast pageable memory is beside pinned memory, as a clause."""
    pageable = findings.of(spec.H2D_PAGEABLE)
    rate = plateau_bytes_s(pageable)
    # Both were measured here.
    if leader.series == spec.H2D_PINNED and pageable is not None and pageable.is_measured and rate is not None:
        return f"{name_series(pageable.series)} {format_bandwidth(rate)}"
    return ""


def _answer_elsewhere(findings: TransferFindings, leader: SeriesFinding) -> str:
    latency = say_latency(leader)
    latency = f"; {latency}" if latency else ""
    # A file of anybody.
    if leader.series == spec.FILE_COPY:
        return f"In {leader.source_note}, {claim_rate(findings, leader)}{latency}."
    # A memory copy of another machine.
    if leader.series in spec.MEMORY_COPIES:
        return f"In a {leader.source} run, not of this machine, {claim_rate(findings, leader)}{latency}."
    # A published link, or a recorded one.
    claim = capitalise(claim_rate(findings, leader))
    tail = "" if leader.source is Source.RECORDED else "; press Run to measure here"
    return f"{claim}, not in this machine{latency}{tail}."


# -- what you see -------------------------------------------------------------------------------


def _see(findings: TransferFindings) -> str:
    leader = findings.headline
    parts = [tell_fit(leader) if leader and not is_withheld(findings, leader) else ""]
    # A memory copy: what this machine can show without a GPU.
    if is_memory_copy(findings):
        parts += [tell_threads(findings.threads), tell_fresh(findings.fresh), tell_pieces(findings.pieces)]
        parts += [tell_borrowed(findings.borrowed)]
    # Copies over a link that was measured.
    elif leader is not None and leader.is_measured:
        parts += [tell_link(findings.link), tell_pinned(findings.pinned), tell_pin_then_copy(findings.pin_then_copy)]
        parts += [tell_overlap(findings.overlap), tell_pieces(findings.pieces), tell_break_even(findings.break_even)]
    # A published series, or a file.
    elif leader is not None:
        parts.append(tell_pinned(findings.pinned))
    return "\n\n".join(part for part in parts if part)


# -- why, and so what ---------------------------------------------------------------------------


def _why(findings: TransferFindings) -> str:
    parts = [
        f"A copy has a fixed price ({term('latency')}: the program, the driver and the wire each do a little first) "
        f"and a price a byte. Where both cost the same ({term('n-half')}) half of the rate is reached; smaller copies "
        "mostly pay the fixed price."
    ]
    # Only a memory copy was measured.
    if is_memory_copy(findings):
        parts.append(
            f"GB/s counts the copied bytes once; main memory moves twice that, it reads and writes them. Over "
            f"{term('PCIe')} the same bytes would cross a link that is slower than main memory, and that main memory "
            "must feed."
        )
    else:
        parts.append(
            f"GB/s counts the copied bytes once. A GPU fetches by itself from {term('pinned memory')}, which the "
            f"operating system may not move; from {term('pageable memory')} the driver first copies into pinned "
            f"buffers of its own. {term('PCIe')} carries far less than the GPU's own memory."
        )
    return " ".join(parts)


def _so_what(findings: TransferFindings) -> str:
    leader = findings.headline
    if leader is None:
        return ""
    parts = [_advise_pieces(findings)]
    # Only a memory copy: allocating is what a program can save.
    if is_memory_copy(findings):
        if isinstance(findings.fresh, CopyRatio) and findings.fresh.low > NOTABLE_FACTOR:
            parts.append("Reuse the memory that results go to: asking for new memory costs more than copying into it.")
        parts.append("What needs a GPU (pinned memory, break-even) is measured where there is one.")
    elif leader.is_measured:
        parts += [_advise_pinning(findings), _advise_break_even(findings)]
    return " ".join(part for part in parts if part)


def _advise_pieces(findings: TransferFindings) -> str:
    costs = [cost for cost in (findings.pieces, findings.pinned_pieces) if isinstance(cost, PiecesCost)]
    # Small copies cost more than one large one.
    if costs and costs[0].low > NOTABLE_FACTOR:
        return (
            f"Copy a batch at once: from {say_bytes(costs[0].enough_bytes)} a copy on, pieces cost at most a tenth "
            "more than one large copy."
        )
    fit = findings.headline.fit if findings.headline else None
    # Otherwise the size from which half of the rate is there.
    if fit is not None and fit.first_at_half_bytes is not None:
        return f"Put copies together until each has {say_bytes(fit.first_at_half_bytes)} or more."
    return ""


def _advise_pinning(findings: TransferFindings) -> str:
    ratio = findings.pin_then_copy
    # Pinning first costs more than the copy from pageable memory.
    if isinstance(ratio, CopyRatio) and ratio.low > NOTABLE_FACTOR:
        return "Pin memory once and use it again (a data loader with pinned memory does); do not pin for a single copy."
    # It costs less.
    if isinstance(ratio, CopyRatio) and ratio.high < 1 / NOTABLE_FACTOR:
        return "Pinning pays here even for a single copy of this size."
    return ""


def _advise_break_even(findings: TransferFindings) -> str:
    found = findings.break_even
    if not isinstance(found, BreakEven):
        return ""
    match found.verdict:
        # The data should stay on the GPU.
        case BreakEvenVerdict.AFTER:
            return f"Keep operands on the GPU: {say_reuses(found)} of {say_n(found.side)} pay for one trip."
        # One product is enough.
        case BreakEvenVerdict.AT_ONCE:
            return f"Sending a product of {say_n(found.side)} to the GPU pays even when its data is used once."
        # It never pays.
        case _:
            return f"Leave products of {say_n(found.side)} on the CPU, however often the data is used."
