"""Operands, products, training step and demonstrations, with real arithmetic on the CPU."""

from collections.abc import Iterator
from functools import partial

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.precision import demonstrate as demo  # noqa: E402
from gpuexplain.experiments.precision.bench import kernel_error  # noqa: E402
from gpuexplain.experiments.precision.operands import make_originals, round_operands  # noqa: E402
from gpuexplain.experiments.precision.products import (  # noqa: E402
    explained_refusals,
    fp32_products,
    make_product,
    mode_of,
    widen_result,
)
from gpuexplain.experiments.precision.spec import FORMATS, SUM_BF16_IN_FP32, Inputs  # noqa: E402
from gpuexplain.experiments.precision.step import Step, exact_gradients, judge_step, make_model  # noqa: E402
from gpuexplain.measuring.products import multiply_rows  # noqa: E402
from gpuexplain.measuring.stopwatch import DeviceLostError, OutOfMemoryError  # noqa: E402
from gpuexplain.model import Dtype  # noqa: E402

SIDE = 64
# Bounds of the error of a right product; tf32 is fp32 on most CPUs, so its lower bound is fp32's.
ERRORS = {
    Dtype.FP64: (0.0, 2e-15),
    Dtype.FP32: (1e-8, 2e-6),
    Dtype.TF32: (1e-8, 1e-3),
    Dtype.BF16: (1e-3, 6e-3),
    Dtype.FP16: (1e-4, 6e-4),
    Dtype.FP8: (2e-2, 6e-2),
    Dtype.FP8_E5M2: (3e-2, 9e-2),
    Dtype.INT8: (3e-3, 2e-2),
}


@pytest.fixture(autouse=True)
def own_subnormals() -> Iterator[None]:
    """Leave the process as another test expects it."""
    yield
    torch.set_flush_denormal(False)


def multiply(dtype: Dtype, inputs: Inputs) -> tuple:
    """Return (result, reference, left, right): float64 results of all rows, and the rounded operands."""
    originals = make_originals(SIDE, inputs, dtype)
    rows, reference = multiply_rows(*originals)
    left, right = round_operands(*originals, dtype)
    with fp32_products(mode_of(dtype)), explained_refusals(dtype):
        result = make_product(dtype, left, right)()
    return widen_result(dtype, result[rows], left, right), reference, left, right


def error_of(got: "torch.Tensor", reference: "torch.Tensor") -> float:
    """Return the relative error."""
    return float((got - reference).norm() / reference.norm())


# -- products -----------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [Inputs.UNIFORM, Inputs.NORMAL], ids=str)
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_a_product_errs_as_much_as_its_format(dtype: Dtype, inputs: Inputs) -> None:
    """And its kernel is right: it multiplies what the format left of the operands."""
    got, reference, left, right = multiply(dtype, inputs)
    low, high = ERRORS[dtype]
    assert low <= error_of(got, reference) <= high
    assert (left.clipped, right.clipped) == (0, 0)
    assert kernel_error(got, left, right) < 3e-3


@pytest.mark.parametrize("dtype", [Dtype.FP64, Dtype.FP32, Dtype.BF16], ids=str)
def test_a_wide_range_costs_a_format_of_that_range_nothing(dtype: Dtype) -> None:
    """Powers of two, undone in the other operand, change no digit."""
    plain, _, _, _ = multiply(dtype, Inputs.UNIFORM)
    got, reference, left, right = multiply(dtype, Inputs.BADLY_SCALED)
    assert torch.equal(got, plain)
    assert error_of(got, reference) <= ERRORS[dtype][1]
    assert left.clipped + right.clipped + left.zeroed + right.zeroed == 0


def test_fp16_overflows_where_the_range_is_wide() -> None:
    """Values above 65,504 become infinite, and infinite times zero is no number."""
    got, _, left, right = multiply(Dtype.FP16, Inputs.BADLY_SCALED)
    assert left.clipped + right.clipped > 0
    assert int(left.stored.isinf().sum()) == left.clipped
    assert int(got.isnan().sum()) > 0


@pytest.mark.parametrize("dtype", [Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8], ids=str)
def test_eight_bits_lose_the_small_beside_the_large(dtype: Dtype) -> None:
    """A right kernel, and a result that has nearly nothing to do with the exact one."""
    got, reference, left, right = multiply(dtype, Inputs.BADLY_SCALED)
    assert left.zeroed + right.zeroed > 0.3 * 2 * SIDE**2
    assert (left.clipped, right.clipped) == (0, 0)
    assert error_of(got, reference) > 0.5
    assert kernel_error(got, left, right) < 3e-3


def test_a_wrong_kernel_is_told_from_a_coarse_format() -> None:
    """Zeros are far from the product of the rounded operands, too."""
    _, _, left, right = multiply(Dtype.FP8, Inputs.UNIFORM)
    rows, _ = multiply_rows(*make_originals(SIDE, Inputs.UNIFORM, Dtype.FP8))
    assert kernel_error(torch.zeros(len(rows), SIDE, dtype=torch.float64), left, right) == pytest.approx(1.0)


def test_the_second_eight_bit_operand_is_column_major() -> None:
    """As the kernels of a GPU want it."""
    for dtype in (Dtype.FP8, Dtype.FP8_E5M2, Dtype.INT8):
        left, right = round_operands(*make_originals(SIDE, Inputs.UNIFORM, dtype), dtype)
        assert (left.stored.stride(), right.stored.stride()) == ((SIDE, 1), (1, SIDE))


def test_the_largest_value_just_fits_eight_bits() -> None:
    """Scaled by the largest magnitude, nothing is clipped and nothing is wasted."""
    for dtype, largest in ((Dtype.FP8, 448.0), (Dtype.FP8_E5M2, 57344.0), (Dtype.INT8, 127.0)):
        left, _ = round_operands(*make_originals(SIDE, Inputs.NORMAL, dtype), dtype)
        assert float(left.stored.float().abs().max()) == largest


def test_originals_are_seeded_and_never_constant() -> None:
    """The same numbers every time, of the spread that was asked for."""
    left, right = make_originals(SIDE, Inputs.UNIFORM, Dtype.FP32)
    again, _ = make_originals(SIDE, Inputs.UNIFORM, Dtype.FP32)
    assert torch.equal(left, again)
    assert not torch.equal(left, right)
    assert -1 <= float(left.min()) < -0.9
    assert 0.9 < float(left.max()) < 1
    normal, _ = make_originals(SIDE, Inputs.NORMAL, Dtype.FP32)
    assert float(normal.std()) == pytest.approx(1.0, abs=0.05)
    assert make_originals(SIDE, Inputs.UNIFORM, Dtype.FP64)[0].dtype is torch.float64


# -- switches -----------------------------------------------------------------------------------


def modes() -> list[str]:
    """Return how fp32 numbers are multiplied now, on a GPU and on the CPU."""
    return [torch.backends.cuda.matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision]


def fail_inside(mode: str) -> None:
    """Look at the switches, then fail the way a case does."""
    assert modes() == [mode, mode]
    raise UnsupportedError("not here")


@pytest.mark.parametrize("mode", ["ieee", "tf32"])
def test_the_switch_is_restored_whatever_happens(mode: str) -> None:
    """Also from within another mode."""
    before = modes()
    with pytest.raises(UnsupportedError), fp32_products(mode):
        fail_inside(mode)
    assert modes() == before
    with fp32_products("ieee"):
        with fp32_products("tf32"):
            pass
        assert modes() == ["ieee", "ieee"]
    assert modes() == before


def test_only_tf32_multiplies_in_tf32() -> None:
    """Every other format keeps fp32 exact."""
    assert {dtype: mode_of(dtype) for dtype in FORMATS if mode_of(dtype) != "ieee"} == {Dtype.TF32: "tf32"}


# -- refusals -----------------------------------------------------------------------------------


def raise_inside(dtype: Dtype, error: Exception) -> None:
    """Raise as torch would during a product."""
    with explained_refusals(dtype):
        raise error


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9"),
        RuntimeError("self.size(0) needs to be greater than 16, but got 16"),
        ValueError("Expected trailing dimension of mat1 to be divisible by 16"),
        NotImplementedError('"addmm_impl_cpu_" not implemented for Float8'),
        AttributeError("module 'torch' has no attribute '_scaled_mm'"),
    ],
    ids=["old part", "few rows", "odd shape", "no kernel", "old torch"],
)
def test_a_refused_eight_bit_product_is_unsupported_not_a_lost_device(error: Exception) -> None:
    """With torch's own reason, and the next case goes on."""
    with pytest.raises(UnsupportedError, match=r"^torch refuses fp8 here: ") as refusal:
        raise_inside(Dtype.FP8, error)
    assert str(error) in str(refusal.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeError("CUDA error: an illegal memory access was encountered"), DeviceLostError),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED"), DeviceLostError),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), OutOfMemoryError),
        (torch.OutOfMemoryError("CUDA out of memory."), OutOfMemoryError),
    ],
    ids=["illegal access", "execution", "host memory", "device memory"],
)
def test_what_is_no_refusal_keeps_its_meaning(error: Exception, kind: type[Exception]) -> None:
    """A lost device restarts the process; memory ends the case."""
    with pytest.raises(kind):
        raise_inside(Dtype.INT8, error)


def test_a_wide_product_is_never_merely_refused() -> None:
    """An error of fp32 that nobody knows is a lost device, as everywhere."""
    with pytest.raises(DeviceLostError):
        raise_inside(Dtype.FP32, RuntimeError("something new"))


# -- the training step --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("autocast", "low", "high"),
    [(None, 1e-8, 1e-5), (Dtype.BF16, 1e-4, 5e-2), (Dtype.FP16, 1e-5, 5e-2)],
    ids=["fp32", "bf16", "fp16"],
)
def test_gradients_err_as_much_as_the_format_of_the_products(autocast: Dtype | None, low: float, high: float) -> None:
    """Against the same model and batch in float64."""
    check = judge_step(autocast or Dtype.FP32, Step(SIDE, "cpu", autocast).gradients(), exact_gradients(SIDE))
    assert (check.failure, check.ran_as) == ("", "")
    assert check.rel_error is not None
    assert low < check.rel_error < high


def test_a_step_moves_the_weights_down_the_slope() -> None:
    """The loss falls; with scaled fp16 gradients by the same steps."""
    for autocast in (None, Dtype.FP16):
        step = Step(SIDE, "cpu", autocast)
        before = float(step.gradients().norm())
        first = [weight.detach().clone() for weight in step._weights]
        step()
        steps = [(now.detach() - was).norm() for now, was in zip(step._weights, first, strict=True)]
        moved = float(torch.stack(steps).norm())
        assert moved == pytest.approx(1e-3 * before, rel=0.05)


def test_the_model_is_seeded_and_leaves_the_generator_alone() -> None:
    """Every step starts from the same weights, and so does everybody else."""
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, other = make_model(SIDE), make_model(SIDE)
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(
    ("dtype", "got", "exact", "failure", "ran_as"),
    [
        (Dtype.BF16, [1.0, 1.0], [1.0, 1.0], "", "fp32"),
        (Dtype.FP32, [1.0, 1.0], [1.0, 1.0], "", ""),
        (Dtype.BF16, [1.0, 1.01], [1.0, 1.0], "", ""),
        (Dtype.BF16, [1.0, 2.0], [1.0, 1.0], "The gradients are wrong: they differ from float64 by 0.71 of their size.", ""),
        (Dtype.FP32, [1.0, 1.01], [1.0, 1.0], "The gradients are wrong: they differ from float64 by 0.0071 of their size.", ""),
        (Dtype.BF16, [float("nan"), float("inf")], [1.0, 1.0], "The gradients hold 1 NaN and 1 infinite values.", ""),
        (Dtype.BF16, [1.0, 2.0], None, "", ""),
    ],
    ids=["autocast did nothing", "fp32", "rounded", "wrong", "fp32 is wrong sooner", "not finite", "unchecked"],
)  # fmt: skip
def test_gradients_tell_what_ran(
    dtype: Dtype, got: list[float], exact: list[float] | None, failure: str, ran_as: str
) -> None:
    """Right, right but not rounded at all, or wrong."""
    as_tensor = partial(torch.tensor, dtype=torch.float64)
    check = judge_step(dtype, as_tensor(got), None if exact is None else as_tensor(exact))
    assert (check.failure, check.ran_as) == (failure, ran_as)


# -- what gets lost -----------------------------------------------------------------------------


def test_small_numbers_get_lost_in_sixteen_bits_and_arrive_in_fp32() -> None:
    """bf16 loses all long before fp16; bf16 numbers in an fp32 sum arrive."""
    points = list(demo.demonstrate("cpu", "Fake CPU"))
    lost = {(p.series, p.x): p.rel_error for p in points}
    assert lost["sum_bf16", 16] < 0.1 < lost["sum_bf16", 1024] == lost["sum_bf16", 4096] == 1.0
    assert lost["sum_fp16", 1024] < 0.1 < lost["sum_fp16", 4096] == 1.0
    assert max(lost["sum_fp32", n] for n in (16, 64, 256, 1024, 4096)) < 1e-4
    assert max(lost[SUM_BF16_IN_FP32, n] for n in (16, 64, 256, 1024, 4096)) < 1e-2
    assert {(p.n_samples, p.median_s, p.timing) for p in points} == {(0, None, "checked, not timed")}


def test_the_numbers_that_are_added_make_one() -> None:
    """However many they are; each is small beside the 1 it is added to."""
    for count in (16, 4096):
        updates = demo.make_updates(count)
        assert updates.shape == (count, demo.LANES)
        assert float(updates.min()) >= 0
        assert float(updates.max()) <= 2 / count
        assert float(updates.sum(dim=0).mean()) == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("flush", [True, False])
def test_a_subnormal_is_flushed_or_kept_as_was_set(flush: bool) -> None:
    """Measured, not assumed."""
    torch.set_flush_denormal(flush)
    assert demo.flushes_subnormals("cpu") is flush
