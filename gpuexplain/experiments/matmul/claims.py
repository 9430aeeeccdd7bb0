"""The finding of each chart as one clause: the chart's title and the words' headline are this text."""

from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding, SeriesFinding
from gpuexplain.experiments.matmul.series import LOOKS
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER
from gpuexplain.findings import Crossover, CrossoverVerdict, Plausibility
from gpuexplain.units import format_percent, format_rate_flops
from gpuexplain.wording.markup import capitalise, mark
from gpuexplain.wording.phrases import say_between, say_n, say_number

NOTHING_YET = "Nothing is measured yet"
NOTHING_RAN = "Nothing could be measured"


def headline_pair(findings: MatmulFindings) -> PairFinding | None:
    """Return the pair the headline is about: both sides from here, else both from one other origin."""
    here = [p for p in findings.pairs if p.baseline.is_measured and p.challenger.is_measured]
    alike = [p for p in findings.pairs if p.baseline.source is p.challenger.source]
    return next(iter(here or ([] if headline_series(findings) else alike)), None)


def comparison_pair(findings: MatmulFindings) -> PairFinding | None:
    """Return the pair of something measured here and something that is not in this machine."""
    mixed = (p for p in findings.pairs if p.baseline.is_measured and not p.challenger.is_measured)
    return next(mixed, None)


def headline_series(findings: MatmulFindings) -> SeriesFinding | None:
    """Return the fastest series measured here whose speed may be shown, as a program would see it."""
    measured = [s for s in findings.series if s.is_measured and best_rate_flops(s)]
    # Device time leaves out the call, which every program pays: it leads only on its own.
    if any(s.series == GPU_CALL for s in measured):
        measured = [s for s in measured if s.series != GPU_DEVICE]
    return max(measured, key=lambda s: best_rate_flops(s) or 0.0, default=None)


def best_rate_flops(series: SeriesFinding) -> float | None:
    """Return the best rate, or None where it was withheld or there is none."""
    if series.peak.best_tflops is None or series.peak.plausibility is Plausibility.IMPLAUSIBLE:
        return None
    return series.peak.best_tflops * 1e12


def say_threads(threads: int) -> str:
    """Return ``one thread``, ``two threads``, ``48 threads``."""
    return f"{say_number(threads)} {'thread' if threads == 1 else 'threads'}"


def name_series(series: SeriesFinding) -> str:
    """Return what a sentence calls a series, in its colour."""
    entity = LOOKS[series.series].entity
    if series.series in (CPU, CPU_ONE_THREAD):
        return mark(entity, "the CPU")
    names = {GPU_DEVICE: "the GPU (device time)", GPU_WITH_TRANSFER: "the GPU with copies"}
    return mark(entity, names.get(series.series, "the GPU"))


def name_part(series: SeriesFinding) -> str:
    """Return the name of the device of a series, in its colour: for what is not in this machine."""
    return mark(LOOKS[series.series].entity, series.device_name or "GPU")


def name_sides(pair: PairFinding) -> tuple[str, str, bool]:
    """Return the names of baseline and challenger, and whether the challenger takes a plural verb."""
    low, high = pair.baseline, pair.challenger
    if {low.series, high.series} == {CPU, CPU_ONE_THREAD}:
        names = [mark(LOOKS[s.series].entity, say_threads(s.threads or 1)) for s in (low, high)]
        return names[0], names[1], (high.threads or 1) > 1
    if low.series == CPU_ONE_THREAD:
        return mark(LOOKS[CPU].entity, "one CPU thread"), name_series(high), False
    return name_series(low), name_series(high), False


def claim_pair(pair: PairFinding) -> str:
    """Return who wins and from where, as a clause that claims only what was measured."""
    baseline, challenger, is_plural = name_sides(pair)
    crossover = pair.crossover
    s, is_, has = ("", "are", "have") if is_plural else ("s", "is", "has")
    match crossover.verdict:
        # Both a baseline win and a challenger win were measured, one after the other.
        case CrossoverVerdict.CROSSED if not crossover.low_is_tie and crossover.low and crossover.high:
            return f"{challenger} overtake{s} {baseline} {say_between(crossover.low, crossover.high)}"
        # The challenger wins from a size on; below it no difference could be shown.
        case CrossoverVerdict.CROSSED if crossover.high:
            return f"{challenger} {is_} faster than {baseline} from {say_n(crossover.high)} on"
        # The challenger wins at every common size.
        case CrossoverVerdict.GPU_ALWAYS:
            return f"{challenger} {is_} faster than {baseline} at every size measured"
        # The challenger wins nowhere and loses at the largest size.
        case CrossoverVerdict.CPU_ALWAYS:
            return f"{challenger} {is_} faster than {baseline} at no size measured"
        # Every common size is a tie.
        case CrossoverVerdict.TIE:
            return f"{challenger} and {baseline} cannot be told apart at any size measured"
        # The baseline wins somewhere, the largest size is a tie.
        case CrossoverVerdict.TIE_AT_END:
            return f"{challenger} draw{s} level with {baseline} but {has} no lead at any size measured"
        # One common size or none.
        case CrossoverVerdict.TOO_FEW_POINTS:
            return f"too few sizes are measured on both {challenger} and {baseline} to compare them"
        # Wins of the challenger that do not last, or come and go.
        case _:
            return f"{challenger} win{s} against {baseline} at some sizes, with no clear change-over"


def claim_speed(series: SeriesFinding) -> str:
    """Return the best speed of one series, as a clause; "the GPU" is one that was measured here."""
    rate = best_rate_flops(series)
    name = name_series(series) if series.is_measured else f"a {series.source} {name_part(series)}"
    if rate is None or series.peak.best_n is None:
        return f"{name} has no speed to show"
    threads = f" on {say_threads(series.threads)}" if series.threads else ""
    return f"{name} reaches {format_rate_flops(rate)}{threads} at {say_n(series.peak.best_n)}"


def claim_main(findings: MatmulFindings) -> str:
    """Return the finding of the time chart: who overtakes whom, else how fast what was measured is."""
    pair = headline_pair(findings)
    if pair is not None and pair.crossover.verdict is not CrossoverVerdict.TOO_FEW_POINTS:
        return capitalise(claim_pair(pair))
    return claim_second(findings)


def claim_second(findings: MatmulFindings) -> str:
    """Return the finding of the speed chart: the best speed measured here, else anywhere."""
    if not findings.series:
        return NOTHING_YET
    series = headline_series(findings) or fastest_elsewhere(findings)
    return capitalise(claim_speed(series)) if series else NOTHING_RAN


def fastest_elsewhere(findings: MatmulFindings) -> SeriesFinding | None:
    """Return the fastest series whatever its origin."""
    shown = [s for s in findings.series if best_rate_flops(s)]
    return max(shown, key=lambda s: best_rate_flops(s) or 0.0, default=None)


def speedup_of(crossover: Crossover) -> tuple[float, float] | None:
    """Return (factor, size) of the largest common size, if there is one."""
    if crossover.speedup is None or crossover.speedup_n is None:
        return None
    return crossover.speedup, crossover.speedup_n


def say_share(fraction_of_peak: float) -> str:
    """Return a share of the peak: ``87 %``, ``104 %``."""
    # Two digits would round 104 % to 100 %.
    return format_percent(fraction_of_peak, 3 if fraction_of_peak >= 1 else 2)
