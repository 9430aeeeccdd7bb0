"""The finding of each chart as one clause: the chart's title and the words' headline are this text."""

from gpuexplain.experiments.batch.conclude import BatchFindings, SeriesFinding
from gpuexplain.experiments.batch.series import FILE_SERIES, LOOKS, say_batch
from gpuexplain.findings import BatchKnee, Saturation
from gpuexplain.model import Dtype
from gpuexplain.units import NBSP, format_rate_items, format_time
from gpuexplain.wording.markup import capitalise, mark, term

NOTHING_YET = "Nothing is measured yet"
NOTHING_RAN = "Nothing could be measured"
# A knee known to within two doublings is a place; a wider one is not.
PLACED_WITHIN = 4


def name_device(series: SeriesFinding) -> str:
    """Return what a sentence calls the device of a series, in its colour."""
    entity = LOOKS[series.series].entity
    if series.is_measured:
        return mark(entity, "the CPU" if series.name.is_cpu else "the GPU")
    if series.series == FILE_SERIES:
        return mark(entity, f"the device of {series.device_name}")
    return mark(entity, f"the {series.device_name or 'GPU'}")


def say_work(series: SeriesFinding) -> str:
    """Return what was done, with a space in front: `` in MLP training in bf16``; "" where nobody says."""
    if series.series == FILE_SERIES:
        return ""
    # A 16-bit format is what autocast computed in.
    precision = "" if series.dtype is Dtype.FP32 else f" in {term(str(series.dtype))}"
    return f" in {series.name.work.removesuffix(' step')}{precision}"


def is_placed(knee: BatchKnee) -> bool:
    """Whether the intervals leave the knee within two doublings."""
    if knee.knee_low is None or knee.knee_high is None:
        return True
    return knee.knee_high <= PLACED_WITHIN * knee.knee_low


def has_knee(series: SeriesFinding) -> bool:
    """Whether a knee may be named: several batches, no longer rising, and placed."""
    knee = series.knee
    return (
        series.at_knee is not None
        and series.best is not None
        and knee.saturation is not None
        and knee.saturated
        and not knee.knee_unstable
        and is_placed(knee)
    )


def claim_knee(series: SeriesFinding, work: str = "") -> str:
    """Return where the knee is, as a clause that claims only what was measured; ``work`` says at what."""
    knee, best, device = series.knee, series.best, name_device(series)
    # Every batch failed, was skipped or was disturbed.
    if best is None or knee.knee_batch is None:
        return f"{device} has no throughput to show{work}"
    # One batch, or none of at most half of it.
    if knee.saturation is None:
        return (
            f"{device} does {format_rate_items(best.rate_items)} at {say_batch(best.batch)}, too little to see a knee"
        )
    # The largest batch is the best, by more than 5 % beyond its interval: the knee lies at it or beyond.
    if not knee.saturated and knee.saturation is Saturation.STILL_RISING:
        return f"the throughput of {device}{work} still rises at {say_batch(best.batch)}, the largest measured"
    # The same by the medians, but within their intervals.
    if not knee.saturated:
        return f"the throughput of {device}{work} may still rise at {say_batch(best.batch)}, the largest measured"
    # A batch between knee and best falls under 80 %.
    if knee.knee_unstable:
        return f"the throughput of {device}{work} has more than one hump, the first at {say_batch(knee.knee_batch)}"
    # The intervals leave more than two doublings.
    if not is_placed(knee):
        low, high = say_batch(knee.knee_low or 1), say_batch(knee.knee_high or 1)
        return f"the knee of {device}{work} lies somewhere from {low} to {high}"
    # The very first batch already is the knee.
    is_first = series.smallest is not None and knee.knee_batch == series.smallest.batch
    which = f"{say_batch(knee.knee_batch)}, the smallest measured," if is_first else say_batch(knee.knee_batch)
    # The usual case.
    return f"{which} already gives {device} 90{NBSP}% of its best throughput{work}"


def claim_main(findings: BatchFindings) -> str:
    """Return the finding of the stacked chart: where the knee is."""
    if not findings.series:
        return NOTHING_YET
    series = findings.headline_series
    return capitalise(claim_knee(series)) if series is not None else NOTHING_RAN


def claim_second(findings: BatchFindings) -> str:
    """Return the finding of the second chart: what the best throughput costs in waiting."""
    if not findings.series:
        return NOTHING_YET
    series = findings.headline_series
    if series is None or series.best is None or series.smallest is None:
        return NOTHING_RAN
    best, smallest = series.best, series.smallest
    does = f"{capitalise(name_device(series))} does {format_rate_items(best.rate_items)}"
    # One batch only, or the first is the best: nothing to trade.
    if best.batch == smallest.batch:
        return f"{does} at {say_batch(best.batch)}, a step taking {format_time(best.step_s)}"
    # Throughput is paid for with waiting.
    return f"{does} at best, but a step then takes {format_time(best.step_s)}, not {format_time(smallest.step_s)}"
