"""Which runs and points can still be read from a damaged file?"""

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import SQLAlchemyError

from gpuexplain.store.database import writing
from gpuexplain.store.encoding import load_point
from gpuexplain.store.rows import read_summary
from gpuexplain.store.schema import POINTS, RUNS


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was copied; ``problem`` is the first thing that could not be read, "" if there was none."""

    n_runs: int = 0
    n_points: int = 0
    problem: str = ""


def salvage(damaged: Path, engine: Engine) -> Salvaged:
    """Copy what can be read from a damaged SQLite file into a fresh database; the file is not changed.

    A run whose own row cannot be read is left out with its points; a point that cannot be read is left
    out of its run. Files of an older schema are not read.
    """
    how = "mode=ro" if Path(f"{damaged}-wal").exists() else "mode=ro&immutable=1"
    n_runs = n_points = 0
    problems: list[str] = []
    with closing(sqlite3.connect(f"file:{quote(str(damaged))}?{how}", uri=True)) as old:
        for run_id in _read_texts(old, "runs", "id", "", (), problems):
            run = _read_row(old, "SELECT * FROM runs WHERE id = ?", (run_id,), problems)
            if run is None or not _is_run(run, problems):
                continue
            points = _read_points(old, run_id, problems)
            try:
                _write(engine, run, points)
            except SQLAlchemyError as error:  # no space: the rest is in the file that is kept
                problems.append(str(error))
                break
            n_runs, n_points = n_runs + 1, n_points + len(points)
    return Salvaged(n_runs, n_points, problems[0] if problems else "")


def _write(engine: Engine, run: dict[str, Any], points: list[dict[str, Any]]) -> None:
    with writing(engine) as connection:
        connection.execute(sqlite.insert(RUNS).values(run).on_conflict_do_nothing())
        if points:
            connection.execute(insert(POINTS), points)


def _read_points(old: sqlite3.Connection, run_id: str, problems: list[str]) -> list[dict[str, Any]]:
    """Return the points of a run in order, each read by itself: a bad page takes only its own along."""
    found = []
    for case_id in _read_texts(old, "points", "case_id", "WHERE run_id = ?", (run_id,), problems):
        query = "SELECT * FROM points WHERE run_id = ? AND case_id = ?"
        row = _read_row(old, query, (run_id, case_id), problems)
        if row is not None and _is_point(row, problems):
            found.append(row)
    return sorted(found, key=lambda row: row["ordinal"])


def _read_texts(
    old: sqlite3.Connection, table: str, column: str, where: str, values: tuple[str, ...], problems: list[str]
) -> list[str]:
    """Return the texts of a column, read from the index and from the table, from both ends of each."""
    texts: dict[str, None] = {}
    for way in (f"{where} ORDER BY {column}", f"NOT INDEXED {where} ORDER BY rowid"):
        for order in ("", " DESC"):
            try:
                for (text,) in old.execute(f"SELECT {column} FROM {table} {way}{order}", values):  # noqa: S608
                    texts[text] = None
            except (sqlite3.Error, UnicodeDecodeError) as error:
                problems.append(str(error))
    return sorted(text for text in texts if isinstance(text, str))


def _read_row(
    old: sqlite3.Connection, query: str, values: tuple[str, ...], problems: list[str]
) -> dict[str, Any] | None:
    try:
        cursor = old.execute(query, values)
        row = cursor.fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        problems.append(str(error))
        return None
    return None if row is None else dict(zip((name for name, *_ in cursor.description), row, strict=True))


def _is_run(row: dict[str, Any], problems: list[str]) -> bool:
    with suppress(ValueError, TypeError, KeyError):
        read_summary(row)
        return set(row) == {column.name for column in RUNS.columns}
    problems.append(f"the row of run {row.get('id')!r} makes no sense")
    return False


def _is_point(row: dict[str, Any], problems: list[str]) -> bool:
    with suppress(ValueError, TypeError, KeyError):
        return bool(load_point(row["point"]).case_id == row["case_id"])
    problems.append(f"a point of run {row.get('run_id')!r} makes no sense")
    return False
