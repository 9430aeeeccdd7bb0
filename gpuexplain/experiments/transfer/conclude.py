"""What the points of a transfer sweep say: what a copy costs at once and per byte, and when it pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gpuexplain.analysis.crossover import find_crossover
from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.transfer_costs import find_break_even, find_copy_ratio, find_overlap, find_pieces_cost
from gpuexplain.analysis.transfer_link import find_link_share
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.borrowed import BorrowedCopy, find_borrowed_copy
from gpuexplain.experiments.transfer.series_finding import SeriesFinding, find_series
from gpuexplain.findings import (
    BreakEven,
    CopyRatio,
    Crossover,
    LinkShare,
    NoiseFloor,
    NotFound,
    Overlap,
    PiecesCost,
    to_json,
)
from gpuexplain.hardware.reference import match_reference_gpu
from gpuexplain.model import Flag, Point, Source
from gpuexplain.points import usable, with_flags

# The piece that the page speaks of: what one example of a data set often takes.
PIECE_BYTES = 64 * 1024
# In whose words the whole series is told; the first that was measured here leads.
LEADERS = (spec.H2D_PINNED, spec.H2D_PAGEABLE, spec.D2H_PINNED, spec.D2H_PAGEABLE, spec.MEMORY_COPY, spec.FILE_COPY)


@dataclass(frozen=True, slots=True)
class TransferFindings:
    """Everything the charts and the words of this page may use beside the points."""

    series: tuple[SeriesFinding, ...]
    link: LinkShare | NotFound  # of the best copy to the device from pinned memory
    link_back: LinkShare | NotFound
    pinned: Crossover | NotFound  # baseline pageable, challenger pinned, to the device
    pin_then_copy: CopyRatio | NotFound  # beside pageable
    threads: Crossover | NotFound  # baseline one thread, challenger all, within main memory
    fresh: CopyRatio | NotFound  # to memory never touched, beside memory used before
    pieces: PiecesCost | NotFound
    pinned_pieces: PiecesCost | NotFound
    overlap: Overlap | NotFound
    break_even: BreakEven | NotFound
    borrowed: BorrowedCopy | NotFound
    device_memory_gbps: float | None  # of the GPU's own memory, by its data sheet
    crosses_nodes: bool  # memory and GPU lie on different NUMA nodes
    noise: NoiseFloor | NotFound

    def of(self, series: str) -> SeriesFinding | None:
        """Return the finding of a series by its id."""
        return next((found for found in self.series if found.series == series), None)

    @property
    def headline(self) -> SeriesFinding | None:
        """The series that the page's answer is about: one measured here if there is one."""
        return find_leader(self.series)


def find_leader(series: Sequence[SeriesFinding]) -> SeriesFinding | None:
    """Return the series with a rate that leads the page: measured here before anything else."""
    known = {found.series: found for found in series if found.fit and found.fit.plateau_gbps is not None}
    led = [known[name] for name in LEADERS if name in known]
    return next((found for found in led if found.is_measured), next(iter(led), None))


def find_transfer_findings(points: Sequence[Point]) -> TransferFindings:
    """Return what the points say; published points may stand beside measured ones."""
    own = _by_series(points)
    trusted = {series: most_trustworthy(found)[0] for series, found in own.items()}
    series = tuple(find_series(found) for found in own.values())
    generation, width = _link_under_load(points)
    measured = [point for point in points if point.source is Source.MEASURED]
    return TransferFindings(
        series=series,
        link=find_link_share(_best_gbps(series, spec.H2D_PINNED), generation, width, to_device=True),
        link_back=find_link_share(_best_gbps(series, spec.D2H_PINNED), generation, width, to_device=False),
        pinned=_find_pair("pinned against pageable", own, trusted, spec.H2D_PAGEABLE, spec.H2D_PINNED),
        pin_then_copy=find_copy_ratio(trusted.get(spec.H2D_PIN_THEN_COPY, ()), trusted.get(spec.H2D_PAGEABLE, ())),
        threads=_find_pair("all threads against one", own, trusted, spec.MEMORY_COPY_ONE_THREAD, spec.MEMORY_COPY),
        fresh=find_copy_ratio(trusted.get(spec.MEMORY_COPY_FRESH, ()), trusted.get(spec.MEMORY_COPY, ())),
        pieces=_find_pieces(trusted, spec.H2D_PIECES, spec.MEMORY_COPY_PIECES),
        pinned_pieces=_find_pieces(trusted, spec.H2D_PINNED_PIECES),
        overlap=find_overlap(
            trusted.get(spec.H2D_PINNED, ()), trusted.get(spec.OVERLAP_COMPUTE, ()), trusted.get(spec.OVERLAP_BOTH, ())
        ),
        break_even=_find_break_even(trusted),
        borrowed=find_borrowed_copy(series, trusted.get(spec.CPU_PRODUCT, ())),
        device_memory_gbps=_device_memory_gbps(series),
        crosses_nodes=any(spec.NODES_APART in point.timing for point in measured),
        noise=find_noise_floor(_intervals(usable(measured))),
    )


def _by_series(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return the points of each series, by rising x; of several origins the measured one, else the first."""
    chosen: dict[str, tuple[str, Source]] = {}
    for point in sorted(points, key=lambda p: p.source is not Source.MEASURED):
        chosen.setdefault(point.series, (point.device, point.source))
    found: dict[str, list[Point]] = {series: [] for series in chosen}
    for point in sorted(points, key=lambda p: p.x):
        if (point.device, point.source) == chosen[point.series]:
            found[point.series].append(point)
    return found


# -- several series -------------------------------------------------------------------------------


def _link_under_load(points: Sequence[Point]) -> tuple[int | None, int | None]:
    """Return generation and width of the link: the most that was read while copying; idle it reports less."""
    read = [p.conditions for p in points if p.series in spec.LINK_COPIES and p.conditions]
    generations = [c.pcie_generation for c in read if c.pcie_generation is not None]
    widths = [c.pcie_width for c in read if c.pcie_width is not None]
    return max(generations, default=None), max(widths, default=None)


def _best_gbps(series: Sequence[SeriesFinding], name: str) -> float | None:
    found = next((s for s in series if s.series == name and s.is_measured), None)
    return found.fit.plateau_gbps if found and found.fit else None


def _device_memory_gbps(series: Sequence[SeriesFinding]) -> float | None:
    """Return the data sheet's bandwidth of the memory of the GPU that the page is about; None where not known."""
    leader = find_leader(series)
    if leader is None or leader.series not in spec.LINK_COPIES:
        return None
    part = match_reference_gpu(leader.device_name)
    rate = part.memory_bandwidth_bytes_s if part else None
    return rate / 1e9 if rate else None


def _find_pair(
    what: str, own: dict[str, list[Point]], trusted: dict[str, list[Point]], baseline: str, challenger: str
) -> Crossover | NotFound:
    """Return who copies faster, from which size on; only between series of one origin and device."""
    if not (own.get(baseline) and own.get(challenger)):
        return NotFound(what, "only one of the two was measured")
    if own[baseline][0].source is not own[challenger][0].source:
        return NotFound(what, "the two were not measured on the same machine")
    times = _times(trusted[baseline], "cpu").join(_times(trusted[challenger], "gpu"), how="inner")
    return find_crossover(times.reset_index())


def _times(points: Sequence[Point], name: str) -> pd.DataFrame:
    columns = {
        f"{name}_seconds": [p.median_s for p in points],
        f"{name}_seconds_lo": [p.ci_low_s for p in points],
        f"{name}_seconds_hi": [p.ci_high_s for p in points],
    }
    return pd.DataFrame(columns, index=pd.Index([p.x for p in points], name="n", dtype="float64"), dtype="float64")


def _find_pieces(trusted: dict[str, list[Point]], *series: str) -> PiecesCost | NotFound:
    points = next((trusted[name] for name in series if trusted.get(name)), [])
    return find_pieces_cost(points, PIECE_BYTES)


def _find_break_even(trusted: dict[str, list[Point]]) -> BreakEven | NotFound:
    if not trusted.get(spec.GPU_PRODUCT) and not trusted.get(spec.PRODUCT_COPIES):
        return NotFound("break-even", "it needs a GPU: the time of a product on it, and of the copies to it and back")
    copy, cpu, gpu = (
        next(iter(trusted.get(name, ())), None) for name in (spec.PRODUCT_COPIES, spec.CPU_PRODUCT, spec.GPU_PRODUCT)
    )
    side = next((point.shape[0] for point in (cpu, gpu, copy) if point is not None), 0)
    return find_break_even(copy, cpu, gpu, side)


def _intervals(points: Sequence[Point]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "seconds": [p.median_s for p in points],
            "seconds_lo": [p.ci_low_s for p in points],
            "seconds_hi": [p.ci_high_s for p in points],
        },
        dtype="float64",
    )


# -- outside ----------------------------------------------------------------------------------------


def flag_points(points: Sequence[Point], findings: TransferFindings) -> list[Point]:
    """Return the points with what only the whole series can tell: rates above what the link can carry."""
    limits = {spec.H2D_PINNED: findings.link, spec.D2H_PINNED: findings.link_back}
    return [_flag(point, limits.get(point.series)) for point in points]


def _flag(point: Point, link: LinkShare | NotFound | None) -> Point:
    if point.source is not Source.MEASURED or not isinstance(link, LinkShare) or link.is_fact:
        return point
    limit_bytes_s = link.above_theoretical * link.theoretical_gbps * 1e9
    return with_flags(point, Flag.ABOVE_PEAK) if (point.rate_bytes or 0.0) > limit_bytes_s else point


def findings_json(findings: TransferFindings) -> dict[str, Any]:
    """Return the findings under their published names.

    The names at the top are those of the headline series; ``series`` holds every series, and the
    other names what several of them say together.
    """
    headline = findings.headline
    named = {
        name: to_json(getattr(findings, name))
        for name in (
            "link",
            "link_back",
            "pinned",
            "pin_then_copy",
            "threads",
            "fresh",
            "pieces",
            "pinned_pieces",
            "overlap",
            "break_even",
            "borrowed",
            "device_memory_gbps",
            "crosses_nodes",
            "noise",
        )
    }
    return {
        **(to_json(headline.fit) if headline else {}),
        "headline_series": headline.series if headline else None,
        "is_memory_copy": headline is not None and headline.series in spec.MEMORY_COPIES,
        "series": {found.series: to_json(found) for found in findings.series},
        **named,
    }
