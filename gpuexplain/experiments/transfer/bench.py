"""How each case is timed: its memory, its operation, its clock and its check (torch)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.buffers import Buffer, Buffers, Place, empty_pinned_cache
from gpuexplain.experiments.transfer.clocks import COPY_TIMING, CopyClock
from gpuexplain.experiments.transfer.copies import (
    MakeOperation,
    PinThenCopy,
    check_copy,
    check_fresh_copy,
    copy_and_wait,
    copy_in_pieces,
    copy_to_fresh_memory,
    copy_without_waiting,
    rotate,
)
from gpuexplain.experiments.transfer.overlap import OverlapBench
from gpuexplain.experiments.transfer.places import ratio_of_places
from gpuexplain.experiments.transfer.purpose import prepare_product, prepare_product_copies
from gpuexplain.experiments.transfer.streams import Streams
from gpuexplain.hardware.machine import Machine
from gpuexplain.hardware.numa import buffer_numa_node, gpu_numa_node
from gpuexplain.measuring.clocks import CudaApi, DeviceClock, HostClock
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.stopwatch import Stopwatch
from gpuexplain.measuring.torch_setup import use_threads
from gpuexplain.model import Case


class Bench:
    """Prepares cases. ``cuda`` and ``streams`` are those of the GPU that copies go to; None without one."""

    def __init__(
        self,
        machine: Machine,
        threads: int,
        buffers: Buffers,
        cuda: CudaApi | None = None,
        streams: Callable[[], Streams] | None = None,
    ) -> None:
        self._machine = machine
        self._threads = threads
        self._buffers = buffers
        self._cuda = cuda
        self._make_streams = streams
        self._overlap: OverlapBench | None = None

    def prepare(self, case: Case) -> Stopwatch:
        """Return the stopwatch of a case, its memory filled.

        Raises:
            OutOfMemoryError, UnsupportedError: See ``explained_errors``; also where nothing can be pinned.
        """
        with explained_errors():
            match case.series:
                case spec.CPU_PRODUCT:
                    return prepare_product(case, self._threads)
                case spec.GPU_PRODUCT:
                    return prepare_product(case, self._threads, self._need_cuda(), self._where)
                case spec.PRODUCT_COPIES:
                    return prepare_product_copies(case, self._need_cuda(), self._where)
                case spec.OVERLAP_COMPUTE | spec.OVERLAP_BOTH:
                    return self._beside_products(case)
                case spec.H2D_PIN_THEN_COPY:
                    return self._pin_then_copy(case)
                case spec.MEMORY_COPY | spec.MEMORY_COPY_ONE_THREAD | spec.MEMORY_COPY_FRESH | spec.MEMORY_COPY_PIECES:
                    return self._memory_copy(case)
                case _:
                    return self._link_copy(case)

    # -- copies -----------------------------------------------------------------------------------

    def _memory_copy(self, case: Case) -> Stopwatch:
        use_threads(1)  # for filling: on a busy machine several threads would wait for each other
        places = self._places(self._buffers.second, self._buffers.pageable, case)
        make, use_own = self._way_to_copy(case), partial(use_threads, case.threads or self._threads)
        use_one = partial(use_threads, 1)
        check = partial(check_copy, make, places, self._buffers.pattern, _already_done, before=use_own, after=use_one)
        if case.series == spec.MEMORY_COPY_FRESH:
            check = partial(check_fresh_copy, places, self._buffers.pattern)
        return HostClock(
            make(rotate(places)),
            check,
            before=use_own,
            guard=explained_errors,
            cache_ratio=self._cache_ratio(case, touched=2),
        )

    def _link_copy(self, case: Case) -> Stopwatch:
        buffers, cuda = self._buffers, self._need_cuda()
        pinned = (spec.H2D_PINNED, spec.D2H_PINNED, spec.H2D_PINNED_DEVICE, spec.H2D_PINNED_PIECES)
        host = buffers.pinned if case.series in pinned else buffers.pageable
        target, source = (host, buffers.device) if case.series in spec.FROM_DEVICE else (buffers.device, host)
        places = self._places(target, source, case)
        make = self._way_to_copy(case)
        check = partial(check_copy, make, places, buffers.pattern, cuda.synchronize)
        options: dict[str, Any] = {"guard": explained_errors, "cache_ratio": self._cache_ratio(case, touched=1)}
        if case.series == spec.H2D_PINNED_DEVICE:
            return DeviceClock(make(rotate(places)), check, cuda, **options)
        timing = f"{COPY_TIMING}{self._say_nodes(host, case.device)}"
        return CopyClock(make(rotate(places)), check, cuda, timing=timing, **options)

    def _way_to_copy(self, case: Case) -> MakeOperation:
        match case.series:
            case spec.MEMORY_COPY_FRESH:
                return copy_to_fresh_memory
            case spec.MEMORY_COPY_PIECES | spec.H2D_PIECES:
                return copy_in_pieces(case.shape[0], wait=True)
            case spec.H2D_PINNED_PIECES:
                return copy_in_pieces(case.shape[0], wait=False)
            case spec.H2D_PINNED | spec.D2H_PINNED | spec.H2D_PINNED_DEVICE:
                return copy_without_waiting
            case _:
                return copy_and_wait

    def _pin_then_copy(self, case: Case) -> Stopwatch:
        cuda = self._need_cuda()
        _ = self._buffers.pinned  # where nothing can be pinned, this says so
        places = self._places(self._buffers.device, self._buffers.pageable, case)
        make = partial(PinThenCopy, pin=self._buffers.pin_copy)
        operation = make(rotate(places))
        is_emptied = empty_pinned_cache()
        how = "pinned anew for every copy" if is_emptied else "pinned memory may come from torch's cache"

        def between() -> None:
            operation.let_go()
            empty_pinned_cache()

        return CopyClock(
            operation,
            partial(check_copy, make, places, self._buffers.pattern, cuda.synchronize),
            cuda,
            between=between,
            timing=f"host clock around pinning, the copy and one synchronisation at its end; {how}",
            guard=explained_errors,
            cache_ratio=self._cache_ratio(case, touched=1),
        )

    def _places(self, target: Buffer, source: Buffer, case: Case) -> list[Place]:
        """Return the places of a copy; of one in pieces those of its total."""
        size, n_places = case.shape[-2:]
        return self._buffers.places(target, source, size, n_places)

    def _cache_ratio(self, case: Case, *, touched: int) -> float | None:
        size, n_places = case.shape[-2:]
        return ratio_of_places(size, n_places, self._machine.cpu.last_level_cache_bytes, touched=touched)

    def _say_nodes(self, host: Buffer, device: str) -> str:
        """Return where buffer and GPU lie, where the computer has several nodes and tells."""
        gpu = self._machine.gpu(device)
        theirs = gpu_numa_node(gpu.pci_bus_id) if gpu else None
        ours = buffer_numa_node(host.values.data_ptr())
        if theirs is None or ours is None:
            return ""
        apart = f"; {spec.NODES_APART}" if ours != theirs else ""
        return f"; memory on NUMA node {ours}, GPU on node {theirs}{apart}"

    def _beside_products(self, case: Case) -> Stopwatch:
        if self._overlap is None:
            assert self._make_streams is not None, "the plan asks for streams only where there is a GPU"
            self._overlap = OverlapBench(self._buffers, self._need_cuda(), self._make_streams())
        return self._overlap.prepare(case)

    @property
    def _where(self) -> torch.device:
        return self._buffers.device.values.device

    def _need_cuda(self) -> CudaApi:
        assert self._cuda is not None, "the plan asks for copies over a link only where there is a GPU"
        return self._cuda


def _already_done() -> None:
    """Wait for nothing: a copy within main memory has finished when it returns."""
