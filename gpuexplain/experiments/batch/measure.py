"""Measure steps of a model by batch: which devices, which clock, how far, and where to look closer (torch)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from gpuexplain.experiments.batch.conclude import find_batch_findings
from gpuexplain.experiments.batch.desk import Desk
from gpuexplain.experiments.batch.flops import count_step_flops
from gpuexplain.experiments.batch.plan import ceiling_limits, make_case, plan_cases, plan_zoom
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.batch.spec import EXPERIMENT_ID, BatchParams
from gpuexplain.experiments.devices import CPU
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.clocks import HostClock, SynchronisedClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, limit_device_memory
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.sampling import predict_affine_s
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_convolutions, exact_fp32, use_devices, use_threads
from gpuexplain.model import Case, Point

# A sweep ends where a step is predicted to take longer; only a ceiling search goes on.
MOST_STEP_S = 2.0


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the sweep that the params ask for, handing every point to the session."""
    params = BatchParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    count = partial(with_counted_flops, flops_per_example=count_step_flops(params))
    cases = [count(case) for case in plan_cases(params, machine)]
    devices = sorted({case.device for case in cases})
    bench = Bench(params, machine, cases, threads)
    with exact_fp32(), exact_convolutions():
        use_devices(devices)
        cap_devices(params, machine, devices)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            device_names={device: machine.device_name(device) for device in devices},
            refine=partial(refine_knee, params=params, machine=machine, count=count) if params.zoom else None,
            conditions=ConditionsMonitor(
                {device: gpu.uuid for device in devices if (gpu := machine.gpu(device)) is not None}
            ),
            say_x=say_batch,
            most_call_s=math.inf if params.seeks_ceiling else MOST_STEP_S,
            release=bench.release,
            predict=predict_affine_s,
        ).run()


def with_counted_flops(case: Case, *, flops_per_example: float) -> Case:
    """Return the case with the operations that torch's counter found."""
    return replace(case, flops=case.items * flops_per_example)


def cap_devices(params: BatchParams, machine: Machine, devices: Sequence[str]) -> None:
    """Lower the cap on a GPU's memory to the ceiling that the params name."""
    limits = ceiling_limits(params, machine)
    for device in devices:
        if device != CPU and params.ceiling_mib is not None and device in limits:
            free_bytes, _ = torch.cuda.mem_get_info(torch.device(device))
            limit_device_memory(device, min(1.0, limits[device] / free_bytes))


class Bench:
    """Prepares cases; every batch on one device shares its network and its examples."""

    def __init__(self, params: BatchParams, machine: Machine, cases: Sequence[Case], threads: int) -> None:
        self._params, self._machine, self._threads = params, machine, threads
        self._limits = ceiling_limits(params, machine)
        self._smallest = {case.device: min(c.items for c in cases if c.device == case.device) for case in cases}
        self._desks: dict[str, Desk] = {}

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case, its examples made.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``.
        """
        desk = self._desk(case)
        bind = partial(self._bind, desk, case)
        bind()
        check = partial(self._check, desk, case)
        if case.device == CPU:
            return HostClock(desk.step, check, before=bind, guard=desk.guard)
        return SynchronisedClock(desk.step, check, TorchCuda(case.device), before=bind, guard=desk.guard)

    def release(self, case: Case) -> None:
        """Free what a case that ran out of memory left behind."""
        if case.device in self._desks:
            self._desks[case.device].release()

    def _desk(self, case: Case) -> Desk:
        if case.device not in self._desks:
            if case.device == CPU:
                use_threads(self._threads)
            gpu = self._machine.gpu(case.device)
            self._desks[case.device] = Desk(
                self._params,
                case.device,
                case.dtype,
                self._limits.get(case.device),
                is_alone=gpu is not None and gpu.compute_processes == 0,
            )
        return self._desks[case.device]

    def _bind(self, desk: Desk, case: Case) -> None:
        if case.device == CPU:
            use_threads(case.threads or self._threads)
        desk.bind(int(case.items))

    def _check(self, desk: Desk, case: Case) -> Check:
        self._bind(desk, case)
        gauges = desk.measure_memory()
        checked = desk.check(is_smallest=case.items == self._smallest[case.device])
        return replace(checked, gauges=gauges)


def refine_knee(
    points: Sequence[Point], cases: Sequence[Case], *, params: BatchParams, machine: Machine, count: Any
) -> list[Case]:
    """Return cases around the knee of the device that the run is about; none where no knee was found."""
    series = find_batch_findings(points).headline_series
    if series is None or series.knee.knee_batch is None:
        return []
    known = [int(case.x) for case in cases if case.device == series.device]
    return [
        count(make_case(params, machine, series.device, batch))
        for batch in plan_zoom(series.knee.knee_batch, known)
        if batch <= max(known)
    ]
