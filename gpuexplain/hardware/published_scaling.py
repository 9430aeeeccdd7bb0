"""How much faster did others train with more GPUs: published throughputs by number of devices, with their source."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gpuexplain.model import Dtype

_FOLDER = "published_scaling"
_INDEX = "scaling.csv"


@dataclass(frozen=True, slots=True)
class PublishedScaling:
    """One published training run on more and more GPUs of one computer, each with as much to do as the one had.

    ``rates`` are examples (images, tokens) per second, all devices together.
    """

    network: str
    gpu_name: str
    dtype: Dtype
    what: str  # what is counted: images, tokens
    counts: tuple[int, ...]
    rates: tuple[float, ...]
    source: str


@cache
def load_published_scaling() -> tuple[PublishedScaling, ...]:
    """Return every published run, in the order of the index."""
    return tuple(_read_series(entry) for entry in _read_csv(_INDEX))


def _read_csv(name: str) -> list[dict[str, str]]:
    text = files("gpuexplain.reference").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read_series(entry: dict[str, str]) -> PublishedScaling:
    rows = sorted(_read_csv(entry["file"]), key=lambda row: int(row["devices"]))
    return PublishedScaling(
        network=entry["network"],
        gpu_name=entry["gpu_name"],
        dtype=Dtype(entry["dtype"]),
        what=entry["items"],
        counts=tuple(int(row["devices"]) for row in rows),
        rates=tuple(float(row["throughput"]) for row in rows),
        source=entry["source"],
    )
