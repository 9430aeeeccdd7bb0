"""What the error against float64 says."""

import pytest

from gpuexplain.measuring.correctness import judge_error
from gpuexplain.model import Dtype


@pytest.mark.parametrize(
    ("dtype", "rel_error", "ran_as"),
    [
        (Dtype.FP64, 5e-16, ""),
        (Dtype.FP32, 3.4e-7, ""),
        (Dtype.FP32, 3e-4, "tf32"),
        (Dtype.FP32, 2.7e-3, "bf16"),
        (Dtype.FP64, 3e-7, "fp32"),
        (Dtype.FP16, 3e-4, ""),
        (Dtype.BF16, 2.7e-3, ""),
        (Dtype.TF32, 3e-4, ""),
        (Dtype.TF32, 3e-7, "fp32"),
    ],
)
def test_the_error_tells_what_really_ran(dtype: Dtype, rel_error: float, ran_as: str) -> None:
    """Errors measured for each format are right for it, and betray another."""
    check = judge_error(dtype, rel_error, 0, 0)
    assert (check.ran_as, check.failure, check.rel_error) == (ran_as, "", rel_error)


def test_a_wrong_result_fails_whatever_its_speed() -> None:
    """An error of half the result's size is no precision at all."""
    assert judge_error(Dtype.FP32, 0.5, 0, 0).failure == (
        "The result is wrong: it differs from float64 by 0.5 of its size, where fp32 errs by about 3e-07."
    )


def test_nan_and_infinity_are_counted() -> None:
    """They fail the point, and the error is not reported as a number."""
    check = judge_error(Dtype.FP16, 0.0, 3, 2)
    assert (check.nan_count, check.inf_count, check.rel_error) == (3, 2, None)
    assert check.failure == "The result holds 3 NaN and 2 infinite values."
