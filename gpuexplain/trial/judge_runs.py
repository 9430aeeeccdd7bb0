"""What do the labs say of running on it: who wins from where, batches, clocks, several devices?"""

from collections.abc import Callable, Sequence

from gpuexplain.experiments.batch.conclude import BatchFindings, SeriesFinding
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding
from gpuexplain.experiments.matmul.spec import CPU as MATMUL_CPU
from gpuexplain.experiments.matmul.spec import CPU_ONE_THREAD, GPU_CALL
from gpuexplain.experiments.scaling.conclude import Communication, ScalingFindings
from gpuexplain.experiments.scaling.conclude import Verdict as Scaled
from gpuexplain.experiments.stopwatch.conclude import StopwatchFindings, Trap
from gpuexplain.experiments.stopwatch.conclude import Verdict as Trapped
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way
from gpuexplain.findings import (
    BatchCeiling,
    Crossover,
    CrossoverVerdict,
    MemoryFit,
    MemoryFitStatus,
    Saturation,
)
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable, untested
from gpuexplain.trial.say import THE_CPU, THE_GPU, say_device, say_factor
from gpuexplain.units import (
    format_count,
    format_factor,
    format_percent,
    format_rate_items,
    format_significant,
    format_size,
)
from gpuexplain.wording.markup import capitalise, mark
from gpuexplain.wording.phrases import say_n, say_number

# A second device that gains less than this gains nothing.
GAINS_ABOVE = 1.05

# A crossover, how its sizes are said, and what is said before it.
_Told = tuple[Crossover, Callable[[float], str], str]
_CPU_WON = (CrossoverVerdict.CPU_ALWAYS, CrossoverVerdict.TIE_AT_END)


# -- who wins -----------------------------------------------------------------------------------


def judge_always_faster_product(findings: MatmulFindings) -> Ruling:
    """Judge "a GPU always makes code faster" by one product over its sizes, without copies and with them."""
    pair = _pair(findings, MATMUL_CPU)
    # No GPU was measured.
    if pair is None:
        return untestable(Lack.GPU, "No product was measured on a GPU.")
    bare, copied = pair.crossover, pair.crossover.with_transfer
    known: list[_Told] = [(bare, say_n, "")]
    if copied is not None:
        known.append((copied, say_n, "copies included, "))
    return _judge_always_faster(known)


def judge_always_faster_step(findings: BatchFindings) -> Ruling:
    """Judge the same by a model's step over its batches."""
    # Only one of the two was measured.
    if findings.crossover is None:
        return untestable(Lack.GPU, "No step of a model was measured on a GPU and on the CPU.")
    return _judge_always_faster([(findings.crossover, say_batch, "")])


def _judge_always_faster(known: Sequence[_Told]) -> Ruling:
    told = "; ".join(lead + _say_crossover(crossover, say) for crossover, say, lead in known)
    told = f"{capitalise(told)}."
    # One size at which the CPU is faster is enough.
    if any(_has_cpu_win(crossover) for crossover, _, _ in known):
        return not_held(told)
    # The GPU wins everywhere.
    if all(crossover.verdict is CrossoverVerdict.GPU_ALWAYS for crossover, _, _ in known):
        return held(told)
    return cannot_tell(told)


def _has_cpu_win(crossover: Crossover) -> bool:
    if crossover.verdict is CrossoverVerdict.CROSSED:
        return crossover.low is not None and not crossover.low_is_tie
    return crossover.verdict in _CPU_WON


def _say_crossover(crossover: Crossover, say: Callable[[float], str]) -> str:
    match crossover.verdict:
        # A size with a CPU win lies below one with a GPU win.
        case CrossoverVerdict.CROSSED if crossover.low is not None and crossover.high and not crossover.low_is_tie:
            return f"{THE_CPU} is faster at {say(crossover.low)}, {THE_GPU} from {say(crossover.high)} on"
        # Below the first GPU win nobody wins.
        case CrossoverVerdict.CROSSED if crossover.high:
            return f"{THE_GPU} is faster from {say(crossover.high)} on, and below it the two cannot be told apart"
        # The GPU wins at every common size.
        case CrossoverVerdict.GPU_ALWAYS:
            return f"{THE_GPU} is faster at every size measured{_say_last(crossover, say)}"
        # No GPU win, and the CPU wins at the largest size.
        case CrossoverVerdict.CPU_ALWAYS:
            return f"{THE_CPU} is faster, even at the largest size measured"
        # The CPU wins somewhere, the largest size is a tie.
        case CrossoverVerdict.TIE_AT_END:
            return f"{THE_GPU} draws level with {THE_CPU} and wins at no size measured"
        # One common size or none.
        case CrossoverVerdict.TOO_FEW_POINTS:
            return f"too few sizes were measured on both {THE_CPU} and {THE_GPU}"
        # Ties, or wins that come and go.
        case _:
            return f"{THE_GPU} and {THE_CPU} cannot be told apart clearly"


def _say_last(crossover: Crossover, say: Callable[[float], str]) -> str:
    if not crossover.speedup or not crossover.speedup_n:
        return ""
    factor = say_factor(crossover.speedup, crossover.speedup_low, crossover.speedup_high)
    return f", {factor} as fast at {say(crossover.speedup_n)}"


def _pair(findings: MatmulFindings, baseline: str) -> PairFinding | None:
    """Return the pair of a CPU series and the GPU's calls, both measured here."""
    wanted = (baseline, GPU_CALL)
    here = (p for p in findings.pairs if p.baseline.is_measured and p.challenger.is_measured)
    return next((p for p in here if (p.baseline.series, p.challenger.series) == wanted), None)


def judge_overhead(findings: MatmulFindings) -> Ruling:
    """Judge that with very small matrices launch and copies outweigh the gain."""
    ruling = judge_always_faster_product(findings)
    # Where the GPU always wins, nothing outweighs it; where the CPU wins somewhere, it does.
    swapped = {"held": not_held, "not_held": held}.get(ruling.outcome.value)
    return swapped(ruling.told) if swapped is not None else ruling


def judge_few_capable_cores(findings: MatmulFindings) -> Ruling:
    """Judge that one core of a CPU is the faster place for work too small to share, against a whole GPU."""
    pair = _pair(findings, CPU_ONE_THREAD)
    # No GPU was measured.
    if pair is None:
        return untestable(Lack.GPU, "No product was measured on a GPU, so one core has nothing to be compared with.")
    told = _say_crossover(pair.crossover, say_n).replace(THE_CPU, mark("cpu", "one CPU core"))
    told = f"{capitalise(told)}."
    if _has_cpu_win(pair.crossover):
        return held(told)
    return not_held(told) if pair.crossover.verdict is CrossoverVerdict.GPU_ALWAYS else cannot_tell(told)


# -- batches ------------------------------------------------------------------------------------


def judge_batching(findings: BatchFindings) -> Ruling:
    """Judge that a batch raises the throughput: the knee lies beyond the smallest batch, by its whole range."""
    series = findings.headline_series
    # Nothing was timed.
    if series is None or series.smallest is None or series.best is None or series.knee.knee_batch is None:
        return untested("No batch was measured.")
    knee, smallest = series.knee, series.smallest.batch
    told = f"On {say_device(series.device)} no batch does more examples a second than {say_batch(smallest)}."
    # The usual case: a larger one does.
    if series.best.batch > smallest:
        gain = format_factor(series.best.rate_items / series.smallest.rate_items)
        told = (
            f"On {say_device(series.device)} {say_batch(series.best.batch)} does {gain} the examples a second of "
            f"{say_batch(smallest)}; {_say_knee(series)}."
        )
    # Few samples: nobody knows how far the knee may lie.
    if knee.knee_low is None or knee.knee_high is None:
        return cannot_tell(f"{told} The knee has no interval.")
    if knee.knee_low > smallest:
        return held(told)
    return not_held(told) if knee.knee_high <= smallest else cannot_tell(told)


def _say_knee(series: SeriesFinding) -> str:
    low, high = series.knee.knee_low, series.knee.knee_high
    assert series.knee.knee_batch is not None
    span = f" ({format_count(low)} to {format_count(high)})" if low and high and low < high else ""
    return f"{say_batch(series.knee.knee_batch)}{span} already gives 90 % of that"


def judge_memory_caps(findings: BatchFindings) -> Ruling:
    """Judge that memory caps the batch, by the ceiling predicted from memory per example and the one found."""
    series = findings.headline_series
    ceiling = series.ceiling if series is not None else None
    # No memory was read, or no ceiling was looked for.
    if series is None or not isinstance(ceiling, BatchCeiling) or ceiling.predicted_batch is None:
        return cannot_tell("How much memory an example takes was not found.")
    told = f"By its memory the largest batch is {say_batch(ceiling.predicted_batch)}; the largest that ran is "
    told += say_batch(ceiling.largest_ran)
    # No batch failed: the search is opt-in.
    if ceiling.first_failed is None or ceiling.agrees is None:
        return untested(f"{told}, and none was tried that did not fit: switch the search for the ceiling on.")
    told += f", the first that did not fit {say_batch(ceiling.first_failed)}."
    return held(told) if ceiling.agrees else not_held(told)


def judge_more_memory(findings: BatchFindings) -> Ruling:
    """Judge "more memory means faster": whether filling more of it still speeds a step up."""
    series = findings.headline_series
    # Nothing was timed.
    if series is None or series.best is None or series.at_knee is None:
        return untested("No batch was measured.")
    at_knee, best = series.at_knee, series.best
    held_more = _memory_ratio(series.memory, at_knee.batch, best.batch)
    # The memory of a step follows a line.
    told = f"On {say_device(series.device)} {say_batch(best.batch)} does {format_rate_items(best.rate_items)}"
    if held_more is not None and best.batch > at_knee.batch:
        faster = format_factor(best.rate_items / at_knee.rate_items)
        told += f", {faster} those of {say_batch(at_knee.batch)}, and holds {held_more}"
    # There is no memory of a GPU in these points.
    stand_in = " Main memory stands in for that of a GPU." if series.name.is_cpu else ""
    match series.knee.saturation:
        # The last steps gained nothing.
        case Saturation.SATURATED:
            return not_held(f"{told}: more memory would fit more, and make nothing faster.{stand_in}")
        # The largest batch is still the fastest.
        case Saturation.STILL_RISING:
            return held(
                f"{told}: throughput still rises, so a larger batch, with more memory, would be faster.{stand_in}"
            )
        # The intervals hold both, or there are too few batches.
        case _:
            return cannot_tell(f"{told}; whether more would be faster cannot be told.")


def _memory_ratio(memory: MemoryFit, small: int, large: int) -> str | None:
    if memory.status is not MemoryFitStatus.OK or memory.fixed_bytes is None or memory.bytes_per_example is None:
        return None
    fewer, more = (memory.fixed_bytes + memory.bytes_per_example * batch for batch in (small, large))
    return f"{format_factor(more / fewer)} the memory ({format_size(more)})" if fewer > 0 else None


# -- clocks -------------------------------------------------------------------------------------


def judge_traps(findings: StopwatchFindings) -> Ruling:
    """Judge that the first call and a single sample mislead."""
    traps = [trap for name in (COLD, Way.SINGLE) if (trap := findings.of(name)) is not None]
    told = " ".join(_say_trap(trap) for trap in traps)
    # Nothing was timed.
    if not traps:
        return untested("No product was timed.")
    if any(trap.verdict is Trapped.MISLEADS for trap in traps):
        return held(told)
    return not_held(told) if all(trap.verdict is Trapped.HARMLESS for trap in traps) else cannot_tell(told)


def judge_asynchronous(findings: StopwatchFindings) -> Ruling:
    """Judge that without synchronising one times the queueing."""
    trap = findings.of(Way.NO_SYNC)
    # Nothing was timed.
    if trap is None:
        return untested("No product was timed.")
    match trap.verdict:
        # A CPU has no queue.
        case Trapped.ABSENT:
            return untestable(Lack.GPU, "Launches are those of a GPU: a call on a CPU returns when its work is done.")
        case Trapped.MISLEADS:
            return held(_say_trap(trap))
        case Trapped.HARMLESS:
            return not_held(_say_trap(trap))
        case _:
            return cannot_tell(_say_trap(trap))


def _say_trap(trap: Trap) -> str:
    name = MISTAKES[trap.id].name
    name = f"{name[:1].upper()}{name[1:]}"
    # Never timed, or timed too seldom.
    if trap.factor is None or trap.verdict is Trapped.CANNOT_TELL:
        return f"{name}: cannot tell, {trap.reason}."
    # Single calls: the range of nine in ten of them.
    if trap.id == Way.SINGLE and trap.factor_low and trap.factor_high:
        span = f"{format_significant(trap.factor_low)} to {format_factor(trap.factor_high)}"
        return f"{name}: nine in ten single calls show {span} the right figure."
    # The computer looks faster than it is.
    if trap.factor < 1:
        low, high = (1 / bound if bound else None for bound in (trap.factor_high, trap.factor_low))
        return f"{name}: the clock shows {say_factor(1 / trap.factor, low, high)} too little."
    return f"{name}: the clock shows {say_factor(trap.factor, trap.factor_low, trap.factor_high)} the right figure."


# -- several devices ----------------------------------------------------------------------------


def judge_twice_as_fast(findings: ScalingFindings) -> Ruling:
    """Judge "two devices are twice as fast"."""
    most = findings.most
    # One device.
    if most is None:
        return untestable(Lack.DEVICES, "A step was measured on one device only.")
    told = f"{_say_more_devices(findings)}, {format_percent(most.efficiency)} of the ideal{_say_exchange(findings)}."
    # The devices are processes of one CPU.
    if findings.is_cpu:
        told += " Processes stand in for GPUs here: they share their memory and its bandwidth."
    match findings.verdict:
        case Scaled.HELD:
            return held(told)
        case Scaled.NOT_HELD:
            return not_held(told)
        # Both are inside the interval, or there is none.
        case _:
            return cannot_tell(f"{told} {findings.reason[:1].upper()}{findings.reason[1:]}.")


def judge_more_devices(findings: ScalingFindings) -> Ruling:
    """Judge that several devices train faster than one at all."""
    most = findings.most
    # One device.
    if most is None:
        return untestable(Lack.DEVICES, "A step was measured on one device only.")
    told = f"{_say_more_devices(findings)}{_say_exchange(findings)}."
    # Few samples: no bounds.
    if most.low is None or most.high is None:
        return cannot_tell(f"{told} Without an interval that decides nothing.")
    if most.low > GAINS_ABOVE:
        return held(told)
    return not_held(told) if most.high <= GAINS_ABOVE else cannot_tell(told)


def _say_more_devices(findings: ScalingFindings) -> str:
    assert findings.most is not None
    most = findings.most
    what = "processes on this CPU" if findings.is_cpu else "GPUs"
    name = mark("cpu" if findings.is_cpu else "gpu", f"{say_number(most.workers).capitalize()} {what}")
    return f"{name} train {say_factor(most.factor, most.low, most.high)} as fast as one"


def _say_exchange(findings: ScalingFindings) -> str:
    found = findings.communication
    # The exchange is more than nothing.
    if isinstance(found, Communication) and found.low > 0:
        return f"; exchanging gradients is {format_percent(found.share)} of the step"
    return ""
