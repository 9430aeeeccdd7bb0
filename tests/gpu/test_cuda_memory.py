"""The memory wall on a real device: roofs, the walk, and what the data sheet allows."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.memory import spec  # noqa: E402
from gpuexplain.experiments.memory.conclude import Bound, MemoryRoof, find_memory_findings  # noqa: E402
from gpuexplain.experiments.memory.measure import measure  # noqa: E402
from gpuexplain.model import Clock, Dtype, Point, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"


@pytest.fixture(scope="module")
def points() -> Iterator[list[Point]]:
    """What a run of ten seconds measures; the device is left as another test expects it."""
    session = KeepingSession()
    measure({"device": DEVICE, "largest_k": 512, "budget_s": 10.0}, session)
    yield list(session.by_case.values())
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def test_every_case_is_right_or_says_why(points: list[Point]) -> None:
    """Results agree with float64; only 16 bits may be missing on an old part."""
    assert {p.series for p in points} >= {*spec.BANDWIDTHS, spec.COMPUTE[Dtype.FP32], spec.WALK, spec.EMPTY}
    for point in points:
        assert point.status in (Status.OK, Status.UNSUPPORTED), (point.series, point.x, point.reason)
        if point.status is Status.UNSUPPORTED:
            assert point.series == spec.COMPUTE[Dtype.BF16]
        assert point.clock is (Clock.CALL if point.series == spec.EMPTY else Clock.DEVICE)


def test_the_walk_goes_from_memory_to_compute(points: list[Point]) -> None:
    """One use of a weight waits for memory, five hundred do not; nothing above a roof counts as fact."""
    found = find_memory_findings(points)
    assert isinstance(found.memory, MemoryRoof)
    assert found.roof_of(Dtype.FP32) is not None
    bounds = {p.x: p.bound for p in found.walk}
    assert (bounds[1.0], bounds[512.0]) == (Bound.MEMORY, Bound.COMPUTE)
    for placed in found.walk:
        assert placed.is_fact == (placed.of_roof <= 1.15)


def test_no_roof_lies_above_the_data_sheet(points: list[Point]) -> None:
    """By at most the 15 % that a clock can boost; a known part has its source."""
    found = find_memory_findings(points)
    assert isinstance(found.memory, MemoryRoof)
    if found.memory.reference_bytes_s:
        assert found.memory.bytes_s <= 1.15 * found.memory.reference_bytes_s
        assert found.memory.reference_source
    for roof in found.compute:
        assert roof.reference_flops_s is None or roof.flops_s <= 1.15 * roof.reference_flops_s
