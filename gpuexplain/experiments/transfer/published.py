"""Copies that others published, and anybody's file, as points of this experiment."""

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any

from gpuexplain.experiments.contract import FileOrigin, PublishedResult
from gpuexplain.experiments.file_rows import fields_of_row
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.spec import EXPERIMENT_ID, TransferParams
from gpuexplain.hardware.published_copies import PublishedCopies, load_published_copies
from gpuexplain.model import Clock, Dtype, Point, Source
from gpuexplain.store import nvbandwidth
from gpuexplain.store.series_files import SeriesFile

_SERIES = {("h2d", "pinned"): spec.H2D_PINNED, ("h2d", "pageable"): spec.H2D_PAGEABLE}
_TIMING_UNKNOWN = "as published; how the clock was read is not reported"
# nvbandwidth copies between pinned host memory and the GPU.
_TESTS = {
    **dict.fromkeys(nvbandwidth.TO_DEVICE, spec.H2D_PINNED),
    **dict.fromkeys(nvbandwidth.FROM_DEVICE, spec.D2H_PINNED),
}


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return one result a GPU, with its copies from pinned and from pageable memory."""
    by_name: dict[str, list[PublishedCopies]] = {}
    for copies in load_published_copies():
        by_name.setdefault(_name(copies), []).append(copies)
    return tuple(
        PublishedResult(
            key=found[0].gpu_name,
            name=name,
            source=found[0].source,
            dtype=None,
            points=tuple(point for copies in found for point in _points_of(copies)),
        )
        for name, found in by_name.items()
    )


def default_published(params: TransferParams) -> PublishedResult | None:  # noqa: ARG001 - it suits every params
    """Return the series to show beside a machine without a GPU."""
    return next(iter(published_results()), None)


def _name(copies: PublishedCopies) -> str:
    return f"{copies.gpu_name} ({copies.link})"


def _points_of(copies: PublishedCopies) -> list[Point]:
    return [
        _point(
            _SERIES[copies.direction, copies.memory],
            size,
            device=f"published:{_name(copies)}",
            device_name=_name(copies),
            source=Source.PUBLISHED,
            source_note=copies.source,
            timing=_TIMING_UNKNOWN,
            n_samples=1,
            median_s=time_s,
        )
        for size, time_s in zip(copies.sizes, copies.seconds, strict=True)
    ]


def _point(series: str, size: float, **known: object) -> Point:
    return Point.model_validate(
        {
            "experiment": EXPERIMENT_ID,
            "series": series,
            "x": float(size),
            "shape": (int(size),),
            "dtype": Dtype.FP32,
            "clock": Clock.CALL,
            "bytes": float(size),
            **known,
        }
    )


def points_of_file(series: SeriesFile, origin: FileOrigin) -> list[Point]:
    """Return the rows of a file (one copy of ``bytes`` each) as recorded points.

    Rows of nvbandwidth say their direction and GPU; of any other file nobody knows what was copied
    where, so its series is only "a copy".
    """
    rows = series.frame.to_dict("records")
    several = len({row.get("device") for row in rows}) > 1
    return [_point_of_row(row, origin, several) for row in rows]


def _point_of_row(row: Mapping[Hashable, Any], origin: FileOrigin, several: bool) -> Point:
    device = f"file:{origin.file_name}"
    size = float(row["bytes"])
    return _point(
        _TESTS.get(str(row.get("test")), spec.FILE_COPY),
        size,
        device=f"{device}, GPU {row['device']}" if several else device,
        device_name=origin.gpu_name or str(row.get("device_name") or "") or origin.file_name,
        source_note=origin.file_name,
        **fields_of_row(row, rate_column="gbps", work=size / 1e9),
    )
