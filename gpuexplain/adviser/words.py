"""What the adviser says, from the advice and what it rests on."""

import math
from dataclasses import dataclass

from gpuexplain.adviser.evidence import Basis, Evidence, Measured, Missing
from gpuexplain.analysis.advice import Advice, Fit, Pays, Side, Span, Stack
from gpuexplain.experiments.devices import CPU
from gpuexplain.findings import NotFound
from gpuexplain.hardware.reference import reference_peak
from gpuexplain.model import Dtype
from gpuexplain.units import (
    format_age,
    format_bandwidth,
    format_count,
    format_factor,
    format_flops,
    format_rate_flops,
    format_significant,
    format_size,
    format_time,
)
from gpuexplain.wording.markup import capitalise, mark
from gpuexplain.wording.phrases import count_of


@dataclass(frozen=True, slots=True)
class AdviceWords:
    """Marked sentences: the answer first; then times, memory, break-even; then what it all rests on."""

    answer: str
    facts: tuple[str, ...]
    rests_on: tuple[str, ...]
    missing: tuple[tuple[Missing, str], ...]
    measured: tuple[str, ...]


def tell_advice(advice: Advice, basis: Basis, now_s: float) -> AdviceWords:
    """Return everything the adviser says; ``now_s`` is the time of day, for the ages of runs."""
    facts = [
        tell_work(advice.stack),
        tell_side(advice.cpu, advice.stack, "cpu"),
        tell_side(advice.gpu, advice.stack, "gpu"),
        tell_copies(advice),
        tell_break_even(advice),
        tell_fit(advice.cpu, advice.stack, "cpu"),
        tell_fit(advice.gpu, advice.stack, "gpu"),
    ]
    return AdviceWords(
        answer=tell_answer(advice),
        facts=tuple(fact for fact in facts if fact),
        rests_on=(*(tell_evidence(e, now_s) for e in basis.evidence), *_reference(basis)),
        missing=tuple((missing, tell_missing(missing)) for missing in basis.missing),
        measured=tuple(tell_measured(m, advice, now_s) for m in basis.measured),
    )


def tell_answer(advice: Advice) -> str:
    """Return whether this stack needs a GPU."""
    cpu, gpu = advice.cpu.total, advice.gpu.total
    # It does not fit, whatever the speed.
    if advice.gpu.fit is Fit.DOES_NOT_FIT:
        return (
            f"It does not fit {mark('gpu', advice.gpu.name)}; use a smaller batch or model, or a part with more memory."
        )
    # One side has no time, or one that is a guess.
    is_guess = advice.cpu.is_far or advice.gpu.is_far
    if isinstance(cpu, NotFound) or isinstance(gpu, NotFound) or is_guess:
        return f"Whether a GPU pays cannot be told: {advice.reason}."
    name = mark("gpu", advice.gpu.name)
    match advice.pays:
        # Both intervals are apart, and the GPU's is the lower one.
        case Pays.PAYS:
            factor = format_factor(cpu.centre / gpu.centre)
            return f"{capitalise(name)} pays: with its copies it should be about {factor} as fast as the CPU."
        # A bound is enough to say no: nothing is faster than it.
        case Pays.DOES_NOT_PAY if gpu.is_bound:
            return (
                f"No {name} pays here: even at its peak on paper it needs {format_time(gpu.low)} with its copies, and "
                f"{mark('cpu', 'the CPU')} {format_time(cpu.centre)}."
            )
        # Both intervals are apart, and the CPU's is the lower one.
        case Pays.DOES_NOT_PAY:
            return (
                f"{mark('cpu', 'The CPU')} is enough: it needs {format_time(cpu.centre)}, and {name} with its copies "
                f"{format_time(gpu.centre)}."
            )
        # The bound leaves room, and a bound is all that is known.
        case Pays.CANNOT_TELL if gpu.is_bound:
            factor = format_factor(cpu.high / gpu.low)
            return (
                f"{capitalise(name)} could be at most {factor} as fast, by its data sheet. No GPU was measured "
                "here, so whether it pays cannot be told."
            )
        # The intervals overlap.
        case _:
            return f"Whether {name} pays cannot be told: {advice.reason}."


def tell_work(stack: Stack) -> str:
    """Return what is asked about, counted."""
    return (
        f"{format_count(stack.batch)} examples through {count_of(stack.depth, 'layer')} of "
        f"{format_count(stack.width)} x {format_count(stack.width)} are {format_flops(stack.pass_flops)} a pass; "
        f"{count_of(stack.passes, 'pass', 'passes')} over data that are copied in once."
    )


def tell_side(side: Side, stack: Stack, entity: str) -> str:
    """Return the time of one pass, and of all of them, on one device."""
    name = mark(entity, f"the CPU ({side.name})" if entity == "cpu" else side.name)
    # Nothing was measured on it.
    if isinstance(side.one_pass, NotFound):
        return f"On {name} no time can be given: {side.one_pass.reason}."
    all_passes = ""
    if isinstance(side.total, Span):
        copied = ", copies included," if entity == "gpu" else ""
        all_passes = f"; all {count_of(stack.passes, 'pass', 'passes')}{copied} {_say_span(side.total)}"
    # From a data sheet: nothing is faster, most things are slower.
    if side.one_pass.is_bound:
        bound = "a bound from its data sheet, not a measurement"
        return f"On {name} a pass takes {_say_span(side.one_pass)}{all_passes}: {bound}."
    far = " No product of about this size was measured: take it as a guess." if side.is_far else ""
    return f"On {name} a pass should take {_say_span(side.one_pass)}{all_passes}.{far}"


def _say_span(span: Span) -> str:
    if span.is_bound:
        return f"at least {format_time(span.low)}"
    return f"{format_time(span.centre)} ({format_time(span.low)} to {format_time(span.high)})"


def tell_copies(advice: Advice) -> str:
    """Return what the copies take; "" where the GPU has no time at all."""
    size = format_size(advice.stack.copied_in_bytes)
    # No copy was measured.
    if isinstance(advice.copies, NotFound):
        return f"What copying {size} costs is not known: {advice.copies.reason}."
    link = mark("transfer", "Copying")
    return f"{link} {size} of weights and data in, and one batch of results out, takes {_say_span(advice.copies)}."


def tell_break_even(advice: Advice) -> str:
    """Return from how many passes on the copies are paid for."""
    found = advice.break_even
    # One of the three times is missing.
    if any(isinstance(part, NotFound) for part in (advice.cpu.one_pass, advice.gpu.one_pass, advice.copies)):
        reason = found.reason if isinstance(found, NotFound) else advice.reason
        return f"Break-even: not known, for {reason}."
    # The GPU gains nothing.
    if isinstance(found, NotFound):
        return f"Break-even: none, for {found.reason}."
    # From a bound: that many at the very least.
    if isinstance(advice.gpu.one_pass, Span) and advice.gpu.one_pass.is_bound:
        return f"Break-even: at the very least {_say_passes(found.low)} over the same data."
    # The usual case, with or without a certain end.
    upper = f"up to {format_significant(max(1.0, found.high), 2)}" if not math.isinf(found.high) else "with no sure end"
    lower = format_significant(max(1.0, found.low), 2)
    return f"Break-even: {_say_passes(found.centre)} over the same data ({lower}, {upper})."


def _say_passes(passes: float) -> str:
    """Return a number of passes: whole ones, and at least one."""
    whole = max(1, math.ceil(passes - 1e-9))
    return count_of(whole, "pass", "passes") if whole < 100 else f"{format_significant(whole, 2)} passes"


def tell_fit(side: Side, stack: Stack, entity: str) -> str:
    """Return whether it fits one device's memory."""
    name = mark(entity, "The CPU" if entity == "cpu" else side.name)
    needs = format_size(stack.needed_bytes)
    memory = f"the {format_size(side.memory_bytes or 0)} that a run may take"
    # A data sheet counts in powers of ten, or does not say in which.
    if isinstance(side.one_pass, Span) and side.one_pass.is_bound:
        memory = f"the {format_significant((side.memory_bytes or 0) / 1e9)} GB of its data sheet"
    match side.fit:
        case Fit.FITS:
            return f"{name}: {needs} fit {memory}."
        case Fit.DOES_NOT_FIT:
            return f"{name}: {needs} do not fit {memory}."
        case Fit.CANNOT_TELL:
            return f"{name}: whether {needs} fit is not known, for its memory is not reported."


def tell_evidence(evidence: Evidence, now_s: float) -> str:
    """Return one run that the advice rests on, with its age."""
    age = format_age(max(0.0, now_s - evidence.measured_at))
    # Nothing quieter is stored.
    busy = ", while other work used the machine: run it again when it is quiet" if evidence.was_busy else ""
    return f"{capitalise(evidence.what)}: run {evidence.run_id} of {evidence.experiment}, {age}{busy}."


def _reference(basis: Basis) -> list[str]:
    part = basis.part
    if part is None:
        return []
    peak = reference_peak(part, Dtype.FP32)
    rate = f"{format_rate_flops(peak.rate_flops)} in fp32" if peak else "no peak in fp32 known"
    unverified = "" if peak is None or peak.verified else " (unverified)"
    found = [f"{part.name}, published peak: {rate}{unverified}. Source: {part.source}."]
    if basis.link.peak_bytes_s:
        found.append(
            f"{basis.link_name}, on paper: {format_bandwidth(basis.link.peak_bytes_s)}. Source: {basis.link_source}."
        )
    return found


def tell_missing(missing: Missing) -> str:
    """Return what no stored run gives."""
    return f"Not measured yet: {missing.what}."


def tell_measured(measured: Measured, advice: Advice, now_s: float) -> str:
    """Return a measurement of the very stack beside its prediction."""
    side, entity = (advice.cpu, "cpu") if measured.device == CPU else (advice.gpu, "gpu")
    name = mark(entity, "the CPU" if entity == "cpu" else "the GPU")
    age = format_age(max(0.0, now_s - measured.evidence.measured_at))
    told = f"Measured on {name}, {age}: {format_time(measured.time_s)} a pass"
    # Nothing to compare it with.
    if isinstance(side.one_pass, NotFound) or side.one_pass.is_bound:
        return f"{told}; there was no prediction to compare it with."
    predicted = f"predicted {_say_span(side.one_pass)}"
    factor = measured.time_s / side.one_pass.centre
    # Inside the interval.
    if side.one_pass.low <= measured.time_s <= side.one_pass.high:
        return f"{told}; {predicted}: the prediction held."
    # Outside.
    return f"{told}; {predicted}: it was {format_factor(factor)} that, so trust the measurement."
