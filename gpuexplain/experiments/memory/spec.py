"""What can be asked of the memory wall: two roofs, and work that walks from one to the other (no torch)."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import CPU, memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params
from gpuexplain.units import format_size

EXPERIMENT_ID = "memory"
# 1: first release.
MEASURING_VERSION = 1

COPY = "copy"  # b = a: reads and writes
TRIAD = "triad"  # a = b + s c: reads two, writes one
READ = "read"  # sum of a: reads only
# Products up to a large one: the roof of arithmetic. Small ones first, for 16 bits can be hopelessly slow on a CPU.
COMPUTE: dict[Dtype, str] = {Dtype.FP32: "compute_fp32", Dtype.BF16: "compute_bf16"}
COMPUTES = tuple(COMPUTE.values())
WALK = "walk"  # W x with k columns: every loaded weight is used k times
EMPTY = "empty_call"  # one number plus one: what a call costs that does nothing
BANDWIDTHS = (COPY, TRIAD, READ)
# Other experiments that count the bytes which one call must move from and to memory; None: in every series.
# Steps and scaling count other bytes or none, the stopwatch times wrongly on purpose.
LENDERS: dict[str, frozenset[str] | None] = {
    "matmul": None,
    "precision": frozenset({str(Dtype.FP32), str(Dtype.BF16)}),
    "by_hand": None,
    "workers": frozenset({"sum_torch_all_threads"}),
}

VALUE_BYTES = BYTES_PER_VALUE[Dtype.FP32]
MATRIX_SIDE = 2048
COMPUTE_SIDES = (64, 256, 1024)
GPU_COMPUTE_SIDES = (256, 1024, 4096)
LARGEST_K = 1024
# The arrays of the bandwidths, and all matrices of the walk together, exceed the last-level cache by this.
TIMES_CACHE = 4
LEAST_ARRAY_BYTES = 64 * 2**20
MOST_ARRAY_BYTES = 512 * 2**20
GPU_ARRAY_BYTES = 512 * 2**20


class MemoryParams(Params):
    """How far the walk goes."""

    largest_k: int = Field(
        default=512,
        ge=1,
        le=LARGEST_K,
        title="Largest k",
        description="largest number of uses per loaded value, 1 to 1024",
    )


def array_bytes(device: str, machine: Machine) -> int:
    """Return the size of one array of a bandwidth: far beyond the caches, within bounds."""
    if device != CPU:
        return GPU_ARRAY_BYTES
    cache = machine.cpu.last_level_cache_bytes or LEAST_ARRAY_BYTES // TIMES_CACHE
    return min(max(TIMES_CACHE * cache, LEAST_ARRAY_BYTES), MOST_ARRAY_BYTES)


def n_matrices(device: str, machine: Machine) -> int:
    """Return over how many weight matrices the walk rotates, so that none is in a cache when it comes again."""
    one = MATRIX_SIDE**2 * VALUE_BYTES
    return max(2, -(-array_bytes(device, machine) // one))


def uses(largest_k: int) -> list[int]:
    """Return the numbers of uses per loaded value: powers of two, and the largest."""
    return sorted({*(2**e for e in range(largest_k.bit_length()) if 2**e <= largest_k), largest_k})


def count_walk(k: int) -> tuple[float, float]:
    """Return (operations, bytes) of W x with k columns: W once, x and the result once."""
    n = MATRIX_SIDE
    return 2.0 * n * n * k, float(VALUE_BYTES * (n * n + 2 * n * k))


def plan_cases(params: MemoryParams, machine: Machine) -> Sequence[Case]:
    """Return the cases of both roofs and of the walk.

    Raises:
        InputError: If the device cannot be used, or its memory does not hold the arrays.
    """
    device = resolve_device(params, machine)
    needed = 3 * array_bytes(device, machine) + n_matrices(device, machine) * MATRIX_SIDE**2 * VALUE_BYTES
    limit = memory_limits(machine).get(device)
    if limit is not None and needed > limit:
        raise InputError(
            f"The memory wall needs {format_size(needed)} on {device}, of which a run may take {format_size(limit)}. "
            "Free some memory, or choose another device."
        )
    return list(_cases(params, device, machine))


def _cases(params: MemoryParams, device: str, machine: Machine) -> Iterator[Case]:
    size = array_bytes(device, machine)
    n_values = size // VALUE_BYTES
    on_gpu = device != CPU

    def case(series: str, x: float, shape: tuple[int, ...], flops: float, moved: float, dtype: Dtype) -> Case:
        return Case(
            series=series,
            x=x,
            shape=shape,
            dtype=dtype,
            device=device,
            clock=Clock.DEVICE if on_gpu and series != EMPTY else Clock.CALL,
            threads=None if on_gpu else machine.cpu.usable_threads,
            flops=flops,
            bytes_moved=moved,
            memory_bytes=int(moved),
            # Each is needed for a roof or for the walk between them: a busy machine, where a small product
            # waits and predicts a slow large one, must not leave it out. Only 16 bits can be hopelessly slow.
            explicit=series != COMPUTE[Dtype.BF16],
        )

    yield case(EMPTY, 1.0, (1,), 1.0, 8.0, Dtype.FP32)
    yield case(COPY, float(size), (n_values,), 0.0, 2.0 * size, Dtype.FP32)
    yield case(TRIAD, float(size), (n_values,), 2.0 * n_values, 3.0 * size, Dtype.FP32)
    yield case(READ, float(size), (n_values,), float(n_values), float(size), Dtype.FP32)
    for dtype, series in COMPUTE.items():
        for side in GPU_COMPUTE_SIDES if on_gpu else COMPUTE_SIDES:
            moved = 3.0 * side * side * BYTES_PER_VALUE[dtype]
            yield case(series, float(side), (side, side, side), 2.0 * side**3, moved, dtype)
    for k in uses(params.largest_k):
        flops, moved = count_walk(k)
        yield case(WALK, float(k), (MATRIX_SIDE, MATRIX_SIDE, k), flops, moved, Dtype.FP32)
