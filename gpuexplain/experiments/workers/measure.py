"""Measure many workers: threads that share one product, one sum in four ways, a GPU's blocks and paths (torch)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.workers import spec
from gpuexplain.experiments.workers.kernels import equal_blocks, two_paths
from gpuexplain.experiments.workers.spec import EXPERIMENT_ID, WorkersParams, plan_cases
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.clocks import DeviceClock, HostClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, explained_errors
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.products import judge_product, make_inputs, reference_rows
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices, use_threads
from gpuexplain.model import Case, Dtype
from gpuexplain.units import format_count

# Sums of a million numbers in fp32, in any order: the error of adding them one by one to a sum.
MOST_SUM_ERROR = 1e-3
SEED = 0


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the cases that the params ask for, handing every point to the session."""
    params = WorkersParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    devices = sorted({case.device for case in cases})
    bench = Bench(threads, int(params.side))
    with exact_fp32():
        use_devices(devices)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            say_x=lambda x: f"{format_count(x)} at once",
            device_names={device: machine.device_name(device) for device in devices},
            conditions=ConditionsMonitor({d: gpu.uuid for d in devices if (gpu := machine.gpu(d)) is not None}),
        ).run()


class Bench:
    """The one product and the one array that all workers share."""

    def __init__(self, threads: int, side: int) -> None:
        self._threads = threads
        self._shape = (side, side, side)
        self._left, self._right = make_inputs(self._shape, Dtype.FP32)
        generator = torch.Generator().manual_seed(SEED)
        self._numbers = torch.rand(spec.N_NUMBERS, generator=generator).mul_(2).sub_(1)
        self._array = self._numbers.numpy()
        self._list = self._array.tolist()

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``.
        """
        if case.device != CPU:
            return self._gpu_clock(case)
        operation, check = self._cpu_work(case)
        before = partial(use_threads, case.threads or self._threads)
        return HostClock(operation, check, before=before, guard=explained_errors)

    def _cpu_work(self, case: Case) -> tuple[Callable[[], Any], Callable[[], Check]]:
        if case.series == spec.THREADS:
            return partial(torch.mm, self._left, self._right), self._check_product
        sums: dict[str, Callable[[], Any]] = {
            spec.SUM_LOOP: self._add_one_by_one,
            spec.SUM_NUMPY: self._array.sum,
            spec.SUM_ONE: self._numbers.sum,
            spec.SUM_ALL: self._numbers.sum,
        }
        operation = sums[case.series]
        return operation, partial(self._check_sum, operation)

    def _add_one_by_one(self) -> float:
        total = 0.0
        for number in self._list:
            total += number
        return total

    def _check_sum(self, operation: Callable[[], Any]) -> Check:
        exact = math.fsum(self._list)
        size = float(np.sqrt(np.sum(self._array.astype(np.float64) ** 2)))  # of a sum of so many random numbers
        error = abs(float(operation()) - exact) / size
        return Check(error, 0, 0, failure="" if error < MOST_SUM_ERROR else f"The sum is wrong by {error:.1e}.")

    def _check_product(self) -> Check:
        use_threads(self._threads)
        rows, reference = reference_rows(self._shape, Dtype.FP32)
        return judge_product(Dtype.FP32, torch.mm(self._left, self._right)[rows].double(), reference)

    def _gpu_clock(self, case: Case) -> Stopwatch:
        count = case.shape[0]
        with explained_errors():
            if case.series == spec.BLOCKS:
                operation = equal_blocks(case.device, count)
            else:
                operation = two_paths(case.device, count, parted=case.series == spec.DIVERGENT)
        return DeviceClock(operation, _nothing_to_check, TorchCuda(case.device), guard=explained_errors)


def _nothing_to_check() -> Check:
    """The kernels only take time: there is no exact result to compare with."""
    return Check(None, 0, 0)
