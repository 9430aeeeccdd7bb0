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
}
# Sums of thousands of terms in another order add a little; a wrong kernel errs by about 1.
MOST_TIMES_EXPECTED = 30.0
# Formats a kernel may silently fall back to, finest first: the error tells.
_COARSER: dict[Dtype, tuple[Dtype, ...]] = {
    Dtype.FP64: (Dtype.FP32, Dtype.TF32, Dtype.BF16),
    Dtype.FP32: (Dtype.TF32, Dtype.BF16),
    Dtype.TF32: (Dtype.BF16,),
    Dtype.FP16: (Dtype.BF16,),
    Dtype.BF16: (),
}


def judge_error(dtype: Dtype, rel_error: float, nan_count: int, inf_count: int) -> Check:
    """Return the check of a result: right, right in a coarser format (``ran_as``), or wrong."""
    if nan_count or inf_count:
        return Check(
            None,
            nan_count,
            inf_count,
            failure=f"The result holds {nan_count} NaN and {inf_count} infinite values.",
        )
    if rel_error <= MOST_TIMES_EXPECTED * EXPECTED_ERROR[dtype]:
        return Check(rel_error, 0, 0, ran_as=_finer(dtype, rel_error))
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
