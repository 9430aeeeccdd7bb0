"""What the points of a matmul sweep say: peaks, crossovers, the cold call, the launch floor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gpuexplain.analysis.crossover import find_crossover
from gpuexplain.analysis.launch import find_cold_call, find_launch_floor
from gpuexplain.analysis.matmul_peak import find_matmul_peak
from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.matmul.spec import (
    CPU,
    CPU_ONE_THREAD,
    GPU_CALL,
    GPU_DEVICE,
    GPU_WITH_TRANSFER,
    SERIES,
)
from gpuexplain.findings import (
    ColdCall,
    Crossover,
    LaunchFloor,
    MatmulPeak,
    NoiseFloor,
    NotFound,
    Plausibility,
    to_json,
)
from gpuexplain.model import Clock, Dtype, Flag, Point, Source, Status
from gpuexplain.points import usable, with_flags

# Baseline and challenger, in the order in which a reader wants to hear about them.
PAIRS: tuple[tuple[str, str], ...] = (
    (CPU, GPU_CALL),
    (CPU, GPU_DEVICE),
    (CPU_ONE_THREAD, GPU_CALL),
    (CPU_ONE_THREAD, CPU),
)


@dataclass(frozen=True, slots=True)
class SeriesFinding:
    """What one series says on its own."""

    series: str
    device: str
    device_name: str
    source: Source
    source_note: str
    dtype: Dtype
    clock: Clock
    threads: int | None
    peak: MatmulPeak
    cold_call: ColdCall | NotFound
    launch_floor: LaunchFloor | NotFound
    smallest_n: float
    largest_n: float
    flagged: tuple[tuple[Flag, int], ...]  # how many points carry each flag
    failed: tuple[tuple[float, Status, str], ...]  # (x, status, reason)
    is_provisional: bool = False  # no point is free of load, so the disturbed ones had to do

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Who wins between two series, and from where."""

    baseline: SeriesFinding
    challenger: SeriesFinding
    crossover: Crossover

    @property
    def id(self) -> str:
        """Name of the pair in ``--json``."""
        return f"{self.baseline.series} vs {self.challenger.series}"


@dataclass(frozen=True, slots=True)
class MatmulFindings:
    """Everything the chart and the words of this page may use beside the points."""

    dtype: Dtype | None
    series: tuple[SeriesFinding, ...]
    pairs: tuple[PairFinding, ...]
    noise: NoiseFloor | NotFound

    @property
    def headline_pair(self) -> PairFinding | None:
        """The pair the page's answer is about: CPU against GPU, else one thread against all."""
        return self.pairs[0] if self.pairs else None

    @property
    def headline_series(self) -> SeriesFinding | None:
        """The series whose peak the page names: this machine's fastest device."""
        measured = [s for s in self.series if s.is_measured and s.peak.best_tflops is not None]
        by_rate = sorted(measured, key=lambda s: s.peak.best_tflops or 0.0)
        return by_rate[-1] if by_rate else None

    def of(self, series: str) -> SeriesFinding | None:
        """Return the finding of a series by its id."""
        return next((s for s in self.series if s.series == series), None)


def find_matmul_findings(points: Sequence[Point]) -> MatmulFindings:
    """Return what the points say; published points may stand beside measured ones."""
    points = [p for p in points if p.series in SERIES]  # a run from elsewhere may hold others
    # Of a series with several origins the measured one is concluded from.
    by_origin = sorted(points, key=lambda p: p.source is not Source.MEASURED)
    keys = list(dict.fromkeys((p.series, p.device, p.source) for p in by_origin))
    found: dict[str, tuple[SeriesFinding, list[Point]]] = {}
    for key in keys:
        own = sorted((p for p in points if (p.series, p.device, p.source) == key), key=lambda p: p.x)
        found.setdefault(key[0], (_find_series(own), own))
    return MatmulFindings(
        dtype=points[0].dtype if points else None,
        series=tuple(series for series, _ in found.values()),
        pairs=tuple(_find_pairs(found)),
        noise=find_noise_floor(_intervals([p for p in usable(points) if p.source is Source.MEASURED])),
    )


def _find_series(own: list[Point]) -> SeriesFinding:
    first = own[0]
    good, is_provisional = most_trustworthy(own)
    peak = find_matmul_peak(
        _rates(good),
        gpu_name=first.device_name if first.device != CPU else None,
        dtype=first.dtype if first.device != CPU else None,
    )
    return SeriesFinding(
        series=first.series,
        device=first.device,
        device_name=first.device_name,
        source=first.source,
        source_note=first.source_note,
        dtype=first.dtype,
        clock=first.clock,
        threads=first.threads,
        peak=peak,
        cold_call=find_cold_call(own),
        launch_floor=find_launch_floor(good),
        smallest_n=own[0].x,
        largest_n=own[-1].x,
        flagged=tuple((f, c) for f in Flag if (c := sum(f in p.flags for p in own))),
        failed=tuple((p.x, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=is_provisional,
    )


def _find_pairs(found: dict[str, tuple[SeriesFinding, list[Point]]]) -> list[PairFinding]:
    pairs = []
    for baseline, challenger in PAIRS:
        if baseline in found and challenger in found:
            with_transfer = found.get(GPU_WITH_TRANSFER) if challenger in (GPU_CALL, GPU_DEVICE) else None
            frame = pair_frame(
                _trusted(found[baseline]),
                _trusted(found[challenger]),
                _trusted(with_transfer) if with_transfer else [],
            )
            pairs.append(PairFinding(found[baseline][0], found[challenger][0], find_crossover(frame)))
    return pairs


def _trusted(series: tuple[SeriesFinding, list[Point]]) -> list[Point]:
    """Return the points of a series to compare, without those that its own rule calls suspect."""
    finding, points = series
    return [p for p in most_trustworthy(points)[0] if p.x not in finding.peak.suspect_n]


def pair_frame(
    baseline: Sequence[Point], challenger: Sequence[Point], with_transfer: Sequence[Point] = ()
) -> pd.DataFrame:
    """Return the common sizes of two series as ``find_crossover`` reads them (seconds)."""
    joined = _timed(baseline, "cpu").join(_timed(challenger, "gpu"), how="inner")
    if with_transfer:
        joined = joined.join(_timed(with_transfer, "gpu_with_transfer"), how="left")
    return joined.reset_index()


def _timed(points: Sequence[Point], name: str) -> pd.DataFrame:
    """Return median and interval of the trustworthy points, by size."""
    good = usable(points)
    columns = {
        f"{name}_seconds": [p.median_s for p in good],
        f"{name}_seconds_lo": [p.ci_low_s for p in good],
        f"{name}_seconds_hi": [p.ci_high_s for p in good],
    }
    return pd.DataFrame(columns, index=pd.Index([p.x for p in good], name="n", dtype="float64"), dtype="float64")


def _rates(points: Sequence[Point]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "n": [p.x for p in points],
            "seconds": [p.median_s for p in points],
            "tflops": [(p.rate_flops or 0.0) / 1e12 for p in points],
        },
        dtype="float64",
    )


def _intervals(points: Sequence[Point]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "seconds": [p.median_s for p in points],
            "seconds_lo": [p.ci_low_s for p in points],
            "seconds_hi": [p.ci_high_s for p in points],
        },
        dtype="float64",
    )


def flag_points(points: Sequence[Point], findings: MatmulFindings) -> list[Point]:
    """Return the points with what only the whole series can tell: suspect, above the peak."""
    flagged = []
    for point in points:
        series = findings.of(point.series)
        if series and (series.device, series.source) != (point.device, point.source):
            series = None  # the finding is about another origin of the same series
        if series and point.x in series.peak.suspect_n:
            point = with_flags(point, Flag.SUSPECT)
        if series and series.peak.plausibility is Plausibility.IMPLAUSIBLE and point.x == series.peak.best_n:
            point = with_flags(point, Flag.ABOVE_PEAK)
        flagged.append(point)
    return flagged


def findings_json(findings: MatmulFindings) -> dict[str, Any]:
    """Return the findings under their published names.

    The names at the top are those of the headline series; ``series`` and ``crossover`` hold every
    series and every pair.
    """
    headline = findings.headline_series or next(iter(findings.series), None)
    return {
        **(to_json(headline.peak) if headline else {}),
        "headline_series": headline.series if headline else None,
        "series": {s.series: to_json(s) for s in findings.series},
        "crossover": {pair.id: to_json(pair.crossover) for pair in findings.pairs},
        "noise": to_json(findings.noise),
    }
