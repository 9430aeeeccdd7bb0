"""What to know before trusting a matmul result: withheld rates, sizes left out, cold calls, flags."""

from gpuexplain.experiments.matmul.claims import name_series, say_share, say_threads
from gpuexplain.experiments.matmul.conclude import MatmulFindings, SeriesFinding
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL
from gpuexplain.findings import ColdCall, Plausibility
from gpuexplain.units import format_factor, format_time
from gpuexplain.wording.caveats import tell_failed, tell_flag, tell_noise
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import say_n, say_sizes

# A cold call this many times its warm ones is worth a sentence.
NOTABLE_COLD_FACTOR = 3.0


def list_caveats(findings: MatmulFindings) -> tuple[str, ...]:
    """Return the caveats, each a sentence or two, without repeats."""
    found = []
    for series in findings.series:
        found += [tell_withheld(series), tell_suspects(series), tell_ran_as(series)]
        found += [tell_series_failed(series), tell_cold_call(series)]
        found += [tell_flag(who(series), flag, count) for flag, count in series.flagged]
    found.append(tell_noise(findings.noise))
    return tuple(text for text in dict.fromkeys(found) if text)


def tell_withheld(series: SeriesFinding) -> str:
    """Return why a rate is not shown; "" when it is."""
    # More than 115 % of the reference peak.
    if series.peak.plausibility is Plausibility.IMPLAUSIBLE:
        return (
            f"The best rate of {name_series(series)} is withheld: it is "
            f"{say_share(series.peak.fraction_of_peak or 0)} of the part's peak. Check timing, dtype or peak."
        )
    return ""


def tell_suspects(series: SeriesFinding) -> str:
    """Return which sizes are left out because a larger one was faster."""
    # At least one size took longer than 1.5 times a larger one.
    if series.peak.suspect_n:
        return (
            f"Drawn hollow and left out, {name_series(series)} at {say_sizes(series.peak.suspect_n)}: "
            "the times do not fit those of the other sizes."
        )
    return ""


def tell_ran_as(series: SeriesFinding) -> str:
    """Return that another precision ran than the one asked for."""
    # An fp32 series too fast for fp32 that fits a higher TF32 peak.
    if series.peak.ran_as:
        return f"{capitalise(name_series(series))} ran as {series.peak.ran_as}, by its speed: not {series.dtype}."
    return ""


def tell_series_failed(series: SeriesFinding) -> str:
    """Return which sizes have no time, and the first reason."""
    return tell_failed(who(series), say_sizes([x for x, _, _ in series.failed]), series.failed)


def tell_cold_call(series: SeriesFinding) -> str:
    """Return what the first call cost, where that is worth a sentence."""
    cold = series.cold_call
    # The main series of a device: the others find a device that is warm already.
    if isinstance(cold, ColdCall) and series.series in (CPU, GPU_CALL) and cold.factor >= NOTABLE_COLD_FACTOR:
        return (
            f"At {say_n(cold.x)} the first call ({term('cold call')}) took {format_time(cold.first_call_s)} on "
            f"{name_series(series)}, {format_factor(cold.factor)} the median; it is in no median."
        )
    return ""


def who(series: SeriesFinding) -> str:
    """Return a series in words, with its threads."""
    if series.series in (CPU, CPU_ONE_THREAD):
        return f"{name_series(series)} on {say_threads(series.threads)}" if series.threads else name_series(series)
    return name_series(series)
