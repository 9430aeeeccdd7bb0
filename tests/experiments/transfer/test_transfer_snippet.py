"""The standalone script: it runs with nothing but torch, and tells what the page told."""

import re
from pathlib import Path

import pytest
from transfer_made import GIB, KIB, MIB, make_machine, make_point, product

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.snippet import write_snippet
from gpuexplain.experiments.transfer.spec import TransferParams, plan_cases
from gpuexplain.model import Case, Point
from tests.experiments.script_check import check_that_it_lands, run_script


def point_of(case: Case) -> Point:
    """Return a point of a case, as the page would select it."""
    return make_point(
        case.series, case.x, 1e-3, shape=case.shape, device=case.device, threads=case.threads, bytes=case.bytes_moved
    )


ALL_CASES = {
    case.series: case
    for machine in (make_machine(), make_machine(gpu_free_bytes=70 * GIB))
    for case in plan_cases(TransferParams(largest_mib=16, total_mib=4, side=128), machine)
}
GPU_SERIES = sorted(series for series, case in ALL_CASES.items() if case.device != "cpu")
CPU_SERIES = sorted(series for series, case in ALL_CASES.items() if case.device == "cpu")


@pytest.mark.parametrize("series", sorted(ALL_CASES))
def test_every_series_has_a_script_that_compiles_and_needs_only_torch(series: str) -> None:
    """Its title says what it copies and where."""
    script = write_snippet(TransferParams(), point_of(ALL_CASES[series]))
    compile(script, "snippet.py", "exec")
    assert "gpuexplain" not in script
    imported = set(re.findall(r"^import (\w+)", script, re.MULTILINE))
    assert imported <= {"itertools", "mmap", "random", "statistics", "time", "torch"}
    assert script.startswith('"""Time of ')
    for name in ("length", "piece", "n_places", "device", "side", "target", "source", "options", "between"):
        assert f"{{{name}}}" not in script


@pytest.mark.parametrize(
    ("series", "marks"),
    [
        (spec.H2D_PAGEABLE, ['second = host.to("cuda:0")', "target.copy_(source)\n", "(second[part], host[part])"]),
        (spec.D2H_PAGEABLE, ["(host[part], second[part])"]),
        (spec.H2D_PINNED, ["pin_memory=True", "target.copy_(source, non_blocking=True)", "pinning failed"]),
        (spec.D2H_PINNED, ["pin_memory=True", "(host[part], second[part])", "non_blocking=True"]),
        (spec.H2D_PIN_THEN_COPY, ["alive = source.pin_memory()", "        between()\n        torch.cuda.synchronize()", "_host_emptyCache"]),
        (spec.H2D_PINNED_DEVICE, ["start.elapsed_time(end) / 1e3", "torch.cuda._sleep"]),
        (spec.H2D_PIECES, ["torch.split(second[part], piece)", "target.copy_(source)\n"]),
        (spec.H2D_PINNED_PIECES, ["torch.split(second[part], piece)", "non_blocking=True"]),
        (spec.OVERLAP_BOTH, ["torch.cuda.stream(computing)", "torch.cuda.stream(copying)"]),
        (spec.OVERLAP_COMPUTE, ["torch.cuda.stream(computing)"]),
        (spec.GPU_PRODUCT, ['left, right = left.to("cuda:0"), right.to("cuda:0")', 'fp32_precision = "ieee"']),
        (spec.PRODUCT_COPIES, ["left_there.copy_(left)", "result.copy_(result_there)"]),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_a_gpu_script_does_what_its_point_did(series: str, marks: list[str]) -> None:
    """Memory, direction, clock and device."""
    script = write_snippet(TransferParams(), point_of(ALL_CASES[series]))
    assert 'torch.cuda.set_device("cuda:0")' in script
    for mark in marks:
        assert mark in script
    if series != spec.H2D_PINNED_DEVICE:
        assert "torch.cuda.synchronize()\n        started_s = time.perf_counter()" in script


def test_only_the_copy_beside_products_copies() -> None:
    """The products alone run alone."""
    assert "stream(copying)" not in write_snippet(TransferParams(), point_of(ALL_CASES[spec.OVERLAP_COMPUTE]))


@pytest.mark.parametrize("series", [spec.MEMORY_COPY, spec.MEMORY_COPY_FRESH, spec.MEMORY_COPY_PIECES])
def test_a_memory_copy_is_called_that(series: str) -> None:
    """In the first line."""
    first = write_snippet(TransferParams(), point_of(ALL_CASES[series])).splitlines()[0]
    assert "within main memory, no transfer to a GPU" in first or "memory never touched before" in first
    assert "on cpu with 2 threads" in first


@pytest.mark.parametrize(
    ("params", "lines"),
    [
        (TransferParams(), ["length, n_places = 16777216, 1", "64 MiB within main memory"]),
        (TransferParams(largest_mib=1), ["length, n_places = 262144, 32", "1 MiB within main memory"]),
        (TransferParams(device="cuda:1"), ['torch.cuda.set_device("cuda:1")', "pin_memory=True"]),
    ],
    ids=["default", "small", "GPU"],
)
def test_without_a_point_the_params_decide(params: TransferParams, lines: list[str]) -> None:
    """A usual copy on the device that they name."""
    script = write_snippet(params, None)
    compile(script, "snippet.py", "exec")
    for line in lines:
        assert line in script


def test_a_published_point_is_reproduced_by_a_usual_copy() -> None:
    """Nobody knows how it was measured."""
    published = make_point(spec.H2D_PINNED, 64 * KIB, 1e-5, shape=(64 * KIB,), device="published:X")
    assert write_snippet(TransferParams(), published) == write_snippet(TransferParams(), None)


@pytest.mark.torch
@pytest.mark.parametrize("series", CPU_SERIES)
def test_every_script_for_the_cpu_runs(series: str, tmp_path: Path) -> None:
    """And prints a time."""
    pytest.importorskip("torch")
    point = point_of(ALL_CASES[series]).model_copy(update={"threads": 1})
    assert run_script(write_snippet(TransferParams(), point), tmp_path)["median_s"] > 0


def measure_again(case: Case) -> Point:
    """Return our own point of a case, measured for a second."""
    import torch
    from transfer_fakes import sweep

    from gpuexplain.experiments.transfer.measure import make_bench
    from gpuexplain.measuring.conditions import ConditionsMonitor

    try:
        torch.set_flush_denormal(True)
        points, _ = sweep(
            make_bench([case], make_machine(), 1, "cpu"), [case], budget_s=1.0, conditions=ConditionsMonitor()
        )
    finally:
        torch.set_flush_denormal(False)
    return points[0]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("series", "size"),
    [(spec.MEMORY_COPY_ONE_THREAD, MIB), (spec.MEMORY_COPY_ONE_THREAD, 16 * MIB), (spec.MEMORY_COPY_PIECES, 64 * KIB)],
    ids=["1 MiB", "16 MiB", "pieces"],
)
def test_the_script_lands_where_our_own_measurement_does(series: str, size: int, tmp_path: Path) -> None:
    """One thread, because several wait for each other where other programs run."""
    pytest.importorskip("torch")
    cases = plan_cases(TransferParams(largest_mib=16, total_mib=4, side=64), make_machine(threads=2))
    case = next(case for case in cases if case.series == series and case.x == size)
    case = Case(**{name: getattr(case, name) for name in case.__slots__} | {"threads": 1})
    check_that_it_lands(
        lambda: measure_again(case),
        lambda point: run_script(write_snippet(TransferParams(), point), tmp_path)["median_s"],
    )


@pytest.mark.parametrize(
    "point", [product(spec.CPU_PRODUCT, 1e-3, side=128), product(spec.GPU_PRODUCT, 1e-3, side=128)], ids=["CPU", "GPU"]
)
def test_a_product_is_told_in_operations(point: Point) -> None:
    """Not in bytes."""
    assert "2 * 128**3 / median_s" in write_snippet(TransferParams(), point)
