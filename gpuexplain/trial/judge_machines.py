"""What do the labs say of the machines: cores, threads in step, blocks, waiting for memory?"""

from gpuexplain.experiments.memory.conclude import Bound, FreeUses, MemoryFindings
from gpuexplain.experiments.workers.conclude import Verdict as Worked
from gpuexplain.experiments.workers.conclude import WorkersFindings
from gpuexplain.findings import NotFound
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable
from gpuexplain.trial.say import say_device, say_factor, say_span
from gpuexplain.units import format_bandwidth, format_count, format_percent, format_significant, format_time
from gpuexplain.wording.markup import capitalise
from gpuexplain.wording.phrases import count_of

# Work limited by bandwidth alone reaches at least this share of what the bandwidth allows.
NEAR_ROOF = 0.7


# -- cores and threads --------------------------------------------------------------------------


def judge_values_at_once(findings: WorkersFindings) -> Ruling:
    """Judge "a CPU with n cores computes at most n values at once"."""
    at_once = findings.at_once
    # No product was timed, or it has no interval.
    if isinstance(at_once, NotFound):
        return cannot_tell(f"How many values are computed at once cannot be told: {at_once.reason}.")
    cores = count_of(at_once.cores, "core").capitalize()
    least, most = (format_significant(values, 2) for values in (at_once.at_least, at_once.at_most))
    match at_once.verdict:
        # More than the claim allows, even at the highest clock of any CPU.
        case Worked.NOT_HELD:
            return not_held(f"{cores} do at least {least} multiply-adds a clock: each works on many at once.")
        # Not more than the claim allows, even at the lowest clock of any CPU.
        case Worked.HELD:
            return held(f"{cores} do at most {most} multiply-adds a clock.")
        # By the clock it could be either.
        case _:
            return cannot_tell(f"{cores} do {least} to {most} multiply-adds a clock, by how fast they are clocked.")


def judge_blocks(findings: WorkersFindings) -> Ruling:
    """Judge that blocks are handed to multiprocessors, round by round."""
    found = findings.staircase
    # No GPU in these points.
    if found is None:
        return untestable(Lack.GPU, "Multiprocessors are parts of a GPU.")
    steps = ", ".join(format_time(time_s) for time_s in found.round_s)
    match found.verdict:
        # Flat inside a round, higher from round to round.
        case Worked.HELD:
            width = format_count(found.multiprocessors)
            return held(f"The time of equal blocks rises in steps of {width}: {steps}.")
        # No such steps.
        case Worked.NOT_HELD:
            return not_held(f"The time of equal blocks shows no such steps: {found.reason}.")
        # No blocks, or too few.
        case _:
            return cannot_tell(f"Whether the time rises in steps cannot be told: {found.reason}.")


def judge_in_step(findings: WorkersFindings) -> Ruling:
    """Judge that one instruction runs over many threads, by what parted paths cost."""
    found = findings.divergence
    # No GPU in these points.
    if found is None:
        return untestable(Lack.GPU, "Threads that run in step are those of a GPU.")
    # Unsupported, failed, or without an interval.
    if found.factor is None or found.low is None or found.high is None:
        return cannot_tell(f"What parted paths cost cannot be told: {found.reason}.")
    told = f"Neighbouring threads that take different paths need {say_factor(found.factor, found.low, found.high)}"
    match found.verdict:
        # Clearly longer.
        case Worked.HELD:
            return held(f"{told} the time of threads that do not.")
        # Not longer.
        case Worked.NOT_HELD:
            return not_held(f"{told} the time of threads that do not: no more.")
        # Both are inside the interval.
        case _:
            return cannot_tell(f"{told} the time of threads that do not: {found.reason}.")


# -- memory -------------------------------------------------------------------------------------


def judge_waiting(findings: MemoryFindings) -> Ruling:
    """Judge that a device can be idle for want of data: more arithmetic per loaded value costs no time."""
    free = findings.free
    # A roof or the walk is missing, or its first time is too uncertain.
    if not isinstance(free, FreeUses):
        return cannot_tell(f"Whether arithmetic is free while memory is waited for cannot be told: {free.reason}.")
    name = capitalise(say_device(findings.device))
    # Even the second use takes longer.
    if free.up_to_k <= 1:
        return not_held(f"{name} takes longer as soon as a loaded value is used twice: it does not wait for memory.")
    return held(
        f"{name} uses each loaded value {format_count(free.up_to_k)} times in the time of once: until then it waits "
        "for memory."
    )


def judge_bandwidth_decides(findings: MemoryFindings) -> Ruling:
    """Judge "more memory means faster" by what does limit work that waits for memory: bandwidth."""
    once = next((p for p in findings.walk if p.x == 1), None)
    # The walk has no first step, or it lies above the roof.
    if isinstance(findings.memory, NotFound) or once is None or not once.is_fact:
        return cannot_tell("What limits work that uses each number once cannot be told from this run.")
    roof = findings.memory
    told = (
        f"Work that uses each number once runs at {format_percent(once.of_roof)} of what a bandwidth of "
        f"{say_span(roof.bytes_s, roof.low, roof.high, format_bandwidth)} allows"
    )
    # Few samples: the roof may lie anywhere.
    if roof.high is None:
        return cannot_tell(f"{told}. The bandwidth has no interval.")
    # Near the slope of the roof, even if that is as steep as its interval allows.
    if once.bound is Bound.MEMORY and once.of_roof * roof.bytes_s / roof.high >= NEAR_ROOF:
        return not_held(f"{told}: bandwidth decides, however much memory there is.")
    return cannot_tell(f"{told}: something else limits it.")
