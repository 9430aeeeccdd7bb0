"""Precision series that others published, and anybody's file, as points of this experiment."""

from functools import cache

from gpuexplain.experiments.contract import FileOrigin, PublishedResult
from gpuexplain.experiments.file_rows import fields_of_row
from gpuexplain.experiments.precision.spec import EXPERIMENT_ID, PrecisionParams, count_bytes, count_flops
from gpuexplain.hardware.published import PublishedSeries, load_published_series
from gpuexplain.model import Clock, Dtype, Point, Source
from gpuexplain.store.series_files import SeriesFile

# Four formats, and nothing in it speaks against ranking them.
_PREFERRED = "NVIDIA GeForce RTX 4090"
# Published as two matmul series, one per format: together they compare formats, too.
_PAIRED_MATMUL = "RTX 4060 Ti"
_TIMING_UNKNOWN = "as published; how the clock was read is not reported"


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return every published GPU with two or more formats, each as one result."""
    pair = tuple(series for series in load_published_series("matmul") if series.gpu_name == _PAIRED_MATMUL)
    by_gpu: dict[str, list[PublishedSeries]] = {}
    for series in (*load_published_series(EXPERIMENT_ID), *pair):
        by_gpu.setdefault(series.gpu_name, []).append(series)
    return tuple(_result_of(name, own) for name, own in by_gpu.items())


def default_published(params: PrecisionParams) -> PublishedResult | None:  # noqa: ARG001 - one fits every question
    """Return the GPU to show where there is none here."""
    return next((result for result in published_results() if result.name == _PREFERRED), None)


def _result_of(gpu_name: str, own: list[PublishedSeries]) -> PublishedResult:
    points = tuple(
        _point(
            side,
            series.dtype,
            device=f"published:{gpu_name}",
            device_name=gpu_name,
            source=Source.PUBLISHED,
            source_note=series.source,
            timing=_TIMING_UNKNOWN,
            n_samples=1,
            median_s=time_s,
        )
        for series in own
        for side, time_s in zip(series.sides, series.seconds, strict=True)
    )
    return PublishedResult(key=gpu_name, name=gpu_name, source=own[0].source, dtype=None, points=points)


def _point(side: int, dtype: Dtype, **known: object) -> Point:
    return Point.model_validate(
        {
            "experiment": EXPERIMENT_ID,
            "series": str(dtype),
            "x": float(side),
            "shape": (side, side, side),
            "dtype": dtype,
            "clock": Clock.CALL,
            "flops": count_flops(side),
            "bytes": float(count_bytes(side, dtype)),
            **known,
        }
    )


def points_of_file(series: SeriesFile, origin: FileOrigin) -> list[Point]:
    """Return the rows of a file (``dtype``, ``n`` and a rate or a time each) as recorded points."""
    return [
        _point(
            int(row["n"]),
            Dtype(str(row["dtype"])),
            device=f"file:{origin.file_name}",
            device_name=origin.gpu_name or origin.file_name,
            source_note=origin.file_name,
            **fields_of_row(row, rate_column="tflops", work=count_flops(int(row["n"])) / 1e12),
        )
        for row in series.frame.to_dict("records")
    ]
