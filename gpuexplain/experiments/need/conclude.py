"""For which work does a GPU pay here, and, where there is none, for which do more threads pay?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.need.spec import (
    ALL_THREADS,
    CLASSICAL,
    MLP,
    ON_GPU,
    ONE_THREAD,
    SERIES,
    SHAPES,
    TRAINED,
    WORKLOADS,
)
from gpuexplain.findings import NoiseFloor, NotFound, to_json
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.points import points_frame

# Nobody buys, rents or ports for less than a tenth; a steady machine can tell a tenth from chance.
LEAST_ZONE = 0.10
# A run that cannot tell apart more than this has no zone of "no difference": it is too noisy to say.
MOST_ZONE = 0.25
# A training that ends within a minute needs no other device to be bearable.
SOON_S = 60.0
# Of a small network: sixteen times through 4,000 examples in batches of 64.
STEPS_OF_A_TRAINING = 1000


class Verdict(StrEnum):
    """How one way to run a workload stands beside another."""

    PAYS = "pays"
    NO_DIFFERENCE = "no_difference"  # within the noise zone
    SLOWER = "slower"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One workload run two ways; seconds of one call.

    ``ratio`` is the time of the plain way / the time of the other, with its bounds: above 1 the other
    is the faster one. The other is the GPU, copies included (plain: all threads of the CPU), or all
    threads (plain: one thread).
    """

    workload: str
    x: float  # examples of one call
    plain_s: float | None
    other_s: float | None
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    reason: str = ""  # why it cannot be told
    is_by_threads: bool = False


@dataclass(frozen=True, slots=True)
class CpuTime:
    """What one call takes with all threads of the CPU (seconds), with its interval."""

    workload: str
    x: float
    time_s: float
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, slots=True)
class Training:
    """What training takes on the CPU (seconds): a whole fit, or ``n_steps`` of a network's steps.

    ``is_soon``: the whole interval ends within ``SOON_S``; None where it reaches over it or there is none.
    """

    workload: str
    n_steps: int
    time_s: float
    is_soon: bool | None


@dataclass(frozen=True, slots=True)
class BreakEvenBatch:
    """The last batch measured at which the other way does not pay (None: it always does), and the first after it."""

    low: float | None
    high: float


@dataclass(frozen=True, slots=True)
class NeedFindings:
    """Everything the charts and words of this page may use beside the points."""

    has_gpu: bool  # whether the work was tried on one
    device_name: str  # of the GPU, else of the CPU
    threads: int | None  # all of them
    source: Source
    zone: float  # differences up to this share are no difference
    cpu: tuple[CpuTime, ...]
    trainings: tuple[Training, ...]
    on_gpu: tuple[Comparison, ...]  # GPU over all threads of the CPU
    by_threads: tuple[Comparison, ...]  # all threads over one
    by_batch: tuple[Comparison, ...]  # the MLP's step, by its examples: on the GPU, else by threads
    break_even: BreakEvenBatch | NotFound
    missing: tuple[str, ...] = ()  # workloads without any point
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def compared(self) -> tuple[Comparison, ...]:
        """What the chart shows: the GPU's comparisons, where there is none those of threads."""
        return self.on_gpu if self.has_gpu else self.by_threads

    def of(self, workload: str) -> Comparison | None:
        """Return the comparison of a workload that the page is about."""
        return next((c for c in self.compared if c.workload == workload), None)

    def with_verdict(self, verdict: Verdict) -> tuple[Comparison, ...]:
        """Return the comparisons that ended so."""
        return tuple(c for c in self.compared if c.verdict is verdict)


def find_need_findings(points: Sequence[Point]) -> NeedFindings:
    """Return what the points say; those measured here come before any other."""
    known = sorted((p for p in points if p.series in SERIES), key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in known if (p.source, p.source_note) == (known[0].source, known[0].source_note)]
    good: dict[tuple[str, str, float], Point] = {}
    provisional = False
    for series, x in dict.fromkeys((p.series, p.x) for p in own):
        trusted, is_provisional = most_trustworthy([p for p in own if (p.series, p.x) == (series, x)])
        if trusted:
            good[(*SERIES[series], x)] = trusted[0]
            provisional = provisional or is_provisional
    zone = _find_zone(list(good.values()))
    has_gpu = any(SERIES[p.series][1] == ON_GPU for p in own)
    main = {workload: _main_x(own, workload) for workload in WORKLOADS}
    gpu_points = [p for p in own if p.device != CPU]
    first = next(iter(gpu_points or own), None)
    batches = sorted({p.x for p in own if SERIES[p.series][0] == MLP})
    ways = (ALL_THREADS, ON_GPU) if has_gpu else (ONE_THREAD, ALL_THREADS)
    by_batch = tuple(c for x in batches if (c := _compare(own, good, MLP, x, *ways, zone)) is not None)

    def compare(plain: str, other: str) -> tuple[Comparison, ...]:
        found = (_compare(own, good, work, x, plain, other, zone) for work, x in main.items() if x is not None)
        return tuple(comparison for comparison in found if comparison is not None)

    cpu = tuple(_cpu_time(good, work, x) for work, x in main.items() if x and (work, ALL_THREADS, x) in good)
    return NeedFindings(
        has_gpu=has_gpu,
        device_name=first.device_name if first else "",
        threads=next((p.threads for p in own if SERIES[p.series][1] == ALL_THREADS), None),
        source=own[0].source if own else Source.MEASURED,
        zone=zone,
        cpu=cpu,
        trainings=tuple(_training(t) for t in cpu if t.workload in TRAINED),
        on_gpu=compare(ALL_THREADS, ON_GPU),
        by_threads=compare(ONE_THREAD, ALL_THREADS),
        by_batch=by_batch,
        break_even=find_break_even(by_batch),
        missing=tuple(work for work, x in main.items() if x is None) if own else (),
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
    )


def _find_zone(good: Sequence[Point]) -> float:
    """Return the share within which two times are no different: a tenth, more where the run is noisy."""
    frame = points_frame(good).rename(
        columns={"median_s": "seconds", "ci_low_s": "seconds_lo", "ci_high_s": "seconds_hi"}
    )
    noise = find_noise_floor(frame)
    return min(MOST_ZONE, max(LEAST_ZONE, noise.median_difference)) if isinstance(noise, NoiseFloor) else LEAST_ZONE


def _main_x(own: Sequence[Point], workload: str) -> float | None:
    """Return the examples of the call that stands for a workload; None where it has no point."""
    sizes = sorted({p.x for p in own if SERIES[p.series] == (workload, ALL_THREADS)})
    named = [x for x in sizes if x in {shapes[workload][0] for shapes in SHAPES.values()}]  # one of a batch's several
    return next(reversed(named or sizes), None)


def _cpu_time(good: dict[tuple[str, str, float], Point], workload: str, x: float) -> CpuTime:
    point = good[workload, ALL_THREADS, x]
    assert point.median_s is not None
    return CpuTime(workload, x, point.median_s, point.ci_low_s, point.ci_high_s)


def _training(cpu: CpuTime) -> Training:
    n_steps = 1 if cpu.workload in CLASSICAL else STEPS_OF_A_TRAINING
    is_soon = None
    if cpu.low_s is not None and cpu.high_s is not None:
        is_soon = True if n_steps * cpu.high_s <= SOON_S else False if n_steps * cpu.low_s > SOON_S else None
    return Training(cpu.workload, n_steps, n_steps * cpu.time_s, is_soon)


def _compare(
    own: Sequence[Point],
    good: dict[tuple[str, str, float], Point],
    workload: str,
    x: float,
    plain_way: str,
    other_way: str,
    zone: float,
) -> Comparison | None:
    """Return how the other way stands beside the plain one; None where it was not tried."""
    tried = [p for p in own if SERIES[p.series] == (workload, other_way) and p.x == x]
    if not tried:
        return None
    by_threads = plain_way == ONE_THREAD
    plain, other = good.get((workload, plain_way, x)), good.get((workload, other_way, x))
    plain_s, other_s = (p.median_s if p is not None else None for p in (plain, other))
    if not plain_s or not other_s or plain is None or other is None:
        why = next((p.reason for p in tried if p.status is not Status.OK), "") or "one of the two has no time"
        return Comparison(workload, x, plain_s, other_s, None, None, None, Verdict.CANNOT_TELL, why, by_threads)
    low, high = _bounds(plain, other)
    verdict, reason = judge(low, high, zone)
    ratio = plain_s / other_s
    return Comparison(workload, x, plain_s, other_s, ratio, low, high, verdict, reason, by_threads)


def _bounds(plain: Point, other: Point) -> tuple[float | None, float | None]:
    if not (plain.ci_low_s and plain.ci_high_s and other.ci_low_s and other.ci_high_s):
        return None, None
    return plain.ci_low_s / other.ci_high_s, plain.ci_high_s / other.ci_low_s


def judge(low: float | None, high: float | None, zone: float) -> tuple[Verdict, str]:
    """Return the verdict of a ratio between two bounds, and why there is none.

    The whole interval must lie above the noise zone, below it, or within.
    """
    if low is None or high is None:
        return Verdict.CANNOT_TELL, "one of the two has no interval"
    if low > 1 + zone:
        return Verdict.PAYS, ""
    if high < 1 / (1 + zone):
        return Verdict.SLOWER, ""
    if low >= 1 / (1 + zone) and high <= 1 + zone:
        return Verdict.NO_DIFFERENCE, ""
    return Verdict.CANNOT_TELL, "the interval reaches over an edge of the noise zone"


def find_break_even(by_batch: Sequence[Comparison]) -> BreakEvenBatch | NotFound:
    """Return from which batch on the other way pays, at it and at every larger one measured."""
    judged = [c for c in by_batch if c.ratio is not None]
    if len(judged) < 2:
        return NotFound("break-even", "at least two batches must be measured both ways")
    paying: list[Comparison] = []
    for comparison in reversed(judged):
        if comparison.verdict is not Verdict.PAYS:
            break
        paying.append(comparison)
    if not paying:
        return NotFound("break-even", "at the largest batch measured it does not pay for sure")
    before = len(judged) - len(paying)
    return BreakEvenBatch(judged[before - 1].x if before else None, paying[-1].x)


def flag_points(points: Sequence[Point], findings: NeedFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: no rule of this page needs the whole series."""
    return list(points)


def findings_json(findings: NeedFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
