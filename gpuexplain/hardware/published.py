"""Which matmul series did others publish: typed, with their source, to draw beside ours."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gpuexplain.model import Dtype

_INDEX = "published.csv"


@dataclass(frozen=True, slots=True)
class PublishedSeries:
    """One published sweep over square products; ``seconds`` is the time of one product.

    Where the source gives a rate, the time is 2 n^3 / rate.
    """

    gpu_name: str
    dtype: Dtype
    experiment: str  # "matmul" or "precision": the set it was published in
    sides: tuple[int, ...]
    seconds: tuple[float, ...]
    source: str

    @property
    def rates_flops(self) -> tuple[float, ...]:
        """Floating-point operations per second, by size."""
        return tuple(2.0 * n**3 / t for n, t in zip(self.sides, self.seconds, strict=True))


@cache
def load_published_series(experiment: str | None = None) -> tuple[PublishedSeries, ...]:
    """Return every published series, or those of one experiment ("matmul" or "precision").

    A GPU can be in both sets with the same figures, so a page wants one of them.
    """
    return tuple(
        series
        for entry in _read_csv(_INDEX)
        if experiment in (None, entry["experiment"])
        for series in _read_series(entry)
    )


def _read_csv(name: str) -> list[dict[str, str]]:
    text = files("gpuexplain.reference").joinpath("published", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read_series(entry: dict[str, str]) -> Iterator[PublishedSeries]:
    rows = sorted(_read_csv(entry["file"]), key=lambda row: int(row["n"]))
    for dtype in dict.fromkeys(row.get("dtype", entry["dtype"]) for row in rows):
        own = [row for row in rows if row.get("dtype", entry["dtype"]) == dtype]
        yield PublishedSeries(
            gpu_name=entry["gpu_name"],
            dtype=Dtype(dtype),
            experiment=entry["experiment"],
            sides=tuple(int(row["n"]) for row in own),
            seconds=tuple(_seconds(row) for row in own),
            source=entry["source"],
        )


def _seconds(row: dict[str, str]) -> float:
    if "seconds" in row:
        return float(row["seconds"])
    return 2.0 * int(row["n"]) ** 3 / (float(row["tflops"]) * 1e12)
