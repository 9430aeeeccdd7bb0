"""Which sweeps over batch sizes did others publish: typed, with their source, to draw beside ours."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gpuexplain.model import Dtype

_FOLDER = "published_batches"
_INDEX = "batches.csv"


@dataclass(frozen=True, slots=True)
class PublishedBatches:
    """One published sweep over batch sizes; ``seconds`` is the time of one call with ``batches`` examples.

    The source gives examples per second; the time is the batch over it.
    """

    network: str  # "resnet50", or "loaded": a two-layer network, loading and copying its images included
    mode: str  # "inference" or "training"
    gpu_name: str
    dtype: Dtype
    batches: tuple[int, ...]
    seconds: tuple[float, ...]
    source: str


@cache
def load_published_batches() -> tuple[PublishedBatches, ...]:
    """Return every published sweep over batch sizes, in the order of the index."""
    return tuple(_read_series(entry) for entry in _read_csv(_INDEX))


def _read_csv(name: str) -> list[dict[str, str]]:
    text = files("gpuexplain.reference").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read_series(entry: dict[str, str]) -> PublishedBatches:
    rows = sorted(_read_csv(entry["file"]), key=lambda row: int(row["batch"]))
    return PublishedBatches(
        network=entry["network"],
        mode=entry["mode"],
        gpu_name=entry["gpu_name"],
        dtype=Dtype(entry["dtype"]),
        batches=tuple(int(row["batch"]) for row in rows),
        seconds=tuple(int(row["batch"]) / float(row["throughput"]) for row in rows),
        source=entry["source"],
    )
