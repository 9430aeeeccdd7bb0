"""The batch experiment on a real device: steps, precision, memory, out of memory."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.batch.conclude import find_batch_findings  # noqa: E402
from gpuexplain.experiments.batch.correctness import MOST_ERROR  # noqa: E402
from gpuexplain.experiments.batch.desk import Desk  # noqa: E402
from gpuexplain.experiments.batch.measure import exact_convolutions, measure  # noqa: E402
from gpuexplain.experiments.batch.plan import half_dtype  # noqa: E402
from gpuexplain.experiments.batch.spec import BatchParams  # noqa: E402
from gpuexplain.findings import BatchCeiling, MemoryFitStatus  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.hardware.machine import Machine  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402
from gpuexplain.measuring.session import Outcome  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_fp32  # noqa: E402
from gpuexplain.model import Dtype, Flag, Point, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"
MIB = 2**20


@pytest.fixture(scope="module")
def machine() -> Machine:
    """This machine with its GPU."""
    return inspect_machine(probe_torch(inspect_cpu().usable_threads))


@pytest.fixture(autouse=True)
def fresh_memory() -> Iterator[None]:
    """Leave the device as another test expects it."""
    yield
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def run_sweep(params: dict[str, object]) -> tuple[list[Point], Outcome]:
    """Run one sweep on the GPU and return its points, small batches first, and its outcome."""
    session = KeepingSession()
    outcome = measure({"device": DEVICE, **params}, session)
    return sorted(session.by_case.values(), key=lambda point: point.x), outcome


def on_gpu(points: list[Point]) -> list[Point]:
    """Return the points of the GPU series."""
    return [point for point in points if point.device == DEVICE]


@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
@pytest.mark.parametrize("mode", ["training", "inference"])
@pytest.mark.parametrize("dtype", ["fp32", "autocast"])
def test_a_small_sweep_is_right_in_both_precisions(model: str, mode: str, dtype: str, machine: Machine) -> None:
    """Every GPU point ok, in the format asked for, with memory; the CPU is its baseline."""
    points, outcome = run_sweep({"model": model, "mode": mode, "dtype": dtype, "largest_batch": 16, "budget_s": 6.0})
    found = on_gpu(points)
    assert [point.x for point in found] == [1.0, 2.0, 4.0, 8.0, 16.0]
    wanted = half_dtype(DEVICE, machine) if dtype == "autocast" else Dtype.FP32
    for point in found:
        assert point.status is Status.OK, point.reason
        assert point.dtype is wanted
        assert Flag.FALLBACK not in point.flags
        assert point.gauges is not None
        assert point.gauges.memory_allocated_bytes
        assert point.gauges.memory_reserved_bytes is not None
        assert point.gauges.memory_reserved_bytes >= point.gauges.memory_allocated_bytes
    assert found[0].rel_error is not None
    assert found[0].rel_error <= MOST_ERROR[wanted]
    assert [point.x for point in points if point.device == "cpu"][:1] == [1.0]
    assert not outcome.cancelled


def test_a_small_batch_is_free_on_a_gpu() -> None:
    """Launches decide: eight examples take hardly longer than one."""
    points, _ = run_sweep({"mode": "inference", "width": 256, "depth": 8, "largest_batch": 8, "budget_s": 6.0})
    found = on_gpu(points)
    assert found[-1].median_s is not None
    assert found[0].median_s is not None
    assert found[-1].median_s < 2 * found[0].median_s


def test_memory_of_a_step_is_a_line_over_the_batch() -> None:
    """Counted by the allocator: the fit is close, and the inputs of other batches are not counted."""
    points, _ = run_sweep({"width": 1024, "depth": 4, "largest_batch": 8192, "budget_s": 10.0})
    series = find_batch_findings(on_gpu(points)).series[0]
    assert series.memory.status is MemoryFitStatus.OK
    assert series.memory.bytes_per_example is not None
    params = BatchParams(width=1024, depth=4)
    planned = (params.step_bytes(8192) - params.step_bytes(1)) / 8191
    assert 0.4 < series.memory.bytes_per_example / planned < 2.5


def test_a_ceiling_search_meets_the_cap_and_the_device_goes_on() -> None:
    """The same process runs the smallest batch again, and the next sweep after it."""
    asked = {"model": "convnet", "ceiling_search": True, "ceiling_mib": 512, "budget_s": 30.0}
    points, _ = run_sweep(asked)
    found = on_gpu(points)
    full = [point for point in found if point.status is Status.OOM]
    assert len(full) == 1, [(point.x, point.status) for point in found]
    assert full[0].reason.endswith("ran again: only this size does not fit.")
    series = find_batch_findings(found).series[0]
    assert isinstance(series.ceiling, BatchCeiling)
    assert series.ceiling.first_failed == full[0].x
    again, _ = run_sweep({"model": "convnet", "largest_batch": 8, "budget_s": 4.0})
    assert all(point.status is Status.OK for point in on_gpu(again))


def test_exact_convolutions_keep_tf32_out() -> None:
    """The error is that of fp32 on every card."""
    with exact_fp32(), exact_convolutions():
        desk = Desk(BatchParams(model="convnet", mode="inference"), DEVICE, Dtype.FP32, None)
        desk.bind(4)
        checked = desk.check(is_smallest=True)
    assert (checked.failure, checked.ran_as) == ("", "")


def test_memory_is_told_as_if_only_this_batch_were_there() -> None:
    """The examples of a larger batch do not count."""
    desk = Desk(BatchParams(mode="inference", width=1024, depth=2), DEVICE, Dtype.FP32, None)
    desk.bind(1)
    alone = desk.measure_memory().memory_allocated_bytes
    desk.bind(16384)
    desk.bind(1)
    beside = desk.measure_memory().memory_allocated_bytes
    assert alone is not None
    assert beside is not None
    assert abs(beside - alone) < 4 * MIB
