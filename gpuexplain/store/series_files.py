"""How does anybody's CSV or JSON of measurements become a frame that the analysis can trust?

Nothing is guessed: what is not plainly a number is an error with file, row and column, and every
change made on the way (units, order, duplicates) is noted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gpuexplain.asked import shown
from gpuexplain.errors import InputError
from gpuexplain.model import Dtype, Flag, Status
from gpuexplain.points import least_disturbed_rows, usable_rows
from gpuexplain.store.nvbandwidth import is_nvbandwidth, read_nvbandwidth
from gpuexplain.store.series_cells import CellError, read_positive, read_status
from gpuexplain.store.series_columns import SeriesColumns, canonical_column, columns_of
from gpuexplain.store.series_export import is_export, rows_of_export
from gpuexplain.store.series_table import (
    LARGEST_FILE_BYTES,
    Table,
    TableRow,
    input_error,
    read_table,
)

# Bounds are printed with fewer digits than the figure they enclose.
_BOUND_ROUNDING = 1e-6
# A note is one line.
_LISTED = 5
_DISTURBANCES = {Flag.UNDER_LOAD: "under load", Flag.THROTTLED: "throttled", Flag.DRIFTING: "while drifting"}


@dataclass(frozen=True, slots=True)
class SeriesFile:
    """A validated frame (canonical units, one row per size, rising) and what was done to get it."""

    frame: pd.DataFrame
    notes: tuple[str, ...]


def read_series_file(experiment: str, path: Path | str) -> SeriesFile:
    """Return the measurements in a file.

    Raises:
        InputError: If the file cannot be opened or anything in it cannot be used.
    """
    path = Path(path)
    try:
        if path.is_file() and path.stat().st_size > LARGEST_FILE_BYTES:
            size = f"{path.stat().st_size / 1e6:.1f} MB"
            raise input_error(str(path), f"{size} are too many, the limit is 10 MB", "Keep one row per size.")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}. Give the path of a CSV or JSON file.") from None
    return read_series(experiment, content, str(path))


def read_series(experiment: str, content: bytes, name: str) -> SeriesFile:
    """Return the measurements in the content of a file called ``name``.

    The frame has the experiment's columns (``gpuexplain.store.series_columns``) and ``status`` and
    ``flags``. Numbers are NaN only in rows whose status is not ok, and where bounds or extras are
    reported as missing.

    Raises:
        InputError: If anything in it cannot be used; the text names file, row and column.
    """
    columns = columns_of(experiment)
    if experiment == "transfer" and is_nvbandwidth(content):
        return SeriesFile(*read_nvbandwidth(content, name))
    table = read_table(content, name)
    if is_export(table):
        table = rows_of_export(table, experiment)
    names = _check_columns(table, columns, experiment)
    if not table.rows:
        needs = f"Add one row per size below the header ({columns.describe()})."
        raise input_error(name, "no rows under the header", needs, 1 if table.from_json else 2)
    frame = pd.DataFrame([_read_row(table.name, row, names, columns) for row in table.rows])
    _check_bounds(frame, table, columns)
    notes = [*table.notes, *_unit_notes(names), *_row_notes(frame, table, columns)]
    frame = _merge(frame.drop(columns="row"), columns)
    return SeriesFile(frame, (*notes, *_count_notes(frame, columns)))


def _check_columns(table: Table, columns: SeriesColumns, experiment: str) -> dict[str, tuple[str, float]]:
    """Return canonical name and factor by column of the file."""
    names: dict[str, tuple[str, float]] = {}
    needs = f"{experiment} reads {columns.describe()}; also: {', '.join(columns.known)}."
    for column in table.columns:
        canonical, factor = canonical_column(column)
        if canonical not in columns.known:
            raise input_error(table.name, "unknown column", f"Remove or rename it: {needs}", 1, column)
        if canonical in (taken for taken, _ in names.values()):
            raise input_error(table.name, f"second column for {canonical}", "Keep one of the two.", 1, column)
        names[column] = (canonical, factor)
    given = {canonical for canonical, _ in names.values()}
    groups = [(columns.size,), *columns.measures, *([("dtype",)] if columns.has_dtype else [])]
    for group in groups:
        if not given.intersection(group):
            column = " or ".join(group)
            raise input_error(table.name, "missing column", f"Add it: {needs}", 1, column)
    return names


def _read_row(
    name: str, row: TableRow, names: dict[str, tuple[str, float]], columns: SeriesColumns
) -> dict[str, object]:
    """Return one row in canonical units, with the status that a cell or the status column names."""
    known: dict[str, object] = {"row": row.number, "flags": "", "reason": ""}
    status = _read_status_cell(name, row)
    main = {column for group in columns.measures for column in group}
    for column, (canonical, factor) in names.items():
        text = row.cells.get(column, "")
        if canonical == "dtype":
            known[canonical] = _read_dtype(name, row.number, text)
        elif canonical == "flags":
            known[canonical] = _read_flags(name, row.number, text)
        elif canonical == "reason":
            known[canonical] = text
        elif canonical != "status":
            number, said = _read_number(name, row.number, column, text, canonical, columns, status)
            known[canonical] = number * factor
            if said is not None and canonical in main and status is Status.OK:
                status = said
    return {**known, "status": status.value}


def _read_number(
    name: str, row: int, column: str, text: str, canonical: str, columns: SeriesColumns, status: Status
) -> tuple[float, Status | None]:
    """Return the number, or NaN and the status that stands in its place."""
    if canonical != columns.size:
        said = read_status(text)
        # A bound may be unknown (an exported point of few samples); a figure that is missing must
        # say why, or the row's status must.
        may_be_empty = status is not Status.OK or canonical.endswith(("_lo", "_hi")) or canonical in columns.extras
        if said is not None or (not text and may_be_empty):
            return float("nan"), said
    try:
        number = read_positive(text, zero_allowed=canonical == "rel_error")
        if canonical == "batch" and not number.is_integer():
            raise CellError(f"{shown(text)} is no whole number", "Write the number of samples per step.")
    except CellError as error:
        problem, remedy = error.args
        raise input_error(name, problem, remedy, row, column) from None
    return number, None


def _read_status_cell(name: str, row: TableRow) -> Status:
    text = row.cells.get("status", "")
    if not text or text.casefold() == Status.OK.value:
        return Status.OK
    status = read_status(text)
    if status is None:
        remedy = f"Write one of {', '.join(Status)}."
        raise input_error(name, f"unknown status {shown(text)}", remedy, row.number, "status")
    return status


def _read_dtype(name: str, row: int, text: str) -> str:
    if text.casefold() not in set(Dtype):
        raise input_error(name, f"unknown dtype {shown(text)}", f"Write one of {', '.join(Dtype)}.", row, "dtype")
    return text.casefold()


def _read_flags(name: str, row: int, text: str) -> str:
    unknown = [flag for flag in text.split() if flag not in set(Flag)]
    if unknown:
        remedy = f"Write names separated by spaces, of {', '.join(Flag)}."
        raise input_error(name, f"unknown flag {shown(unknown[0])}", remedy, row, "flags")
    return text


def _check_bounds(frame: pd.DataFrame, table: Table, columns: SeriesColumns) -> None:
    for bound in [column for column in columns.numbers if column in frame and column.endswith(("_lo", "_hi"))]:
        figure = bound[:-3]
        if figure not in frame:
            raise input_error(table.name, f"a bound of {figure}, which is missing", "Add it.", 1, bound)
        slack = _BOUND_ROUNDING * frame[figure]
        if bound.endswith("_lo"):
            outside = frame[bound] > frame[figure] + slack
        else:
            outside = frame[bound] < frame[figure] - slack
        if outside.any():
            row = int(frame.loc[outside, "row"].iloc[0])
            problem = f"the bound lies on the wrong side of {figure}"
            raise input_error(table.name, problem, f"Write {figure}_lo <= {figure} <= {figure}_hi.", row, bound)


def _unit_notes(names: dict[str, tuple[str, float]]) -> Iterator[str]:
    for column, (canonical, factor) in names.items():
        if column != canonical:
            yield f"{column} read as {canonical} (x {factor:.10g})"
    given = {canonical for canonical, _ in names.values()}
    rate = given & {"tflops", "gbps", "throughput"}
    if rate and "seconds" in given:
        yield f"both seconds and {min(rate)} given: each used as it stands"


def _row_notes(frame: pd.DataFrame, table: Table, columns: SeriesColumns) -> Iterator[str]:
    keys = _keys(columns)
    sizes = frame.groupby("dtype")[columns.size] if columns.has_dtype else [("", frame[columns.size])]
    if not all(series.is_monotonic_increasing for _, series in sizes):
        yield f"rows sorted by {columns.size}"
    twice = frame.loc[frame.duplicated(keys, keep="first"), columns.size]
    if len(twice):
        sizes_twice = sorted(set(twice))
        listed = ", ".join(f"{size:.12g}" for size in sizes_twice[:_LISTED])
        listed += ", ..." if len(sizes_twice) > _LISTED else ""
        yield f"{columns.size} {listed} given more than once: median taken"
    if columns.size == "batch" and any("." in row.cells.get("batch", "") for row in table.rows):
        yield "batch sizes written with decimals read as whole numbers"
    for status in dict.fromkeys(frame.loc[frame["status"] != Status.OK.value, "status"]):
        rows = frame.loc[frame["status"] == status, "row"]
        yield f"{len(rows)} row(s) of status {status} (first: row {rows.iloc[0]}) left out"


def _count_notes(frame: pd.DataFrame, columns: SeriesColumns) -> Iterator[str]:
    kept, overlooked = least_disturbed_rows(frame)
    if overlooked:
        of = ""
        if columns.has_dtype:
            of = f" of {', '.join(dict.fromkeys(frame.loc[kept['flags'] != frame['flags'], 'dtype']))}"
        yield f"all points{of} were taken {' or '.join(_DISTURBANCES[flag] for flag in overlooked)}: provisional"
    count = len(usable_rows(kept))
    if count < 2:
        yield f"{count} usable point(s): too few to see a change with {columns.size} (too_few_points)"


def _keys(columns: SeriesColumns) -> list[str]:
    return (["dtype"] if columns.has_dtype else []) + [columns.size]


def _merge(frame: pd.DataFrame, columns: SeriesColumns) -> pd.DataFrame:
    """Return one row per size: the median of its usable rows, else of its rows of status ok."""
    keys = _keys(columns)
    is_usable = frame.index.isin(usable_rows(frame).index)
    rank = pd.Series(2, index=frame.index).mask(frame["status"] == Status.OK.value, 1).mask(is_usable, 0)
    best_rank = rank.groupby([frame[key] for key in keys]).transform("min")
    chosen = frame[rank == best_rank]
    numbers = [column for column in columns.numbers if column in frame and column not in keys]
    how = dict.fromkeys(numbers, "median") | dict.fromkeys(("status", "reason"), "first")
    merged = chosen
    if chosen.duplicated(keys).any():
        merged = chosen.groupby(keys, sort=False).agg(how | {"flags": _join_flags}).reset_index()
    by_dtype = list(dict.fromkeys(frame["dtype"])) if columns.has_dtype else []
    order = merged["dtype"].map(by_dtype.index) if by_dtype else pd.Series(0, index=merged.index)
    merged = merged.assign(order=order).sort_values(["order", columns.size], kind="stable")
    return merged.drop(columns="order").reset_index(drop=True)


def _join_flags(flags: "pd.Series[str]") -> str:
    return " ".join(dict.fromkeys(" ".join(flags).split()))
