"""The parts of a training step on a real device: copies, kernels, idle time, memory."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.step import spec  # noqa: E402
from gpuexplain.experiments.step.conclude import Bound, Idle, Verdict, find_step_findings  # noqa: E402
from gpuexplain.experiments.step.idle import device_busy_s  # noqa: E402
from gpuexplain.experiments.step.measure import measure  # noqa: E402
from gpuexplain.model import Dtype, Point, Source, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"


@pytest.fixture(autouse=True)
def fresh_memory() -> Iterator[None]:
    """Leave the device as another test expects it."""
    yield
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def run(**params: object) -> list[Point]:
    """Return the points of one run of six seconds."""
    session = KeepingSession()
    measure({"device": DEVICE, "budget_s": 6.0, **params}, session)
    return list(session.by_case.values())


@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
@pytest.mark.parametrize("dtype", ["fp32", "autocast"])
def test_every_part_has_its_time(model: str, dtype: str) -> None:
    """The copy too; loading is the CPU's."""
    points = run(model=model, dtype=dtype)
    timed = {p.series: p for p in points if p.status is Status.OK and p.median_s is not None}
    assert {*spec.PHASES, spec.STEP, spec.IDLE, spec.STEP_LOADED, spec.INFERENCE, spec.PRODUCT} <= set(timed)
    assert timed[spec.LOAD].device == "cpu"
    assert timed[spec.FORWARD].device == DEVICE
    wanted = {Dtype.FP32} if dtype == "fp32" else {Dtype.BF16, Dtype.FP16}
    assert timed[spec.FORWARD].dtype in wanted
    found = find_step_findings(points)
    assert isinstance(found.idle, Idle)
    assert 0 <= found.idle.share <= 1
    assert found.device_bytes is not None
    assert found.device_bytes >= torch.cuda.get_device_properties(DEVICE).total_memory


def test_slow_data_leave_the_device_idle_and_workers_help() -> None:
    """An example that is unpacked a thousand times keeps a GPU waiting."""
    found = find_step_findings(run(data="slow", batch=256, workers=4))
    assert isinstance(found.verdict, Verdict)
    assert found.verdict.bound is Bound.INPUT
    assert isinstance(found.idle, Idle)
    assert found.idle.share > 0.3


def test_the_profiler_sees_work_and_no_gap() -> None:
    """Two products beside a pause of the host: only the products count."""
    side = torch.rand(4096, 4096, device=DEVICE)
    for _ in range(3):
        side @ side
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    side @ side
    end.record()
    torch.cuda.synchronize()
    alone_s = start.elapsed_time(end) / 1e3

    def step() -> None:
        side @ side
        torch.cuda.synchronize()
        side @ side

    assert device_busy_s(step) == pytest.approx(2 * alone_s, rel=0.3)


def test_components_are_as_counted() -> None:
    """Weights, gradients and Adam's state by their shapes."""
    components = {c.name: c for c in find_step_findings(run(batch=64)).components}
    for name in (spec.WEIGHTS, spec.GRADIENTS, spec.OPTIMISER_STATE):
        assert components[name].agrees
    assert components[spec.ACTIVATIONS].measured_bytes > 0


def test_counted_points_say_so() -> None:
    """Never as measured."""
    points = run(batch=16)
    predicted = [p for p in points if p.source is Source.MODEL]
    assert len(predicted) == len(spec.COMPONENTS)
