"""The numbers that are multiplied, in every format: seeded originals, rounded, scaled where 8 bits need it (torch)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision.spec import SCALE_EXPONENT, Inputs
from gpuexplain.measuring.products import INPUT_SEED
from gpuexplain.measuring.torch_setup import TORCH_DTYPES
from gpuexplain.model import Dtype

_LARGEST_INT8 = 127
# Left and right operand; a product of two e5m2 matrices does not exist on a GPU.
_FP8_PAIRS = {
    Dtype.FP8: (torch.float8_e4m3fn, torch.float8_e4m3fn),
    Dtype.FP8_E5M2: (torch.float8_e5m2, torch.float8_e4m3fn),
}


@dataclass(frozen=True, slots=True)
class Rounded:
    """One operand in a format: what is stored, and what one stored unit stands for.

    ``clipped`` counts values beyond the format's largest number, ``zeroed`` those other than zero that
    became zero.
    """

    stored: Tensor
    unit: Tensor  # fp32, no dimensions
    clipped: int
    zeroed: int


def make_originals(side: int, inputs: Inputs, dtype: Dtype, device: str = CPU) -> tuple[Tensor, Tensor]:
    """Return seeded operands, side x side, fp64 for fp64, else fp32; drawn on the device, where that is fast."""
    generator = torch.Generator(device).manual_seed(INPUT_SEED)
    wide = torch.float64 if dtype is Dtype.FP64 else torch.float32
    draw = torch.randn if inputs is Inputs.NORMAL else torch.rand
    left, right = (draw(side, side, dtype=wide, generator=generator, device=device) for _ in range(2))
    if inputs is not Inputs.NORMAL:
        left, right = left.mul_(2).sub_(1), right.mul_(2).sub_(1)
    if inputs is Inputs.BADLY_SCALED:
        exponents = torch.randint(-SCALE_EXPONENT, SCALE_EXPONENT + 1, (side,), generator=generator, device=device)
        scales = torch.ldexp(torch.ones(side, dtype=wide, device=device), exponents)  # exact, and exactly undone
        left, right = left * scales, right / scales[:, None]
    return left, right


def round_operands(left: Tensor, right: Tensor, dtype: Dtype) -> tuple[Rounded, Rounded]:
    """Return both operands in ``dtype``; 8-bit ones scaled so that the largest value just fits.

    The second 8-bit operand is column-major, as the GPU's kernels want it.
    """
    if dtype in _FP8_PAIRS:
        formats = _FP8_PAIRS[dtype]
        return _round_fp8(left, formats[0]), _column_major(_round_fp8(right, formats[1]))
    if dtype is Dtype.INT8:
        return _round_int8(left), _column_major(_round_int8(right))
    as_dtype = torch.float32 if dtype is Dtype.TF32 else TORCH_DTYPES[dtype]
    return _round_plain(left, as_dtype), _round_plain(right, as_dtype)


def _round_plain(values: Tensor, as_dtype: torch.dtype) -> Rounded:
    stored = values.to(as_dtype)
    one = torch.ones((), device=values.device)
    return _counted(values, stored, one, clipped=int((stored.isinf() & values.isfinite()).sum()))


def _round_fp8(values: Tensor, as_dtype: torch.dtype) -> Rounded:
    unit = _largest_magnitude(values) / torch.finfo(as_dtype).max
    scaled = values / unit
    largest = torch.finfo(as_dtype).max
    # Converting does not saturate in every format: what the division rounded up stays inside.
    return _counted(values, scaled.clamp(-largest, largest).to(as_dtype), unit, clipped=0)


def _round_int8(values: Tensor) -> Rounded:
    unit = _largest_magnitude(values) / _LARGEST_INT8
    stored = (values / unit).round().clamp(-_LARGEST_INT8, _LARGEST_INT8).to(torch.int8)
    return _counted(values, stored, unit, clipped=0)


def _largest_magnitude(values: Tensor) -> Tensor:
    return values.abs().max().float()


def _counted(values: Tensor, stored: Tensor, unit: Tensor, *, clipped: int) -> Rounded:
    is_zero = stored.float() == 0
    return Rounded(stored, unit, clipped, int((is_zero & (values != 0)).sum()))


def _column_major(operand: Rounded) -> Rounded:
    return Rounded(operand.stored.t().contiguous().t(), operand.unit, operand.clipped, operand.zeroed)
