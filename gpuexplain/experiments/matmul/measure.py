"""Measure matrix products: inputs, the operation on each device, its clock and its check (torch)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from gpuexplain.experiments.matmul.conclude import find_matmul_findings
from gpuexplain.experiments.matmul.spec import (
    EXPERIMENT_ID,
    MatmulParams,
    cases_of,
    count_bytes,
    plan_cases,
    plan_refinement,
)
from gpuexplain.findings import CrossoverVerdict
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.clocks import DeviceClock, HostClock, SynchronisedClock, TransferClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, explained_errors
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.products import judge_product, make_inputs, reference_rows
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices, use_threads
from gpuexplain.model import Case, Clock, Dtype, Point
from gpuexplain.wording.phrases import say_n


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the sweep that the params ask for, handing every point to the session."""
    params = MatmulParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    devices = sorted({case.device for case in cases})
    bench = Bench(machine, threads)
    with exact_fp32():
        use_devices(devices)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            say_x=say_n,
            device_names={device: machine.device_name(device) for device in devices},
            refine=partial(refine_crossover, params=params, machine=machine) if params.is_square else None,
            conditions=ConditionsMonitor(
                {device: gpu.uuid for device in devices if (gpu := machine.gpu(device)) is not None}
            ),
        ).run()


class Bench:
    """Prepares cases; inputs of one shape are shared by every series on the same device."""

    def __init__(self, machine: Machine, threads: int) -> None:
        self._threads = threads
        self._last_level_cache_bytes = machine.cpu.last_level_cache_bytes
        self._inputs: dict[tuple[tuple[int, ...], Dtype, str], tuple[torch.Tensor, torch.Tensor]] = {}
        self._references: dict[tuple[int, ...], tuple[torch.Tensor, torch.Tensor]] = {}

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case, its inputs made.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``.
        """
        with explained_errors():
            left, right = self._inputs_on(case, "cpu" if case.clock is Clock.TRANSFER_INCLUSIVE else case.device)
        operation = self._operation(case, left, right)
        check = partial(self._check, case, operation)
        if case.device == "cpu":
            return HostClock(
                operation,
                check,
                before=partial(use_threads, case.threads or self._threads),
                guard=explained_errors,
                cache_ratio=self._cache_ratio(case),
            )
        clocks: dict[Clock, Any] = {
            Clock.CALL: SynchronisedClock,
            Clock.DEVICE: DeviceClock,
            Clock.TRANSFER_INCLUSIVE: TransferClock,
        }
        clock: Stopwatch = clocks[case.clock](operation, check, TorchCuda(case.device), guard=explained_errors)
        return clock

    def _operation(self, case: Case, left: torch.Tensor, right: torch.Tensor) -> Callable[[], torch.Tensor]:
        if case.clock is Clock.TRANSFER_INCLUSIVE:
            device = torch.device(case.device)
            return lambda: torch.mm(left.to(device), right.to(device)).cpu()
        return partial(torch.mm, left, right)

    def _inputs_on(self, case: Case, device: str) -> tuple[torch.Tensor, torch.Tensor]:
        key = (case.shape, case.dtype, device)
        if key not in self._inputs:
            left, right = make_inputs(case.shape, case.dtype)
            self._inputs[key] = (left.to(device), right.to(device))
        return self._inputs[key]

    def _cache_ratio(self, case: Case) -> float | None:
        """The same inputs are used again at once: bytes between two uses are those of one product."""
        if not self._last_level_cache_bytes:
            return None
        m, k, n = case.shape
        return count_bytes((m, k, n), case.dtype) / self._last_level_cache_bytes

    def _check(self, case: Case, operation: Callable[[], torch.Tensor]) -> Check:
        use_threads(self._threads)
        if case.shape not in self._references:
            self._references = {case.shape: reference_rows(case.shape, case.dtype)}  # one at a time
        rows, reference = self._references[case.shape]
        got = operation()[rows.to(case.device if case.clock is not Clock.TRANSFER_INCLUSIVE else "cpu")]
        return judge_product(case.dtype, got.cpu().double(), reference)


def refine_crossover(
    points: Sequence[Point], cases: Sequence[Case], *, params: MatmulParams, machine: Machine
) -> list[Case]:
    """Return cases between the two sizes that bracket the headline crossover; none where there is none."""
    pair = find_matmul_findings(points).headline_pair
    if pair is None or pair.crossover.verdict is not CrossoverVerdict.CROSSED:
        return []
    low, high = pair.crossover.low, pair.crossover.high
    assert low is not None
    assert high is not None
    device = next((case.device for case in cases if case.device != "cpu"), "cpu")
    return [
        case
        for side in plan_refinement(low, high, cases)
        for case in cases_of((side, side, side), False, params, device, machine)
    ]
