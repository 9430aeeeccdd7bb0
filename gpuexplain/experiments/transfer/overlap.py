"""How a copy beside products is timed: two streams, and as many products as take a little longer (torch)."""

from collections.abc import Callable
from functools import partial

import torch

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.buffers import Buffers, Place
from gpuexplain.experiments.transfer.clocks import CopyClock
from gpuexplain.experiments.transfer.copies import (
    Advance,
    Operation,
    check_copy,
    copy_without_waiting,
    judge_copy,
    rotate,
)
from gpuexplain.experiments.transfer.streams import Streams
from gpuexplain.measuring.clocks import CudaApi, SynchronisedClock
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.products import make_inputs
from gpuexplain.measuring.stopwatch import Check, Stopwatch
from gpuexplain.model import Case, Dtype

# The products take about this much longer than the copy: then all of it can hide.
COMPUTE_LONGER = 1.2
MOST_PRODUCTS = 256


class OverlapBench:
    """Prepares a copy beside products, and those products alone: the same number for both."""

    def __init__(self, buffers: Buffers, cuda: CudaApi, streams: Streams) -> None:
        self._buffers = buffers
        self._cuda = cuda
        self._streams = streams
        self._n_products: dict[int, int] = {}  # by copied bytes
        self._operands: dict[int, tuple[torch.Tensor, ...]] = {}  # by side: left, right, result

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case of ``OVERLAP_COMPUTE`` or ``OVERLAP_BOTH``.

        Raises:
            UnsupportedError: If nothing can be pinned: such a copy would not run beside anything.
        """
        size, side = case.shape
        places = self._buffers.places(self._buffers.device, self._buffers.pinned, size, 1)
        n_products = self._count_products(places, size, side)
        timing = f"host clock around {n_products} products of side {side} on one stream"
        if case.series == spec.OVERLAP_COMPUTE:
            operation = self._compute(n_products, side)
            check: Callable[[], Check] = partial(judge_copy, 0)
        else:
            make = partial(self._both, n_products, side)
            operation = make(rotate(places))
            check = partial(check_copy, make, places, self._buffers.pattern, self._cuda.synchronize)
            timing += ", the copy on another"
        timing += ", and one synchronisation"
        return CopyClock(operation, check, self._cuda, timing=timing, guard=explained_errors)

    def _compute(self, n_products: int, side: int) -> Operation:
        """Return the products, queued on the first stream."""
        left, right, result = self._operands_of(side)

        def operation() -> None:
            with self._streams.on_first():
                for _ in range(n_products):
                    torch.mm(left, right, out=result)

        return operation

    def _both(self, n_products: int, side: int, advance: Advance) -> Operation:
        """Return the products with one copy queued on the second stream beside them."""
        compute = self._compute(n_products, side)

        def operation() -> None:
            compute()
            with self._streams.on_second():
                _, target, source = advance()
                target.copy_(source, non_blocking=True)

        return operation

    def _operands_of(self, side: int) -> tuple[torch.Tensor, ...]:
        if side not in self._operands:
            where = self._buffers.device.values.device
            left, right = (operand.to(where) for operand in make_inputs((side,) * 3, Dtype.FP32))
            self._operands[side] = (left, right, torch.empty_like(left))
        return self._operands[side]

    def _count_products(self, places: list[Place], size: int, side: int) -> int:
        """Return how many products take a little longer than the copy of ``size`` bytes; counted once a size."""
        if size not in self._n_products:
            copy_s = self._time_warm(copy_without_waiting(rotate(places)))
            product_s = self._time_warm(self._compute(1, side))
            self._n_products[size] = min(MOST_PRODUCTS, max(1, round(COMPUTE_LONGER * copy_s / product_s)))
        return self._n_products[size]

    def _time_warm(self, operation: Operation) -> float:
        """Return the seconds of the second of two calls: the first one is cold."""
        watch = SynchronisedClock(operation, partial(judge_copy, 0), self._cuda)
        watch.call_once()
        return watch.call_once()
