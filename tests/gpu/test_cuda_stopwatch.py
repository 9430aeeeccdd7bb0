"""Every wrong way to hold a clock on a real device, and what torch's profiler sees of it."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.stopwatch.choice import mistakes_on  # noqa: E402
from gpuexplain.experiments.stopwatch.conclude import StopwatchFindings, Verdict, find_stopwatch_findings  # noqa: E402
from gpuexplain.experiments.stopwatch.measure import measure  # noqa: E402
from gpuexplain.experiments.stopwatch.series import Lane  # noqa: E402
from gpuexplain.experiments.stopwatch.spec import COLD, Way, ways_on  # noqa: E402
from gpuexplain.model import Clock, Point, Status  # noqa: E402
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
    """A product large enough that its work takes longer than its launch."""
    return run({"side": "4096", "budget_s": 10.0})


@pytest.fixture(scope="module")
def findings(points: list[Point]) -> StopwatchFindings:
    """What they say."""
    return find_stopwatch_findings(points)


def test_every_way_is_timed_and_right(points: list[Point]) -> None:
    """The mistakes are in the clock, not in the product."""
    timed = {p.series: p for p in points if p.series in set(Way)}
    assert set(timed) == set(ways_on(DEVICE, 1))
    for way, point in timed.items():
        assert point.status is Status.OK, (way, point.reason)
        assert (point.rel_error or 0) < 1e-5, way


def test_without_a_wait_the_product_looks_many_times_too_fast(findings: StopwatchFindings) -> None:
    """The launch takes microseconds, the work milliseconds."""
    trap = findings.of(Way.NO_SYNC)
    assert trap is not None
    assert trap.verdict is Verdict.MISLEADS
    assert (trap.factor or 1) < 0.2


def test_each_clock_is_named(points: list[Point]) -> None:
    """Enqueue time and transfer-inclusive time are never called call time."""
    clocks = {p.series: p.clock for p in points}
    assert (clocks[Way.NO_SYNC], clocks[Way.COPIES]) == (Clock.ENQUEUE, Clock.TRANSFER_INCLUSIVE)


def test_copies_make_it_look_slower(findings: StopwatchFindings) -> None:
    """Three matrices of 64 MiB over the link."""
    trap = findings.of(Way.COPIES)
    assert trap is not None
    assert (trap.factor or 0) > 1.05


def test_the_first_call_is_recorded(findings: StopwatchFindings) -> None:
    """How much longer it took depends on what this process has loaded before."""
    trap = findings.of(COLD)
    assert trap is not None
    assert (trap.wrong_s or 0) > 0


def test_a_gpu_cannot_have_too_few_cpu_threads(findings: StopwatchFindings) -> None:
    """There is no switch for it, and the words say why."""
    assert Way.ONE_THREAD not in mistakes_on(DEVICE, 8)
    trap = findings.of(Way.ONE_THREAD)
    assert trap is not None
    assert trap.verdict is Verdict.ABSENT


def test_the_lanes_show_the_program_ahead_of_the_device(findings: StopwatchFindings) -> None:
    """Queued only: the calls have returned before the work is done. Waiting: each call's work ends before the next."""
    queued = [e for e in findings.lanes if not e.waits]
    calls = [e for e in queued if e.lane is Lane.HOST]
    work = [e for e in queued if e.lane is Lane.DEVICE]
    assert len(calls) == 3
    assert work
    assert max(e.start_s + e.length_s for e in calls) < max(e.start_s + e.length_s for e in work)
    waiting = [e for e in findings.lanes if e.waits]
    assert any(e.lane is Lane.WAIT for e in waiting)
    assert sum(e.lane is Lane.DEVICE for e in waiting) >= 3


def test_the_profilers_work_is_about_as_long_as_the_right_figure(findings: StopwatchFindings) -> None:
    """A product of 4096 is long enough for a profiler."""
    lengths = sorted(e.length_s for e in findings.lanes if e.lane is Lane.DEVICE)
    assert findings.right_s
    assert lengths[len(lengths) // 2] == pytest.approx(findings.right_s, rel=0.5)
