"""What rows and cells does this file hold? Text only: no number is read here, nothing is unpickled."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gpuexplain.asked import shown
from gpuexplain.errors import InputError

LARGEST_FILE_BYTES = 10_000_000  # 10 MB: 100,000 rows of 100 characters
MOST_ROWS = 100_000
MOST_COLUMNS = 200  # an export of ours has about 60
_BOM = b"\xef\xbb\xbf"
_LONGEST_PROBLEM = 300  # characters: whatever a file holds, an error about it stays readable
# Bytes that no text file has: a pickle, an archive, a Parquet file or UTF-16 shows one at once.
_BINARY = bytes([*range(9), 11, *range(14, 32), 127])


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: its number as an editor shows it (JSON: its place in the list), and cells by column."""

    number: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, column names as written (trimmed, in lower case)."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    from_json: bool = field(default=False)


def input_error(name: str, problem: str, remedy: str, row: int | None = None, column: str | None = None) -> InputError:
    """Return the error that names file, row and column, what is wrong there and what to do."""
    place = "" if row is None else f", row {row}"
    place += "" if column is None else f", column {shown(column)}"
    told = problem if len(problem) <= _LONGEST_PROBLEM else f"{problem[:_LONGEST_PROBLEM]}..."
    return InputError(f"Cannot read {name}{place}: {told}. {remedy}")


def read_table(content: bytes, name: str) -> Table:
    """Return the rows of a CSV file or of JSON (rows, columns or an export of this program).

    Raises:
        InputError: If the content is empty, too large, binary or malformed.
    """
    if len(content) > LARGEST_FILE_BYTES:
        size = f"{len(content) / 1e6:.1f} MB"
        raise input_error(name, f"{size} are too many, the limit is 10 MB", "Keep only the needed columns.")
    notes = []
    if content.startswith(_BOM):
        content = content.removeprefix(_BOM)
        notes.append("byte order mark ignored")
    text = _decode(content, name)
    if not text.strip():
        raise input_error(name, "the file is empty", "Write a header and one row per size.", row=1)
    is_json = text.lstrip()[0] in "[{" or name.lower().endswith(".json")
    if "\r\n" in text and not is_json:
        notes.append("Windows line ends (CRLF) read as line ends")
    return _read_json(text, name, notes) if is_json else _read_csv(text, name, notes)


def _decode(content: bytes, name: str) -> str:
    remedy = "Export it as CSV or JSON text in UTF-8; pickles are never opened."
    if len(content.translate(None, _BINARY)) < len(content):
        bad = next(i for i, byte in enumerate(content) if byte in _BINARY)
        row = content.count(b"\n", 0, bad) + 1
        raise input_error(name, f"binary content (byte 0x{content[bad]:02x})", remedy, row=row)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise input_error(name, f"byte 0x{content[error.start]:02x} is not UTF-8", remedy, row=row) from None


def _read_csv(text: str, name: str, notes: list[str]) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    rows: list[TableRow] = []
    number = 1
    _check_count(text.count("\n") // 2, name, MOST_ROWS)  # blank lines are no rows, but take time
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells) and len(cells) < 2:
                pass  # a blank line, often the last
            elif header is None:
                header = [cell.strip().lower() for cell in cells]
                _check_header(header, name, number)
            else:
                _check_width(cells, header, name, number)
                pairs = zip(header, (cell.strip() for cell in cells), strict=True)
                rows.append(TableRow(number, dict(pairs)))
                _check_count(len(rows), name, number)
            number = reader.line_num + 1
    except csv.Error as error:
        raise input_error(name, f"malformed CSV ({error})", "Close every quote.", row=number) from None
    return Table(name, tuple(header or ()), tuple(rows), tuple(notes))


def _check_header(header: list[str], name: str, number: int) -> None:
    if len(header) > MOST_COLUMNS:
        raise input_error(name, f"more than {MOST_COLUMNS} columns", "Keep only the needed ones.", number)
    for position, column in enumerate(header):
        if column in header[:position]:
            raise input_error(name, "named twice", "Keep one of the two columns.", number, column)
        if ";" in column or "\t" in column:
            remedy = "Separate columns by commas and write decimals with a point."
            raise input_error(name, "unknown separator in the header", remedy, number, column)


def _check_width(cells: list[str], header: list[str], name: str, number: int) -> None:
    if len(cells) == len(header):
        return
    problem = f"{len(cells)} cells, but the header names {len(header)} columns"
    remedy = "Write numbers as 1024.5: a thousands separator or decimal comma makes two cells of one."
    column = header[len(cells)] if len(cells) < len(header) else header[-1]
    raise input_error(name, problem, remedy, number, column)


def _check_count(count: int, name: str, number: int) -> None:
    if count > MOST_ROWS:
        raise input_error(name, f"more than {MOST_ROWS:,} rows", "Keep one row per size.", number)


class _DuplicateKeyError(ValueError):
    """A JSON object names a column twice; plain ``json`` would keep the last silently."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise _DuplicateKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return unique


def _read_json(text: str, name: str, notes: list[str]) -> Table:
    try:
        # Numbers stay text, so that CSV and JSON cells pass the same checks (NaN and 1e999 too).
        document = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        remedy = f"Correct the JSON at character {error.colno} of that line."
        raise input_error(name, f"malformed JSON ({error.msg})", remedy, error.lineno) from None
    except _DuplicateKeyError as error:
        raise input_error(name, "named twice in one object", "Keep one of the two.", 1, str(error)) from None
    except RecursionError:
        raise input_error(name, "JSON nested too deeply", "Write a list of row objects.", 1) from None
    rows = _json_rows(document, name)
    columns = dict.fromkeys(column for row in rows for column in row.cells)
    if len(columns) > MOST_COLUMNS:
        raise input_error(name, f"more than {MOST_COLUMNS} columns", "Keep only the needed ones.", 1)
    return Table(name, tuple(columns), tuple(rows), tuple(notes), from_json=True)


def _json_rows(document: Any, name: str) -> list[TableRow]:
    if isinstance(document, dict) and isinstance(document.get("points"), list):
        document = document["points"]
    if isinstance(document, dict):
        document = _rows_of_columns(document, name)
    if not isinstance(document, list):
        remedy = "Write a list of row objects or an object of columns."
        raise input_error(name, "the JSON holds neither rows nor columns", remedy, 1)
    _check_count(len(document), name, MOST_ROWS + 1)
    return [_json_row(row, number, name) for number, row in enumerate(document, start=1)]


def _rows_of_columns(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    lengths = {}
    for column, cells in document.items():
        if not isinstance(cells, list):
            remedy = "Write a list of row objects or an object of columns."
            raise input_error(name, "not a list of cells", remedy, 1, column)
        lengths[column] = len(cells)
    if len(set(lengths.values())) > 1:
        shortest = min(lengths, key=lambda column: lengths[column])
        problem = f"columns differ in length ({', '.join(f'{c}: {n}' for c, n in lengths.items())})"
        raise input_error(name, problem, "Give every column one cell per row.", lengths[shortest] + 1, shortest)
    return [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]


def _json_row(row: Any, number: int, name: str) -> TableRow:
    if not isinstance(row, dict):
        raise input_error(name, "a row must be an object", 'Write rows as {"n": 1024, ...}.', number)
    return TableRow(number, {key.strip().lower(): _json_cell(key, cell) for key, cell in row.items()})


def _json_cell(column: str, cell: Any) -> str:
    """Return the cell as text; what cannot be a number or a word stays recognisably wrong."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.strip()
    if column == "flags" and isinstance(cell, list):
        return " ".join(map(str, cell))
    return json.dumps(cell)


def column_rows(rows: Iterable[TableRow], column: str) -> list[str]:
    """Return the distinct cells of a column, in order."""
    return list(dict.fromkeys(row.cells.get(column, "") for row in rows))
