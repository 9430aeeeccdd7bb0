"""Is the result of a step right, and did it run in the precision that was asked for?"""

from gpuexplain.measuring.stopwatch import Check
from gpuexplain.model import Dtype

# Error of a network's outputs against float64 as a share of their size, beyond which they are wrong.
# Each layer adds a little rounding; over all models and depths of this page it stays under a third of
# these: fp32 1e-6, fp16 2e-3, bf16 2e-2.
MOST_ERROR: dict[Dtype, float] = {Dtype.FP32: 3e-5, Dtype.FP16: 1e-2, Dtype.BF16: 6e-2}
# fp32 outputs with more error than fp32 and less than this were multiplied as TF32.
MOST_ERROR_OF_TF32 = 1e-2


def judge_outputs(dtype: Dtype, rel_error: float | None, nan_count: int, inf_count: int) -> Check:
    """Return the check of a step: right, right in another format (``ran_as``), or wrong.

    Args:
        dtype: fp32, or what autocast computes in.
        rel_error: Against float64; None where only NaN and infinities were looked for.
        nan_count: Of the outputs.
        inf_count: Likewise.
    """
    if nan_count or inf_count:
        failure = f"The outputs hold {nan_count} NaN and {inf_count} infinite values."
        return Check(None, nan_count, inf_count, failure=failure)
    if rel_error is None:
        return Check(None, 0, 0)
    if rel_error <= MOST_ERROR[dtype]:
        # A 16-bit format that errs as little as fp32 was not used.
        is_fp32 = dtype is not Dtype.FP32 and rel_error <= MOST_ERROR[Dtype.FP32]
        return Check(rel_error, 0, 0, ran_as=str(Dtype.FP32) if is_fp32 else "")
    if dtype is Dtype.FP32 and rel_error <= MOST_ERROR_OF_TF32:
        return Check(rel_error, 0, 0, ran_as=str(Dtype.TF32))
    failure = (
        f"The outputs are wrong: they differ from float64 by {rel_error:.2g} of their size, where {dtype} stays under "
        f"{MOST_ERROR[dtype]:.0e}."
    )
    return Check(rel_error, 0, 0, failure=failure)
