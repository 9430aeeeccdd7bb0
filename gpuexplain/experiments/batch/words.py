"""What the batch page says, from findings only: the answer, and what its charts show."""

from gpuexplain.experiments.batch.advice import tell_so_what, tell_why
from gpuexplain.experiments.batch.caveats import list_caveats
from gpuexplain.experiments.batch.claims import (
    claim_knee,
    has_knee,
    name_device,
    say_work,
)
from gpuexplain.experiments.batch.conclude import BatchFindings, SeriesFinding
from gpuexplain.experiments.batch.memory_words import tell_ceiling, tell_memory
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.contract import Explanation
from gpuexplain.findings import (
    BatchKnee,
    Crossover,
    CrossoverVerdict,
    FreeBatch,
    NotFound,
    Saturation,
)
from gpuexplain.units import (
    format_count,
    format_factor,
    format_percent,
    format_rate_flops,
    format_rate_items,
    format_time,
)
from gpuexplain.wording.caveats import say_here
from gpuexplain.wording.markup import capitalise, mark, term

# A GPU this busy at a batch has nothing left to give by more work at a time.
BUSY_FROM = 0.9


def tell(findings: BatchFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured here and nothing published is shown.
    if not findings.series:
        return Explanation(
            answer="Nothing is measured yet. Press Run: it shows from which batch on more examples at a time bring "
            "hardly more throughput, and what they cost in time and memory.",
            see="",
            why=tell_why(None),
            so_what="",
        )
    headline = findings.headline_series
    return Explanation(
        answer=tell_answer(findings),
        see=_see(findings),
        why=tell_why(headline),
        so_what=tell_so_what(headline) if headline is not None else "",
        caveats=list_caveats(findings),
    )


# -- the answer ---------------------------------------------------------------------------------


def tell_answer(findings: BatchFindings) -> str:
    """Return the headline: one sentence with its number."""
    series = findings.headline_series
    # Every case failed, was skipped or was too disturbed.
    if series is None:
        return "On this machine nothing could be measured that may be shown; the caveats say why."
    clause = f"{claim_knee(series, say_work(series))}{say_knee_rates(series)}"
    # Nothing was measured here: what is shown was measured by others, or elsewhere.
    if not series.is_measured:
        return f"{capitalise(clause)} ({series.source}, not of this machine); press Run to measure here."
    faster = tell_crossover(findings.crossover)
    return f"{say_here(series.is_provisional)} {clause}{'; ' + faster if faster else ''}."


def say_knee_rates(series: SeriesFinding) -> str:
    """Return the knee's range and both rates, with a comma in front; "" where no knee is named."""
    knee, at_knee, best = series.knee, series.at_knee, series.best
    if not has_knee(series) or at_knee is None or best is None:
        return ""
    rates = f", {_without_unit(format_rate_items(at_knee.rate_items))} of {format_rate_items(best.rate_items)}"
    # The intervals leave several tested batches.
    if knee.knee_low is not None and knee.knee_high is not None and knee.knee_low < knee.knee_high:
        return f"{rates} (knee between {say_batch(knee.knee_low)} and {format_count(knee.knee_high)})"
    return rates


def _without_unit(rate: str) -> str:
    return rate.removesuffix("examples/s").strip()


def tell_crossover(crossover: Crossover | None) -> str:
    """Return from which batch on the GPU leads, as a clause; "" where only one of them was measured."""
    if crossover is None:
        return ""
    gpu, cpu = mark("gpu", "the GPU"), mark("cpu", "the CPU")
    match crossover.verdict:
        # The CPU wins at small batches, the GPU from some batch on.
        case CrossoverVerdict.CROSSED if crossover.high:
            return f"{gpu} is faster than {cpu} from {say_batch(crossover.high)} on"
        # The GPU wins from the first common batch.
        case CrossoverVerdict.GPU_ALWAYS:
            return f"{gpu} is faster than {cpu} at every batch measured on both"
        # The launches cost more than the CPU needs.
        case CrossoverVerdict.CPU_ALWAYS:
            return f"{gpu} is faster than {cpu} at no batch measured on both"
        # No common batch, or no lead that lasts.
        case _:
            return f"no lasting lead of {gpu} over {cpu} is shown"


# -- what you see -------------------------------------------------------------------------------


def _see(findings: BatchFindings) -> str:
    series = findings.headline_series
    if series is None:
        return ""
    parts = [
        tell_knee(series),
        tell_saturation(series.knee),
        tell_free(series.free),
        tell_speedup(findings.crossover),
        tell_utilisation(series),
        tell_memory(series.memory),
        tell_ceiling(series.ceiling),
    ]
    parts += [tell_other(other) for other in findings.series if not other.is_measured and other is not series]
    return "\n\n".join(part for part in parts if part)


def tell_knee(series: SeriesFinding) -> str:
    """Return what the knee and the best cost in time."""
    at_knee, best = series.at_knee, series.best
    if at_knee is None or best is None:
        return ""
    speed = f", {format_rate_flops(best.rate_flops)}" if best.rate_flops else ""
    # No knee may be named, or it is the best itself.
    if not has_knee(series) or at_knee.batch == best.batch:
        rate = format_rate_items(best.rate_items)
        return (
            f"{capitalise(say_batch(best.batch))} does the most: **{rate}**{speed}, a step taking "
            f"{format_time(best.step_s)}."
        )
    # Both are known: what the last tenth costs.
    return (
        f"**{capitalise(say_batch(at_knee.batch))}**, the {term('knee')}, does "
        f"{format_rate_items(at_knee.rate_items)} in steps of {format_time(at_knee.step_s)}. The best, "
        f"{format_rate_items(best.rate_items)}{speed}, takes {say_batch(best.batch)} and steps of "
        f"{format_time(best.step_s)}."
    )


def tell_saturation(knee: BatchKnee) -> str:
    """Return whether more batch would bring more throughput."""
    gain = format_percent(max(0.0, knee.last_step_gain or 0.0))
    match knee.saturation:
        # A larger batch than the best was measured.
        case Saturation.SATURATED if (knee.largest_ran or 0) > (knee.best_batch or 0):
            best = say_batch(knee.best_batch or 0)
            return f"No larger batch measured does more than {best}: the {term('throughput')} has levelled off."
        # The largest is the best, by a little.
        case Saturation.SATURATED:
            return f"The last doubling of the batch gained {gain}: the {term('throughput')} has levelled off."
        # It still brought a lot.
        case Saturation.STILL_RISING:
            return f"The last doubling of the batch gained {gain}: larger ones, not measured here, may gain more."
        # The intervals of the last step allow both.
        case Saturation.UNCERTAIN:
            return "Whether the last doubling of the batch gained anything, the intervals do not tell."
        # One batch only.
        case _:
            return ""


def tell_free(free: FreeBatch | NotFound) -> str:
    """Return up to which batch further examples cost no time."""
    # Not even the second batch is surely free.
    if isinstance(free, NotFound):
        return f"No free examples show: {free.reason}."
    share = format_percent(free.within - 1)
    text = (
        f"Up to {say_batch(free.largest)} a step takes at most {share} longer than the {format_time(free.step_s)} of "
        f"{say_batch(free.smallest)}: the further examples are **free**"
    )
    # The intervals leave where the stretch ends.
    if free.surely_largest < free.largest:
        text += f", surely up to {say_batch(free.surely_largest)}"
    # No batch measured ends it.
    if not free.is_bounded:
        text += ", and no batch measured ends that"
    return f"{text}."


def tell_speedup(crossover: Crossover | None) -> str:
    """Return the factor between both devices at the largest batch that both ran."""
    if crossover is None or crossover.speedup is None or crossover.speedup_n is None:
        return ""
    gpu, cpu = mark("gpu", "the GPU"), mark("cpu", "the CPU")
    at, factor = capitalise(say_batch(crossover.speedup_n)), crossover.speedup
    # The GPU leads there.
    if factor > crossover.win_above:
        return f"At {at.lower()} {gpu} is **{format_factor(factor)} as fast** as {cpu}."
    # The CPU leads there.
    if factor < crossover.lose_below:
        return f"At {at.lower()} {cpu} is **{format_factor(1 / factor)} as fast** as {gpu}."
    # Neither leads.
    return f"At {at.lower()} {gpu} and {cpu} take the same time within {format_percent(0.05)}."


def tell_utilisation(series: SeriesFinding) -> str:
    """Return how busy the driver says the GPU was, at the smallest and at the best batch."""
    smallest, best = series.smallest, series.best
    if smallest is None or best is None or smallest.utilisation is None or best.utilisation is None:
        return ""
    text = (
        f"The driver reports a kernel running {format_percent(smallest.utilisation)} of the time at "
        f"{say_batch(smallest.batch)} and {format_percent(best.utilisation)} at {say_batch(best.batch)}"
    )
    # Busy all the time even with one example: it says nothing of how full the GPU is.
    if smallest.utilisation >= BUSY_FROM:
        return f"{text}: always busy, though far from full at small batches."
    # The gaps between launches close.
    return f"{text}: more work at a time leaves fewer gaps."


def tell_other(series: SeriesFinding) -> str:
    """Return what a series from elsewhere shows beside ours: its shape, not its height."""
    if series.at_knee is None or not has_knee(series):
        return ""
    return (
        f"For comparison, faint: {name_device(series)} ({series.source}, not in this machine) has its "
        f"knee{say_work(series)} at {say_batch(series.at_knee.batch)}. Its examples are other ones: compare the "
        "shapes, not the heights."
    )
