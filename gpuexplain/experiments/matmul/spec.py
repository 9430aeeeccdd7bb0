"""What can be asked of the matmul experiment, and which cases answer it (no torch)."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params
from gpuexplain.units import format_count, format_size

EXPERIMENT_ID = "matmul"
# 1: first release.
MEASURING_VERSION = 1

CPU = "cpu"
CPU_ONE_THREAD = "cpu_1_thread"
GPU_CALL = "gpu_call"
GPU_DEVICE = "gpu_device"
GPU_WITH_TRANSFER = "gpu_with_transfer"
SERIES = (CPU, CPU_ONE_THREAD, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER)

SMALLEST_SIDE = 16
LARGEST_SIDE = 8192
# A side beyond this needs more than 32 GiB for one fp64 operand: a typing mistake.
LARGEST_DIMENSION = 65_536

MatmulDtype = Literal[Dtype.FP64, Dtype.FP32, Dtype.BF16, Dtype.FP16]


def _dimension(name: str, what: str) -> Any:
    limits = f"{what}, 1 to {LARGEST_DIMENSION}"
    return Field(default=None, ge=1, le=LARGEST_DIMENSION, title=f"{name}, {what}", description=limits)


class MatmulParams(Params):
    """Sizes and number format of one sweep over square products, or over one aspect ratio."""

    dtype: MatmulDtype = Field(default=Dtype.FP32, title="Precision", description="fp64, fp32, bf16 or fp16")
    largest_side: int | None = Field(
        default=None,
        ge=SMALLEST_SIDE,
        le=LARGEST_SIDE,
        title="Largest n",
        description="largest square side n, 16 to 8192; unset: as far as the time allows",
    )
    m: int | None = _dimension("m", "rows of the result")
    k: int | None = _dimension("k", "inner dimension")
    n: int | None = _dimension("n", "columns of the result")

    @model_validator(mode="after")
    def _all_three_dimensions(self) -> "MatmulParams":
        given = [self.m is not None, self.k is not None, self.n is not None]
        if any(given) and not all(given):
            raise ValueError("m, k and n go together: set all three, or none")
        return self

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The explicit product (m, k, n), if one was asked for."""
        if self.m is None or self.k is None or self.n is None:
            return None
        return (self.m, self.k, self.n)

    @property
    def is_square(self) -> bool:
        """Whether every case of this sweep is n x n by n x n."""
        return self.shape is None or len(set(self.shape)) == 1


# The article's example, one click away.
ARTICLE_PRESET = MatmulParams(dtype=Dtype.FP32, m=4000, k=4000, n=4000)
# Four experiments of this length, with their preparations, fit into the tour's minute.
TOUR_PARAMS = MatmulParams(budget_s=11.0)


def equivalent_side(shape: tuple[int, int, int]) -> float:
    """Return the side of the square product with the same number of multiply-adds."""
    m, k, n = shape
    return float(m) if m == k == n else round((m * k * n) ** (1 / 3), 1)


def count_flops(shape: tuple[int, int, int]) -> float:
    """Return the operations of one product: 2 m k n (a multiply and an add each)."""
    m, k, n = shape
    return 2.0 * m * k * n


def count_bytes(shape: tuple[int, int, int], dtype: Dtype) -> int:
    """Return the bytes of both inputs and the result, each touched once."""
    m, k, n = shape
    return (m * k + k * n + m * n) * BYTES_PER_VALUE[dtype]


def plan_shapes(params: MatmulParams) -> list[tuple[tuple[int, int, int], bool]]:
    """Return (shape, explicit) by rising work.

    Squares in powers of two, and the explicit square beside them; for an explicit non-square
    product the same aspect ratio halved until a side would fall under 16 (or under 1).
    """
    if params.shape is not None and not params.is_square:
        return list(_halvings(params.shape))[::-1]
    largest = params.largest_side or (params.shape[0] if params.shape else LARGEST_SIDE)
    sides: dict[int, bool] = {}
    side = SMALLEST_SIDE
    while side <= largest:
        sides[side] = params.largest_side is not None
        side *= 2
    if params.largest_side is not None:
        sides[params.largest_side] = True
    if params.shape is not None:
        sides[params.shape[0]] = True
    return [((side, side, side), sides[side]) for side in sorted(sides)]


def _halvings(shape: tuple[int, int, int]) -> Iterator[tuple[tuple[int, int, int], bool]]:
    yield shape, True
    smallest = min(SMALLEST_SIDE, *shape)
    m, k, n = (side // 2 for side in shape)
    while min(m, k, n) >= smallest:
        yield (m, k, n), False
        m, k, n = m // 2, k // 2, n // 2


def plan_cases(params: MatmulParams, machine: Machine) -> list[Case]:
    """Return every case of the sweep, small to large; those too slow for the budget drop out later.

    Raises:
        InputError: If an explicit size does not fit the memory; names the largest that does.
    """
    device = resolve_device(params, machine)
    shapes = plan_shapes(params)
    cases = [case for shape, explicit in shapes for case in cases_of(shape, explicit, params, device, machine)]
    limits = memory_limits(machine)
    fits = [case for case in cases if case.memory_bytes <= limits.get(case.device, case.memory_bytes)]
    too_large = [case for case in cases if case.explicit and case not in fits]
    if too_large:
        tightest = min(too_large, key=lambda case: limits[case.device])
        raise InputError(_refusal(tightest, limits[tightest.device], params.dtype))
    return fits


def _refusal(case: Case, limit_bytes: int, dtype: Dtype) -> str:
    largest = int((limit_bytes / (3 * BYTES_PER_VALUE[dtype])) ** 0.5)
    while _memory_bytes((largest, largest, largest), dtype) > limit_bytes:
        largest = int(largest * 0.99)
    shape = " x ".join(format_count(side) for side in case.shape)
    return (
        f"{shape} ({dtype}) needs {format_size(case.memory_bytes)} on {case.device}, of which a run may "
        f"take {format_size(limit_bytes)}. The largest square that fits has n = {format_count(largest)}."
    )


def _memory_bytes(shape: tuple[int, int, int], dtype: Dtype) -> int:
    """Inputs and output, the fp32 originals they are rounded from, and 64 float64 rows to check."""
    m, k, n = shape
    originals = (m * k + k * n) * 4
    check = (64 * k + k * n + 64 * n) * 8 // 4  # the second operand is converted in column blocks
    return count_bytes(shape, dtype) + originals + check


def cases_of(
    shape: tuple[int, int, int], explicit: bool, params: MatmulParams, device: str, machine: Machine
) -> Iterator[Case]:
    """Yield one case per series for a shape (m, k, n)."""
    threads = machine.cpu.usable_threads
    wanted: list[tuple[str, str, Clock, int | None]] = [(CPU, CPU, Clock.CALL, threads)]
    if threads > 1:
        wanted.append((CPU_ONE_THREAD, CPU, Clock.CALL, 1))
    if device != CPU:
        wanted += [
            (GPU_CALL, device, Clock.CALL, None),
            (GPU_DEVICE, device, Clock.DEVICE, None),
            (GPU_WITH_TRANSFER, device, Clock.TRANSFER_INCLUSIVE, None),
        ]
    for series, where, clock, used_threads in wanted:
        yield Case(
            series=series,
            x=equivalent_side(shape),
            shape=shape,
            dtype=params.dtype,
            device=where,
            clock=clock,
            threads=used_threads,
            flops=count_flops(shape),
            bytes_moved=float(count_bytes(shape, params.dtype)),
            memory_bytes=_memory_bytes(shape, params.dtype),
            explicit=explicit,
        )


def plan_refinement(low: float, high: float, cases: Sequence[Case], most: int = 3) -> list[int]:
    """Return sides to add between two bracketing sizes, multiples of 16, spread evenly in log n."""
    known = {case.x for case in cases}
    ratio = (high / low) ** (1 / (most + 1))
    sides = {max(16, round(low * ratio**step / 16) * 16) for step in range(1, most + 1)}
    return sorted(side for side in sides if low < side < high and side not in known)
