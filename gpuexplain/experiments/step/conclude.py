"""What a training step spends its time and memory on, what binds it, and what to try first."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step.spec import (
    BACKWARD,
    COMPONENTS,
    COPY,
    DEVICE_MEMORY,
    FORWARD,
    IDLE,
    INFERENCE,
    LOAD,
    LOSS,
    MEMORY_PREFIX,
    OPTIMISER,
    PHASES,
    PRODUCT,
    STEP,
    STEP_LOADED,
)
from gpuexplain.findings import NotFound, to_json
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import format_percent

# A part that takes this share of the step is what one should look at first.
BOUND_BY_SHARE = 0.4
# A step that reaches this share of the device's speed in a large product is limited by arithmetic.
COMPUTE_BOUND_SHARE = 0.5
# Under this share of it, on a GPU, the launches take longer than the work.
LAUNCH_BOUND_SHARE = 0.05
# Workers help when the interval of the gain lies above this.
WORKERS_HELP_ABOVE = 1.05
# Counted and measured memory agree within this.
MEMORY_AGREES = 0.25
_WHAT = "what binds the step"
_DOING = {LOAD: "loading", COPY: "copying"}


class Bound(StrEnum):
    """What a step waits for."""

    INPUT = "input"
    TRANSFER = "transfer"
    LAUNCH = "launch"
    COMPUTE = "compute"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a step: its time, and its share of all parts."""

    name: str
    time_s: float
    low_s: float | None
    high_s: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What binds the step, by which rule, and its numbers."""

    bound: Bound
    share: float  # of the step (input, transfer), or of the product's speed (others)
    low: float | None = None  # bounds of the share, by the intervals of all parts
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Idle:
    """For how long the device has nothing to do in the whole step, and the bounds as shares of the step."""

    time_s: float
    share: float
    low: float | None
    high: float | None


NO_IDLE = NotFound("idle time", "it was not measured")


@dataclass(frozen=True, slots=True)
class Component:
    """Bytes of one component: measured, and counted from the shape."""

    name: str
    measured_bytes: float
    predicted_bytes: float | None

    @property
    def agrees(self) -> bool | None:
        """Whether the count lies within a quarter of what was measured."""
        if not self.predicted_bytes or not self.measured_bytes:
            return None
        return abs(self.predicted_bytes / self.measured_bytes - 1) <= MEMORY_AGREES


@dataclass(frozen=True, slots=True)
class WorkersGain:
    """How much faster the whole step is when workers load its data ahead."""

    factor: float
    low: float | None
    high: float | None
    helps: bool | None  # None: cannot tell
    n_workers: int = 2


@dataclass(frozen=True, slots=True)
class StepFindings:
    """Everything the charts and words of this page may use beside the points."""

    device: str
    device_name: str
    source: Source
    batch: int | None
    phases: tuple[Phase, ...]
    step_s: float | None  # the whole, its parts not awaited
    examples_s: float | None
    inference_s: float | None
    verdict: Verdict | NotFound
    workers: WorkersGain | NotFound
    components: tuple[Component, ...]
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False
    idle: Idle | NotFound = NO_IDLE
    loaded_s: float | None = None  # the whole, its data loaded ahead
    step_low_s: float | None = None  # 95 % interval of the whole
    step_high_s: float | None = None
    inference_low_s: float | None = None  # and of one example, forward only
    inference_high_s: float | None = None
    device_bytes: float | None = None  # the memory that the device has in all

    @property
    def kept_bytes(self) -> float:
        """What the step keeps in memory, all components together."""
        return sum(component.measured_bytes for component in self.components)

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def matrix_share(self) -> float | None:
        """The share of the computing that forward and backward take: both are mostly products."""
        computing = {p.name: p.time_s for p in self.phases if p.name in (FORWARD, LOSS, BACKWARD, OPTIMISER)}
        total = sum(computing.values())
        return (computing.get(FORWARD, 0.0) + computing.get(BACKWARD, 0.0)) / total if total else None


def find_step_findings(points: Sequence[Point]) -> StepFindings:
    """Return what the points say; those measured here come before any other, counted ones beside them."""
    timed = sorted((p for p in points if p.source is not Source.MODEL), key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in timed if (p.source, p.source_note) == (timed[0].source, timed[0].source_note)]
    good: dict[str, Point] = {}
    provisional = False
    for series in dict.fromkeys(p.series for p in own if not p.series.startswith(MEMORY_PREFIX)):
        trusted, is_provisional = most_trustworthy([p for p in own if p.series == series])
        if trusted:
            good[series] = trusted[0]
            provisional = provisional or is_provisional
    phases = _find_phases(good)
    step, loaded = good.get(STEP), good.get(STEP_LOADED)
    idle = _find_idle(step, good.get(IDLE))
    first = next((p for p in own if p.series != LOAD), own[0] if own else None)
    return StepFindings(
        device=first.device if first else CPU,
        device_name=first.device_name if first else "",
        source=first.source if first else Source.MEASURED,
        batch=step.shape[0] if step and step.shape else None,
        phases=phases,
        step_s=step.median_s if step else None,
        examples_s=step.rate_items if step else None,
        inference_s=good[INFERENCE].median_s if INFERENCE in good else None,
        verdict=_judge(phases, good, first.device if first else CPU, idle),
        workers=_find_workers(step, loaded),
        components=_find_components(points, own),
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
        idle=idle,
        loaded_s=loaded.median_s if loaded else None,
        step_low_s=step.ci_low_s if step else None,
        step_high_s=step.ci_high_s if step else None,
        inference_low_s=good[INFERENCE].ci_low_s if INFERENCE in good else None,
        inference_high_s=good[INFERENCE].ci_high_s if INFERENCE in good else None,
        device_bytes=next((p.bytes for p in own if p.series == DEVICE_MEMORY), None),
    )


def _find_phases(good: dict[str, Point]) -> tuple[Phase, ...]:
    known = [(name, good[name]) for name in PHASES if name in good]
    total = sum(p.median_s or 0.0 for _, p in known)
    if not total:
        return ()
    return tuple(
        Phase(name, p.median_s or 0.0, p.ci_low_s, p.ci_high_s, (p.median_s or 0.0) / total) for name, p in known
    )


def _find_idle(step: Point | None, idle: Point | None) -> Idle | NotFound:
    if step is None or idle is None or not step.median_s or idle.median_s is None:
        return NO_IDLE
    share = idle.median_s / step.median_s
    bounds = (idle.ci_low_s, idle.ci_high_s)
    low, high = (bound / step.median_s if bound is not None else None for bound in bounds)
    return Idle(idle.median_s, share, low, high)


def _judge(phases: Sequence[Phase], good: dict[str, Point], device: str, idle: Idle | NotFound) -> Verdict | NotFound:
    """Return what binds the step: the first rule whose whole interval holds; none after one that is undecided."""
    shares = {phase.name: phase.share for phase in phases}
    if FORWARD not in shares or BACKWARD not in shares:
        return NotFound(_WHAT, "forward or backward has no time")
    for name, bound in ((LOAD, Bound.INPUT), (COPY, Bound.TRANSFER)):
        if name not in shares:
            continue
        low, high = _share_bounds(phases, name)
        if low is None or high is None:
            return NotFound(_WHAT, "a part has no interval")
        if low >= BOUND_BY_SHARE:
            return Verdict(bound, shares[name], low, high)
        if high >= BOUND_BY_SHARE:
            return _undecided(f"{_DOING[name]} takes", low, high, "of it", BOUND_BY_SHARE)
    return _judge_computing(good, device, idle, shares.get(LOAD, 0.0) + shares.get(COPY, 0.0))


def _judge_computing(good: dict[str, Point], device: str, idle: Idle | NotFound, feeding: float) -> Verdict | NotFound:
    """Return what binds a step that is not kept waiting for its data.

    ``feeding`` is the share of loading and copying, in which the device is idle for another reason.
    """
    product = good.get(PRODUCT)
    if product is None or not product.rate_flops or not product.median_s:
        return NotFound(_WHAT, "the large product to compare with has no time")
    flops = sum(good[name].flops or 0.0 for name in (FORWARD, BACKWARD))
    parts = [good[name] for name in (FORWARD, BACKWARD, OPTIMISER) if name in good]
    of_product = flops / sum(p.median_s or 0.0 for p in parts) / product.rate_flops
    if not all(p.ci_low_s and p.ci_high_s for p in (*parts, product)):
        return NotFound(_WHAT, "a part has no interval")
    scale = of_product * sum(p.median_s or 0.0 for p in parts) / product.median_s
    low = scale * (product.ci_low_s or 0.0) / sum(p.ci_high_s or 0.0 for p in parts)
    high = scale * (product.ci_high_s or 0.0) / sum(p.ci_low_s or 0.0 for p in parts)
    if low >= COMPUTE_BOUND_SHARE:
        return Verdict(Bound.COMPUTE, of_product, low, high)
    if high >= COMPUTE_BOUND_SHARE:
        return _undecided("it runs at", low, high, "of the speed of one large product", COMPUTE_BOUND_SHARE)
    if device == CPU:
        return Verdict(Bound.MEMORY, of_product, low, high)
    is_waiting = isinstance(idle, Idle) and idle.low is not None and idle.low - feeding >= BOUND_BY_SHARE
    if high < LAUNCH_BOUND_SHARE or is_waiting:
        return Verdict(Bound.LAUNCH, of_product, low, high)
    if low < LAUNCH_BOUND_SHARE:
        return _undecided("it runs at", low, high, "of the speed of one large product", LAUNCH_BOUND_SHARE)
    return Verdict(Bound.MEMORY, of_product, low, high)


def _share_bounds(phases: Sequence[Phase], name: str) -> tuple[float | None, float | None]:
    """Return the least and the largest share of a part that all intervals allow; None without them."""
    if any(phase.low_s is None or phase.high_s is None for phase in phases):
        return None, None
    (own,) = [phase for phase in phases if phase.name == name]
    rest = [phase for phase in phases if phase.name != name]
    least, most = own.low_s or 0.0, own.high_s or 0.0
    low = least / (least + sum(phase.high_s or 0.0 for phase in rest))
    high = most / (most + sum(phase.low_s or 0.0 for phase in rest))
    return low, high


def _undecided(what: str, low: float, high: float, of: str, limit: float) -> NotFound:
    span = f"{format_percent(low)} to {format_percent(high)} {of}"
    return NotFound(_WHAT, f"{what} {span}, on both sides of the {format_percent(limit)} that decide")


def _find_workers(step: Point | None, loaded: Point | None) -> WorkersGain | NotFound:
    if step is None or loaded is None or not step.median_s or not loaded.median_s:
        return NotFound("workers", "the step was not timed both with workers and without")
    factor = step.median_s / loaded.median_s
    n_workers = loaded.shape[3] if len(loaded.shape) > 3 else 2
    if not (step.ci_low_s and step.ci_high_s and loaded.ci_low_s and loaded.ci_high_s):
        return WorkersGain(factor, None, None, None, n_workers)
    low, high = step.ci_low_s / loaded.ci_high_s, step.ci_high_s / loaded.ci_low_s
    helps = True if low > WORKERS_HELP_ABOVE else False if high <= WORKERS_HELP_ABOVE else None
    return WorkersGain(factor, low, high, helps, n_workers)


def _find_components(points: Sequence[Point], own: Sequence[Point]) -> tuple[Component, ...]:
    measured = {p.series: p.bytes for p in own if p.series.startswith(MEMORY_PREFIX)}
    predicted = {p.series: p.bytes for p in points if p.source is Source.MODEL}
    names = [(component, f"{MEMORY_PREFIX}{component}") for component in COMPONENTS]
    return tuple(
        Component(component, measured[series] or 0.0, predicted.get(series))
        for component, series in names
        if series in measured
    )


def flag_points(points: Sequence[Point], findings: StepFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: no rule of this page needs the whole series."""
    return list(points)


def findings_json(findings: StepFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
