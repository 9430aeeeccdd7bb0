"""What nvbandwidth -j prints, as rows of copies: the layout is that of its version 0.8."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analyse import analyse_file
from gpuexplain.errors import InputError
from gpuexplain.findings import FitStatus, TransferFit
from gpuexplain.store.nvbandwidth import is_nvbandwidth, read_nvbandwidth
from gpuexplain.store.series_files import read_series

TO, FROM = "host_to_device_memcpy_ce", "device_to_host_memcpy_ce"
KERNEL = "host_to_device_memcpy_sm"


def passed(name: str, *cells: str) -> dict[str, object]:
    """Return a test that ran: one row for the host, a cell a GPU."""
    return {
        "name": name,
        "status": "Passed",
        "bandwidth_description": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
        "bandwidth_matrix": [list(cells)],
        "sum": sum(float(cell) for cell in cells if cell != "N/A"),
    }


def write(*tests: dict[str, object], **more: object) -> bytes:
    """Return a file with these tests."""
    root = {
        "version": "v0.8",
        "git_version": "v0.8",
        "CUDA Runtime Version": 12080,
        "Driver Version": "570.86.15",
        "GPU Device list": [
            "0: NVIDIA H100 80GB HBM3 (00000000:07:00): (box)",
            "1: NVIDIA L4: (box)",
        ],
        "testcases": list(tests),
        **more,
    }
    return json.dumps({"nvbandwidth": root}, indent=3).encode()


def rows(*tests: dict[str, object], **more: object) -> list[tuple[object, ...]]:
    """Return (test, device, name, rate or None, status) of each row."""
    frame, _ = read_nvbandwidth(write(*tests, **more), "nv.json")
    return [
        (row.test, row.device, row.device_name, None if row.gbps != row.gbps else row.gbps, row.status)
        for row in frame.itertuples()
    ]


def test_each_gpu_and_direction_is_a_row() -> None:
    """Cells are text; the names are those of the list of devices."""
    assert rows(passed(TO, "55.4", "12.3"), passed(FROM, "55.1", "12.6")) == [
        (TO, 0, "NVIDIA H100 80GB HBM3", 55.4, "ok"),
        (TO, 1, "NVIDIA L4", 12.3, "ok"),
        (FROM, 0, "NVIDIA H100 80GB HBM3", 55.1, "ok"),
        (FROM, 1, "NVIDIA L4", 12.6, "ok"),
    ]


def test_the_size_is_its_default_and_a_note_says_so() -> None:
    """The file does not tell it."""
    frame, notes = read_nvbandwidth(write(passed(TO, "26.0")), "nv.json")
    assert frame["bytes"].tolist() == [512 * 2**20]
    assert notes == (
        "nvbandwidth does not print the size of a copy: 512 MiB taken, its default; one size shows no curve",
    )


def test_a_cell_without_a_figure_stays_without_one() -> None:
    """N/A is a status, never a number."""
    assert rows(passed(TO, "26.0", "N/A"))[1] == (TO, 1, "NVIDIA L4", None, "unsupported")


@pytest.mark.parametrize(
    ("status", "wanted", "reason"),
    [
        ("Waived", "unsupported", "nvbandwidth waived this test: this computer cannot run it"),
        ("Not Found", "unsupported", "nvbandwidth does not know this test"),
        ("Error", "failed", "nvbandwidth reported an error"),
        ("ERROR", "failed", "nvbandwidth reported an error"),
        ("Running", "failed", "nvbandwidth ended before this test did"),
        ("Exploded", "failed", "nvbandwidth says 'Exploded'"),
    ],
)
def test_a_test_that_did_not_run_is_a_row_with_its_reason(status: str, wanted: str, reason: str) -> None:
    """Whatever the tool says."""
    frame, notes = read_nvbandwidth(write({"name": TO, "status": status}, passed(FROM, "26.0")), "nv.json")
    assert frame[["status", "reason"]].iloc[0].tolist() == [wanted, reason]
    assert f"{TO}: {status}" in notes


def test_the_text_of_an_error_is_kept() -> None:
    """It is what a person can act on."""
    case = {"name": TO, "status": "Error", "error": "[CUDA_ERROR_OUT_OF_MEMORY] out of memory"}
    frame, _ = read_nvbandwidth(write(case), "nv.json")
    assert frame["reason"].tolist() == ["nvbandwidth reported an error: [CUDA_ERROR_OUT_OF_MEMORY] out of memory"]


def test_of_a_test_listed_twice_the_last_entry_counts() -> None:
    """The tool adds a second entry when a running test fails."""
    assert (
        rows({"name": TO, "status": "Running"}, {"name": TO, "status": "Error"}, passed(FROM, "26"))[0][4] == "failed"
    )


def test_a_kernels_copy_stands_in_where_the_copy_engine_has_none() -> None:
    """One line a direction; the copy engine is what a program uses."""
    assert [row[0] for row in rows(passed(TO, "26"), passed(KERNEL, "25"))] == [TO]
    assert [row[0] for row in rows({"name": TO, "status": "Waived"}, passed(KERNEL, "25"))] == [KERNEL]


def test_other_tests_are_left_out_with_a_note() -> None:
    """Between devices, both ways at once, latencies: no copy over the link to one GPU."""
    others = [passed(name, "276", "N/A") for name in ("device_to_device_memcpy_read_ce", "host_device_latency_sm")]
    frame, notes = read_nvbandwidth(write(passed(TO, "26"), *others, warning="small buffer"), "nv.json")
    assert frame["test"].tolist() == [TO]
    assert notes[1:] == (
        "nvbandwidth warns: small buffer",
        "2 other test(s) left out: device_to_device_memcpy_read_ce, host_device_latency_sm",
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (write(), "it holds no copy between the host and one GPU"),
        (write(error="No devices found"), "nvbandwidth says: No devices found"),
        (write(passed("device_to_device_memcpy_read_ce", "276")), "it holds no copy between the host and one GPU"),
        (write({"name": TO, "status": "Passed"}), "its bandwidth_matrix is no single row with a cell a GPU"),
        (
            write({"name": TO, "status": "Passed", "bandwidth_matrix": [["1"], ["2"]]}),
            "its bandwidth_matrix is no single row with a cell a GPU",
        ),
        (write({**passed(TO, "26"), "bandwidth_matrix": [["26,1"]]}), "'26,1' is not a plain number"),
        (write({**passed(TO, "26"), "bandwidth_matrix": [["-3"]]}), "'-3' must be above zero"),
        (write(testcases={"name": TO}), "its testcases are no list of named tests"),
        (b'{"nvbandwidth": [1]}', "it holds no 'nvbandwidth'"),
        (b'{"nvbandwidth": {', "malformed JSON"),
    ],
    ids=["empty", "error", "other tests", "no matrix", "two rows", "comma", "negative", "no list", "list", "cut off"],
)
def test_a_file_that_cannot_be_used_says_why(content: bytes, problem: str) -> None:
    """With its name and what to do."""
    with pytest.raises(InputError) as caught:
        read_nvbandwidth(content, "nv.json")
    assert str(caught.value).startswith("Cannot read nv.json")
    assert problem in str(caught.value)
    assert str(caught.value).endswith((".", "decimal comma."))


def test_it_is_recognised_by_its_outermost_name() -> None:
    """With a byte order mark too; other JSON is not taken for it."""
    assert is_nvbandwidth(write(passed(TO, "26")))
    assert is_nvbandwidth(b"\xef\xbb\xbf" + write(passed(TO, "26")))
    assert not is_nvbandwidth(b'[{"bytes": 1024, "gbps": 3}]')
    assert not is_nvbandwidth(b"bytes,gbps\n1024,3\n")


def test_the_common_reader_takes_it(tmp_path: Path) -> None:
    """On the transfer page and by analyse; one size is no curve."""
    path = tmp_path / "nv.json"
    path.write_bytes(write(passed(TO, "25.9", "26.0"), passed(FROM, "26.6", "N/A")))
    assert len(read_series("transfer", path.read_bytes(), "nv.json").frame) == 4
    analysis = analyse_file("transfer", path)
    assert isinstance(analysis.findings, TransferFit)
    assert (analysis.findings.fit_status, analysis.findings.plateau_gbps) == (FitStatus.TOO_FEW_POINTS, 26.6)
    assert "512 MiB taken" in analysis.notes[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda v: (
            st.lists(v)
            | st.dictionaries(
                st.sampled_from(["testcases", "name", "status", "bandwidth_matrix", "error", "GPU Device list"]), v
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused_in_words(document: object) -> None:
    """Never another exception."""
    content = json.dumps({"nvbandwidth": document}).encode()
    try:
        frame, _ = read_nvbandwidth(content, "nv.json")
    except InputError:
        return
    assert {"bytes", "gbps", "status"} <= set(frame.columns)
