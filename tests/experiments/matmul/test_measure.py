"""A real sweep on the CPU of this machine."""

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from matmul_measured import measure_session  # noqa: E402

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.measuring.correctness import CHECKED_ROWS  # noqa: E402
from gpuexplain.measuring.products import judge_product, make_originals, reference_rows  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_fp32  # noqa: E402
from gpuexplain.model import Dtype, Flag, Status  # noqa: E402

# Bounds of a right product: rounding the operands decides at 16 bits, the sums decide above.
ERRORS = {Dtype.FP64: (0.0, 2e-15), Dtype.FP32: (1e-8, 2e-6), Dtype.BF16: (1e-3, 6e-3), Dtype.FP16: (1e-4, 6e-4)}


@pytest.mark.parametrize("dtype", ERRORS, ids=str)
def test_a_quick_sweep_gives_right_points_of_the_precision_that_was_asked(dtype: Dtype) -> None:
    """Every size ok, with the error of its number format and the threads that were set."""
    session, outcome = measure_session({"dtype": dtype, "largest_side": 128, "budget_s": 1.0, "device": "cpu"})
    points = list(session.by_case.values())
    threads = inspect_cpu().usable_threads
    series = {CPU: threads} if threads == 1 else {CPU: threads, CPU_ONE_THREAD: 1}
    assert {(p.series, p.x, p.threads) for p in points} >= {
        (name, side, used) for name, used in series.items() for side in (16.0, 32.0, 64.0, 128.0)
    }
    low, high = ERRORS[dtype]
    for point in points:
        assert point.status is Status.OK, point.reason
        assert point.n_samples > 0
        assert point.median_s is not None
        assert point.median_s > 0
        assert point.first_call_s is not None
        assert point.rel_error is not None
        assert low <= point.rel_error <= high
        assert (point.nan_count, point.inf_count) == (0, 0)
        assert Flag.FALLBACK not in point.flags
    assert not outcome.cancelled
    assert outcome.coverage.wall_s < 3.0


def test_a_rectangle_is_measured_and_checked_too() -> None:
    """Shape and work are those of m, k and n."""
    session, _ = measure_session({"m": 64, "k": 32, "n": 128, "budget_s": 3.0, "device": "cpu"})
    largest = max(session.by_case.values(), key=lambda p: p.x)
    assert (largest.shape, largest.flops, largest.status) == ((64, 32, 128), 2.0 * 64 * 32 * 128, Status.OK)


def test_a_cancelled_sweep_says_so() -> None:
    """Before the first case nothing was measured."""
    session, outcome = measure_session({"largest_side": 16, "budget_s": 0.5, "device": "cpu"}, stop=True)
    assert outcome.cancelled
    assert not session.by_case


def use_no_threads(switches: tuple) -> None:
    """Fail the way a case does, after a look at the switches."""
    assert [switch.fp32_precision for switch in switches] == ["ieee", "ieee"]
    raise UnsupportedError("torch uses 2 threads where 0 were asked.")


def test_exact_fp32_gives_the_process_its_switches_back() -> None:
    """Also when the sweep raised."""
    switches = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    before = [switch.fp32_precision for switch in switches]
    with pytest.raises(UnsupportedError, match="threads"), exact_fp32():
        use_no_threads(switches)
    assert [switch.fp32_precision for switch in switches] == before
    measure_session({"largest_side": 16, "budget_s": 0.5, "device": "cpu"})
    assert [switch.fp32_precision for switch in switches] == before


def test_inputs_are_seeded_uniform_and_never_constant() -> None:
    """The same operands every time, in [-1, 1)."""
    left, right = make_originals((64, 32, 16), Dtype.FP32)
    again, _ = make_originals((64, 32, 16), Dtype.FP32)
    assert torch.equal(left, again)
    assert (left.shape, right.shape) == ((64, 32), (32, 16))
    assert -1 <= float(left.min()) < -0.9
    assert 0.9 < float(left.max()) < 1
    assert abs(float(left.mean())) < 0.1


def test_large_products_are_checked_by_a_sample_of_rows() -> None:
    """All rows up to 256, 64 above; a wrong result is found by them."""
    rows, reference = reference_rows((300, 8, 40), Dtype.FP32)
    assert (len(rows), tuple(reference.shape)) == (CHECKED_ROWS, (CHECKED_ROWS, 40))
    assert len(reference_rows((256, 8, 8), Dtype.FP32)[0]) == 256
    left, right = make_originals((300, 8, 40), Dtype.FP32)
    assert judge_product(Dtype.FP32, (left @ right)[rows].double(), reference).failure == ""
    assert judge_product(Dtype.FP32, torch.zeros_like(reference), reference).failure.startswith("The result is wrong")
    broken = reference.clone()
    broken[0, 0] = float("nan")
    assert judge_product(Dtype.FP32, broken, reference).nan_count == 1
