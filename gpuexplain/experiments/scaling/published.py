"""Training on more GPUs as others published it, as points of this experiment."""

from functools import cache

from gpuexplain.experiments.contract import PublishedResult
from gpuexplain.experiments.scaling.spec import EXPERIMENT_ID, WEAK, ScalingParams
from gpuexplain.hardware.published_scaling import PublishedScaling, load_published_scaling
from gpuexplain.model import Clock, Dtype, Point, Source

_TIMING_UNKNOWN = "as published; how the clock was read is not reported"


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return every published run on more and more GPUs."""
    return tuple(_result_of(series) for series in load_published_scaling())


def default_published(params: ScalingParams) -> PublishedResult | None:  # noqa: ARG001 - it suits every params
    """Return the run to show where no second device can be measured."""
    return next(iter(published_results()), None)


def _result_of(series: PublishedScaling) -> PublishedResult:
    precision = "fp32" if series.dtype is Dtype.FP32 else "mixed precision"
    name = f"{series.network} on {series.gpu_name}, {precision}"
    points = tuple(_point(series, count, rate, name) for count, rate in zip(series.counts, series.rates, strict=True))
    return PublishedResult(f"{series.network} {series.gpu_name} {series.dtype}", name, series.source, None, points)


def _point(series: PublishedScaling, count: int, rate: float, name: str) -> Point:
    """Return the time of ``count`` examples, one a device: it would stay the same if nothing were lost."""
    return Point(
        experiment=EXPERIMENT_ID,
        series=WEAK,
        x=float(count),
        shape=(count,),
        dtype=series.dtype,
        device=f"published:{name}",
        device_name=name,
        clock=Clock.CALL,
        source=Source.PUBLISHED,
        source_note=series.source,
        timing=_TIMING_UNKNOWN,
        n_samples=1,
        median_s=count / rate,
        items=float(count),
    )
