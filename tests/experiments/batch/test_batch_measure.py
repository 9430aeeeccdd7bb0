"""A real sweep on the CPU of this machine."""

from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from batch_made import make_machine  # noqa: E402
from batch_measured import measure_points, measure_session, one_core  # noqa: E402

from gpuexplain.experiments.batch.conclude import find_batch_findings  # noqa: E402
from gpuexplain.experiments.batch.correctness import MOST_ERROR, judge_outputs  # noqa: E402
from gpuexplain.experiments.batch.desk import Desk  # noqa: E402
from gpuexplain.experiments.batch.measure import Bench, exact_convolutions, refine_knee, with_counted_flops  # noqa: E402
from gpuexplain.experiments.batch.plan import make_case, plan_cases  # noqa: E402
from gpuexplain.experiments.batch.spec import BatchParams  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.measuring.memory import read_process_bytes  # noqa: E402
from gpuexplain.measuring.stopwatch import DeviceLostError, LaunchLimitError, OutOfMemoryError  # noqa: E402
from gpuexplain.model import Dtype, Flag, Status  # noqa: E402

TINY = {
    "mlp": {"model": "mlp", "width": 32, "depth": 2},
    "convnet": {"model": "convnet", "width": 4, "depth": 1},
    "transformer": {"model": "transformer", "width": 64, "depth": 1},
}
MIB = 2**20


@pytest.fixture(autouse=True)
def on_one_core() -> Iterator[None]:
    """Other work on this machine must not stall the threads of a step."""
    with one_core():
        yield


@pytest.mark.parametrize("model", TINY)
@pytest.mark.parametrize("mode", ["training", "inference"])
@pytest.mark.parametrize("dtype", ["fp32", "autocast"])
def test_a_sweep_gives_right_points_with_items_operations_and_memory(model: str, mode: str, dtype: str) -> None:
    """Every batch ok, in the precision asked for; the smallest, and in inference all, compared with float64."""
    asked = {**TINY[model], "mode": mode, "dtype": dtype, "largest_batch": 4, "budget_s": 4.0}
    points = measure_points(asked)
    assert [point.x for point in points] == [1.0, 2.0, 4.0]
    for point in points:
        assert point.status is Status.OK, point.reason
        assert point.series == f"{model}_{mode}_cpu"
        assert point.threads == inspect_cpu().usable_threads == torch.get_num_threads()
        assert (point.items, point.dtype) == (point.x, Dtype.BF16 if dtype == "autocast" else Dtype.FP32)
        assert point.flops == point.x * points[0].flops
        assert point.median_s is not None
        assert point.gauges is not None
        assert point.gauges.memory_limit_bytes
        assert point.gauges.memory_resident_bytes is not None or "memory_resident_bytes" in point.gauges.not_reported
        assert (point.nan_count, point.inf_count) == (0, 0)
        assert Flag.FALLBACK not in point.flags
    errors = [point.rel_error for point in points]
    assert errors[0] is not None
    assert (errors[1] is None) is (mode == "training")
    low = 0.0 if dtype == "fp32" else MOST_ERROR[Dtype.FP32]
    assert all(low <= error <= MOST_ERROR[points[0].dtype] for error in errors if error is not None)


def test_the_articles_example_is_measured_to_its_batch() -> None:
    """A named batch is there, or says why not."""
    points = measure_points({"width": 64, "depth": 3, "largest_batch": 6, "budget_s": 4.0})
    assert [point.x for point in points] == [1.0, 2.0, 4.0, 6.0]


def test_a_cancelled_sweep_says_so() -> None:
    """Before the first case nothing was measured."""
    session, outcome = measure_session({**TINY["mlp"], "budget_s": 0.5}, stop=True)
    assert outcome.cancelled
    assert not session.by_case


def test_progress_words_the_batch() -> None:
    """A visitor reads which batch is next."""
    session, _ = measure_session({**TINY["mlp"], "largest_batch": 2, "budget_s": 0.5})
    assert "warming up batch\u00a02" in {progress.phase for progress in session.progresses}


def test_the_process_gets_its_convolution_switches_back() -> None:
    """Also after a failure."""
    switches = (torch.backends.cudnn.conv, torch.backends.mkldnn.conv)
    before = [switch.fp32_precision for switch in switches]
    with pytest.raises(RuntimeError, match="ieee ieee"), exact_convolutions():
        raise RuntimeError(" ".join(switch.fp32_precision for switch in switches))
    assert [switch.fp32_precision for switch in switches] == before


def test_memory_is_told_as_if_only_this_batch_were_there() -> None:
    """A batch of 1 beside the examples of 4,096 needs what it needs without them; a large one needs more."""
    params = BatchParams(mode="inference", width=1024, depth=2)
    desk = Desk(params, "cpu", Dtype.FP32, None)
    desk.bind(1)
    alone = desk.measure_memory().memory_resident_bytes
    desk.bind(4096)
    large = desk.measure_memory().memory_resident_bytes
    desk.bind(1)
    beside = desk.measure_memory().memory_resident_bytes
    if alone is None or beside is None or large is None:
        pytest.skip("this system does not tell the resident memory")
    assert abs(beside - alone) < 12 * MIB
    assert large > alone + 32 * MIB


@pytest.mark.parametrize("model", TINY)
def test_planned_memory_is_near_the_measured_one(model: str) -> None:
    """What is refused would really not fit: the slope by hand is within a factor of two and a half."""
    params = BatchParams(model=model, width={"mlp": 1024, "convnet": 16, "transformer": 128}[model], depth=2)
    batches = {"mlp": (256, 4096), "convnet": (8, 128), "transformer": (4, 64)}[model]
    desk = Desk(params, "cpu", Dtype.FP32, None)
    held = []
    for batch in batches:
        desk.bind(batch)
        desk.step()
        held.append(desk.measure_memory().memory_resident_bytes)
    if None in held:
        pytest.skip("this system does not tell the resident memory")
    planned = params.step_bytes(batches[1]) - params.step_bytes(batches[0])
    assert 0.4 < (held[1] - held[0]) / planned < 2.5


def test_a_step_beyond_the_limit_is_out_of_memory_and_the_desk_goes_on() -> None:
    """In this very process, as in the worker."""
    if read_process_bytes("VmData") is None:
        pytest.skip("this system cannot limit the data of a process")
    desk = Desk(BatchParams(mode="inference", width=1024, depth=2), "cpu", Dtype.FP32, 96 * MIB)
    desk.bind(8)
    with desk.guard():
        desk.step()
    with pytest.raises(OutOfMemoryError, match=r"It needs more memory than the 96\.0.MiB that this run may fill"):
        desk.bind(2**16)
    desk.release()
    desk.bind(8)
    with desk.guard():
        assert desk.step().shape == (8, 1024)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RuntimeError("could not create a primitive"), OutOfMemoryError),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), OutOfMemoryError),
        (RuntimeError("GET was unable to find an engine to execute this computation"), OutOfMemoryError),
        (RuntimeError("std::bad_alloc"), OutOfMemoryError),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), OutOfMemoryError),
        (RuntimeError("CUDA error: invalid configuration argument"), LaunchLimitError),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), DeviceLostError),
    ],
    ids=["oneDNN", "cuDNN", "no workspace", "C++", "torch", "launch limit", "lost"],
)
def test_libraries_say_out_of_memory_in_many_ways(raised: Exception, expected: type[Exception]) -> None:
    """A launch limit and a lost device are something else."""
    desk = Desk(BatchParams(mode="inference", width=8, depth=1), "cpu", Dtype.FP32, None)
    with pytest.raises(expected), desk.guard():
        raise raised


def test_the_check_of_a_large_model_is_not_limited() -> None:
    """Its float64 twin is no part of the measurement."""
    if read_process_bytes("VmData") is None:
        pytest.skip("this system cannot limit the data of a process")
    desk = Desk(BatchParams(mode="inference", width=2048, depth=2), "cpu", Dtype.FP32, 64 * MIB)
    desk.bind(1)
    with desk.guard():
        checked = desk.check(is_smallest=True)
    assert checked.failure == ""
    assert checked.rel_error is not None


def test_a_wrong_network_is_found() -> None:
    """Outputs that do not follow from the weights fail the point."""
    desk = Desk(BatchParams(mode="inference", width=32, depth=2), "cpu", Dtype.FP32, None)
    desk.bind(4)
    desk._workload.network.forward = lambda rows: 2 * rows
    assert desk.check(is_smallest=True).failure.startswith("The outputs are wrong: they differ from float64 by ")


@pytest.mark.parametrize(
    ("dtype", "error", "ran_as", "fails"),
    [
        (Dtype.FP32, 1e-6, "", False),
        (Dtype.FP32, 1e-3, "tf32", False),
        (Dtype.FP32, 0.1, "", True),
        (Dtype.BF16, 1e-2, "", False),
        (Dtype.BF16, 1e-6, "fp32", False),
        (Dtype.BF16, 0.2, "", True),
        (Dtype.FP16, 1e-3, "", False),
        (Dtype.FP16, 5e-2, "", True),
    ],
)
def test_the_error_tells_what_ran(dtype: Dtype, error: float, ran_as: str, fails: bool) -> None:
    """Right, right in another format, or wrong."""
    checked = judge_outputs(dtype, error, 0, 0)
    assert (checked.ran_as, bool(checked.failure)) == (ran_as, fails)


def test_nan_fails_and_no_reference_is_no_failure() -> None:
    """Larger training batches are only looked at for NaN."""
    assert judge_outputs(Dtype.FP32, None, 2, 1).failure == "The outputs hold 2 NaN and 1 infinite values."
    assert judge_outputs(Dtype.FP32, None, 0, 0).failure == ""


def test_the_zoom_asks_for_batches_around_the_measured_knee() -> None:
    """Of the device that the run is about, counted by torch, none beyond the largest planned."""
    from batch_made import CPU, affine

    params, machine = BatchParams(zoom=True), make_machine()
    points = affine(CPU, 4e-3, 40e-6)
    knee = find_batch_findings(points).series[0].knee.knee_batch
    assert knee == 1024
    cases = plan_cases(params, machine)
    count = lambda case: with_counted_flops(case, flops_per_example=7.0)  # noqa: E731
    added = refine_knee(points, cases, params=params, machine=machine, count=count)
    assert [int(case.x) for case in added] == [640, 768, 896, 1023, 1025, 1280, 1536, 1792, 2047, 2049]
    assert added[0].flops == 7.0 * 640
    assert refine_knee([], cases, params=params, machine=machine, count=count) == []


def test_one_network_serves_every_batch_of_a_device() -> None:
    """And the reference is that of the smallest."""
    params, machine = BatchParams(width=16, depth=1), make_machine(threads=inspect_cpu().usable_threads)
    cases = [make_case(params, machine, "cpu", batch) for batch in (1, 2, 4)]
    bench = Bench(params, machine, cases, inspect_cpu().usable_threads)
    watches = [bench.prepare(case) for case in cases]
    assert len(bench._desks) == 1
    assert all(watch.call_once() > 0 for watch in reversed(watches))
    assert [watch.check().rel_error is None for watch in watches] == [False, True, True]
    bench.release(cases[2])
    assert watches[0].call_once() > 0
