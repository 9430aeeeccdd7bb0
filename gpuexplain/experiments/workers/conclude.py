"""What the workers say: speed-up by threads, the same sum four ways, values at once, steps and parted paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import Any

from gpuexplain.analysis.scaling import SerialShare, Speedup, find_serial_share, find_speedups, has_base
from gpuexplain.analysis.trust import trustworthy_enough
from gpuexplain.experiments.workers.spec import (
    BLOCKS,
    DIVERGENT,
    SUM_LOOP,
    SUMS,
    THREADS,
    UNIFORM,
)
from gpuexplain.findings import NotFound, to_json
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.points import usable

# Few CPUs clock as high, and only on a core or two, so rate / clock is never too large.
FASTEST_CPU_CLOCK_HZ = 6.2e9
FASTEST_CPU_CLOCK_SOURCE = "6.2 GHz, the turbo clock of an Intel Core i9-14900KS (Intel's product specifications)"
# The claim holds when even at this clock, below that of any CPU at work, the rate needs no more values than cores.
SLOWEST_CPU_CLOCK_HZ = 0.4e9
# Inside a round of blocks the time is flat within this; to the next round it rises by more than that.
STEP_FLAT_WITHIN = 1.15
STEP_RISES_BY = 1.25
# Parted paths cost something when the interval of the ratio lies above this.
DIVERGES_ABOVE = 1.05


class Verdict(StrEnum):
    """Whether a claim of the article held here."""

    HELD = "held"
    NOT_HELD = "not_held"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class ValuesAtOnce:
    """How many multiply-adds a CPU does in one clock, at least: the claim says at most ``cores``."""

    verdict: Verdict  # of "a CPU with n cores computes at most n values at once"
    cores: int
    at_least: float
    at_most: float  # at the slowest clock
    rate_flops: float
    clock_hz: float = FASTEST_CPU_CLOCK_HZ
    slowest_clock_hz: float = SLOWEST_CPU_CLOCK_HZ
    clock_source: str = FASTEST_CPU_CLOCK_SOURCE


@dataclass(frozen=True, slots=True)
class SumWay:
    """One way to add the same numbers, beside the Python loop."""

    series: str
    time_s: float
    factor: float  # loop time / its time
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Staircase:
    """Whether the time of equal blocks rises in steps at multiples of the multiprocessors."""

    verdict: Verdict
    multiprocessors: int
    round_s: tuple[float, ...]  # median time of each full round
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Divergence:
    """What parted paths cost: time parted / time together, of the same work."""

    verdict: Verdict
    factor: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorkersFindings:
    """Everything the charts and words of this page may use beside the points."""

    side: int | None
    device_name: str
    source: Source
    speedups: tuple[Speedup, ...]
    serial: SerialShare | NotFound
    at_once: ValuesAtOnce | NotFound
    sums: tuple[SumWay, ...]
    staircase: Staircase | None  # None: no GPU in these points
    divergence: Divergence | None
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def most(self) -> Speedup | None:
        """The speed-up of the largest count of threads, where there is more than one."""
        return self.speedups[-1] if len(self.speedups) > 1 else None


def _has_loop(sums: Sequence[Point]) -> bool:
    names = {p.series for p in sums}
    return SUM_LOOP in names and len(names) > 1


def find_workers_findings(points: Sequence[Point]) -> WorkersFindings:
    """Return what the points say; those measured here, else those of the first other origin."""
    ordered = sorted(points, key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in ordered if (p.source, p.source_note) == (ordered[0].source, ordered[0].source_note)]
    threads, provisional_threads = trustworthy_enough([p for p in own if p.series == THREADS], has_base)
    sums, provisional_sums = trustworthy_enough([p for p in own if p.series in SUMS], _has_loop)
    gpu = [p for p in own if p.series in (BLOCKS, UNIFORM, DIVERGENT)]
    speedups = find_speedups(threads)
    return WorkersFindings(
        side=threads[0].shape[0] if threads and threads[0].shape else None,
        device_name=next((p.device_name for p in own if p.device == "cpu"), ""),
        source=own[0].source if own else Source.MEASURED,
        speedups=speedups,
        serial=find_serial_share(speedups),
        at_once=_find_at_once(threads),
        sums=_find_sums(sums),
        staircase=_find_staircase(gpu) if gpu else None,
        divergence=_find_divergence(gpu) if gpu else None,
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional_threads or provisional_sums,
    )


def _find_at_once(threads: Sequence[Point]) -> ValuesAtOnce | NotFound:
    good = [p for p in usable(threads) if p.rate_flops]
    if not good:
        return NotFound("values at once", "no product was timed")
    most = max(good, key=lambda p: p.x)
    cores, rate_flops = int(most.x), most.rate_flops or 0.0
    slowest_s, fastest_s = most.ci_high_s or most.max_s, most.ci_low_s or most.min_s
    if not slowest_s or not fastest_s or not most.flops:
        return NotFound("values at once", "the product has no interval")
    at_least = most.flops / 2 / slowest_s / FASTEST_CPU_CLOCK_HZ
    at_most = most.flops / 2 / fastest_s / SLOWEST_CPU_CLOCK_HZ
    verdict = Verdict.CANNOT_TELL
    if at_least > cores:
        verdict = Verdict.NOT_HELD
    elif at_most <= cores:
        verdict = Verdict.HELD
    return ValuesAtOnce(verdict, cores, at_least, at_most, rate_flops)


def _find_sums(points: Sequence[Point]) -> tuple[SumWay, ...]:
    by_series = {p.series: p for p in usable(points)}
    loop = by_series.get(SUM_LOOP)
    if loop is None or not loop.median_s:
        return ()
    return tuple(_sum_way(loop, by_series[series]) for series in SUMS if series in by_series)


def _sum_way(loop: Point, other: Point) -> SumWay:
    assert loop.median_s
    assert other.median_s
    has_bounds = loop.ci_low_s and loop.ci_high_s and other.ci_low_s and other.ci_high_s
    low = (loop.ci_low_s or 0) / (other.ci_high_s or 1) if has_bounds else None
    high = (loop.ci_high_s or 0) / (other.ci_low_s or 1) if has_bounds else None
    return SumWay(other.series, other.median_s, loop.median_s / other.median_s, low, high)


def _find_staircase(points: Sequence[Point]) -> Staircase:
    blocks = sorted((p for p in usable(points) if p.series == BLOCKS and p.median_s), key=lambda p: p.x)
    if not blocks:
        reason = next((p.reason for p in points if p.series == BLOCKS and p.reason), "no blocks were timed")
        return Staircase(Verdict.CANNOT_TELL, 0, (), reason)
    width = _find_width(points)
    if not width:
        return Staircase(Verdict.CANNOT_TELL, 0, (), "how many multiprocessors there are is not known")
    rounds: dict[int, list[float]] = {}
    for p in blocks:
        rounds.setdefault(-(-int(p.x) // width), []).append(p.median_s or 0.0)
    full = {number: times for number, times in rounds.items() if len(times) > 1}
    if len(full) < 2:
        return Staircase(Verdict.CANNOT_TELL, width, (), "too few blocks were timed")
    is_flat = all(max(times) <= STEP_FLAT_WITHIN * min(times) for times in full.values())
    heights = tuple(median(full[number]) for number in sorted(full))
    rises = all(b > STEP_RISES_BY * a for a, b in pairwise(heights))
    if is_flat and rises:
        return Staircase(Verdict.HELD, width, heights)
    reason = "the time is not flat inside a round" if not is_flat else "the time does not rise from round to round"
    return Staircase(Verdict.NOT_HELD, width, heights, reason)


def _find_width(points: Sequence[Point]) -> int:
    """Return the multiprocessors that the blocks were planned for: the second number of their shape."""
    return max((p.shape[1] for p in points if p.series == BLOCKS and len(p.shape) > 1), default=0)


def _find_divergence(points: Sequence[Point]) -> Divergence:
    by_series = {p.series: p for p in points}
    parted, together = by_series.get(DIVERGENT), by_series.get(UNIFORM)
    if parted is None or together is None or not parted.median_s or not together.median_s:
        reason = next((p.reason for p in (parted, together) if p is not None and p.reason), "it was not timed")
        return Divergence(Verdict.CANNOT_TELL, reason=reason)
    factor = parted.median_s / together.median_s
    if not (parted.ci_low_s and parted.ci_high_s and together.ci_low_s and together.ci_high_s):
        return Divergence(Verdict.CANNOT_TELL, factor, reason="under six samples: no interval")
    low, high = parted.ci_low_s / together.ci_high_s, parted.ci_high_s / together.ci_low_s
    if low > DIVERGES_ABOVE:
        return Divergence(Verdict.HELD, factor, low, high)
    if high <= DIVERGES_ABOVE:
        return Divergence(Verdict.NOT_HELD, factor, low, high)
    return Divergence(Verdict.CANNOT_TELL, factor, low, high, "the intervals are too wide")


def flag_points(points: Sequence[Point], findings: WorkersFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: no rule of this page needs the whole series."""
    return list(points)


def findings_json(findings: WorkersFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
