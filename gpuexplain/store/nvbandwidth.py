"""How does the JSON that ``nvbandwidth -j`` prints become rows of copies over the link?

NVIDIA's tool measures one size only and prints bandwidths as text: a matrix with one row for the
host and one column a GPU, a cell "N/A" where nothing was measured. A test that did not run has a
status (Waived, Not Found, Error, or Running where the tool died) and no matrix. The size of a copy
is not printed: the tool's default is taken, and a note says so.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from gpuexplain.model import Status
from gpuexplain.store.series_cells import CellError, read_positive
from gpuexplain.store.series_table import LARGEST_FILE_BYTES, input_error

ROOT_KEY = "nvbandwidth"
# Default of its option -b in its present README; that of an early version says 64 MiB.
DEFAULT_BUFFER_BYTES = 512 * 2**20
# Copies between pinned host memory and one GPU; by the copy engines, else by a kernel.
TO_DEVICE = ("host_to_device_memcpy_ce", "host_to_device_memcpy_sm")
FROM_DEVICE = ("device_to_host_memcpy_ce", "device_to_host_memcpy_sm")
_PASSED = "passed"
_STATUS: dict[str, tuple[Status, str]] = {
    "waived": (Status.UNSUPPORTED, "nvbandwidth waived this test: this computer cannot run it"),
    "not found": (Status.UNSUPPORTED, "nvbandwidth does not know this test"),
    "error": (Status.FAILED, "nvbandwidth reported an error"),
    "running": (Status.FAILED, "nvbandwidth ended before this test did"),
}
_MISSING = "N/A"
_HEAD = re.compile(rb'^(?:\xef\xbb\xbf)?\s*\{\s*"nvbandwidth"\s*:')
_DEVICE = re.compile(r"^(?P<index>\d+): (?P<name>.+?)(?: \(|: \(|$)")
_REMEDY = "Write it with nvbandwidth -j -t host_to_device_memcpy_ce device_to_host_memcpy_ce."


def is_nvbandwidth(content: bytes) -> bool:
    """Return whether a file is what ``nvbandwidth -j`` prints, by its outermost name."""
    return _HEAD.match(content[:200]) is not None


def read_nvbandwidth(content: bytes, name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return one row a GPU and direction, and what was done to get it.

    The columns are those of a transfer file: ``bytes``, ``gbps``, ``status``, ``reason``, ``flags``.
    Beside them ``test`` (as nvbandwidth calls it), ``device`` (number of the GPU) and
    ``device_name`` ("" where the file does not tell).

    Raises:
        InputError: If it is no such file, or holds no test between host and one GPU.
    """
    root = _load(content, name)
    tests = _tests(root, name)
    names = _device_names(root)
    rows = [row for direction in (TO_DEVICE, FROM_DEVICE) for row in _rows(direction, tests, names, name)]
    if not rows:
        told = root.get("error")
        problem = f"nvbandwidth says: {told}" if told else "it holds no copy between the host and one GPU"
        raise input_error(name, problem, _REMEDY)
    return pd.DataFrame(rows), tuple(_notes(root, tests))


def _load(content: bytes, name: str) -> dict[str, Any]:
    if len(content) > LARGEST_FILE_BYTES:
        raise input_error(name, f"{len(content) / 1e6:.1f} MB are too many, the limit is 10 MB", _REMEDY)
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise input_error(name, f"malformed JSON ({error})", _REMEDY) from None
    root = document.get(ROOT_KEY) if isinstance(document, dict) else None
    if not isinstance(root, dict):
        raise input_error(name, f"it holds no {ROOT_KEY!r}", _REMEDY)
    return root


def _tests(root: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the tests by name; of a test listed twice (it failed while running) the last entry counts."""
    cases = root.get("testcases", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) and "name" in case for case in cases):
        raise input_error(name, "its testcases are no list of named tests", _REMEDY)
    return {str(case["name"]): case for case in cases}


def _device_names(root: dict[str, Any]) -> dict[int, str]:
    listed = root.get("GPU Device list", [])
    found = (_DEVICE.match(str(entry)) for entry in (listed if isinstance(listed, list) else []))
    return {int(match["index"]): match["name"] for match in found if match}


def _rows(
    direction: tuple[str, str], tests: dict[str, dict[str, Any]], names: dict[int, str], file_name: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of one direction: of the first of its tests that passed, else of the first there is."""
    present = [tests[test] for test in direction if test in tests]
    passed = [case for case in present if _status(case) == _PASSED]
    for case in (passed or present)[:1]:
        test = str(case["name"])
        if not passed:
            yield _row(test, 0, names, *_explain(case))
            continue
        for device, cell in enumerate(_cells(case, file_name)):
            yield _cell_row(test, device, names, cell, file_name)


def _status(case: dict[str, Any]) -> str:
    return str(case.get("status", "")).casefold()


def _explain(case: dict[str, Any]) -> tuple[Status, str]:
    status, reason = _STATUS.get(_status(case), (Status.FAILED, f"nvbandwidth says {case.get('status')!r}"))
    told = case.get("error")
    return status, f"{reason}: {told}" if told else reason


def _cells(case: dict[str, Any], file_name: str) -> list[str]:
    """Return the cells of the only row, one a GPU."""
    matrix = case.get("bandwidth_matrix")
    if not isinstance(matrix, list) or len(matrix) != 1 or not isinstance(matrix[0], list):
        problem = "its bandwidth_matrix is no single row with a cell a GPU"
        raise input_error(file_name, problem, _REMEDY, column=str(case["name"]))
    return [str(cell) for cell in matrix[0]]


def _cell_row(test: str, device: int, names: dict[int, str], cell: str, file_name: str) -> dict[str, object]:
    if cell == _MISSING:
        return _row(test, device, names, Status.UNSUPPORTED, "nvbandwidth printed N/A")
    try:
        return _row(test, device, names, Status.OK, "", read_positive(cell))
    except CellError as error:
        raise input_error(file_name, str(error.args[0]), str(error.args[1]), column=test) from None


def _row(
    test: str, device: int, names: dict[int, str], status: Status, reason: str, gbps: float | None = None
) -> dict[str, object]:
    return {
        "bytes": float(DEFAULT_BUFFER_BYTES),
        "gbps": float("nan") if gbps is None else gbps,
        "status": status.value,
        "reason": reason,
        "flags": "",
        "test": test,
        "device": device,
        "device_name": names.get(device, ""),
    }


def _notes(root: dict[str, Any], tests: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield "nvbandwidth does not print the size of a copy: 512 MiB taken, its default; one size shows no curve"
    if root.get("warning"):
        yield f"nvbandwidth warns: {root['warning']}"
    others = [test for test in tests if test not in (*TO_DEVICE, *FROM_DEVICE)]
    if others:
        yield f"{len(others)} other test(s) left out: {', '.join(others[:3])}{', ...' if len(others) > 3 else ''}"
    for test in (*TO_DEVICE, *FROM_DEVICE):
        if test in tests and _status(tests[test]) != _PASSED:
            yield f"{test}: {tests[test].get('status')}"
