"""How do the points that this program exported become the rows that an analysis reads?"""

from gpuexplain.model import Clock
from gpuexplain.store.series_columns import columns_of
from gpuexplain.store.series_table import Table, TableRow, column_rows, input_error

# A table with these is an export; its other columns are ours and need no complaint.
EXPORT_COLUMNS = ("experiment", "series", "x", "median_s")
# Of several series, the one that a question about a device means.
_PREFERRED_SERIES = ("gpu_device", "gpu_call", "cpu", "h2d_pinned", "h2d_pageable", "memory_copy")
_CROSSOVER_SERIES = {
    "cpu_seconds": ("cpu",),
    "gpu_seconds": ("gpu_call", "gpu_device"),
    "gpu_with_transfer_seconds": ("gpu_with_transfer",),
}
_KEPT = ("dtype", "flops", "rel_error", "status", "reason", "flags")


def is_export(table: Table) -> bool:
    """Whether the table holds exported points."""
    return set(EXPORT_COLUMNS) <= set(table.columns)


def rows_of_export(table: Table, experiment: str) -> Table:
    """Return the exported points of one experiment as rows of its own columns.

    A crossover is read from the matmul points of the CPU and the GPU. Of several series the GPU's
    device time is taken, else its call time, else the CPU's; the note says which.

    Raises:
        InputError: If the export holds no points that answer the question.
    """
    wanted = "matmul" if experiment == "crossover" else experiment
    rows = [row for row in table.rows if row.cells.get("experiment") == wanted]
    if not rows:
        have = ", ".join(column_rows(table.rows, "experiment")) or "none"
        raise input_error(table.name, f"no points of {wanted!r} (have {have})", "Export that run.", 2, "experiment")
    if experiment == "crossover":
        return _pair_rows(table, rows)
    if experiment != "precision":
        return _one_series(table, rows, experiment)
    timed = [row for row in rows if row.cells.get("clock") == Clock.DEVICE.value] or rows
    return _rebuilt(table, timed, experiment, ())


def _one_series(table: Table, rows: list[TableRow], experiment: str) -> Table:
    names = column_rows(rows, "series")
    chosen = next((name for name in _PREFERRED_SERIES if name in names), None)
    chosen = names[0] if len(names) == 1 else chosen
    if chosen is None:
        remedy = "Keep the rows of one series."
        raise input_error(table.name, f"several series ({', '.join(names)})", remedy, 2, "series")
    note = () if len(names) == 1 else (f"series {chosen} taken, of {', '.join(names)}",)
    own = [row for row in rows if row.cells.get("series") == chosen]
    return _rebuilt(table, own, experiment, note)


def _rebuilt(table: Table, rows: list[TableRow], experiment: str, notes: tuple[str, ...]) -> Table:
    columns = columns_of(experiment)
    kept = [name for name in _KEPT if name in table.columns and name in columns.known]
    renamed = {columns.size: "x", "seconds": "median_s"} | {name: name for name in kept}
    renamed |= {"seconds_lo": "ci_low_s", "seconds_hi": "ci_high_s"}
    return Table(
        table.name,
        tuple(renamed),
        tuple(TableRow(row.number, {new: row.cells.get(old, "") for new, old in renamed.items()}) for row in rows),
        (*table.notes, *notes),
        table.from_json,
    )


def _pair_rows(table: Table, rows: list[TableRow]) -> Table:
    names = column_rows(rows, "series")
    chosen = {
        column: next((name for name in series if name in names), None) for column, series in _CROSSOVER_SERIES.items()
    }
    for column in ("cpu_seconds", "gpu_seconds"):
        if chosen[column] is None:
            problem = f"no series for {column} (have {', '.join(names)})"
            raise input_error(table.name, problem, "Run the sweep on both devices.", 2, "series")
    by_size: dict[str, TableRow] = {}
    for column, series in chosen.items():
        for row in rows:
            if row.cells.get("series") == series and row.cells.get("status", "ok") == "ok":
                size = row.cells["x"]
                merged = by_size.setdefault(size, TableRow(row.number, {"n": size}))
                merged.cells[column] = row.cells.get("median_s", "")
                flags = (*merged.cells.get("flags", "").split(), *row.cells.get("flags", "").split())
                merged.cells["flags"] = " ".join(dict.fromkeys(flags))  # a comparison is as good as its worse side
                for end, source in (("_lo", "ci_low_s"), ("_hi", "ci_high_s")):
                    merged.cells[column + end] = row.cells.get(source, "")
    common = [row for row in by_size.values() if {"cpu_seconds", "gpu_seconds"} <= set(row.cells)]
    columns = dict.fromkeys(column for row in common for column in row.cells)
    notes = (*table.notes, f"series {chosen['cpu_seconds']} against {chosen['gpu_seconds']}")
    return Table(table.name, tuple(columns), tuple(common), notes, table.from_json)
