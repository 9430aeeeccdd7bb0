"""What can the link between this computer and its GPU carry: on paper, and as others typically measured it.

The table is ``gpuexplain/reference/links.csv``: rates of one direction, each row with its source. Only its
PCIe rows are read: generation and width of PCIe are what a driver reports of the link in use.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_TABLE = "links.csv"
PCIE = "PCIe"
# The widths PCIe has; a row that the table lacks is computed from the widest one of its generation.
_WIDEST = 16
_WIDTHS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class ReferenceLink:
    """Rates of one direction in bytes per second; None where the table has no figure."""

    name: str
    generation: int
    width: int  # lanes
    theoretical_bytes_s: float
    typical_to_device_bytes_s: float | None  # measured by others, pinned memory
    typical_from_device_bytes_s: float | None
    pageable_to_device_bytes_s: float | None
    conditions: str
    source: str
    confidence: str

    @property
    def label(self) -> str:
        """What a person calls it: ``PCIe 4.0 x16``."""
        return f"{self.name} {self.generation}.0 x{self.width}"


@cache
def load_pcie_links() -> tuple[ReferenceLink, ...]:
    """Return every PCIe row of the table, in its order."""
    text = files("gpuexplain.reference").joinpath(_TABLE).read_text(encoding="utf-8")
    return tuple(_read_row(row) for row in csv.DictReader(text.splitlines()) if row["link"] == PCIE)


def _read_row(row: dict[str, str]) -> ReferenceLink:
    return ReferenceLink(
        name=row["link"],
        generation=int(row["gen"]),
        width=int(row["lanes"]),
        theoretical_bytes_s=float(row["theoretical_gbs_per_dir"]) * 1e9,
        typical_to_device_bytes_s=_rate(row["typical_pinned_h2d_gbs"]),
        typical_from_device_bytes_s=_rate(row["typical_pinned_d2h_gbs"]),
        pageable_to_device_bytes_s=_rate(row["pageable_h2d_gbs"]),
        conditions=row["conditions"],
        source=row["source"],
        confidence=row["confidence"],
    )


def _rate(cell: str) -> float | None:
    return float(cell) * 1e9 if cell else None


def find_pcie_link(generation: int | None, width: int | None) -> ReferenceLink | None:
    """Return the link of this generation and width (lanes), or None where nothing is known of it.

    A width that the table lacks gets its share of the generation's x16 rate on paper, and no typical
    rate: nobody's measurement stands behind it.
    """
    if generation is None or width not in _WIDTHS:
        return None
    rows = {(link.generation, link.width): link for link in load_pcie_links()}
    if (generation, width) in rows:
        return rows[generation, width]
    widest = rows.get((generation, _WIDEST))
    if widest is None:
        return None
    return ReferenceLink(
        name=widest.name,
        generation=generation,
        width=width,
        theoretical_bytes_s=widest.theoretical_bytes_s * width / _WIDEST,
        typical_to_device_bytes_s=None,
        typical_from_device_bytes_s=None,
        pageable_to_device_bytes_s=None,
        conditions=f"computed: {width} of 16 lanes",
        source=widest.source,
        confidence=widest.confidence,
    )
