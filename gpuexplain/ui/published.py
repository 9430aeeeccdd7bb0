"""Which published series stands beside, or in for, a measurement, as points of the same kind."""

from functools import cache

from gpuexplain.experiments.matmul.spec import EXPERIMENT_ID, GPU_CALL, count_bytes, count_flops
from gpuexplain.hardware.published import PublishedSeries, load_published_series
from gpuexplain.model import Clock, Dtype, Point, Source

# The series with the widest range of sizes of each number format: it shows a whole curve.
_PREFERRED = {Dtype.FP32: "RTX 4060 Ti", Dtype.FP16: "RTX4090"}


def series_key(series: PublishedSeries) -> str:
    """Return a short name for the address bar."""
    return f"{series.gpu_name} {series.dtype}"


def published_series(experiment_id: str) -> tuple[PublishedSeries, ...]:
    """Return what was published for an experiment; empty where there is nothing."""
    return load_published_series(experiment_id) if experiment_id == EXPERIMENT_ID else ()


def find_published(experiment_id: str, key: str) -> PublishedSeries | None:
    """Return a series by the name that ``series_key`` gave it."""
    return next((s for s in published_series(experiment_id) if series_key(s) == key), None)


def default_published(experiment_id: str, dtype: Dtype | None) -> PublishedSeries | None:
    """Return the series to show for a number format, None where nothing in it was published."""
    alike = [s for s in published_series(experiment_id) if s.dtype == dtype]
    preferred = [s for s in alike if s.gpu_name == _PREFERRED.get(s.dtype)]
    return next(iter(preferred or alike), None)


@cache
def points_of(series: PublishedSeries) -> tuple[Point, ...]:
    """Return a published series as points, each carrying its source."""
    return tuple(
        Point(
            experiment=series.experiment,
            series=GPU_CALL,
            x=float(side),
            shape=(side, side, side),
            dtype=series.dtype,
            device=f"published:{series.gpu_name}",
            device_name=series.gpu_name,
            clock=Clock.CALL,
            source=Source.PUBLISHED,
            source_note=series.source,
            timing="as published; how the clock was read is not reported",
            n_samples=1,
            median_s=time_s,
            flops=count_flops((side, side, side)),
            bytes=float(count_bytes((side, side, side), series.dtype)),
        )
        for side, time_s in zip(series.sides, series.seconds, strict=True)
    )
