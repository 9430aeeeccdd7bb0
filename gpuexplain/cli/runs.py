"""``runs``, ``show``, ``export`` and ``import``: what is stored, and how it leaves and comes back."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpuexplain.cli.printing import print_points, print_table, print_words, public_point
from gpuexplain.cli.root import JsonOption, RunArgument, app, borrowed_by, err, find_experiment, out, print_json, store
from gpuexplain.errors import InputError
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.report.page import write_run
from gpuexplain.report.point_table import tell_state
from gpuexplain.store.borrowed import machine_id_of
from gpuexplain.store.exports import export_csv, export_json, read_json
from gpuexplain.store.parquet import export_parquet
from gpuexplain.store.run import RunSummary, StoredRun
from gpuexplain.units import format_age


class ExportFormat(StrEnum):
    """What a run can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    HTML = "html"


@app.command()
def runs(
    experiment: Annotated[str | None, typer.Option(help="Only this experiment.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the stored runs, newest first."""
    summaries = store().list_runs(experiment, limit=limit)
    if as_json:
        print_json({"runs": [s.model_dump(mode="json", exclude={"machine"}) for s in summaries]})
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("run", "experiment", "device", "state", "points", "when", "parameters"):
        table.add_column(heading, no_wrap=heading == "run", overflow="fold")  # the id is there to be copied
    for s in summaries:
        table.add_row(
            s.id, s.experiment, s.device, str(s.state), str(s.n_points),
            format_age(max(0.0, time.time() - s.created_at)), _tell_params(s),
        )  # fmt: skip
    print_table(table)


def _tell_params(run: RunSummary) -> str:
    """Return what was asked for beside the defaults."""
    experiment = EXPERIMENTS.get(run.experiment)
    usual = experiment.params_type().model_dump(mode="json") if experiment else {}
    return " ".join(f"{name}={v}" for name, v in run.params.items() if v is not None and v != usual.get(name))


@app.command()
def show(run_id: RunArgument, as_json: JsonOption = False) -> None:
    """Show a stored run: its points and what they say."""
    stored = store().load_run(run_id)
    experiment = find_experiment(stored.experiment)
    findings = experiment.find((*stored.points, *borrowed_by(experiment, machine_id_of(stored))))
    points = experiment.flag_points(stored.points, findings)
    if as_json:
        print_json(
            {
                **stored.model_dump(mode="json", exclude={"points"}),
                "points": [public_point(point) for point in points],
                "findings": experiment.findings_json(findings),
            }
        )
        return
    print_points(experiment, points)
    print_words(experiment, findings)
    out.print(f"\nRun {stored.id}: {tell_state(str(stored.state), stored.reason)}")


@app.command()
def export(
    run_id: RunArgument,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="What to write; html is a page that opens offline.")
    ] = ExportFormat.JSON,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; standard output if unset.")] = None,
) -> None:
    """Write a stored run: csv and parquet have one row a point, json every raw sample, html a page to read."""
    stored = store().load_run(run_id)
    content = _export(stored, format_)
    if output is not None:
        write_file(output, content)
        err.print(f"Wrote {len(stored.points)} points to {output}")
    elif format_ is ExportFormat.PARQUET and sys.stdout.isatty():
        raise InputError("A Parquet file is not for a terminal. Name a file with -o FILE.")
    else:
        sys.stdout.buffer.write(content)


def _export(run: StoredRun, format_: ExportFormat) -> bytes:
    match format_:
        case ExportFormat.CSV:
            return export_csv(run).encode()
        case ExportFormat.JSON:
            return export_json(run).encode()
        case ExportFormat.PARQUET:
            return export_parquet(run)
        case ExportFormat.HTML:
            experiment = find_experiment(run.experiment)
            return write_run(experiment, run, time.time(), borrowed_by(experiment, machine_id_of(run))).encode()


def write_file(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        InputError: If it cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}. Name a file that can be written.") from None


def _check_can_be_told(run: StoredRun, file: Path) -> None:
    """Refuse a run that this release could store but never show.

    Raises:
        InputError: If it is of an experiment, or has a series, that is not known here.
    """
    experiment = find_experiment(run.experiment)
    try:
        experiment.tell(experiment.find(run.points))
    except KeyError as error:
        raise InputError(
            f"Cannot use {file}: this release does not know {error} in it. Use the one that wrote it."
        ) from None


@app.command("import")
def import_(file: Annotated[Path, typer.Argument(help="A JSON export.")]) -> None:
    """Take a run that was exported elsewhere into the store."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"Cannot read {file}: {why}. Name a JSON export of this program.") from None
    stored: StoredRun = read_json(text, str(file))
    _check_can_be_told(stored, file)
    store().add_run(stored)
    out.print(f"Imported run {stored.id} with {len(stored.points)} points")
