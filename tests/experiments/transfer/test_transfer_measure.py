"""The bench on a GPU made of main memory, and a real sweep on the CPU of this machine."""

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from transfer_fakes import WITH_GPU, KeepingSession, link_cases, make_fake_bench, visit_each  # noqa: E402
from transfer_made import CACHE_BYTES, KIB, MIB  # noqa: E402

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.transfer import bench as bench_module  # noqa: E402
from gpuexplain.experiments.transfer import spec  # noqa: E402
from gpuexplain.experiments.transfer.conclude import find_transfer_findings  # noqa: E402
from gpuexplain.experiments.transfer.measure import measure, reach_bytes  # noqa: E402
from gpuexplain.experiments.transfer.spec import TransferParams, plan_cases  # noqa: E402
from gpuexplain.findings import BreakEven, NotFound  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.measuring.clocks import DeviceClock, HostClock  # noqa: E402
from gpuexplain.model import Case, Point, Status  # noqa: E402


def one(cases: list[Case], series: str, x: float | None = None) -> Case:
    """Return the case of a series, of one size or the largest."""
    found = [case for case in cases if case.series == series and x in (None, case.x)]
    return found[-1]


# -- on a GPU made of main memory -------------------------------------------------------------------


def test_every_case_of_a_link_runs_and_is_verified() -> None:
    """All series, all sizes, with what their clock did in words."""
    cases = link_cases()
    bench, _ = make_fake_bench(cases)
    points = visit_each(bench, cases)
    assert {point.series for point in points} == {case.series for case in cases}
    for point in points:
        assert point.status is Status.OK, (point.series, point.x, point.reason)
        assert point.timing
        assert point.rel_error is not None
        assert point.rel_error < 1e-5
    assert {point.rel_error for point in points if point.series in spec.LINK_COPIES | spec.PIECES} == {0.0}


def test_findings_come_out_of_such_a_run() -> None:
    """The break-even has its three times; what the driver does not tell is not judged."""
    cases = link_cases()
    bench, _ = make_fake_bench(cases)
    findings = find_transfer_findings(visit_each(bench, cases))
    assert findings.headline is not None
    assert findings.headline.series == spec.H2D_PINNED
    assert isinstance(findings.link, NotFound)
    assert isinstance(findings.break_even, (BreakEven, NotFound))


@pytest.mark.parametrize(
    ("series", "log"),
    [
        (spec.H2D_PAGEABLE, ["sync", "sync"]),
        (spec.D2H_PINNED, ["sync", "sync"]),
        (spec.H2D_PIECES, ["sync", "sync"]),
        (spec.H2D_PINNED_PIECES, ["sync", "sync"]),
        (spec.PRODUCT_COPIES, ["sync", "sync"]),
        (spec.OVERLAP_BOTH, ["sync", "first", "second", "sync"]),
        (spec.OVERLAP_COMPUTE, ["sync", "first", "sync"]),
    ],
)
def test_one_synchronisation_ends_a_copy(series: str, log: list[str]) -> None:
    """And one goes before; products and copy are queued on two streams between them."""
    cases = link_cases()
    bench, cuda = make_fake_bench(cases)
    watch = bench.prepare(one(cases, series))
    cuda.log.clear()
    watch.call_once()
    assert cuda.log == log
    assert watch.most_calls == 1


def test_device_time_comes_from_events() -> None:
    """Behind a blocking kernel where the copies are short."""
    cases = link_cases()
    bench, cuda = make_fake_bench(cases)
    watch = bench.prepare(one(cases, spec.H2D_PINNED_DEVICE, KIB))
    assert isinstance(watch, DeviceClock)
    watch.time_block(untimed=1, n_calls=8)
    assert "block" in cuda.log


def test_memory_that_cannot_be_pinned_leaves_the_pageable_series() -> None:
    """Each pinned series says why; the others run."""

    def refuse(n_values: int) -> torch.Tensor:
        raise UnsupportedError("Memory cannot be pinned here (limit of 64 KiB).")

    cases = [case for case in link_cases() if case.x in (KIB, MIB) or case.series in spec.PRODUCTS]
    bench, _ = make_fake_bench(cases, pin=refuse)
    refused = {}
    for case in cases:
        try:
            bench.prepare(case).call_once()
        except UnsupportedError as error:
            refused[case.series] = str(error)
    assert set(refused) == {
        spec.H2D_PINNED, spec.D2H_PINNED, spec.H2D_PINNED_DEVICE, spec.H2D_PIN_THEN_COPY, spec.H2D_PINNED_PIECES,
        spec.OVERLAP_BOTH, spec.OVERLAP_COMPUTE,
    }  # fmt: skip
    assert set(refused.values()) == {"Memory cannot be pinned here (limit of 64 KiB)."}
    assert {case.series for case in cases} - set(refused) >= {spec.H2D_PAGEABLE, spec.D2H_PAGEABLE, spec.H2D_PIECES}


def test_the_same_products_run_alone_and_beside_the_copy() -> None:
    """Otherwise their difference says nothing."""
    cases = link_cases(largest_mib=4)
    bench, _ = make_fake_bench(cases)
    alone = bench.prepare(one(cases, spec.OVERLAP_COMPUTE)).timing
    beside = bench.prepare(one(cases, spec.OVERLAP_BOTH)).timing
    assert alone.split(" on one stream")[0] == beside.split(" on one stream")[0]
    assert alone.endswith("products of side 2048 on one stream, and one synchronisation")
    assert beside.endswith("on one stream, the copy on another, and one synchronisation")


@pytest.mark.parametrize(
    ("gpu", "memory", "words"),
    [
        (1, 0, "; memory on NUMA node 0, GPU on node 1; the copy crosses NUMA nodes"),
        (1, 1, "; memory on NUMA node 1, GPU on node 1"),
        (None, 0, ""),
        (0, None, ""),
    ],
    ids=["apart", "together", "GPU unknown", "memory unknown"],
)
def test_nodes_are_told_where_they_are_known(
    monkeypatch: pytest.MonkeyPatch, gpu: int | None, memory: int | None, words: str
) -> None:
    """In the words on the clock; the findings read only whether the copy crosses them."""
    monkeypatch.setattr(bench_module, "gpu_numa_node", lambda bus_id: gpu)
    monkeypatch.setattr(bench_module, "buffer_numa_node", lambda address: memory)
    cases = link_cases()
    bench, _ = make_fake_bench(cases)
    watch = bench.prepare(one(cases, spec.H2D_PAGEABLE))
    assert watch.timing == f"host clock around the copy and one synchronisation at its end{words}"
    point = Point(experiment="transfer", series=spec.H2D_PAGEABLE, x=MIB, dtype="fp32", device="cuda:0",
                  timing=watch.timing)  # fmt: skip
    assert find_transfer_findings([point]).crosses_nodes is ("crosses" in words)


def test_buffers_are_as_long_as_the_longest_case_reaches() -> None:
    """Places of small sizes included."""
    cases = link_cases()
    assert max(reach_bytes(case) for case in cases) == 2 * CACHE_BYTES  # 64 places of 1 MiB over a link
    assert {reach_bytes(case) for case in cases if case.series in spec.PRODUCTS} == {0}
    assert WITH_GPU.cpu.last_level_cache_bytes == CACHE_BYTES


# -- on the CPU of this machine -----------------------------------------------------------------------


@pytest.fixture
def subnormals_back():
    """Give other tests their subnormal numbers back: the measuring process flushes them."""
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("subnormals_back")
def test_a_quick_sweep_measures_memory_copies() -> None:
    """Right contents, the threads that were asked, and how far from the caches it was."""
    session = KeepingSession()
    params = {"largest_mib": 1, "total_mib": 1, "side": 64, "budget_s": 1.5, "device": "cpu"}
    outcome = measure(params, session)
    points = list(session.by_case.values())
    threads = inspect_cpu().usable_threads
    assert spec.MEMORY_COPY in {p.series for p in points}
    assert {p.threads for p in points if p.series == spec.MEMORY_COPY} == {threads}
    for point in points:
        assert point.status in (Status.OK, Status.SKIPPED), point.reason
        if point.status is Status.OK:
            assert point.device == "cpu"
            assert point.median_s is not None
            assert point.rel_error is not None
    copies = [p for p in points if p.series in spec.MEMORY_COPIES and p.status is Status.OK]
    assert {p.rel_error for p in copies} == {0.0}
    if inspect_cpu().last_level_cache_bytes:
        assert all(p.cache_ratio for p in copies)
    assert not outcome.cancelled


@pytest.mark.usefixtures("subnormals_back")
def test_a_cancelled_sweep_says_so() -> None:
    """Before the first case nothing was measured."""
    session = KeepingSession(stop=True)
    outcome = measure({"largest_mib": 1, "budget_s": 0.5, "device": "cpu"}, session)
    assert outcome.cancelled
    assert not session.by_case


def test_one_thread_copies_on_one_thread() -> None:
    """Set before every block, whatever ran before."""
    machine = WITH_GPU
    cases = plan_cases(TransferParams(largest_mib=1, total_mib=1, side=64, device="cpu"), machine)
    bench, _ = make_fake_bench(cases)
    watch = bench.prepare(one(cases, spec.MEMORY_COPY_ONE_THREAD))
    assert isinstance(watch, HostClock)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        watch.time_block(untimed=0, n_calls=1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
