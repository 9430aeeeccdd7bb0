"""What a format does to many small additions, and whether subnormal numbers survive: checked, not timed (torch)."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gpuexplain.experiments.precision.spec import (
    EXPERIMENT_ID,
    SUBNORMAL,
    SUM_BF16_IN_FP32,
    SUM_COUNTS,
    SUM_PREFIX,
)
from gpuexplain.measuring.products import INPUT_SEED
from gpuexplain.measuring.torch_setup import TORCH_DTYPES
from gpuexplain.model import Dtype, Point

# Independent sums taken side by side: one would show the luck of its own numbers.
LANES = 64
_SUMMED = (Dtype.FP32, Dtype.BF16, Dtype.FP16)
_SUBNORMAL_BITS = 71_362  # 1.0e-40 in fp32, written as bits because the flag would erase the number
_METHOD = "checked, not timed"


def demonstrate(device: str, device_name: str) -> Iterator[Point]:
    """Yield a point per running sum, and one for a subnormal number; their error is what there is to see."""
    for count in SUM_COUNTS:
        updates = make_updates(count)
        exact = updates.double().sum(dim=0)
        for dtype in _SUMMED:
            arrived = run_sum(updates.to(device).to(TORCH_DTYPES[dtype]), TORCH_DTYPES[dtype])
            yield _point(f"{SUM_PREFIX}{dtype}", dtype, count, lost_share(arrived, exact), device, device_name)
        arrived = run_sum(updates.to(device).bfloat16(), torch.float32)
        yield _point(SUM_BF16_IN_FP32, Dtype.BF16, count, lost_share(arrived, exact), device, device_name)
    yield _point(SUBNORMAL, Dtype.FP32, 1, float(flushes_subnormals(device)), device, device_name)


def make_updates(count: int) -> Tensor:
    """Return ``count`` rows of small seeded numbers, each column adding up to about 1; fp32."""
    generator = torch.Generator().manual_seed(INPUT_SEED)
    return torch.rand(count, LANES, generator=generator) * (2 / count)


def run_sum(updates: Tensor, sum_dtype: torch.dtype) -> Tensor:
    """Return what 1 gained when every row was added to it in turn, as float64 on the CPU."""
    total = torch.ones(updates.shape[1], dtype=sum_dtype, device=updates.device)
    for update in updates:
        total += update
    return total.cpu().double() - 1


def lost_share(arrived: Tensor, exact: Tensor) -> float:
    """Return ||arrived - exact|| / ||exact||: 0 when every update arrived, 1 when none did."""
    return float((arrived - exact).norm() / exact.norm())


def flushes_subnormals(device: str) -> bool:
    """Return whether a subnormal fp32 number times 1 is 0 on the device."""
    number = torch.full((LANES,), _SUBNORMAL_BITS, dtype=torch.int32, device=device).view(torch.float32)
    return int((number * 1.0).view(torch.int32).count_nonzero()) == 0


def _point(series: str, dtype: Dtype, count: int, error: float, device: str, device_name: str) -> Point:
    return Point(
        experiment=EXPERIMENT_ID,
        series=series,
        x=float(count),
        shape=(count,),
        dtype=dtype,
        device=device,
        device_name=device_name,
        timing=_METHOD,
        rel_error=error,
    )
