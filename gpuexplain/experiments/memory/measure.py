"""Measure both roofs and the walk between them: bandwidths, products, and W x with k columns (torch)."""

from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

import torch

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.memory import spec
from gpuexplain.experiments.memory.spec import EXPERIMENT_ID, MemoryParams, plan_cases
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.clocks import DeviceClock, HostClock, SynchronisedClock
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

SCALE = 3.0  # of the triad
SEED = 0
RANDOM_BLOCK = 2**20
MOST_ERROR = 1e-4  # of an array operation in fp32


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the cases that the params ask for, handing every point to the session."""
    params = MemoryParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    device = cases[0].device
    gpu = machine.gpu(device)
    with exact_fp32():
        use_devices([device])
        bench = Bench(machine, threads, device)
        return Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s,
            say_x=lambda x: f"size {format_count(x)}",
            device_names={device: machine.device_name(device)},
            conditions=ConditionsMonitor({device: gpu.uuid} if gpu is not None else {}),
        ).run()


class Bench:
    """The arrays and matrices that all cases share, made when first needed."""

    def __init__(self, machine: Machine, threads: int, device: str) -> None:
        self._threads = threads
        self._device = device
        self._cache_bytes = machine.cpu.last_level_cache_bytes if device == CPU else None
        self._n_matrices = spec.n_matrices(device, machine)
        self._arrays: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        self._matrices: list[torch.Tensor] = []

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``.
        """
        with explained_errors():
            operation, check = self._work(case)
        if case.device == CPU:
            return HostClock(
                operation,
                check,
                before=partial(use_threads, self._threads),
                guard=explained_errors,
                cache_ratio=self._cache_ratio(case),
            )
        clock = SynchronisedClock if case.series == spec.EMPTY else DeviceClock
        return clock(operation, check, TorchCuda(case.device), guard=explained_errors)

    def _work(self, case: Case) -> tuple[Callable[[], object], Callable[[], Check]]:
        match case.series:
            case spec.EMPTY:
                one = torch.ones(1, device=self._device)
                return partial(torch.add, one, 1.0), _right
            case series if series in spec.COMPUTES:
                left, right = (t.to(self._device) for t in make_inputs(case.shape, case.dtype))
                product = partial(torch.mm, left, right)
                return product, partial(self._check_product, case, product)
            case spec.WALK:
                return self._walk(case)
            case _:
                return self._stream(case.series, case.shape[0])

    def _stream(self, series: str, n_values: int) -> tuple[Callable[[], object], Callable[[], Check]]:
        if self._arrays is None:
            a, b = (_random_values(n_values, seed).to(self._device) for seed in (SEED, SEED + 1))
            self._arrays = (a, b, torch.empty_like(a))
        a, b, out = self._arrays
        operations: dict[str, Callable[[], torch.Tensor]] = {
            spec.COPY: lambda: out.copy_(a),
            spec.TRIAD: lambda: torch.add(a, b, alpha=SCALE, out=out),
            spec.READ: a.sum,
        }
        expected: dict[str, Callable[[], torch.Tensor]] = {
            spec.COPY: lambda: a[:4096].double(),
            spec.TRIAD: lambda: a[:4096].double() + SCALE * b[:4096].double(),
            spec.READ: lambda: a.sum(dtype=torch.float64).reshape(1),
        }
        operation = operations[series]
        return operation, partial(_check_array, operation, expected[series])

    def _walk(self, case: Case) -> tuple[Callable[[], object], Callable[[], Check]]:
        if not self._matrices:
            side = spec.MATRIX_SIDE
            first = _random_values(side * side, SEED).mul_(2).sub_(1).reshape(side, side)
            self._matrices = [first.roll(shifts=i, dims=0).to(self._device) for i in range(self._n_matrices)]
        k = case.shape[2]
        columns = torch.rand(spec.MATRIX_SIDE, k, generator=torch.Generator().manual_seed(k)).mul_(2).sub_(1)
        columns = columns.to(self._device)
        weights = cycle(self._matrices)  # another one each time: none is in a cache when it comes again
        first = self._matrices[0]

        def check() -> Check:
            use_threads(self._threads)
            exact = first[:64].double() @ columns.double()
            return judge_product(Dtype.FP32, torch.mm(first, columns)[:64].cpu().double(), exact.cpu())

        return lambda: torch.mm(next(weights), columns), check

    def _check_product(self, case: Case, product: Callable[[], torch.Tensor]) -> Check:
        use_threads(self._threads)
        rows, reference = reference_rows(case.shape, case.dtype)
        return judge_product(case.dtype, product()[rows.to(self._device)].cpu().double(), reference)

    def _cache_ratio(self, case: Case) -> float | None:
        if not self._cache_bytes:
            return None
        rotation = self._n_matrices if case.series == spec.WALK else 1
        return rotation * case.bytes_moved / self._cache_bytes


def _random_values(n_values: int, seed: int) -> torch.Tensor:
    """Return seeded values in [0, 1): a block of a million, repeated, because random numbers are slow to make."""
    block = torch.rand(min(n_values, RANDOM_BLOCK), generator=torch.Generator().manual_seed(seed))
    return block.repeat(-(-n_values // block.numel()))[:n_values].clone()


def _right() -> Check:
    """Nothing to compare: one plus one."""
    return Check(None, 0, 0)


def _check_array(operation: Callable[[], torch.Tensor], expected: Callable[[], torch.Tensor]) -> Check:
    """Compare the first values of a result, or its sum, with float64."""
    got, exact = operation().reshape(-1), expected()
    error = float((got[: exact.numel()].double() - exact).norm() / exact.norm())
    return Check(error, 0, 0, failure="" if error <= MOST_ERROR else f"The result is wrong by {error:.1e} of its size.")
