"""What the points of a batch sweep say: knee, free examples, memory, ceiling, alignment, who wins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gpuexplain.analysis.batch_alignment import find_alignment
from gpuexplain.analysis.batch_free import find_free_batch
from gpuexplain.analysis.batch_knee import find_batch_knee
from gpuexplain.analysis.batch_memory import find_batch_ceiling, find_memory_fit
from gpuexplain.analysis.crossover import find_crossover
from gpuexplain.analysis.launch import find_cold_call
from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.batch.series import LOOKS, SeriesName, read_series
from gpuexplain.findings import (
    Alignment,
    BatchCeiling,
    BatchKnee,
    ColdCall,
    Crossover,
    FreeBatch,
    MemoryFit,
    NoiseFloor,
    NotFound,
    to_json,
)
from gpuexplain.model import Dtype, Flag, Point, Source, Status
from gpuexplain.points import usable

# The extremes of three samples enclose the median three times out of four, of five nearly always.
FEWEST_FOR_EXTREMES = 3
# Bounds this far apart decide nothing.
UNKNOWN_FACTOR = 100.0


@dataclass(frozen=True, slots=True)
class BatchAt:
    """One batch of a series: its step time (s), examples and operations a second, how busy the GPU was (0 to 1)."""

    batch: int
    step_s: float
    rate_items: float
    rate_flops: float | None = None
    utilisation: float | None = None


@dataclass(frozen=True, slots=True)
class SeriesFinding:
    """What one series says on its own."""

    series: str
    device: str
    device_name: str
    source: Source
    source_note: str
    dtype: Dtype
    threads: int | None
    width: int | None
    depth: int | None
    knee: BatchKnee
    smallest: BatchAt | None
    at_knee: BatchAt | None
    best: BatchAt | None
    free: FreeBatch | NotFound
    memory: MemoryFit
    ceiling: BatchCeiling | NotFound
    launch_limit: int | None  # first batch that a launch refused, memory not being the reason
    alignment: Alignment | NotFound
    cold_call: ColdCall | NotFound
    flagged: tuple[tuple[Flag, int], ...]  # how many points carry each flag
    failed: tuple[tuple[float, Status, str], ...]  # (batch, status, reason)
    is_provisional: bool = False  # no point is free of load, so the disturbed ones had to do

    @property
    def name(self) -> SeriesName:
        """What the series is about."""
        return read_series(self.series)

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def ran_out_of_memory(self) -> str:
        """Why the first batch that did not fit failed, and whether the process went on; "" when all fitted."""
        return next((reason for _, status, reason in self.failed if status is Status.OOM), "")


@dataclass(frozen=True, slots=True)
class BatchFindings:
    """Everything the charts and the words of this page may use beside the points."""

    series: tuple[SeriesFinding, ...]
    crossover: Crossover | None  # the CPU against the GPU, both measured here, by batch
    noise: NoiseFloor | NotFound

    @property
    def headline_series(self) -> SeriesFinding | None:
        """What the page's answer is about: this machine's GPU, else its CPU, else what there is from elsewhere."""
        measured = [s for s in self.series if s.is_measured and s.best is not None]
        elsewhere = [s for s in self.series if not s.is_measured and s.best is not None]
        gpus = [s for s in measured if not s.name.is_cpu]
        return next(iter(gpus or measured or elsewhere), None)

    @property
    def baseline(self) -> SeriesFinding | None:
        """The CPU beside a GPU that the answer is about."""
        headline = self.headline_series
        if headline is None or headline.name.is_cpu or not headline.is_measured:
            return None
        cpus = (s for s in self.series if s.is_measured and s.name.is_cpu and s.best is not None)
        return next(cpus, None)

    def of(self, series: str) -> SeriesFinding | None:
        """Return the finding of a series by its id."""
        return next((s for s in self.series if s.series == series), None)


def find_batch_findings(points: Sequence[Point]) -> BatchFindings:
    """Return what the points say; published points may stand beside measured ones."""
    points = [p for p in points if p.series in LOOKS]  # a run from elsewhere may hold others
    # Of a series with several origins the measured one is concluded from.
    by_origin = sorted(points, key=lambda p: p.source is not Source.MEASURED)
    found: dict[str, tuple[SeriesFinding, list[Point]]] = {}
    for series, device, source in dict.fromkeys((p.series, p.device, p.source) for p in by_origin):
        own = sorted((p for p in points if (p.series, p.device, p.source) == (series, device, source)), key=_batch)
        if series not in found:
            found[series] = (_find_series(own), own)
    measured = {name: own for name, (finding, own) in found.items() if finding.is_measured}
    return BatchFindings(
        series=tuple(finding for finding, _ in found.values()),
        crossover=_find_crossover(measured),
        noise=find_noise_floor(_frame([p for p in usable(points) if p.source is Source.MEASURED])),
    )


def _batch(point: Point) -> float:
    return point.x


def _find_series(own: list[Point]) -> SeriesFinding:
    first = own[0]
    trusted, is_provisional = most_trustworthy(own)
    good = [_with_bounds(p) for p in trusted]
    # What did not run is part of the knee's frame, what ran beside other work is not.
    knee = find_batch_knee(_frame([*good, *(p for p in own if p.status is not Status.OK)]))
    memory = find_memory_fit(_memory_frame(own))
    failed = tuple((p.x, p.status, p.reason) for p in own if p.status is not Status.OK)
    ran = [int(p.x) for p in own if p.status is Status.OK and p.median_s]
    return SeriesFinding(
        series=first.series,
        device=first.device,
        device_name=first.device_name,
        source=first.source,
        source_note=first.source_note,
        dtype=first.dtype,
        threads=first.threads,
        width=first.shape[1] if len(first.shape) > 1 else None,
        depth=first.shape[2] if len(first.shape) > 2 else None,
        knee=knee,
        smallest=_batch_at(good, good[0].x if good else None),
        at_knee=_batch_at(good, knee.knee_batch),
        best=_batch_at(good, knee.best_batch),
        free=find_free_batch(_frame(good)),
        memory=memory,
        ceiling=find_batch_ceiling(memory, _limit(own), max(ran, default=None), _first(failed, Status.OOM)),
        launch_limit=_first(failed, Status.LAUNCH_LIMIT),
        alignment=find_alignment(_frame(good)),
        cold_call=find_cold_call(own),
        flagged=tuple((f, c) for f in Flag if (c := sum(f in p.flags for p in own))),
        failed=failed,
        is_provisional=is_provisional,
    )


def _batch_at(good: Sequence[Point], batch: float | None) -> BatchAt | None:
    point = next((p for p in good if p.x == batch), None)
    if point is None or point.median_s is None:
        return None
    return BatchAt(
        batch=int(point.x),
        step_s=point.median_s,
        rate_items=point.x / point.median_s,
        rate_flops=point.rate_flops,
        utilisation=point.conditions.gpu_utilisation if point.conditions else None,
    )


def _first(failed: Sequence[tuple[float, Status, str]], wanted: Status) -> int | None:
    return min((int(batch) for batch, status, _ in failed if status is wanted), default=None)


def _limit(own: Sequence[Point]) -> int | None:
    return next((p.gauges.memory_limit_bytes for p in own if p.gauges and p.gauges.memory_limit_bytes), None)


def held_bytes(point: Point) -> int | None:
    """Return the peak memory of a step: live tensors on a GPU, growth of the process on a CPU."""
    if point.gauges is None or point.status is not Status.OK:
        return None
    if point.gauges.memory_allocated_bytes is not None:
        return point.gauges.memory_allocated_bytes
    return point.gauges.memory_resident_bytes


def _frame(points: Sequence[Point]) -> pd.DataFrame:
    """Return the points as the analyses read them: batch, seconds with bounds, status."""
    return pd.DataFrame(
        {
            "batch": pd.Series([p.x for p in points], dtype="float64"),
            "seconds": pd.Series([p.median_s for p in points], dtype="float64"),
            "seconds_lo": pd.Series([p.ci_low_s for p in points], dtype="float64"),
            "seconds_hi": pd.Series([p.ci_high_s for p in points], dtype="float64"),
            "status": pd.Series([str(p.status) for p in points], dtype="string"),
        }
    )


def _with_bounds(point: Point) -> Point:
    """Return a point whose bounds are known: its interval, else its extremes, else bounds that decide nothing.

    What others published stays as it is: its figures are all there is.
    """
    if point.source is not Source.MEASURED or point.ci_low_s is not None or point.median_s is None:
        return point
    low_s, high_s = point.min_s, point.max_s
    if point.n_samples < FEWEST_FOR_EXTREMES or low_s is None or high_s is None:
        low_s, high_s = point.median_s / UNKNOWN_FACTOR, point.median_s * UNKNOWN_FACTOR
    return point.model_copy(update={"ci_low_s": low_s, "ci_high_s": high_s})


def _memory_frame(points: Sequence[Point]) -> pd.DataFrame:
    return pd.DataFrame({"batch": [p.x for p in points], "bytes": [held_bytes(p) for p in points]}, dtype="float64")


def _find_crossover(measured: dict[str, list[Point]]) -> Crossover | None:
    """Return from which batch on the GPU is faster than the CPU, where both ran the same step here."""
    cpu = next((own for name, own in measured.items() if read_series(name).is_cpu), None)
    gpu = next((own for name, own in measured.items() if not read_series(name).is_cpu), None)
    if cpu is None or gpu is None or read_series(cpu[0].series).work != read_series(gpu[0].series).work:
        return None
    columns = ("seconds", "seconds_lo", "seconds_hi")
    frames = [
        _frame([_with_bounds(p) for p in most_trustworthy(own)[0]])
        .set_index("batch")[[*columns]]
        .add_prefix(f"{side}_")
        for side, own in (("cpu", cpu), ("gpu", gpu))
    ]
    return find_crossover(frames[0].join(frames[1], how="inner").reset_index(names="n"))


def flag_points(points: Sequence[Point], _findings: BatchFindings) -> list[Point]:
    """Return the points as they are: nothing here can be told of one point by the others."""
    return list(points)


def findings_json(findings: BatchFindings) -> dict[str, Any]:
    """Return the findings under their published names.

    The names at the top are those of the headline series' knee; ``series`` holds every series.
    """
    headline = findings.headline_series or next(iter(findings.series), None)
    return {
        **(to_json(headline.knee) if headline else {}),
        "headline_series": headline.series if headline else None,
        "series": {s.series: to_json(s) for s in findings.series},
        "crossover": to_json(findings.crossover),
        "noise": to_json(findings.noise),
    }
