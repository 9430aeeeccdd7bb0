"""A stack of layers on a real device: right results, times of both, a prediction that can be judged."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.by_hand import spec  # noqa: E402
from gpuexplain.experiments.by_hand.conclude import find_by_hand_findings  # noqa: E402
from gpuexplain.experiments.by_hand.counting import Count  # noqa: E402
from gpuexplain.experiments.by_hand.forecast import find_forecasts  # noqa: E402
from gpuexplain.experiments.by_hand.measure import measure  # noqa: E402
from gpuexplain.experiments.by_hand.snippet import write_snippet  # noqa: E402
from gpuexplain.experiments.by_hand.spec import ByHandParams  # noqa: E402
from gpuexplain.model import Point, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"


@pytest.fixture(autouse=True)
def fresh_memory() -> Iterator[None]:
    """Leave the device as another test expects it."""
    yield
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def run(params: dict[str, object]) -> list[Point]:
    """Run one sweep and return its points."""
    session = KeepingSession()
    outcome = measure({"device": DEVICE, **params}, session)
    assert not outcome.cancelled
    return list(session.by_case.values())


@pytest.fixture(scope="module")
def points() -> list[Point]:
    """A small stack on both devices."""
    return run({"batch": 256, "width": 1024, "depth": 20, "budget_s": 6.0})


def test_product_and_stack_are_right_on_both_devices(points: list[Point]) -> None:
    """By the error against float64: fp32, not TF32."""
    assert {p.series for p in points} == {spec.PRODUCT, spec.STACK, spec.GPU_PRODUCT, spec.GPU_STACK}
    for point in points:
        assert point.status is Status.OK, (point.series, point.reason)
        assert point.median_s
        assert (point.rel_error or 0) < 2e-5


def test_the_stack_takes_at_least_half_of_what_its_products_take(points: list[Point]) -> None:
    """It holds as many products: a clock that did not wait would show next to nothing."""
    by_series = {p.series: p for p in points}
    product_s, stack_s = by_series[spec.GPU_PRODUCT].median_s, by_series[spec.GPU_STACK].median_s
    alone_s = _device_time_s(256, 1024)
    assert stack_s > 0.5 * 20 * alone_s
    assert product_s > 0.9 * alone_s


def _device_time_s(batch: int, width: int) -> float:
    """Return the device time of one product by torch's own events: ten in a row, over ten."""
    left, right = torch.rand(batch, width, device=DEVICE), torch.rand(width, width, device=DEVICE)
    times_s = []
    for _ in range(9):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(10):
            torch.mm(left, right)
        end.record()
        torch.cuda.synchronize()
        times_s.append(start.elapsed_time(end) / 1e4)
    return sorted(times_s)[4]


def test_both_devices_are_judged_and_predict_the_next_stack(points: list[Point]) -> None:
    """A verdict each; and a forecast of another depth from the stored products."""
    findings = find_by_hand_findings(points)
    assert [p.device for p in findings.predictions] == ["cpu", DEVICE]
    assert all(p.factor for p in findings.predictions)
    forecasts = find_forecasts(Count(256, 1024, 50), ["cpu", DEVICE], points)
    assert all(f.time_s and f.shape == (256, 1024, 1024) for f in forecasts)


def test_the_script_for_this_device_runs() -> None:
    """Alone, and waits for the device."""
    script = write_snippet(ByHandParams(batch=64, width=256, depth=3, device=DEVICE), None)
    names: dict[str, object] = {}
    exec(compile(script, "snippet.py", "exec"), names)
    assert names["stack_s"] > 0  # type: ignore[operator]
