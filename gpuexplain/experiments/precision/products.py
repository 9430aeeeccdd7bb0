"""How a product is computed in every format, and what a device's refusal means (torch)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor

from gpuexplain.errors import UnsupportedError
from gpuexplain.experiments.precision.operands import Rounded
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.model import Dtype

_EIGHT_BIT = (Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8)
# What a lost device says; everything else that an 8-bit product raises is a refusal of this shape or part.
_LOST_TEXTS = ("CUDA error", "an illegal memory access", "device-side assert", "EXECUTION_FAILED")


def make_product(dtype: Dtype, left: Rounded, right: Rounded) -> Callable[[], Tensor]:
    """Return the product of two operands as a call; fp8 comes out in bf16, int8 in int32.

    The operands are rounded and scaled beforehand: a call is the product alone.
    """
    if dtype is Dtype.INT8:
        return partial(torch._int_mm, left.stored, right.stored)
    if dtype in _EIGHT_BIT:
        return partial(
            torch._scaled_mm,
            left.stored,
            right.stored,
            scale_a=left.unit,
            scale_b=right.unit,
            out_dtype=torch.bfloat16,
        )
    return partial(torch.mm, left.stored, right.stored)


def widen_result(dtype: Dtype, result: Tensor, left: Rounded, right: Rounded) -> Tensor:
    """Return a result as float64 on the CPU, in the units of the originals."""
    wide = result.cpu().double()
    return wide * (left.unit.cpu().double() * right.unit.cpu().double()) if dtype is Dtype.INT8 else wide


@contextmanager
def fp32_products(mode: str) -> Iterator[None]:
    """Multiply fp32 numbers in this mode inside ("ieee" or "tf32"); the process's own comes back afterwards.

    One family of switches only: mixing torch's legacy TF32 flags with these raises.
    """
    switches = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)  # type: ignore[attr-defined]
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = mode
        yield
    finally:
        for switch, was in zip(switches, before, strict=True):
            switch.fp32_precision = was


def mode_of(dtype: Dtype) -> str:
    """Return the mode in which fp32 numbers are multiplied for a format."""
    return "tf32" if dtype is Dtype.TF32 else "ieee"


@contextmanager
def explained_refusals(dtype: Dtype) -> Iterator[None]:
    """Turn what torch raises during a product in ``dtype`` into the outcomes that the sweep knows.

    8-bit products are refused in many words (shape, layout, part, build): each of them is
    "not supported here", and the next case goes on.

    Raises:
        UnsupportedError: The device, the build or the shape does not allow this format.
        OutOfMemoryError, LaunchLimitError, DeviceLostError: See ``explained_errors``.
    """
    with explained_errors():
        try:
            yield
        except (RuntimeError, NotImplementedError, ValueError, AttributeError) as error:
            if dtype not in _EIGHT_BIT or _is_other(error):
                raise
            raise UnsupportedError(f"torch refuses {dtype} here: {_first_line(error)}") from None


def _is_other(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, torch.OutOfMemoryError) or "memory" in text or any(lost in text for lost in _LOST_TEXTS)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
