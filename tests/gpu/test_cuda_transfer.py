"""Copies over a real link: contents, directions, pinning, streams, link under load, memory."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.transfer import spec  # noqa: E402
from gpuexplain.experiments.transfer.bench import Bench  # noqa: E402
from gpuexplain.experiments.transfer.conclude import find_transfer_findings  # noqa: E402
from gpuexplain.experiments.transfer.measure import make_bench, measure  # noqa: E402
from gpuexplain.experiments.transfer.spec import MIB, TransferParams, plan_cases  # noqa: E402
from gpuexplain.findings import BreakEven, FitStatus, LinkShare, Overlap, PiecesCost  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.hardware.machine import Machine  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402
from gpuexplain.measuring.session import Outcome  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices  # noqa: E402
from gpuexplain.model import Case, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"
THREADS = inspect_cpu().usable_threads
PARAMS = TransferParams(device=DEVICE, largest_mib=64, total_mib=16, side=512)


@pytest.fixture(scope="module")
def machine() -> Machine:
    """This machine with its GPU."""
    return inspect_machine(probe_torch(THREADS))


@pytest.fixture(scope="module")
def cases(machine: Machine) -> list[Case]:
    """What a run would measure."""
    return plan_cases(PARAMS, machine)


@pytest.fixture(scope="module")
def bench(machine: Machine, cases: list[Case]) -> Bench:
    """Its memory, shared by the tests."""
    use_devices([DEVICE])
    return make_bench(cases, machine, THREADS, DEVICE)


@pytest.fixture(autouse=True, scope="module")
def fresh_memory() -> Iterator[None]:
    """Leave the device as another test expects it."""
    yield
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def one(cases: list[Case], series: str, size: int | None = None) -> Case:
    """Return the case of a series, of one size or the largest."""
    return [case for case in cases if case.series == series and size in (None, int(case.x))][-1]


def median_call_s(bench: Bench, case: Case, n_blocks: int = 9) -> float:
    """Return the median (seconds) of a case, warmed up."""
    watch = bench.prepare(case)
    for _ in range(5):
        watch.call_once()
    return sorted(watch.time_block(2, min(watch.most_calls, 8)).call_s for _ in range(n_blocks))[n_blocks // 2]


@pytest.mark.parametrize(
    "series",
    [*sorted(spec.LINK_COPIES), spec.H2D_PIECES, spec.H2D_PINNED_PIECES, spec.OVERLAP_BOTH, spec.PRODUCT_COPIES],
)
def test_every_way_to_copy_arrives_whole(bench: Bench, cases: list[Case], series: str) -> None:
    """Contents are compared after a real copy, at the smallest and the largest size."""
    own = [case for case in cases if case.series == series]
    for case in (own[0], own[-1]):
        watch = bench.prepare(case)
        watch.call_once()
        assert watch.check().failure == ""


def test_a_copy_that_does_not_arrive_is_seen_on_a_device_too(bench: Bench, cases: list[Case]) -> None:
    """The check reads the device's memory, not the host's."""
    watch = bench.prepare(one(cases, spec.H2D_PINNED, MIB))
    assert watch.check().failure == ""
    buffers = bench._buffers
    buffers.pinned.values[: 64 * MIB // 4].neg_()
    try:
        assert watch.check().failure.startswith("The copy is wrong")
    finally:
        buffers.pinned.values[: 64 * MIB // 4].neg_()
    assert watch.check().failure == ""


def test_pinned_memory_is_pinned_and_faster_for_large_copies(bench: Bench, cases: list[Case]) -> None:
    """In both directions; 5 % for noise."""
    assert bench._buffers.pinned.values.is_pinned()
    assert not bench._buffers.pageable.values.is_pinned()
    for pinned, pageable in ((spec.H2D_PINNED, spec.H2D_PAGEABLE), (spec.D2H_PINNED, spec.D2H_PAGEABLE)):
        assert median_call_s(bench, one(cases, pinned)) < 1.05 * median_call_s(bench, one(cases, pageable))


def test_pinning_for_one_copy_costs_more_than_pinned_memory(bench: Bench, cases: list[Case]) -> None:
    """Every call pins anew: the cache of pinned memory is emptied between them."""
    watch = bench.prepare(one(cases, spec.H2D_PIN_THEN_COPY))
    assert "pinned anew for every copy" in watch.timing
    assert median_call_s(bench, one(cases, spec.H2D_PIN_THEN_COPY)) > median_call_s(bench, one(cases, spec.H2D_PINNED))


@pytest.mark.parametrize("size", [spec.SMALLEST_BYTES, 64 * MIB], ids=["1 KiB", "64 MiB"])
def test_device_time_is_within_call_time(bench: Bench, cases: list[Case], size: int) -> None:
    """The host waits for the copy and more; 5 % for noise."""
    device_s = median_call_s(bench, one(cases, spec.H2D_PINNED_DEVICE, size))
    assert 0 < device_s < 1.05 * median_call_s(bench, one(cases, spec.H2D_PINNED, size))


def test_device_time_agrees_with_a_plain_pair_of_events(bench: Bench, cases: list[Case]) -> None:
    """64 MiB, by torch's own means."""
    host, there = torch.rand(16 * MIB).pin_memory(), torch.empty(16 * MIB, device=DEVICE)
    times_s = []
    for _ in range(15):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        there.copy_(host, non_blocking=True)
        end.record()
        torch.cuda.synchronize()
        times_s.append(start.elapsed_time(end) / 1e3)
    theirs_s = sorted(times_s)[len(times_s) // 2]
    assert median_call_s(bench, one(cases, spec.H2D_PINNED_DEVICE)) == pytest.approx(theirs_s, rel=0.15)


def test_pieces_cost_more_than_one_copy(bench: Bench, cases: list[Case]) -> None:
    """16 MiB in pieces of 4 KiB."""
    own = [case for case in cases if case.series == spec.H2D_PIECES]
    assert median_call_s(bench, own[0], 5) > 2 * median_call_s(bench, own[-1], 5)


def test_a_copy_beside_products_takes_less_than_one_after_the_other(bench: Bench, cases: list[Case]) -> None:
    """Two streams and a copy engine: something hides."""
    with exact_fp32():
        alone_s = median_call_s(bench, one(cases, spec.OVERLAP_COMPUTE))
        both_s = median_call_s(bench, one(cases, spec.OVERLAP_BOTH))
    assert both_s < 0.95 * (alone_s + median_call_s(bench, one(cases, spec.H2D_PINNED)))


def test_a_sweep_leads_to_findings() -> None:
    """Everything ok, the link read under load, fit, share, break-even, pieces and overlap found or said why not."""
    session = KeepingSession()
    outcome: Outcome = measure({**PARAMS.model_dump(mode="json"), "budget_s": 10.0}, session)
    points = list(session.by_case.values())
    assert not outcome.cancelled
    for point in points:
        assert point.status in (Status.OK, Status.SKIPPED), (point.series, point.x, point.reason)
        if point.status is Status.OK and point.series in spec.LINK_COPIES | spec.PIECES:
            assert point.rel_error == 0.0
    findings = find_transfer_findings(points)
    assert findings.headline is not None
    assert findings.headline.series == spec.H2D_PINNED
    assert findings.headline.fit is not None
    assert findings.headline.fit.fit_status in (FitStatus.OK, FitStatus.NOT_AFFINE)
    link = findings.link
    assert not isinstance(link, LinkShare) or link.is_fact, link
    for found, kind in ((findings.break_even, BreakEven), (findings.pieces, PiecesCost), (findings.overlap, Overlap)):
        assert isinstance(found, kind) or found.reason
