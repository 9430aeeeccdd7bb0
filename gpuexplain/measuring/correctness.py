"""Is the result right, and which precision really ran? Judged by the error against float64."""

from gpuexplain.measuring.stopwatch import Check
from gpuexplain.model import Dtype

# Rows of the output that are compared (all of them up to n = 256).
CHECKED_ROWS = 64
ALL_ROWS_UP_TO = 256

# Relative error (Frobenius norm) of a product of uniform [-1, 1) matrices against float64 of the
# unrounded inputs. Rounding the inputs dominates at 16 bits, so the error hardly grows with n.
EXPECTED_ERROR: dict[Dtype, float] = {
    Dtype.FP64: 3e-16,
    Dtype.FP32: 3e-7,
    Dtype.TF32: 3e-4,
    Dtype.FP16: 3e-4,
    Dtype.BF16: 3e-3,
    Dtype.FP8: 4e-2,
    Dtype.FP8_E5M2: 6e-2,
    Dtype.INT8: 6e-3,
}
# Sums of thousands of terms in another order add a little; a wrong kernel errs by about 1.
MOST_TIMES_EXPECTED = 30.0
# However coarse the format: 30 times the error of fp8 would let a wrong kernel pass.
MOST_ERROR = 0.3
# A right kernel differs from the exact product of the operands as they were rounded only by its sums and
# by the rounding of its result (bf16: 2e-3).
MOST_KERNEL_ERROR = 1e-2
# Formats a kernel may silently fall back to, finest first: the error tells.
_COARSER: dict[Dtype, tuple[Dtype, ...]] = {
    Dtype.FP64: (Dtype.FP32, Dtype.TF32, Dtype.BF16),
    Dtype.FP32: (Dtype.TF32, Dtype.BF16),
    Dtype.TF32: (Dtype.BF16,),
    Dtype.FP16: (Dtype.BF16,),
    Dtype.BF16: (),
    Dtype.FP8: (),
    Dtype.FP8_E5M2: (),
    Dtype.INT8: (),
}


def judge_error(
    dtype: Dtype, rel_error: float, nan_count: int, inf_count: int, *, kernel_error: float | None = None
) -> Check:
    """Return the check of a result: right, right in a coarser format (``ran_as``), or wrong.

    ``kernel_error``, where it is known, is the difference from the float64 product of the operands as they
    were rounded. Where it is small the kernel is right, and what remains is the price of the format on these
    inputs, however high.
    """
    if nan_count or inf_count:
        return Check(
            None,
            nan_count,
            inf_count,
            failure=f"The result holds {nan_count} NaN and {inf_count} infinite values.",
        )
    if rel_error <= min(MOST_ERROR, MOST_TIMES_EXPECTED * EXPECTED_ERROR[dtype]):
        return Check(rel_error, 0, 0, ran_as=_finer(dtype, rel_error))
    if kernel_error is not None and kernel_error <= MOST_KERNEL_ERROR:
        return Check(rel_error, 0, 0)
    for coarser in _COARSER[dtype]:
        if rel_error <= 3 * EXPECTED_ERROR[coarser]:
            return Check(rel_error, 0, 0, ran_as=str(coarser))
    return Check(
        rel_error,
        0,
        0,
        failure=f"The result is wrong: it differs from float64 by {rel_error:.2g} of its size, "
        f"where {dtype} errs by about {EXPECTED_ERROR[dtype]:.0e}.",
    )


def _finer(dtype: Dtype, rel_error: float) -> str:
    """Return "fp32" when a tf32 product shows the error of fp32: the part has no TF32."""
    return str(Dtype.FP32) if dtype is Dtype.TF32 and rel_error < 10 * EXPECTED_ERROR[Dtype.FP32] else ""
