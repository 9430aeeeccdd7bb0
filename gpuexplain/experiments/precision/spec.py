"""What can be asked of the precision experiment, and which cases answer it (no torch)."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import Field

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import CPU, memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params
from gpuexplain.units import format_count, format_size

EXPERIMENT_ID = "precision"
# 1: first release.
MEASURING_VERSION = 1

STEP_FP32 = "step_fp32"
STEP_AUTOCAST = "step_autocast"
SUM_PREFIX = "sum_"  # running sums: checked, not timed
SUM_BF16_IN_FP32 = "sum_bf16_in_fp32"
SUBNORMAL = "subnormal"
# How many small numbers are added to a large one: bf16 has lost them all long before the end.
SUM_COUNTS = (16, 64, 256, 1024, 4096)

# The smallest size is the probe: there even a format without any hardware takes milliseconds.
SMALLEST_SIDE = 64
LARGEST_SIDE = 8192
SIDE_STEP = 16  # every dimension of an fp8 product must be a multiple of it
# Every fourth doubling is enough for a training step: it is compared with itself only.
STEP_SIDES = frozenset({64, 256, 1024, 4096})
STEP_LAYERS = 3
STEP_LEARNING_RATE = 1e-3
# fp16 gradients are small enough to vanish: the loss is scaled up, and the update down again.
STEP_LOSS_SCALE = 2.0**12

# Exact first: at one size the usual formats are visited before those that may turn out to be slow.
FORMATS = (
    Dtype.FP64,
    Dtype.FP32,
    Dtype.TF32,
    Dtype.BF16,
    Dtype.FP16,
    Dtype.FP8,
    Dtype.FP8_E5M2,
    Dtype.INT8,
)
# What a product is written in: sums are kept wide.
RESULT_BYTES: dict[Dtype, int] = {Dtype.FP8: 2, Dtype.FP8_E5M2: 2, Dtype.INT8: 4}


class Inputs(StrEnum):
    """How the numbers that are multiplied are spread."""

    UNIFORM = "uniform"  # in [-1, 1)
    NORMAL = "normal"  # mean 0, variance 1: a few values far out
    # The uniform ones, with every column of the left operand multiplied by a power of two and the matching
    # row of the right one divided by it: the exact product stays the same.
    BADLY_SCALED = "badly_scaled"


# Powers of two from 2^-20 to 2^20: far more than fp16 spans, far less than bf16 does.
SCALE_EXPONENT = 20


class Selection(StrEnum):
    """Which formats are measured; fp32 is always there to compare with."""

    ALL = "all"
    SIXTEEN_BIT = "16_bit"
    EIGHT_BIT = "8_bit"


FORMATS_OF: dict[Selection, tuple[Dtype, ...]] = {
    Selection.ALL: FORMATS,
    Selection.SIXTEEN_BIT: (Dtype.FP32, Dtype.TF32, Dtype.BF16, Dtype.FP16),
    Selection.EIGHT_BIT: (Dtype.FP32, Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8),
}


class PrecisionParams(Params):
    """Which numbers are multiplied, in which formats, and up to which size."""

    inputs: Inputs = Field(
        default=Inputs.UNIFORM, title="Inputs", description="uniform, normal or badly_scaled (wide range of sizes)"
    )
    largest_side: int | None = Field(
        default=None,
        ge=SMALLEST_SIDE,
        le=LARGEST_SIDE,
        multiple_of=SIDE_STEP,
        title="Largest n",
        description="largest square side n, 64 to 8192, a multiple of 16; unset: as far as the time allows",
    )
    dtypes: Selection = Field(
        default=Selection.ALL,
        title="Formats",
        description="all, 16_bit (fp32, tf32, bf16, fp16) or 8_bit (fp32, fp8, fp8_e5m2, int8)",
        json_schema_extra={"place": "more"},
    )


# Four experiments of this length, with their preparations, fit into the tour's minute.
TOUR_PARAMS = PrecisionParams(budget_s=11.0)


def count_flops(side: int) -> float:
    """Return the operations of one product of side n: 2 n³ (a multiply and an add each)."""
    return 2.0 * side**3


def count_bytes(side: int, dtype: Dtype) -> int:
    """Return the bytes of both operands and the result of a product, each touched once."""
    return side**2 * (2 * BYTES_PER_VALUE[dtype] + RESULT_BYTES.get(dtype, BYTES_PER_VALUE[dtype]))


def count_step_flops(side: int) -> float:
    """Return the operations of the products of one training step: batch, width and layers as in ``step_cases``.

    Each layer multiplies forward and for the gradient of its weights; all but the first for that of their inputs.
    """
    return (3 * STEP_LAYERS - 1) * count_flops(side)


def plan_sides(params: PrecisionParams) -> list[tuple[int, bool]]:
    """Return (side, explicit), small to large: powers of two, and the one that was named."""
    largest = params.largest_side or LARGEST_SIDE
    sides = dict.fromkeys((2**e for e in range(SMALLEST_SIDE.bit_length() - 1, largest.bit_length())), False)
    if params.largest_side is not None:
        sides[params.largest_side] = True
    return sorted(sides.items())


def plan_cases(params: PrecisionParams, machine: Machine) -> list[Case]:
    """Return every case of the sweep, small to large; those too slow for the budget drop out later.

    Raises:
        InputError: If a side that was named does not fit the memory; names the largest that does.
    """
    device = resolve_device(params, machine)
    cases = [
        case for side, explicit in plan_sides(params) for case in cases_of(side, explicit, params, device, machine)
    ]
    limit = memory_limits(machine).get(device)
    if limit is None:
        return cases
    fits = [case for case in cases if case.memory_bytes <= limit]
    if any(case.explicit and case not in fits for case in cases):
        widest = max((case for case in cases if case.explicit), key=lambda case: case.memory_bytes)
        largest = max((int(case.x) for case in fits if case.series == widest.series), default=0)
        raise InputError(
            f"largest_side={params.largest_side} needs {format_size(widest.memory_bytes)} on {device} "
            f"({widest.dtype}), of which a run may take {format_size(limit)}. "
            f"The largest power of two that fits is {format_count(largest)}."
        )
    return fits


def cases_of(side: int, explicit: bool, params: PrecisionParams, device: str, machine: Machine) -> Iterator[Case]:
    """Yield one product per format and, at some sizes, a training step with autocast and without."""
    threads = machine.cpu.usable_threads if device == CPU else None
    for dtype in FORMATS_OF[params.dtypes]:
        yield Case(
            series=str(dtype),
            x=float(side),
            shape=(side, side, side),
            dtype=dtype,
            device=device,
            clock=Clock.CALL if device == CPU else Clock.DEVICE,
            threads=threads,
            flops=count_flops(side),
            bytes_moved=float(count_bytes(side, dtype)),
            memory_bytes=_product_memory_bytes(side, dtype),
            explicit=explicit,
        )
    if params.dtypes is not Selection.EIGHT_BIT and side in STEP_SIDES:
        yield from step_cases(side, explicit, device, threads, machine)


def step_cases(side: int, explicit: bool, device: str, threads: int | None, machine: Machine) -> Iterator[Case]:
    """Yield one training step of a perceptron of ``STEP_LAYERS`` layers of side x side on a batch of side."""
    for series, dtype in ((STEP_FP32, Dtype.FP32), (STEP_AUTOCAST, autocast_dtype(device, machine))):
        yield Case(
            series=series,
            x=float(side),
            shape=(side, side, side),
            dtype=dtype,
            device=device,
            clock=Clock.CALL,
            threads=threads,
            flops=count_step_flops(side),
            bytes_moved=float(_step_values(side) * BYTES_PER_VALUE[Dtype.FP32]),
            memory_bytes=2 * _step_values(side) * BYTES_PER_VALUE[Dtype.FP32],
            explicit=explicit,
            items=float(side),
        )


def autocast_dtype(device: str, machine: Machine) -> Dtype:
    """Return what autocast rounds to: bf16, or fp16 on a GPU that would only emulate bf16."""
    probe = machine.torch
    known = {found.device: found.bf16_native for found in probe.devices} if probe else {}
    return Dtype.FP16 if known.get(device) is False else Dtype.BF16


def _step_values(side: int) -> int:
    """Weights, their gradients, and the activations of every layer."""
    return side**2 * (2 * STEP_LAYERS + 2 * STEP_LAYERS + 2)


def _product_memory_bytes(side: int, dtype: Dtype) -> int:
    """Operands and result, the originals they are rounded from, and 64 float64 rows to check."""
    originals = 2 * side**2 * (8 if dtype is Dtype.FP64 else 4)
    check = (64 * side + side**2 + 64 * side) * 8 // 4  # the second operand is widened in column blocks
    return count_bytes(side, dtype) + originals + check


# -- what a point carries beside its numbers: the inputs, and variables that decide which precision runs --------


def note_of(inputs: Inputs, overrides: Sequence[str] = ()) -> str:
    """Return the note at the end of a point's ``timing``; ``overrides`` are written ``NAME=value``."""
    set_ = f"; {', '.join(overrides)} set in the environment" if overrides else ""
    return f"{inputs.replace('_', ' ')} inputs{set_}"


def inputs_of(timing: str) -> Inputs | None:
    """Return the inputs that a point's ``timing`` notes, None where it notes none."""
    return next((inputs for inputs in Inputs if f"{inputs.replace('_', ' ')} inputs" in timing), None)


def overrides_of(timing: str) -> tuple[str, ...]:
    """Return the variables, ``NAME=value``, that a point's ``timing`` notes."""
    found = re.search(r"inputs; (.+) set in the environment$", timing)
    return tuple(found[1].split(", ")) if found else ()
