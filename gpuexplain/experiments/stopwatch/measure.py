"""Measure one product, with the clock held right and wrong, and record when host and device work (torch)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.stopwatch.lanes import record_lanes
from gpuexplain.experiments.stopwatch.spec import EXPERIMENT_ID, StopwatchParams, Way, plan_cases
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.clocks import HostClock, SynchronisedClock, TransferClock
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.cuda import TorchCuda, explained_errors
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.products import judge_product, make_inputs, reference_rows
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices, use_threads
from gpuexplain.measuring.trap_clocks import EnqueueClock, SingleCalls
from gpuexplain.model import Case, Dtype
from gpuexplain.wording.phrases import say_n

# The sweep leaves this share of the time to the profiler, which records the lanes afterwards.
SWEEP_SHARE = 0.85
# Written between two calls to push everything else out of the caches; without a known size of the
# last-level cache: larger than any in use.
FLUSHED_CACHES = 2
FLUSH_UNKNOWN_BYTES = 256 * 2**20
MOST_FLUSH_BYTES = 512 * 2**20


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Time the product in every way, then record its lanes."""
    params = StopwatchParams.model_validate(params_json)
    threads = inspect_cpu().usable_threads
    machine = inspect_machine(probe_torch(threads))
    cases = plan_cases(params, machine)
    device = cases[0].device
    bench = Bench(machine, threads, device, int(params.side))
    gpu = machine.gpu(device)
    with exact_fp32():
        use_devices([device])
        outcome = Sweep(
            EXPERIMENT_ID,
            cases,
            bench.prepare,
            session,
            budget_s=params.sweep_budget_s * SWEEP_SHARE,
            say_x=say_n,
            device_names={device: machine.device_name(device)},
            conditions=ConditionsMonitor({device: gpu.uuid} if gpu is not None else {}),
        ).run()
        if not outcome.cancelled:
            use_threads(threads)
            for point in record_lanes(bench.product, cases[0], machine.device_name(device)):
                session.point(point)
    return outcome


class Bench:
    """One product on one device, and the ways to time it."""

    def __init__(self, machine: Machine, threads: int, device: str, side: int) -> None:
        self._threads = threads
        self._device = device
        self._shape = (side, side, side)
        left, right = make_inputs(self._shape, Dtype.FP32)
        self._on_host = (left, right)
        with explained_errors():
            self._left, self._right = left.to(device), right.to(device)
            self._ones = torch.ones_like(self._left)
        self._flush_bytes = _flush_bytes(machine.cpu.last_level_cache_bytes)
        self._flush: torch.Tensor | None = None

    def product(self) -> torch.Tensor:
        """Return the product itself."""
        return torch.mm(self._left, self._right)

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of one way to hold the clock."""
        way = Way(case.series)
        check = partial(self._check, way)
        clock = self._clock(way, case, self._operation(way), check)
        if way is Way.SINGLE:
            return SingleCalls(clock)
        if way is Way.DISTURBED:
            return SingleCalls(clock, self._disturb, "; other data was written between the calls")
        return clock

    def _clock(self, way: Way, case: Case, operation: Callable[[], object], check: Callable[[], Check]) -> HostClock:
        if case.device == CPU:
            before = partial(use_threads, case.threads or self._threads)
            return HostClock(operation, check, before=before, guard=explained_errors)
        clocks = {Way.NO_SYNC: EnqueueClock, Way.COPIES: TransferClock}
        made: HostClock = clocks.get(way, SynchronisedClock)(
            operation, check, TorchCuda(case.device), guard=explained_errors
        )
        return made

    def _operation(self, way: Way) -> Callable[[], object]:
        match way:
            case Way.ITEM:
                return lambda: torch.mm(self._left, self._right)[0, 0].item()
            case Way.CONSTANTS:
                return partial(torch.mm, self._ones, self._ones)
            case Way.COPIES:
                left, right = self._on_host
                return lambda: torch.mm(left.to(self._device), right.to(self._device)).cpu()
            case _:
                return self.product

    def _disturb(self) -> None:
        """Write more bytes than the caches hold, on the device that computes."""
        if self._flush is None:
            self._flush = torch.empty(self._flush_bytes // 4, dtype=torch.float32, device=self._device)
        self._flush.fill_(1.0)

    def _check(self, way: Way) -> Check:
        use_threads(self._threads)
        if way is Way.CONSTANTS:
            exact = torch.full((1, 1), float(self._shape[1]), dtype=torch.float64)
            return judge_product(Dtype.FP32, torch.mm(self._ones, self._ones)[:1, :1].cpu().double(), exact)
        rows, reference = reference_rows(self._shape, Dtype.FP32)
        return judge_product(Dtype.FP32, self.product()[rows.to(self._device)].cpu().double(), reference)


def _flush_bytes(last_level_cache_bytes: int | None) -> int:
    if not last_level_cache_bytes:
        return FLUSH_UNKNOWN_BYTES
    return min(FLUSHED_CACHES * last_level_cache_bytes, MOST_FLUSH_BYTES)
