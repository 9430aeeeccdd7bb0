"""What would the copies cost over a link that is not in this machine? Computed, and labelled so."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.findings import FitStatus, NotFound
from gpuexplain.model import Point, Source

_WHAT = "the copies over a published link"


@dataclass(frozen=True, slots=True)
class BorrowedCopy:
    """The copies of one product, computed from a published link, beside this CPU's time for the product.

    ``copy_s`` is three copies of one operand's bytes by the line fitted to the published series: two
    in, one back, as if the way back were as fast. ``share`` is ``copy_s`` / ``cpu_s``.
    """

    part: str
    source_note: str
    memory: str  # "pinned" or "pageable"
    side: int
    bytes: float
    copy_s: float
    cpu_s: float
    share: float
    beyond_bytes: float | None  # the line goes on above this size; None where an operand is within the series


def find_borrowed_copy(series: Sequence[SeriesFinding], products: Sequence[Point]) -> BorrowedCopy | NotFound:
    """Return the copies of this CPU's product over the published link, pinned memory before pageable."""
    product = next((point for point in products if point.source is Source.MEASURED), None)
    if product is None or product.median_s is None:
        return NotFound(_WHAT, "no product was measured on this CPU")
    published = {found.series: found for found in series if found.source is Source.PUBLISHED}
    names = {spec.H2D_PINNED: "pinned", spec.H2D_PAGEABLE: "pageable"}
    found = next((published[name] for name in names if name in published), None)
    if found is None or found.fit is None:
        return NotFound(_WHAT, "no published series stands beside this result")
    fit = found.fit
    if fit.fit_status is not FitStatus.OK or fit.latency_us is None or fit.fit_gbps is None:
        return NotFound(_WHAT, "the published times do not follow latency + bytes / rate")
    side = product.shape[0]
    operand_bytes = spec.product_bytes(side) / 3
    copy_s = 3 * (fit.latency_us / 1e6 + operand_bytes / (fit.fit_gbps * 1e9))
    return BorrowedCopy(
        part=found.device_name,
        source_note=found.source_note,
        memory=names[found.series],
        side=side,
        bytes=3 * operand_bytes,
        copy_s=copy_s,
        cpu_s=product.median_s,
        share=copy_s / product.median_s,
        beyond_bytes=found.largest_bytes if operand_bytes > found.largest_bytes else None,
    )
