"""Which copies over a link did others publish: typed, with their source, to draw beside ours."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FOLDER = "published_copies"
_INDEX = "copies.csv"


@dataclass(frozen=True, slots=True)
class PublishedCopies:
    """One published sweep over copy sizes; ``seconds`` is the time of one copy of ``sizes`` bytes.

    The source gives a rate (1 GB = 1e9 bytes, the copied bytes counted once); the time is bytes / rate.
    """

    direction: str  # "h2d": to the device
    memory: str  # of the host: "pinned" or "pageable"
    gpu_name: str
    link_generation: int
    link_width: int  # lanes
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    source: str

    @property
    def link(self) -> str:
        """What a person calls the link."""
        return f"PCIe {self.link_generation}.0 x{self.link_width}"


@cache
def load_published_copies() -> tuple[PublishedCopies, ...]:
    """Return every published sweep over copy sizes, in the order of the index."""
    return tuple(_read_series(entry) for entry in _read_csv(_INDEX))


def _read_csv(name: str) -> list[dict[str, str]]:
    text = files("gpuexplain.reference").joinpath(_FOLDER, name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _read_series(entry: dict[str, str]) -> PublishedCopies:
    rows = sorted(_read_csv(entry["file"]), key=lambda row: int(row["bytes"]))
    return PublishedCopies(
        direction=entry["direction"],
        memory=entry["memory"],
        gpu_name=entry["gpu_name"],
        link_generation=int(entry["link_generation"]),
        link_width=int(entry["link_width"]),
        sizes=tuple(int(row["bytes"]) for row in rows),
        seconds=tuple(int(row["bytes"]) / (float(row["gbps"]) * 1e9) for row in rows),
        source=entry["source"],
    )
