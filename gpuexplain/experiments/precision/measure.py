"""Measure products in every number format, a training step with autocast and without, and what gets lost (torch)."""

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.experiments.precision.bench import Bench
from gpuexplain.experiments.precision.demonstrate import demonstrate
from gpuexplain.experiments.precision.spec import EXPERIMENT_ID, PrecisionParams, plan_cases
from gpuexplain.experiments.precision.support import find_emulation
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.energy import EnergyCounter, NotReported, open_cpu_counter, open_gpu_counter
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.sampling import predict_call_s
from gpuexplain.measuring.session import Outcome, Progress, Session
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices
from gpuexplain.model import Case, Flag, Point, Status
from gpuexplain.points import with_flags
from gpuexplain.units import format_time
from gpuexplain.wording.phrases import say_n

# The slowest call of a usual run, as a share of its budget: eight formats and a training step share the time, and
# a format without hardware must not take it from the others.
LONGEST_CALL_SHARE = 0.02
# Reading a counter takes 0.2 s or more per format: shorter runs have better use for that.
ENERGY_FROM_BUDGET_S = 15.0


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the sweep that the params ask for, handing every point to the session."""
    params = PrecisionParams.model_validate(params_json)
    budget_s = params.sweep_budget_s
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    device = resolve_device(params, machine)
    marking = MarkingSession(session, emulations(cases, machine))
    bench = Bench(machine, threads, params.inputs, {device: open_counter(device, machine, budget_s)})
    gpu = machine.gpu(device)
    with exact_fp32():
        use_devices([device])
        started_s = time.perf_counter()
        with explained_errors():
            for point in demonstrate(device, machine.device_name(device)):
                marking.point(point)
        longest_s = math.inf if params.largest_side else LONGEST_CALL_SHARE * budget_s
        outcome = Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            marking,
            budget_s=max(budget_s / 2, budget_s - (time.perf_counter() - started_s)),
            say_x=say_n,
            device_names={device: machine.device_name(device)},
            conditions=ConditionsMonitor({device: gpu.uuid} if gpu is not None else {}),
            most_call_s=longest_s,
            release=bench.release,
        ).run()
    if not outcome.cancelled:
        for point in too_slow_points(cases, marking.points, longest_s):
            marking.point(point)
    return outcome


def open_counter(device: str, machine: Machine, budget_s: float) -> EnergyCounter | NotReported:
    """Return the energy counter of a device, or why its energy is not read."""
    if budget_s < ENERGY_FROM_BUDGET_S:
        return NotReported(f"energy is read in runs of {ENERGY_FROM_BUDGET_S:g} s or more")
    if device == CPU:
        return open_cpu_counter()
    gpu = machine.gpu(device)
    return open_gpu_counter(gpu.mig_uuid or gpu.uuid) if gpu is not None else NotReported("the GPU has no NVML name")


def emulations(cases: Sequence[Case], machine: Machine) -> dict[str, str]:
    """Return why each series is emulated on its device; the others are not in it."""
    found = {case.series: find_emulation(case.dtype, case.device, machine) for case in cases}
    return {series: reason for series, reason in found.items() if reason}


class MarkingSession:
    """Hands points on, those of emulated formats marked as such, and keeps the last one of each case."""

    def __init__(self, inner: Session, emulated: dict[str, str]) -> None:
        self._inner, self._emulated = inner, emulated
        self._by_case: dict[str, Point] = {}

    @property
    def points(self) -> list[Point]:
        """The last point of each case."""
        return list(self._by_case.values())

    def point(self, point: Point) -> None:
        """Mark, keep and hand over."""
        why = self._emulated.get(point.series)
        if why and point.status is Status.OK:
            point = with_flags(point.model_copy(update={"reason": point.reason or why}), Flag.EMULATED)
        self._by_case[point.case_id] = point
        self._inner.point(point)

    def progress(self, progress: Progress) -> None:
        """Hand over."""
        self._inner.progress(progress)

    def cancelled(self) -> bool:
        """Ask whoever listens."""
        return self._inner.cancelled()


def too_slow_points(cases: Sequence[Case], points: Sequence[Point], longest_s: float) -> Iterator[Point]:
    """Yield a skipped point for each series that ends before the others, with the time its next size would take."""
    ran = sorted((point for point in points if point.n_samples and point.flops), key=lambda point: point.x)
    known = {point.case_id for point in points}
    for series in dict.fromkeys(case.series for case in cases):
        own = [point for point in ran if point.series == series]
        beyond = [c for c in cases if c.series == series and own and own[-1].x < c.x <= ran[-1].x and c.id not in known]
        if not beyond:
            continue
        case = min(beyond, key=lambda c: c.x)
        # By the fastest call: a busy machine makes single calls slow, not a format.
        call_s = predict_call_s(case.flops, [(p.flops or 0.0, fastest_call_s(p)) for p in own]) or 0.0
        if call_s > longest_s:
            yield _skipped(case, own[-1], call_s, longest_s)


def fastest_call_s(point: Point) -> float:
    """Return the seconds of the fastest call of a point that ran."""
    return min(call for call in (point.min_s, point.median_s, *point.warmup_s) if call)


def _skipped(case: Case, known: Point, call_s: float, longest_s: float) -> Point:
    return Point(
        experiment=EXPERIMENT_ID,
        series=case.series,
        x=case.x,
        shape=case.shape,
        dtype=case.dtype,
        device=case.device,
        device_name=known.device_name,
        clock=case.clock,
        threads=case.threads,
        timing=known.timing,
        status=Status.SKIPPED,
        reason=(
            f"One call would take about {format_time(call_s)}, by {say_n(known.x)}; this run allows "
            f"{format_time(longest_s)} each. Give it more time, or name the size."
        ),
        flops=case.flops,
        bytes=case.bytes_moved,
    )
