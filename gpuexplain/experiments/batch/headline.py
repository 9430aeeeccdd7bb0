"""The one number of this page for Home: the knee."""

from gpuexplain.experiments.batch.claims import has_knee
from gpuexplain.experiments.batch.conclude import BatchFindings
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.contract import Headline
from gpuexplain.units import format_count, format_rate_items


def find_headline(findings: BatchFindings) -> Headline | None:
    """Return the knee batch with its range, else the best throughput; None where nothing was measured here."""
    series = findings.headline_series
    if series is None or not series.is_measured or series.best is None:
        return None
    device = "CPU" if series.name.is_cpu else "GPU"
    # A knee that may be named.
    if has_knee(series) and series.at_knee is not None:
        rate = format_rate_items(series.at_knee.rate_items)
        detail = f"{series.name.work} on the {device}, {rate}"
        return Headline("Knee batch", format_count(series.at_knee.batch), _interval(series.knee), detail)
    # Still rising, several humps or too noisy: the best is a fact.
    return Headline(
        "Best throughput",
        format_rate_items(series.best.rate_items),
        detail=f"{series.name.work} on the {device} at {say_batch(series.best.batch)}",
    )


def _interval(knee: object) -> str:
    low, high = getattr(knee, "knee_low", None), getattr(knee, "knee_high", None)
    return f"{format_count(low)} to {format_count(high)}" if low and high and low < high else ""
