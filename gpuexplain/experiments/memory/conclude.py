"""What the memory wall says: both roofs, where they meet, and which of them stops each point."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from gpuexplain.analysis.roofline import ABOVE_ROOF, find_roofline
from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.analysis.trust import most_trustworthy, trustworthy_enough
from gpuexplain.experiments.memory.spec import BANDWIDTHS, COMPUTES, EMPTY, EXPERIMENT_ID, LENDERS, WALK
from gpuexplain.findings import NotFound, to_json
from gpuexplain.hardware.reference import match_reference_gpu, reference_peak
from gpuexplain.model import Clock, Dtype, Flag, Point, Source, Status
from gpuexplain.units import format_bandwidth, format_percent

# A call of which more than this share is the price of calling is bound by that price.
OVERHEAD_SHARE = 0.5
# More uses per load are free while the time stays within this of that of one use.
FREE_WITHIN = 1.15
LEAST_WALKED = 3
# A step of the walk that reaches less of its roof is held up by the library's product, not by the device.
LEAST_OF_ROOF = 0.4


class Bound(StrEnum):
    """What stops an operation from being faster."""

    MEMORY = "memory"
    COMPUTE = "compute"
    OVERHEAD = "overhead"


@dataclass(frozen=True, slots=True)
class MemoryRoof:
    """The best measured bandwidth (bytes per second) and what reached it; bounds from its interval."""

    bytes_s: float
    low: float | None
    high: float | None
    series: str  # copy, triad or read
    reference_bytes_s: float | None = None  # of the data sheet
    reference_source: str | None = None


@dataclass(frozen=True, slots=True)
class ComputeRoof:
    """The best measured rate of arithmetic (FLOP/s) in one number format, and the ridge it makes."""

    dtype: Dtype
    flops_s: float
    ridge: float  # FLOP per byte: from there on arithmetic is the limit
    reference_flops_s: float | None = None
    reference_source: str | None = None


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    """One operation under its roof. ``of_roof`` is its rate as a share of what the roof allows."""

    series: str
    label: str  # the other experiment; empty for the walk
    dtype: Dtype
    x: float
    intensity: float  # FLOP per byte
    rate_flops: float
    of_roof: float
    bound: Bound
    is_fact: bool  # above a roof nothing is shown as fact


@dataclass(frozen=True, slots=True)
class FreeUses:
    """How many uses of a loaded value cost no time, and where the ridge predicts the end of that."""

    up_to_k: int
    predicted_k: float
    rises_at_k: int | None  # the first k beyond; None where the walk ended before


@dataclass(frozen=True, slots=True)
class MemoryFindings:
    """Everything the charts and words of this page may use beside the points."""

    device: str
    device_name: str
    source: Source
    memory: MemoryRoof | NotFound
    compute: tuple[ComputeRoof, ...]
    walk: tuple[PlacedPoint, ...]
    others: tuple[PlacedPoint, ...]  # from other runs of this machine
    free: FreeUses | NotFound
    overhead_s: float | None
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False
    n_walked: int = 0  # steps of the walk with a time, whether or not there are roofs to place them under

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    def roof_of(self, dtype: Dtype) -> ComputeRoof | None:
        """Return the compute roof of a number format."""
        return next((roof for roof in self.compute if roof.dtype is dtype), None)


def find_memory_findings(points: Sequence[Point]) -> MemoryFindings:
    """Return what the points say; points of other experiments are placed under the roofs found here."""
    own = sorted((p for p in points if p.experiment == EXPERIMENT_ID), key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in own if (p.source, p.source_note) == (own[0].source, own[0].source_note)]
    good, provisional = [], False
    for series in dict.fromkeys(p.series for p in own):
        is_enough = _starts_at_one if series == WALK else bool
        trusted, is_provisional = trustworthy_enough([p for p in own if p.series == series], is_enough)
        good += trusted
        provisional = provisional or is_provisional
    first = own[0] if own else None
    memory = _find_memory_roof(good)
    compute = _find_compute_roofs(good, memory)
    overhead_s = next((p.median_s for p in good if p.series == EMPTY), None)
    walk = [p for p in good if p.series == WALK]
    placed = _place(walk, memory, compute, overhead_s)
    return MemoryFindings(
        device=first.device if first else "cpu",
        device_name=first.device_name if first else "",
        source=first.source if first else Source.MEASURED,
        memory=memory,
        compute=compute,
        walk=placed,
        others=_place(_comparable(points, first), memory, compute, overhead_s),
        free=_find_free(walk, placed, memory, compute),
        overhead_s=overhead_s,
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
        n_walked=len(walk),
    )


def _starts_at_one(walk: Sequence[Point]) -> bool:
    return len(walk) >= LEAST_WALKED and any(p.x == 1 for p in walk)


def _comparable(points: Sequence[Point], roofs: Point | None) -> list[Point]:
    """Return the points of other experiments that these roofs are about: same device and threads, nothing copied in."""
    if roofs is None or roofs.source is not Source.MEASURED:
        return []
    lent = [p for p in points if p.experiment in LENDERS and p.source is Source.MEASURED]
    lent = [p for p in lent if (series := LENDERS[p.experiment]) is None or p.series in series]
    lent = [p for p in lent if p.clock in (Clock.CALL, Clock.DEVICE)]
    return most_trustworthy([p for p in lent if (p.device, p.threads) == (roofs.device, roofs.threads)])[0]


def _find_memory_roof(good: Sequence[Point]) -> MemoryRoof | NotFound:
    streams = [p for p in good if p.series in BANDWIDTHS and p.rate_bytes]
    if not streams:
        return NotFound("memory roof", "no bandwidth was measured")
    best = max(streams, key=lambda p: p.rate_bytes or 0.0)
    assert best.bytes
    part = match_reference_gpu(best.device_name) if best.device != "cpu" else None
    reference_bytes_s = part.memory_bandwidth_bytes_s if part else None
    if reference_bytes_s and exceeds(best.rate_bytes or 0.0, ABOVE_ROOF * reference_bytes_s):
        return NotFound(
            "memory roof", _above(format_bandwidth(best.rate_bytes or 0.0), format_bandwidth(reference_bytes_s))
        )
    return MemoryRoof(
        bytes_s=best.rate_bytes or 0.0,
        low=best.bytes / best.ci_high_s if best.ci_high_s else None,
        high=best.bytes / best.ci_low_s if best.ci_low_s else None,
        series=best.series,
        reference_bytes_s=reference_bytes_s,
        reference_source=part.source if part else None,
    )


def _above(measured: str, reference: str) -> str:
    return f"{measured} were measured, above the data sheet's {reference}: time, bytes or the part's name are wrong"


def _find_compute_roofs(good: Sequence[Point], memory: MemoryRoof | NotFound) -> tuple[ComputeRoof, ...]:
    """Return a roof a number format, where a product was timed; none that lies above its data sheet."""
    if isinstance(memory, NotFound):
        return ()
    best: dict[Dtype, float] = {}
    for p in good:  # the walk's end may beat the one large product
        if p.series in (*COMPUTES, WALK) and p.rate_flops:
            best[p.dtype] = max(best.get(p.dtype, 0.0), p.rate_flops)
    product = {p.dtype: p for p in good if p.series in COMPUTES}
    roofs = [
        ComputeRoof(dtype, rate, rate / memory.bytes_s, *_reference_flops(product[dtype]))
        for dtype, rate in best.items()
        if dtype in product
    ]
    return tuple(
        r for r in roofs if not r.reference_flops_s or not exceeds(r.flops_s, ABOVE_ROOF * r.reference_flops_s)
    )


def _reference_flops(point: Point) -> tuple[float | None, str | None]:
    """Return the data sheet's peak and where it is from."""
    part = match_reference_gpu(point.device_name) if point.device != "cpu" else None
    peak = reference_peak(part, point.dtype) if part is not None else None
    return (peak.rate_flops, peak.source) if peak is not None else (None, None)


def _place(
    points: Sequence[Point], memory: MemoryRoof | NotFound, compute: Sequence[ComputeRoof], overhead_s: float | None
) -> tuple[PlacedPoint, ...]:
    if isinstance(memory, NotFound):
        return ()
    placed = []
    for roof in compute:
        own = [p for p in points if p.dtype is roof.dtype and p.flops and p.bytes and p.median_s]
        for p in own:
            frame = pd.DataFrame([{"flops": p.flops, "bytes": p.bytes, "seconds": p.median_s}])
            point = find_roofline(frame, peak_flops=roof.flops_s, bandwidth_bytes_s=memory.bytes_s).points[0]
            # Device time has no price of calling in it.
            is_overhead = (
                overhead_s is not None and p.clock is Clock.CALL and overhead_s > OVERHEAD_SHARE * (p.median_s or 0.0)
            )
            placed.append(
                PlacedPoint(
                    series=p.series,
                    label=p.experiment if p.experiment != EXPERIMENT_ID else "",
                    dtype=p.dtype,
                    x=p.x,
                    intensity=point.intensity,
                    rate_flops=point.rate_flops,
                    of_roof=point.rate_flops / point.attainable_flops,
                    bound=Bound.OVERHEAD if is_overhead else Bound(point.bound),
                    is_fact=point.is_fact,
                )
            )
    return tuple(sorted(placed, key=lambda p: (p.label, p.series, p.intensity)))


def _find_free(
    walk: Sequence[Point], placed: Sequence[PlacedPoint], memory: MemoryRoof | NotFound, compute: Sequence[ComputeRoof]
) -> FreeUses | NotFound:
    """Return up to which k the time stays that of k = 1; beyond, every use costs."""
    timed = sorted((p for p in walk if p.median_s), key=lambda p: p.x)
    roof = next((r for r in compute if r.dtype is Dtype.FP32), None)
    if len(timed) < LEAST_WALKED or timed[0].x != 1 or roof is None or isinstance(memory, NotFound):
        return NotFound("free uses", "the walk needs k = 1, two more sizes and both roofs")
    if any(p.ci_low_s is None or p.ci_high_s is None for p in timed[:2]):
        return NotFound("free uses", "the first sizes have no interval")
    one_s = timed[0].median_s or 0.0
    free = [timed[0]]
    for p in timed[1:]:
        if (p.median_s or 0.0) > FREE_WITHIN * one_s:
            break
        free.append(p)
    width = (timed[0].ci_high_s or 0.0) / (timed[0].ci_low_s or 1.0)
    if width > FREE_WITHIN:
        return NotFound("free uses", "the time of one use is too uncertain to compare with")
    beyond = timed[len(free)].x if len(free) < len(timed) else None
    slow = next((p for p in placed if p.x == beyond and p.dtype is Dtype.FP32), None)
    if slow is not None and slow.bound is Bound.MEMORY and slow.of_roof < LEAST_OF_ROOF:
        return NotFound(
            "free uses",
            f"at k = {slow.x:g} the library's product reaches {format_percent(slow.of_roof)} of what memory allows, "
            "so neither roof is what holds it up",
        )
    # Intensity of the walk is close to k / 2 (FLOP per byte of fp32), so k = 2 x ridge.
    return FreeUses(int(free[-1].x), 2 * roof.ridge, int(beyond) if beyond else None)


def flag_points(points: Sequence[Point], findings: MemoryFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are; what lies above a roof is told by the findings."""
    return list(points)


def findings_json(findings: MemoryFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
