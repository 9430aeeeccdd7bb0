"""Which points does an export of this program hold, and on which machine were they measured?

``series_export`` makes the rows of one question out of an export; here every point comes back, with
all its series, whatever the export was written as.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gpuexplain.errors import InputError
from gpuexplain.model import Point
from gpuexplain.store.exports import FORMAT, read_json
from gpuexplain.store.run import StoredRun
from gpuexplain.store.series_export import EXPORT_COLUMNS, is_export
from gpuexplain.store.series_table import LARGEST_FILE_BYTES, MOST_ROWS, TableRow, input_error, read_table

# What one row of a table cannot hold.
_NESTED = frozenset({"samples_s", "calls_per_sample", "warmup_s", "conditions", "gauges"})
_READ = tuple(name for name in Point.model_fields if name not in _NESTED)
_TIMES = ("median_s", "q1_s", "q3_s", "min_s", "max_s", "ci_low_s", "ci_high_s", "first_call_s")
_AMOUNTS = ("flops", "bytes", "items")
# No call is shorter than a picosecond or longer than a month, no size or amount beyond 1e30.
_SHORTEST_S, _LONGEST_S = 1e-12, 3e6
_LARGEST = 1e30
_BOUND_ROUNDING = 1e-6  # bounds are printed with fewer digits than the figure they enclose
_REMEDY = "Export the run again."


@dataclass(frozen=True, slots=True)
class ExportedPoints:
    """Points as they were exported, and the name of their machine; empty where the file does not tell."""

    points: tuple[Point, ...]
    machine_name: str


def read_exported_points(content: bytes, name: str) -> ExportedPoints | None:
    """Return the points of an export called ``name``, None where the content is none.

    Raises:
        InputError: If it is an export but cannot be used; the text says where and why.
    """
    if len(content) > LARGEST_FILE_BYTES:
        size = f"{len(content) / 1e6:.1f} MB"
        raise input_error(name, f"{size} are too many, the limit is 10 MB", "Keep fewer samples or points.")
    if f'"{FORMAT}"'.encode() in content and content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        run = read_json(_decode(content, name), name)
        return ExportedPoints(_checked(enumerate(run.points, start=1), name), _machine_name(run))
    if not all(column.encode() in content for column in EXPORT_COLUMNS):
        return None
    table = read_table(content, name)
    if not is_export(table):
        return None
    return ExportedPoints(_checked([(row.number, _point(row, name)) for row in table.rows], name), "")


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise input_error(name, "it is no UTF-8 text", _REMEDY) from None


def _machine_name(run: StoredRun) -> str:
    machine = run.machine or {}
    found = (machine.get("platform"), "hostname"), (machine.get("cpu"), "model")
    return next((str(part[key]) for part, key in found if isinstance(part, dict) and part.get(key)), "")


def _point(row: TableRow, name: str) -> Point:
    cells: dict[str, Any] = {column: row.cells[column] for column in _READ if row.cells.get(column)}
    cells["shape"] = [int(side) for side in re.findall(r"\d+", cells.get("shape", ""))]
    cells["flags"] = cells.get("flags", "").split()
    try:
        return Point.model_validate(cells)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        column = str(problem["loc"][0])
        raise input_error(name, problem["msg"].lower(), _REMEDY, row.number, column) from None


def _checked(points: Iterable[tuple[int, Point]], name: str) -> tuple[Point, ...]:
    """Return the points once every number in them can be a size, a time or an amount.

    Args:
        points: Each with its row in the file.
        name: What to call the file.
    """
    kept = []
    for row, point in points:
        if row > MOST_ROWS + 1:
            raise input_error(name, f"more than {MOST_ROWS:,} points", "Export fewer.", row)
        wrong = next((column for column in ("x", *_TIMES, *_AMOUNTS) if not _is_sound(point, column)), None)
        wrong = wrong or _wrong_bound(point)
        if wrong is not None:
            problem = f"{getattr(point, wrong)!r} cannot have been measured"
            raise input_error(name, problem, _REMEDY, row, wrong)
        kept.append(point)
    if not kept:
        raise InputError(f"Cannot read {name}: it holds no points. Export a run that has some.")
    return tuple(kept)


def _is_sound(point: Point, column: str) -> bool:
    number = getattr(point, column)
    if number is None:
        return True
    if column in _TIMES:
        return bool(_SHORTEST_S <= number <= _LONGEST_S)
    return bool(0 <= number <= _LARGEST) and (number > 0 or column != "x")


def _wrong_bound(point: Point) -> str | None:
    """Return the bound of the interval that lies on the wrong side of the median."""
    if point.median_s is None:
        return next((bound for bound in ("ci_low_s", "ci_high_s") if getattr(point, bound) is not None), None)
    if point.ci_low_s is not None and point.ci_low_s > point.median_s * (1 + _BOUND_ROUNDING):
        return "ci_low_s"
    if point.ci_high_s is not None and point.ci_high_s < point.median_s * (1 - _BOUND_ROUNDING):
        return "ci_high_s"
    return None
