"""The rounds of a real GPU, its parted paths, and the CPU's threads beside them."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.workers import spec  # noqa: E402
from gpuexplain.experiments.workers.conclude import Verdict, find_workers_findings  # noqa: E402
from gpuexplain.experiments.workers.kernels import GROUP, LONG_PATH_STEPS, equal_blocks, two_paths  # noqa: E402
from gpuexplain.experiments.workers.measure import measure  # noqa: E402
from gpuexplain.experiments.workers.spec import block_counts  # noqa: E402
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
    """One run with all of its parts."""
    return run({"side": "512", "budget_s": 12.0})


def test_every_case_ran_or_says_what_is_missing(points: list[Point]) -> None:
    """Triton and jiterator may be missing; nothing may fail."""
    for point in points:
        assert point.status in (Status.OK, Status.UNSUPPORTED), (point.series, point.x, point.reason)
        if point.status is Status.UNSUPPORTED:
            assert "Triton" in point.reason or "jiterator" in point.reason


def test_blocks_are_planned_around_this_gpus_multiprocessors(points: list[Point]) -> None:
    """By what torch says of the device."""
    width = torch.cuda.get_device_properties(0).multi_processor_count
    blocks = [p for p in points if p.series == spec.BLOCKS]
    assert {p.shape[1] for p in blocks} == {width}
    assert {int(p.x) for p in blocks} == set(block_counts(width))


def test_one_block_too_many_takes_a_further_round() -> None:
    """By plain events, without our clock: twice the time for one more block, about the same for one less."""
    pytest.importorskip("triton")
    width = torch.cuda.get_device_properties(0).multi_processor_count
    half, full, more = (_event_time_s(equal_blocks(DEVICE, n)) for n in (width // 2, width, width + 1))
    assert full < 1.2 * half
    assert more > 1.4 * full


def test_the_staircase_of_a_run_is_seen(points: list[Point]) -> None:
    """Held, unless Triton is missing."""
    pytest.importorskip("triton")
    staircase = find_workers_findings(points).staircase
    assert staircase is not None
    assert staircase.verdict is Verdict.HELD, staircase


@pytest.mark.parametrize("parted", [True, False], ids=["parted", "together"])
def test_both_kernels_compute_the_same_kind_of_result(parted: bool) -> None:
    """Half of the elements walk towards 500; the other half stays as it was."""
    pytest.importorskip("torch.cuda.jiterator")
    walked = two_paths(DEVICE, 4096, parted=parted)().cpu()
    index = torch.arange(4096)
    takes_long = (index // GROUP) % 2 == 0 if parted else index < 2048
    expected = 500 * (1 - 0.999**LONG_PATH_STEPS)
    assert torch.all(walked[takes_long] > 0.9 * expected)
    assert torch.all(walked[~takes_long] < 1)


def test_parted_paths_take_longer_for_the_same_work(points: list[Point]) -> None:
    """Every warp holds both paths, so all of them walk the long one."""
    pytest.importorskip("torch.cuda.jiterator")
    divergence = find_workers_findings(points).divergence
    assert divergence is not None
    assert divergence.verdict is Verdict.HELD, divergence
    assert 1.3 < (divergence.factor or 0) < 3


def _event_time_s(operation: object, n: int = 9) -> float:
    """Return the median device time by torch's own events."""
    times_s = []
    for _ in range(3):
        operation()  # type: ignore[operator]
    for _ in range(n):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        operation()  # type: ignore[operator]
        end.record()
        torch.cuda.synchronize()
        times_s.append(start.elapsed_time(end) / 1e3)
    return sorted(times_s)[n // 2]
