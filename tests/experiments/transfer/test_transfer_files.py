"""Published copies and anybody's file, as points of this experiment."""

import json
from pathlib import Path

import pytest
from transfer_made import MIB, PUBLISHED_NAME, link_points, memory_points

from gpuexplain.analyse import analyse_file
from gpuexplain.experiments.contract import FileOrigin
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.conclude import find_transfer_findings, findings_json
from gpuexplain.experiments.transfer.published import default_published, points_of_file, published_results
from gpuexplain.experiments.transfer.series import say_rate
from gpuexplain.experiments.transfer.spec import TransferParams
from gpuexplain.experiments.transfer.words import tell_answer
from gpuexplain.findings import FitStatus, NHalfStatus
from gpuexplain.hardware.reference import match_reference_gpu
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.store.exports import export_csv
from gpuexplain.store.run import StoredRun
from gpuexplain.store.series_files import read_series
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

CASES = Path(__file__).parents[2] / "cases"


def points_of(content: bytes, name: str = "mine.csv", gpu_name: str = "") -> list[Point]:
    """Return the points of a file that a visitor drops on the page."""
    return points_of_file(read_series("transfer", content, name), FileOrigin(name, gpu_name))


def nvbandwidth(**tests: list[str] | str) -> bytes:
    """Return what nvbandwidth prints: cells of a test that passed, or the status of one that did not."""
    cases = [
        {"name": name, "status": "Passed", "bandwidth_matrix": [cells]} if isinstance(cells, list)
        else {"name": name, "status": cells}
        for name, cells in tests.items()
    ]  # fmt: skip
    devices = ["0: NVIDIA H100 80GB HBM3 (00000000:07:00): (box)", "1: NVIDIA H100 80GB HBM3 (00000000:0A:00): (box)"]
    return json.dumps({"nvbandwidth": {"GPU Device list": devices, "testcases": cases}}).encode()


# -- published --------------------------------------------------------------------------------------------


def test_the_published_copies_are_one_result_with_both_kinds_of_memory() -> None:
    """Under the name of its GPU and link, with its source."""
    (result,) = published_results()
    assert (result.key, result.name, result.dtype) == ("Quadro RTX 6000", PUBLISHED_NAME, None)
    assert {p.series for p in result.points} == {spec.H2D_PINNED, spec.H2D_PAGEABLE}
    assert {(p.source, p.device, p.device_name) for p in result.points} == {
        (Source.PUBLISHED, f"published:{PUBLISHED_NAME}", PUBLISHED_NAME)
    }
    assert all(p.source_note == result.source for p in result.points)
    assert match_reference_gpu(result.name).name == "Quadro RTX 6000"  # type: ignore[union-attr]


@pytest.mark.parametrize("params", [TransferParams(), TransferParams(largest_mib=1, side=64)], ids=["default", "small"])
def test_it_stands_beside_every_question(params: TransferParams) -> None:
    """There is only one."""
    assert default_published(params) is published_results()[0]


def test_no_published_copy_is_a_memory_copy() -> None:
    """Nor the other way round."""
    assert not {p.series for p in published_results()[0].points} & spec.MEMORY_COPIES


# -- files ------------------------------------------------------------------------------------------------


def test_rates_and_times_become_points() -> None:
    """With their interval where both bounds are given."""
    by_rate = points_of(b"bytes,gbps,gbps_lo,gbps_hi\n1048576,10,9,11\n")
    by_time = points_of(b"bytes,seconds\n1048576,0.0001048576\n")
    for points in (by_rate, by_time):
        (point,) = points
        assert (point.series, point.source, point.source_note) == (spec.FILE_COPY, Source.RECORDED, "mine.csv")
        assert point.median_s == pytest.approx(1048576 / 10e9)
        assert (point.x, point.bytes, point.device) == (MIB, MIB, "file:mine.csv")
    assert by_rate[0].ci_low_s == pytest.approx(1048576 / 11e9)
    assert by_rate[0].ci_high_s == pytest.approx(1048576 / 9e9)
    assert by_time[0].ci_low_s is None


def test_a_status_and_flags_are_kept() -> None:
    """An out-of-memory row has no time; a flagged one no say."""
    points = points_of(b"bytes,gbps,flags\n1024,0.1,\n2048,0.2,under_load\n4096,OOM,\n")
    assert [p.status for p in points] == [Status.OK, Status.OK, Status.OOM]
    assert points[1].flags == (Flag.UNDER_LOAD,)
    assert points[2].median_s is None


@pytest.mark.parametrize("case", ["x1_h2d_pinned", "x1_h2d_pageable", "t_cache_copy"])
def test_a_file_gets_the_same_verdict_on_the_page_and_on_the_command_line(case: str) -> None:
    """The same rules, by two ways."""
    told = findings_json(find_transfer_findings(points_of((CASES / f"{case}.csv").read_bytes(), f"{case}.csv")))
    found = analyse_file("transfer", CASES / f"{case}.csv").findings
    assert told["headline_series"] == spec.FILE_COPY
    for name in ("plateau_gbps", "latency_us", "fit_gbps", "n_half_bytes", "first_at_half_bytes"):
        wanted = getattr(found, name)
        assert told[name] == (None if wanted is None else pytest.approx(wanted)), name
    assert (told["fit_status"], told["saturated"]) == (getattr(found, "fit_status"), getattr(found, "saturated"))  # noqa: B009


def test_a_file_is_never_called_a_transfer_or_this_machine() -> None:
    """Nobody knows what was copied where."""
    findings = find_transfer_findings(points_of((CASES / "x1_h2d_pinned.csv").read_bytes()))
    answer = plain(tell_answer(findings)).replace(NBSP, " ")
    assert answer == "In mine.csv, the copy reaches 11.1 GB/s; each copy costs 6.89 µs before its first byte."


@pytest.mark.parametrize(
    ("points", "series", "gbps"),
    [(memory_points(), spec.MEMORY_COPY, 14.0), (link_points(), spec.H2D_PINNED, 25.0)],
    ids=["memory", "link"],
)
def test_an_export_of_a_run_is_read_by_its_leading_series(points: list[Point], series: str, gbps: float) -> None:
    """A note says which one."""
    run = StoredRun(id="r", experiment="transfer", measuring_version=1, key="k", params={}, device="cpu", machine=None,
                    state="done", reason="", n_points=len(points), created_at=1.0, points=tuple(points))  # fmt: skip
    file = read_series("transfer", export_csv(run).encode(), "run.csv")
    assert any(f"series {series} taken" in note for note in file.notes)
    findings = find_transfer_findings(points_of_file(file, FileOrigin("run.csv")))
    assert findings.headline.fit.fit_gbps == pytest.approx(gbps, rel=0.01)  # type: ignore[union-attr]


def test_nvbandwidth_becomes_one_point_a_gpu_and_direction() -> None:
    """Its rate, no curve."""
    points = points_of(nvbandwidth(host_to_device_memcpy_ce=["55.4"], device_to_host_memcpy_ce=["55.1"]), "nv.json")
    assert [(p.series, p.x, p.device_name) for p in points] == [
        (spec.H2D_PINNED, 512.0 * MIB, "NVIDIA H100 80GB HBM3"), (spec.D2H_PINNED, 512.0 * MIB, "NVIDIA H100 80GB HBM3"),
    ]  # fmt: skip
    assert points[0].rate_bytes == pytest.approx(55.4e9)
    findings = find_transfer_findings(points)
    fit = findings.headline.fit  # type: ignore[union-attr]
    assert fit is not None
    assert (fit.plateau_gbps, fit.fit_status, fit.n_half_status) == (
        pytest.approx(55.4), FitStatus.TOO_FEW_POINTS, NHalfStatus.TOO_FEW_POINTS,
    )  # fmt: skip
    answer = plain(tell_answer(findings)).replace(NBSP, " ")
    assert answer.startswith("A recorded copy from pinned memory to the NVIDIA H100 80GB HBM3 reaches 55.4 GB/s")


def test_several_gpus_are_several_devices() -> None:
    """Each has its own line; a cell without a figure is a point without a time."""
    points = points_of(nvbandwidth(host_to_device_memcpy_ce=["55.4", "N/A"]), "nv.json")
    assert [p.device for p in points] == ["file:nv.json, GPU 0", "file:nv.json, GPU 1"]
    assert (points[1].status, points[1].reason) == (Status.UNSUPPORTED, "nvbandwidth printed N/A")


@pytest.mark.parametrize("status", ["Waived", "Not Found", "Error"])
def test_a_test_that_did_not_run_is_a_point_with_its_reason(status: str) -> None:
    """Shown as a cross, never as a rate."""
    points = points_of(nvbandwidth(host_to_device_memcpy_ce=status, device_to_host_memcpy_ce=["26.6"]), "nv.json")
    assert points[0].status in (Status.UNSUPPORTED, Status.FAILED)
    assert points[0].reason
    assert find_transfer_findings(points).headline.series == spec.D2H_PINNED  # type: ignore[union-attr]


def test_a_name_that_the_visitor_gives_wins() -> None:
    """It may be better known than the file's."""
    points = points_of(nvbandwidth(host_to_device_memcpy_ce=["55.4"]), "nv.json", gpu_name="H100 in rack 3")
    assert points[0].device_name == "H100 in rack 3"


# -- speed in a table -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("series", "changes", "text"),
    [
        (spec.MEMORY_COPY, {}, "10.5 GB/s"),
        (spec.H2D_PIECES, {"bytes": 64.0 * MIB, "median_s": 6.7108864e-3}, "10.0 GB/s"),
        (spec.CPU_PRODUCT, {"shape": (1024, 1024, 1024), "median_s": 2.147483648e-2}, "100 GFLOP/s"),
        (spec.MEMORY_COPY, {"median_s": None}, ""),
    ],
    ids=["copy", "pieces", "product", "no time"],
)
def test_a_product_is_told_in_operations_and_a_copy_in_bytes(series: str, changes: dict, text: str) -> None:
    """Each in the unit that means something."""
    fields = {"experiment": "transfer", "series": series, "x": MIB, "shape": (MIB, 1), "dtype": "fp32", "device": "cpu",
              "bytes": float(MIB), "median_s": 1e-4}  # fmt: skip
    assert say_rate(Point.model_validate({**fields, **changes})).replace(NBSP, " ") == text
