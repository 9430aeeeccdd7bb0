"""On which stored runs of this machine can advice rest, and what is missing?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gpuexplain.adviser.params import AdviceParams
from gpuexplain.analysis.advice import Device, Link, Span, Timed
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.by_hand.spec import GPU_STACK, STACK
from gpuexplain.experiments.devices import CPU, memory_limits
from gpuexplain.experiments.matmul.spec import CPU as CPU_PRODUCTS
from gpuexplain.experiments.matmul.spec import GPU_CALL, GPU_DEVICE
from gpuexplain.experiments.memory.spec import BANDWIDTHS
from gpuexplain.experiments.transfer.spec import H2D_PAGEABLE, H2D_PINNED
from gpuexplain.hardware.links import find_pcie_link
from gpuexplain.hardware.machine import Machine
from gpuexplain.hardware.reference import ReferenceGpu, match_reference_gpu, reference_peak
from gpuexplain.model import Dtype, Point, Source
from gpuexplain.store.run import RunState, RunSummary, StoredRun
from gpuexplain.store.runs import RunStore

MOST_RUNS = 20  # of one experiment that are looked at, newest first
# A quiet run with fewer sizes than this says less than a busy one with all of them.
FEWEST_SIZES = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """One stored run that advice rests on, and what it gave."""

    experiment: str
    run_id: str
    measured_at: float  # seconds since the epoch
    what: str
    was_busy: bool = False  # other work used the machine meanwhile, and no quiet run gives this


@dataclass(frozen=True, slots=True)
class Missing:
    """What no stored run gives, and which experiment on which device would."""

    experiment: str
    device: str
    what: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The very stack as it was measured once: seconds of one pass, with bounds where there are any."""

    device: str
    time_s: float
    low_s: float | None
    high_s: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Basis:
    """Everything that is known here for advice; ``part`` is set where the GPU's side is a data sheet's."""

    cpu: Device
    gpu: Device
    link: Link
    evidence: tuple[Evidence, ...]
    missing: tuple[Missing, ...]
    measured: tuple[Measured, ...] = ()
    part: ReferenceGpu | None = None
    link_name: str = ""
    link_source: str = ""


Load = Callable[[RunSummary], StoredRun]


class _Search:
    """Looks through the stored runs of this machine, and keeps account of what it found and what not."""

    def __init__(self, store: RunStore, machine: Machine, load: Load | None) -> None:
        self._store = store
        self._machine_id = machine.platform.machine_id
        self._load = load or (lambda run: store.load_run(run.id))
        self.evidence: list[Evidence] = []
        self.missing: list[Missing] = []

    def runs(self, experiment: str) -> Iterator[StoredRun]:
        """Yield the ended runs of this machine that have points, newest first."""
        for run in self._store.list_runs(experiment, limit=MOST_RUNS):
            if run.n_points and run.state is not RunState.RUNNING and _machine_id_of(run) == self._machine_id:
                yield self._load(run)

    def find(
        self,
        experiment: str,
        device: str,
        what: str,
        read: Callable[[Sequence[Point]], tuple[Timed, ...]],
        fewest: int = FEWEST_SIZES,
    ) -> tuple[Timed, ...]:
        """Return what the newest quiet run gives, else the newest one of a busy machine."""
        runs = list(self.runs(experiment))
        for may_be_busy in (False, True):
            for run in runs:
                own = [p for p in run.points if p.device == device and p.source is Source.MEASURED]
                found = read([p for p in own if may_be_busy or not p.is_hollow])
                if len(found) >= (1 if may_be_busy else fewest):
                    was_busy = any(p.is_hollow for p in own) if may_be_busy else False
                    at = run.finished_at or run.created_at
                    self.evidence.append(Evidence(experiment, run.id, at, what, was_busy))
                    return found
        self.missing.append(Missing(experiment, device, what))
        return ()


def _machine_id_of(run: RunSummary) -> str:
    platform = (run.machine or {}).get("platform")
    return str(platform.get("machine_id", "")) if isinstance(platform, dict) else ""


def gather(params: AdviceParams, store: RunStore, machine: Machine, load: Load | None = None) -> Basis:
    """Return what the stored runs of this machine, or a data sheet, say of both devices and the way between them.

    Args:
        params: What is asked, for the part to compare with and for runs of the very stack.
        store: Where the runs are.
        machine: This one.
        load: Returns a run with its points; a reader of many pages keeps them.
    """
    search = _Search(store, machine, load)
    limits = memory_limits(machine)
    cpu = Device(
        name=machine.device_name(CPU),
        products=search.find(
            "matmul", CPU, "products on the CPU", lambda ps: _products(ps, CPU_PRODUCTS, CPU_PRODUCTS)
        ),
        bandwidth_bytes_s=_rate(search.find("memory", CPU, "bandwidth of the CPU's memory", _bandwidth, 1)),
        cache_bytes=machine.cpu.last_level_cache_bytes,
        memory_bytes=limits.get(CPU),
    )
    device = _find_gpu(params, machine)
    measured = tuple(_find_measured(params, search))
    if device is None:
        part = match_reference_gpu(params.part)
        assert part is not None
        return _with_part(part, cpu, search, measured)
    known = match_reference_gpu(machine.device_name(device))
    gpu = Device(
        name=machine.device_name(device),
        products=search.find("matmul", device, "products on the GPU", lambda ps: _products(ps, GPU_DEVICE, GPU_CALL)),
        bandwidth_bytes_s=_rate(search.find("memory", device, "bandwidth of the GPU's memory", _bandwidth, 1)),
        cache_bytes=_cache_bytes(known),
        memory_bytes=limits.get(device),
    )
    link = Link(copies=search.find("transfer", device, "copies to the GPU", _copies))
    return Basis(cpu, gpu, link, tuple(search.evidence), tuple(search.missing), measured)


def _find_gpu(params: AdviceParams, machine: Machine) -> str | None:
    gpus = [name for name in machine.devices if name != CPU]
    return params.device if params.device in gpus else next(iter(gpus), None)


def _with_part(part: ReferenceGpu, cpu: Device, search: _Search, measured: tuple[Measured, ...]) -> Basis:
    """Return the basis where the GPU's side comes from a data sheet: rates that nothing exceeds."""
    peak = reference_peak(part, Dtype.FP32)
    generation, width = (part.figures.get(column) for column in ("pcie_gen", "pcie_lanes"))
    link = find_pcie_link(int(generation), int(width)) if generation and width else None
    memory_gb = part.figures.get("memory_gb")
    gpu = Device(
        name=part.name,
        peak_flops=peak.rate_flops if peak is not None else None,
        bandwidth_bytes_s=part.memory_bandwidth_bytes_s,
        cache_bytes=_cache_bytes(part),
        memory_bytes=int(memory_gb * 1e9) if memory_gb else None,
    )
    return Basis(
        cpu,
        gpu,
        Link(peak_bytes_s=link.theoretical_bytes_s if link else None),
        tuple(search.evidence),
        tuple(search.missing),
        measured,
        part,
        link.label if link else "",
        link.source if link else "",
    )


def _cache_bytes(part: ReferenceGpu | None) -> int | None:
    size_mb = part.figures.get("l2_mb") if part is not None else None
    return int(size_mb * 1e6) if size_mb else None


# -- what a run gives -------------------------------------------------------------------------------


def _products(points: Sequence[Point], fast: str, slow: str) -> tuple[Timed, ...]:
    """Return fp32 products by their operations: bounded by the series ``fast`` below and ``slow`` above."""
    own = [p for p in points if p.dtype is Dtype.FP32 and p.flops]
    return _between(own, fast, slow, lambda p: p.flops or 0.0)


def _copies(points: Sequence[Point]) -> tuple[Timed, ...]:
    """Return copies to the GPU by their bytes: pinned ones are the faster bound, pageable ones the usual case."""
    own = [p for p in points if p.bytes]
    return _between(own, H2D_PINNED, H2D_PAGEABLE, lambda p: p.bytes or 0.0, centre=H2D_PAGEABLE)


def _between(
    points: Sequence[Point], fast: str, slow: str, work_of: Callable[[Point], float], centre: str = ""
) -> tuple[Timed, ...]:
    """Return, by work, the time of one series with bounds that hold for both."""
    by_series = {name: {work_of(p): p for p in _trusted(points, name)} for name in (fast, slow)}
    if not by_series[fast]:
        by_series[fast] = by_series[slow]
    if not by_series[slow]:
        by_series[slow] = by_series[fast]
    middle = by_series[centre or fast]
    found = []
    for work, point in sorted(middle.items()):
        low, high = by_series[fast].get(work, point), by_series[slow].get(work, point)
        found.append(Timed(work, Span(_low(low), point.median_s or 0.0, _high(high))))
    return tuple(found)


def _trusted(points: Sequence[Point], series: str) -> list[Point]:
    return [p for p in most_trustworthy([p for p in points if p.series == series])[0] if p.median_s]


def _low(point: Point) -> float:
    return point.ci_low_s or point.min_s or point.median_s or 0.0


def _high(point: Point) -> float:
    return point.ci_high_s or point.max_s or point.median_s or 0.0


def _bandwidth(points: Sequence[Point]) -> tuple[Timed, ...]:
    """Return the stream with the highest rate, as bytes and their time."""
    streams = [p for series in BANDWIDTHS for p in _trusted(points, series) if p.rate_bytes]
    best = max(streams, key=lambda p: p.rate_bytes or 0.0, default=None)
    return (Timed(best.bytes or 0.0, Span(_low(best), best.median_s or 0.0, _high(best))),) if best else ()


def _rate(timed: tuple[Timed, ...]) -> float | None:
    return timed[0].work / timed[0].span.centre if timed else None


# -- the very stack ---------------------------------------------------------------------------------


def _find_measured(params: AdviceParams, search: _Search) -> Iterator[Measured]:
    """Yield the newest measurement of this very stack on each device: by "One layer by hand", or by "Batch size"."""
    seen: set[str] = set()
    for experiment in ("by_hand", "batch"):
        for run in search.runs(experiment):
            if experiment == "batch" and not _is_inference_of_mlp(run):
                continue
            for point in run.points:
                if point.device in seen or not point.median_s or not _is_the_stack(params, experiment, point):
                    continue
                seen.add(point.device)
                evidence = Evidence(experiment, run.id, run.finished_at or run.created_at, "this very stack")
                yield Measured(point.device, point.median_s, point.ci_low_s, point.ci_high_s, evidence)


def _is_inference_of_mlp(run: StoredRun) -> bool:
    return (run.params.get("model"), run.params.get("mode")) == ("mlp", "inference")


def _is_the_stack(params: AdviceParams, experiment: str, point: Point) -> bool:
    if point.source is not Source.MEASURED or point.dtype is not Dtype.FP32:
        return False
    if experiment == "by_hand":
        wanted = (params.batch, params.width, params.width, params.depth)
        return point.series in (STACK, GPU_STACK) and point.shape == wanted
    return point.shape == (params.batch, params.width, params.depth)
