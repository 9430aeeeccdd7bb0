"""Matmul series that others published, and anybody's file, as points of this experiment."""

from functools import cache

from gpuexplain.experiments.contract import FileOrigin, PublishedResult
from gpuexplain.experiments.file_rows import fields_of_row
from gpuexplain.experiments.matmul.spec import EXPERIMENT_ID, GPU_CALL, MatmulParams, count_bytes, count_flops
from gpuexplain.hardware.published import PublishedSeries, load_published_series
from gpuexplain.model import Clock, Dtype, Point, Source
from gpuexplain.store.series_files import SeriesFile

# The series with the widest range of sizes of each number format: it shows a whole curve.
_PREFERRED = {Dtype.FP32: "RTX 4060 Ti", Dtype.FP16: "RTX4090"}
_TIMING_UNKNOWN = "as published; how the clock was read is not reported"


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return every published matmul series."""
    return tuple(_result_of(series) for series in load_published_series(EXPERIMENT_ID))


def default_published(params: MatmulParams) -> PublishedResult | None:
    """Return the series to show for a number format, None where nothing in it was published."""
    alike = [result for result in published_results() if result.dtype == params.dtype]
    preferred = [result for result in alike if result.name == _PREFERRED.get(params.dtype)]
    return next(iter(preferred or alike), None)


def _result_of(series: PublishedSeries) -> PublishedResult:
    points = tuple(
        _point(
            side,
            dtype=series.dtype,
            device=f"published:{series.gpu_name}",
            device_name=series.gpu_name,
            source=Source.PUBLISHED,
            source_note=series.source,
            timing=_TIMING_UNKNOWN,
            n_samples=1,
            median_s=time_s,
        )
        for side, time_s in zip(series.sides, series.seconds, strict=True)
    )
    return PublishedResult(
        key=f"{series.gpu_name} {series.dtype}",
        name=series.gpu_name,
        source=series.source,
        dtype=series.dtype,
        points=points,
    )


def _point(side: int, *, dtype: Dtype, **known: object) -> Point:
    shape = (side, side, side)
    return Point.model_validate(
        {
            "experiment": EXPERIMENT_ID,
            "series": GPU_CALL,
            "x": float(side),
            "shape": shape,
            "dtype": dtype,
            "clock": Clock.CALL,
            "flops": count_flops(shape),
            "bytes": float(count_bytes(shape, dtype)),
            **known,
        }
    )


def points_of_file(series: SeriesFile, origin: FileOrigin) -> list[Point]:
    """Return the rows of a file (one product of side n each) as recorded points; fp32 unless said otherwise."""
    dtype = origin.dtype or Dtype.FP32
    return [
        _point(
            int(row["n"]),
            dtype=dtype,
            device=f"file:{origin.file_name}",
            device_name=origin.gpu_name or origin.file_name,
            source_note=origin.file_name,
            **fields_of_row(row, rate_column="tflops", work=count_flops((int(row["n"]),) * 3) / 1e12),
        )
        for row in series.frame.to_dict("records")
    ]
