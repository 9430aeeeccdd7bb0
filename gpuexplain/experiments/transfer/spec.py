"""What can be asked of the transfer experiment, and which cases answer it (no torch)."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import memory_limits, resolve_device
from gpuexplain.experiments.transfer.places import MEMORY_SHARE, count_places
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Case, Clock, Dtype, Params
from gpuexplain.units import format_size

EXPERIMENT_ID = "transfer"
# 1: first release.
MEASURING_VERSION = 1

CPU = "cpu"
# Copies within main memory: what a machine without a GPU can measure. They are never called a transfer.
MEMORY_COPY = "memory_copy"
MEMORY_COPY_ONE_THREAD = "memory_copy_1_thread"
MEMORY_COPY_FRESH = "memory_copy_fresh"
MEMORY_COPY_PIECES = "memory_copy_pieces"
# Copies over the link: h2d to the device, d2h from it; by the memory of the host.
H2D_PAGEABLE = "h2d_pageable"
D2H_PAGEABLE = "d2h_pageable"
H2D_PINNED = "h2d_pinned"
D2H_PINNED = "d2h_pinned"
H2D_PIN_THEN_COPY = "h2d_pin_then_copy"
H2D_PINNED_DEVICE = "h2d_pinned_device"
H2D_PIECES = "h2d_pieces"
H2D_PINNED_PIECES = "h2d_pinned_pieces"
# A pinned copy beside products on another stream, and those products alone.
OVERLAP_COMPUTE = "overlap_compute"
OVERLAP_BOTH = "overlap_both"
# What the copies are made for: a product, and the copies of its operands and result.
CPU_PRODUCT = "cpu_product"
GPU_PRODUCT = "gpu_product"
PRODUCT_COPIES = "product_copies"
# A copy in anybody's file.
FILE_COPY = "file_copy"

MEMORY_COPIES = frozenset({MEMORY_COPY, MEMORY_COPY_ONE_THREAD, MEMORY_COPY_FRESH})
LINK_COPIES = frozenset({H2D_PAGEABLE, D2H_PAGEABLE, H2D_PINNED, D2H_PINNED, H2D_PIN_THEN_COPY, H2D_PINNED_DEVICE})
PIECES = frozenset({MEMORY_COPY_PIECES, H2D_PIECES, H2D_PINNED_PIECES})
PRODUCTS = frozenset({CPU_PRODUCT, GPU_PRODUCT, PRODUCT_COPIES})
FROM_DEVICE = frozenset({D2H_PAGEABLE, D2H_PINNED})

# In the words on how a clock was read: the copy crosses the link between two sockets.
NODES_APART = "the copy crosses NUMA nodes"

BYTES_PER_VALUE = 4  # fp32, as most programs copy
MIB = 2**20
SMALLEST_BYTES = 1024
LARGEST_MIB = 1024
# The series that only accompany the others (one thread, new memory, pinning first, device time) have every second
# size, and end here: their factors no longer change, but their time and the memory that two of them add would count.
COMPANION_STEP = 4
LARGEST_COMPANION_BYTES = 256 * MIB
SMALLEST_PIECE_BYTES = 4096
# Sizes at which a copy runs beside products; smaller ones are over before the second stream starts.
OVERLAP_SIZES_BYTES = tuple(2**exponent * MIB for exponent in (0, 2, 4, 6, 8))
# Of the products beside the copy: large enough to fill a GPU.
OVERLAP_SIDE = 2048


class TransferParams(Params):
    """Sizes of one sweep over copies, and the product they are made for."""

    largest_mib: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_MIB,
        title="Largest copy, MiB",
        description="largest copy in MiB, 1 to 1024; unset: 1024, as far as memory and time allow",
    )
    side: int = Field(
        default=1024,
        ge=64,
        le=8192,
        title="n of the product that the copies are for",
        description="side n of the product whose copies are weighed, 64 to 8192",
    )
    total_mib: int = Field(
        default=64,
        ge=1,
        le=LARGEST_MIB,
        title="MiB copied at once and in pieces",
        description="MiB that are copied at once and in pieces, 1 to 1024",
    )


# Four experiments of this length, with their preparations, fit into the tour's minute.
TOUR_PARAMS = TransferParams(budget_s=11.0)


def product_bytes(side: int) -> int:
    """Return the bytes of two fp32 operands and the result: what is copied for one product."""
    return 3 * side**2 * BYTES_PER_VALUE


def plan_sizes(largest_bytes: int) -> list[int]:
    """Return the sizes (bytes) of a sweep: powers of two from 1 KiB, and the largest itself."""
    sizes = []
    size = SMALLEST_BYTES
    while size < largest_bytes:
        sizes.append(size)
        size *= 2
    return [*sizes, largest_bytes]


def plan_companion_sizes(largest_bytes: int) -> list[int]:
    """Return the sizes (bytes) of a series that accompanies another: powers of four from 1 KiB to 256 MiB."""
    sizes = []
    size = SMALLEST_BYTES
    while size <= min(largest_bytes, LARGEST_COMPANION_BYTES):
        sizes.append(size)
        size *= COMPANION_STEP
    return sizes


def plan_pieces(total_bytes: int) -> list[int]:
    """Return the sizes (bytes) of the pieces: powers of four from 4 KiB that divide the total, and the total."""
    pieces = []
    size = SMALLEST_PIECE_BYTES
    while size < total_bytes:
        if total_bytes % size == 0:
            pieces.append(size)
        size *= 4
    return [*pieces, total_bytes]


def plan_cases(params: TransferParams, machine: Machine) -> list[Case]:
    """Return every case of the sweep; those too slow for the budget drop out later.

    Raises:
        InputError: If what was asked for does not fit the memory; names what does.
    """
    device = resolve_device(params, machine)
    plan = _Plan(params, machine, device)
    plan.check()
    return list(plan.memory_cases() if device == CPU else plan.link_cases())


@dataclass(frozen=True, slots=True)
class _Plan:
    """The cases of one run, for one machine."""

    params: TransferParams
    machine: Machine
    device: str

    # -- what fits --------------------------------------------------------------------------------

    @property
    def _most_bytes(self) -> int:
        """The largest copy that the memory allows: buffers for both sides, and a third beside them."""
        limits = memory_limits(self.machine)
        host = limits[CPU] // 3
        return min(host, limits.get(self.device, host)) if self.device != CPU else host

    @property
    def _largest_bytes(self) -> int:
        if self.params.largest_mib is not None:
            return self.params.largest_mib * MIB
        fitting = [size for size in plan_sizes(LARGEST_MIB * MIB) if size <= self._most_bytes]
        return fitting[-1] if fitting else SMALLEST_BYTES

    def check(self) -> None:
        """Refuse what does not fit.

        Raises:
            InputError: With the largest that does.
        """
        most = self._most_bytes
        asked = {
            "largest_mib": (self.params.largest_mib or 0) * MIB,
            "total_mib": self.params.total_mib * MIB,
            "side": product_bytes(self.params.side),
        }
        for name, size in asked.items():
            if size > most:
                raise InputError(
                    f"{name}={getattr(self.params, name)} needs copies of {format_size(size)}, and a run may take "
                    f"{format_size(most)} for one here. {self._remedy(name, most)}"
                )

    @staticmethod
    def _remedy(name: str, most_bytes: int) -> str:
        if name == "side":
            return f"The largest side that fits is {int((most_bytes / (3 * BYTES_PER_VALUE)) ** 0.5)}."
        return f"Choose {max(1, most_bytes // MIB)} or less."

    # -- places -----------------------------------------------------------------------------------

    def _count_places(self, size: int, touched: int) -> int:
        window = self.machine.memory.usable_bytes * MEMORY_SHARE / 2
        return count_places(
            size, self.machine.cpu.last_level_cache_bytes, touched=touched, window_bytes=max(window, size)
        )

    # -- copies within main memory ----------------------------------------------------------------

    def memory_cases(self) -> Iterator[Case]:
        """Yield the cases of a machine without a GPU: memory copies, and the product they would be for."""
        threads = self.machine.cpu.usable_threads
        for size in plan_sizes(self._largest_bytes):
            yield self._copy(MEMORY_COPY, size, threads)
        for size in plan_companion_sizes(self._largest_bytes):
            if threads > 1:
                yield self._copy(MEMORY_COPY_ONE_THREAD, size, 1)
            yield self._copy(MEMORY_COPY_FRESH, size, threads)
        yield from self._pieces(MEMORY_COPY_PIECES, threads)
        yield self._product(CPU_PRODUCT, CPU)

    # -- copies over the link ---------------------------------------------------------------------

    def link_cases(self) -> Iterator[Case]:
        """Yield the cases of a machine with a GPU."""
        for size in plan_sizes(self._largest_bytes):
            for series in (H2D_PAGEABLE, D2H_PAGEABLE, H2D_PINNED, D2H_PINNED):
                yield self._copy(series, size)
        for size in plan_companion_sizes(self._largest_bytes):
            for series in (H2D_PIN_THEN_COPY, H2D_PINNED_DEVICE):
                yield self._copy(series, size)
        for series in (H2D_PIECES, H2D_PINNED_PIECES):
            yield from self._pieces(series)
        for size in OVERLAP_SIZES_BYTES:
            if size <= self._largest_bytes:
                yield self._overlap(OVERLAP_COMPUTE, size)
                yield self._overlap(OVERLAP_BOTH, size)
        if CPU in self.machine.devices:  # an operator may offer GPUs only
            yield self._product(CPU_PRODUCT, CPU)
        yield self._product(GPU_PRODUCT, self.device)
        yield self._product(PRODUCT_COPIES, self.device)

    # -- one case each ----------------------------------------------------------------------------

    def _case(self, series: str, x: int, shape: tuple[int, ...], **changes: object) -> Case:
        fields: dict[str, object] = {
            "dtype": Dtype.FP32,
            "device": self.device,
            "clock": Clock.CALL,
            "threads": None,
            "flops": 0.0,
            "bytes_moved": float(x),
            "memory_bytes": 2 * x,
        }
        return Case(series=series, x=float(x), shape=shape, **{**fields, **changes})  # type: ignore[arg-type]

    def _copy(self, series: str, size: int, threads: int | None = None) -> Case:
        is_explicit = self.params.largest_mib is not None
        n_places = self._count_places(size, 2 if series in MEMORY_COPIES else 1)
        clock = Clock.DEVICE if series == H2D_PINNED_DEVICE else Clock.CALL
        memory_bytes = (3 if series in (MEMORY_COPY_FRESH, H2D_PIN_THEN_COPY) else 2) * size
        return self._case(
            series,
            size,
            (size, n_places),
            threads=threads,
            clock=clock,
            memory_bytes=memory_bytes,
            explicit=is_explicit,
        )

    def _pieces(self, series: str, threads: int | None = None) -> Iterator[Case]:
        total = self.params.total_mib * MIB
        n_places = self._count_places(total, 2 if self.device == CPU else 1)
        for piece in plan_pieces(total):
            yield self._case(
                series,
                piece,
                (piece, total, n_places),
                threads=threads,
                bytes_moved=float(total),
                memory_bytes=2 * total,
            )

    def _overlap(self, series: str, size: int) -> Case:
        return self._case(series, size, (size, OVERLAP_SIDE))

    def _product(self, series: str, device: str) -> Case:
        # Counted by its bytes: by its operations it would be the last case, and a short run would not reach it.
        side = self.params.side
        return self._case(
            series,
            product_bytes(side),
            (side, side, side),
            device=device,
            threads=self.machine.cpu.usable_threads if device == CPU else None,
            memory_bytes=2 * product_bytes(side),
            explicit=True,
        )
