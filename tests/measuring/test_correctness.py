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
        (Dtype.FP8, 3.6e-2, ""),
        (Dtype.FP8_E5M2, 5.7e-2, ""),
        (Dtype.INT8, 5.6e-3, ""),
        (Dtype.INT8, 1.6e-2, ""),
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


@pytest.mark.parametrize("dtype", [Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8], ids=str)
def test_a_coarse_format_is_no_excuse_for_a_wrong_kernel(dtype: Dtype) -> None:
    """A result that has nothing to do with the product errs by about 1, in 8 bits too."""
    assert judge_error(dtype, 0.9, 0, 0).failure.startswith("The result is wrong: it differs from float64 by 0.9")


@pytest.mark.parametrize(("kernel_error", "is_right"), [(2e-3, True), (1e-2, True), (2e-2, False), (1.0, False)])
def test_a_right_kernel_may_err_as_much_as_its_operands(kernel_error: float, is_right: bool) -> None:
    """It computed the product of what int8 left of them; the loss is the format's."""
    check = judge_error(Dtype.INT8, 0.8, 0, 0, kernel_error=kernel_error)
    assert (check.failure == "", check.rel_error) == (is_right, 0.8)


def test_a_right_kernel_does_not_excuse_nan() -> None:
    """What overflowed has no error to show."""
    assert judge_error(Dtype.FP16, 0.0, 1, 0, kernel_error=0.0).failure
