"""Batch sweeps that others published, and anybody's file, as points of this experiment."""

from functools import cache

from gpuexplain.experiments.batch.series import FILE_SERIES, GPU, SeriesName
from gpuexplain.experiments.batch.spec import EXPERIMENT_ID, BatchParams
from gpuexplain.experiments.contract import FileOrigin, PublishedResult
from gpuexplain.experiments.file_rows import fields_of_row
from gpuexplain.hardware.published_batches import PublishedBatches, load_published_batches
from gpuexplain.model import Clock, Dtype, Point, Source
from gpuexplain.store.series_files import SeriesFile

_TIMING_UNKNOWN = "as published; how the clock was read is not reported"
# A whole curve, from one example to level: ResNet-50 in fp32, and in fp16 by mixed precision.
_PREFERRED_NETWORK = "resnet50"


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return every published batch sweep."""
    return tuple(_result_of(series) for series in load_published_batches())


def default_published(params: BatchParams) -> PublishedResult | None:
    """Return the sweep to show where nothing was measured: of another network, in the precision asked for."""
    wanted = Dtype.FP16 if params.is_autocast else Dtype.FP32
    return next(
        (
            result
            for result, series in zip(published_results(), load_published_batches(), strict=True)
            if series.network == _PREFERRED_NETWORK and series.dtype == wanted
        ),
        None,
    )


def _result_of(series: PublishedBatches) -> PublishedResult:
    name = SeriesName(series.network, series.mode, GPU)
    points = tuple(
        _point(
            batch,
            name.id,
            dtype=series.dtype,
            device=f"published:{series.gpu_name}",
            device_name=series.gpu_name,
            source=Source.PUBLISHED,
            source_note=series.source,
            timing=_TIMING_UNKNOWN,
            n_samples=1,
            median_s=time_s,
        )
        for batch, time_s in zip(series.batches, series.seconds, strict=True)
    )
    key = f"{series.gpu_name} {name.work} {series.dtype}"
    return PublishedResult(key, f"{series.gpu_name}, {name.work}", series.source, series.dtype, points)


def _point(batch: int, series: str, **known: object) -> Point:
    return Point.model_validate(
        {
            "experiment": EXPERIMENT_ID,
            "series": series,
            "x": float(batch),
            "shape": (batch,),
            "clock": Clock.CALL,
            "items": float(batch),
            **known,
        }
    )


def points_of_file(series: SeriesFile, origin: FileOrigin) -> list[Point]:
    """Return the rows of a file (one step of a batch each) as recorded points; fp32 unless said otherwise."""
    return [
        _point(
            int(row["batch"]),
            FILE_SERIES,
            dtype=origin.dtype or Dtype.FP32,
            device=f"file:{origin.file_name}",
            device_name=origin.gpu_name or origin.file_name,
            source_note=origin.file_name,
            **fields_of_row(row, rate_column="throughput", work=float(row["batch"])),
        )
        for row in series.frame.to_dict("records")
    ]
