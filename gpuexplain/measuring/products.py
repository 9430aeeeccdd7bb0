"""Matrix products to time: seeded operands, the float64 reference, and what the difference says."""

from collections.abc import Sequence

import torch

from gpuexplain.measuring.correctness import ALL_ROWS_UP_TO, CHECKED_ROWS, judge_error
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.measuring.torch_setup import TORCH_DTYPES
from gpuexplain.model import Dtype

INPUT_SEED = 0
# Columns of the second operand that are widened to float64 at a time.
CHECK_COLUMNS = 2048


def make_originals(shape: Sequence[int], dtype: Dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return seeded uniform [-1, 1) operands, m x k and k x n: fp64 for fp64, else fp32."""
    m, k, n = shape
    generator = torch.Generator().manual_seed(INPUT_SEED)
    wide = torch.float64 if dtype is Dtype.FP64 else torch.float32
    left = torch.rand(m, k, generator=generator, dtype=wide).mul_(2).sub_(1)
    right = torch.rand(k, n, generator=generator, dtype=wide).mul_(2).sub_(1)
    return left, right


def make_inputs(shape: Sequence[int], dtype: Dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the operands rounded to ``dtype``."""
    left, right = make_originals(shape, dtype)
    return left.to(TORCH_DTYPES[dtype]), right.to(TORCH_DTYPES[dtype])


def reference_rows(shape: Sequence[int], dtype: Dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (row indices, those rows of the float64 product of the unrounded operands)."""
    return multiply_rows(*make_originals(shape, dtype))


def multiply_rows(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (indices of the checked rows, those rows of the float64 product)."""
    m = left.shape[0]
    n_rows = m if m <= ALL_ROWS_UP_TO else CHECKED_ROWS
    rows = torch.randperm(m, generator=torch.Generator().manual_seed(INPUT_SEED))[:n_rows]
    chosen = left[rows].double()
    columns = [chosen @ right[:, at : at + CHECK_COLUMNS].double() for at in range(0, right.shape[1], CHECK_COLUMNS)]
    return rows, torch.cat(columns, dim=1)


def judge_product(dtype: Dtype, got: torch.Tensor, reference: torch.Tensor) -> Check:
    """Return what the difference from float64 says."""
    nan_count, inf_count = int(got.isnan().sum()), int(got.isinf().sum())
    rel_error = float((got - reference).norm() / reference.norm()) if not nan_count + inf_count else 0.0
    return judge_error(dtype, rel_error, nan_count, inf_count)
