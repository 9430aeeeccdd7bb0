"""What does one series of copies say on its own?"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import pandas as pd

from gpuexplain.analysis.transfer_fit import CACHES_LEFT_AT, find_transfer_fit
from gpuexplain.analysis.transfer_interval import find_fit_interval
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.transfer import spec
from gpuexplain.findings import FitInterval, NotFound, TransferFit
from gpuexplain.model import Flag, Point, Source, Status

# How often a memory copy touches main memory for each byte: it reads and writes.
TOUCHED_BY_MEMORY_COPY = 2


@dataclass(frozen=True, slots=True)
class SeriesFinding:
    """What one series says on its own; ``fit`` is None where its x is not the size of one copy."""

    series: str
    device: str
    device_name: str
    source: Source
    source_note: str
    threads: int | None
    fit: TransferFit | None
    interval: FitInterval | NotFound
    plateau_low_gbps: float | None  # bounds of the plateau, from the intervals of its points
    plateau_high_gbps: float | None
    smallest_bytes: float
    largest_bytes: float
    smallest_s: float | None  # time of the smallest copy that may be trusted
    cache_ratio: float | None  # the smallest: bytes touched between two uses of a place / last-level cache
    flagged: tuple[tuple[Flag, int], ...]
    failed: tuple[tuple[float, Status, str], ...]
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED


def find_series(own: list[Point]) -> SeriesFinding:
    """Return what the points of one series from one origin say, by rising x."""
    first = own[0]
    good, is_provisional = most_trustworthy(own)
    is_copy = first.series in spec.MEMORY_COPIES | spec.LINK_COPIES | {spec.FILE_COPY}
    cache_bytes = _cache_bytes(own)
    frame = _rates(good)
    low, high = _plateau_bounds(good, cache_bytes)
    ratios = [point.cache_ratio for point in own if point.cache_ratio is not None]
    return SeriesFinding(
        series=first.series,
        device=first.device,
        device_name=first.device_name,
        source=first.source,
        source_note=first.source_note,
        threads=first.threads,
        fit=find_transfer_fit(frame, last_level_cache_bytes=cache_bytes) if is_copy else None,
        interval=find_fit_interval(frame) if is_copy else NotFound("interval of the fit", "no fit"),
        plateau_low_gbps=low if is_copy else None,
        plateau_high_gbps=high if is_copy else None,
        smallest_bytes=own[0].x,
        largest_bytes=own[-1].x,
        smallest_s=good[0].median_s if good else None,
        cache_ratio=min(ratios, default=None),
        flagged=tuple((f, c) for f in Flag if (c := sum(f in p.flags for p in own))),
        failed=tuple((p.x, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=is_provisional,
    )


def _rates(points: Sequence[Point]) -> pd.DataFrame:
    columns = {"bytes": [p.bytes for p in points], "seconds": [p.median_s for p in points]}
    return pd.DataFrame(columns, dtype="float64")


def _cache_bytes(own: Sequence[Point]) -> float | None:
    """Return the last-level cache that a memory copy was rotated against; None for a copy over a link.

    A point holds the bytes of a place, their number, and the ratio of what they touch to the cache.
    """
    known = [p for p in own if p.series in spec.MEMORY_COPIES and p.cache_ratio and len(p.shape) == 2]
    sizes = [TOUCHED_BY_MEMORY_COPY * p.shape[0] * p.shape[1] / p.cache_ratio for p in known if p.cache_ratio]
    return median(sizes) if sizes else None


def _plateau_bounds(good: Sequence[Point], cache_bytes: float | None) -> tuple[float | None, float | None]:
    """Return the bounds (GB/s) of the plateau that ``find_transfer_fit`` takes from the same points."""
    if not good:
        return None, None
    if cache_bytes is None:
        on_plateau = [max(good, key=lambda p: p.rate_bytes or 0.0)]
    else:
        on_plateau = [p for p in good if p.x > CACHES_LEFT_AT * cache_bytes] or [good[-1]]
    known = [
        (p.bytes / high / 1e9, p.bytes / low / 1e9)
        for p in on_plateau
        if p.bytes and (low := p.ci_low_s) and (high := p.ci_high_s)
    ]
    if len(known) < len(on_plateau):
        return None, None
    return median(low for low, _ in known), median(high for _, high in known)
