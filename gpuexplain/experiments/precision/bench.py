"""Prepares the cases of the precision experiment: operands, clock, switches, check and energy (torch)."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from gpuexplain.errors import UnsupportedError
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.operands import Rounded, make_originals, round_operands
from gpuexplain.experiments.precision.products import (
    explained_refusals,
    fp32_products,
    make_product,
    mode_of,
    widen_result,
)
from gpuexplain.experiments.precision.spec import (
    STEP_AUTOCAST,
    STEP_FP32,
    Inputs,
    note_of,
)
from gpuexplain.experiments.precision.step import CHECKED_UP_TO, Step, exact_gradients, judge_step
from gpuexplain.experiments.precision.support import find_refusal
from gpuexplain.hardware.environment import PRECISION_VARIABLES
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.clocks import DeviceClock, HostClock, SynchronisedClock
from gpuexplain.measuring.correctness import judge_error
from gpuexplain.measuring.cuda import TorchCuda
from gpuexplain.measuring.energy import EnergyCounter, NotReported, measure_energy
from gpuexplain.measuring.products import judge_product, multiply_rows
from gpuexplain.measuring.stopwatch import Block, Check, Stopwatch
from gpuexplain.measuring.torch_setup import use_threads
from gpuexplain.model import Case, Clock, Dtype, Gauges

Operation = Callable[[], object]


class SwitchedStopwatch:
    """A stopwatch that multiplies fp32 numbers in one mode while it runs, and only then."""

    def __init__(self, inner: Stopwatch, mode: str, note: str) -> None:
        self._inner, self._mode, self._note = inner, mode, note
        self.most_calls, self.resolution_s, self.cache_ratio = inner.most_calls, inner.resolution_s, inner.cache_ratio
        self.timing = f"{inner.timing}; {note}"

    def call_once(self) -> float:
        """Run one call and return its seconds."""
        with fp32_products(self._mode):
            return self._inner.call_once()

    def time_block(self, untimed: int, n_calls: int) -> Block:
        """Run ``untimed`` calls, then time ``n_calls``."""
        with fp32_products(self._mode):
            block = self._inner.time_block(untimed, n_calls)
        self.timing = f"{self._inner.timing}; {self._note}"  # a device clock chooses its way block by block
        return block

    def check(self) -> Check:
        """Compare the result with float64."""
        with fp32_products(self._mode):
            return self._inner.check()


class Bench:
    """Makes the stopwatch of each case; the float64 reference of one size is shared by its formats."""

    def __init__(
        self, machine: Machine, threads: int, inputs: Inputs, energy: dict[str, EnergyCounter | NotReported]
    ) -> None:
        """Take what is measured where; ``energy`` is the counter of each device, or why there is none."""
        self._machine, self._threads, self._inputs = machine, threads, inputs
        self._energy = energy
        self._largest: dict[str, float] = {}  # by series: where its energy is read
        self._originals: dict[tuple[int, bool], tuple[Tensor, Tensor]] = {}  # of one size at a time
        self._reference: tuple[tuple[int, bool], Tensor, Tensor] | None = None
        overrides = [f"{name}={os.environ[name]}" for name in PRECISION_VARIABLES if name in os.environ]
        self._note = note_of(inputs, overrides)

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case, its operands made.

        Raises:
            UnsupportedError: The device cannot run this format.
            OutOfMemoryError, DeviceLostError: See ``explained_errors``.
        """
        refusal = find_refusal(case.dtype, case.device, self._machine)
        if refusal:
            raise UnsupportedError(refusal)
        # Hundreds of short loops: on a busy machine each would wait for a thread that does not come.
        use_threads(1)
        with explained_refusals(case.dtype):
            is_step = case.series in (STEP_FP32, STEP_AUTOCAST)
            stopwatch = self._prepare_step(case) if is_step else self._prepare_product(case)
        self._largest[case.series] = max(case.x, self._largest.get(case.series, 0.0))
        return SwitchedStopwatch(stopwatch, mode_of(case.dtype), self._note)

    def release(self, case: Case) -> None:
        """Free what a case that did not fit left behind."""
        self._originals.clear()
        if case.device != CPU:
            torch.cuda.empty_cache()

    def _prepare_product(self, case: Case) -> Stopwatch:
        left, right = round_operands(*self._originals_of(case), case.dtype)
        operation = make_product(case.dtype, left, right)
        return self._clock(case, operation, partial(self._check_product, case, operation, left, right))

    def _originals_of(self, case: Case) -> tuple[Tensor, Tensor]:
        key = (int(case.x), case.dtype is Dtype.FP64)
        if key not in self._originals:
            kept = {known: pair for known, pair in self._originals.items() if known[0] == key[0]}
            self._originals = kept | {key: make_originals(key[0], self._inputs, case.dtype, case.device)}
        return self._originals[key]

    def _prepare_step(self, case: Case) -> Stopwatch:
        step = make_step(case)
        return self._clock(case, step, partial(self._check_step, case, step))

    def _clock(self, case: Case, operation: Operation, check: Callable[[], Check]) -> Stopwatch:
        guard = partial(explained_refusals, case.dtype)
        if case.device == CPU:
            return HostClock(
                operation,
                check,
                before=partial(use_threads, case.threads or self._threads),
                guard=guard,
                cache_ratio=self._cache_ratio(case),
            )
        clock = DeviceClock if case.clock is Clock.DEVICE else SynchronisedClock
        return clock(operation, check, TorchCuda(case.device), guard=guard)

    def _cache_ratio(self, case: Case) -> float | None:
        """The same operands are used again at once: bytes between two uses are those of one call."""
        cache_bytes = self._machine.cpu.last_level_cache_bytes
        return case.bytes_moved / cache_bytes if cache_bytes else None

    # -- checks -----------------------------------------------------------------------------------

    def _check_product(self, case: Case, operation: Callable[[], Tensor], left: Rounded, right: Rounded) -> Check:
        use_threads(1)
        rows, reference = self._reference_of(case)
        use_threads(self._threads)
        result = operation()  # as it was timed; what follows is short loops again
        use_threads(1)
        got = widen_result(case.dtype, result[rows.to(case.device)], left, right)
        check = judge_product(case.dtype, got, reference)
        if check.failure and not check.nan_count and not check.inf_count and check.rel_error is not None:
            error = kernel_error(got, left, right)
            check = judge_error(case.dtype, check.rel_error, 0, 0, kernel_error=error)
        return self._with_gauges(case, operation, check, left.clipped + right.clipped, left.zeroed + right.zeroed)

    def _reference_of(self, case: Case) -> tuple[Tensor, Tensor]:
        """Return (row indices, those rows of the float64 product of the unrounded operands), one size at a time."""
        key = (int(case.x), case.dtype is Dtype.FP64)
        if self._reference is None or self._reference[0] != key:
            self._reference = (key, *multiply_rows(*(original.cpu() for original in self._originals_of(case))))
        return self._reference[1:]

    def _check_step(self, case: Case, step: Step) -> Check:
        use_threads(1)
        side = int(case.x)
        fresh = make_step(case)  # the timed one has moved on from its first weights
        exact = exact_gradients(side) if side <= CHECKED_UP_TO else None
        return self._with_gauges(case, step, judge_step(case.dtype, fresh.gradients(), exact))

    def _with_gauges(
        self, case: Case, operation: Operation, check: Check, clipped: int | None = None, zeroed: int | None = None
    ) -> Check:
        energy_j, why = self._read_energy(case, operation) if not check.failure else (None, "")
        gauges = Gauges(
            clipped_count=clipped,
            zeroed_count=zeroed,
            energy_j=energy_j,
            not_reported={"energy_j": why} if why else {},
        )
        return replace(check, gauges=gauges)

    def _read_energy(self, case: Case, operation: Operation) -> tuple[float | None, str]:
        """Return the joules of one call, or why not; only at the largest size of each series."""
        counter = self._energy[case.device]
        if isinstance(counter, NotReported):
            return None, counter.reason
        if case.x < self._largest.get(case.series, 0.0):
            return None, ""

        use_threads(self._threads)

        def run_calls(n_calls: int) -> None:
            for _ in range(n_calls):
                operation()
            if case.device != CPU:
                torch.cuda.synchronize(torch.device(case.device))

        started_s = time.perf_counter()
        run_calls(1)
        reading = measure_energy(counter, run_calls, time.perf_counter() - started_s)
        return (None, reading.reason) if isinstance(reading, NotReported) else (reading.energy_j, "")


def make_step(case: Case) -> Step:
    """Return the training step of a case, at its first weights."""
    return Step(int(case.x), case.device, case.dtype if case.series == STEP_AUTOCAST else None)


def kernel_error(got: Tensor, left: Rounded, right: Rounded) -> float:
    """Return how far a result is from the float64 product of the operands as they were rounded.

    Every stored value is exact in fp32, so their product is taken in stored units and scaled afterwards.
    """
    _, rounded = multiply_rows(left.stored.cpu().float(), right.stored.cpu().float())
    rounded = rounded * (left.unit.cpu().double() * right.unit.cpu().double())
    size = float(rounded.norm())
    difference = float((got - rounded).norm())
    return difference / size if size else difference
