"""How a result looks in a terminal of any width, and in a pipe: nothing vital is ever cut."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gpuexplain.cli.root import err, out
from gpuexplain.engine.jobs import Job
from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Point
from gpuexplain.report.point_table import NOTES, PointColumn, point_columns, tell_reasons
from gpuexplain.wording.markup import plain
from gpuexplain.wording.phrases import join_words

# What a narrow terminal does without, first to go first.
EXPENDABLE = ("first call", "error", "samples")
_WIDEST = 10_000  # more columns than any table has


def public_point(point: Point) -> dict[str, Any]:
    """Return a point as JSON values, without its raw samples: the export has them."""
    return point.model_dump(mode="json", exclude={"samples_s", "calls_per_sample", "warmup_s"})


def print_points(experiment: Experiment, points: Sequence[Point], console: Console = out) -> None:
    """Print one row a point; then, in words, what became of those that did not work."""
    columns = point_columns(experiment)
    left_out: list[str] = []
    table = _table(columns, points)
    for heading in EXPENDABLE:
        if not console.is_terminal or _measure(table, console).minimum <= console.width:
            break
        left_out.append(heading)
        columns = [column for column in columns if column.heading != heading]
        table = _table(columns, points)
    print_table(table, console)
    if left_out:
        console.print(f"Left out at this width: {join_words(left_out)}. `show ID --json` has everything.")
    for line in tell_reasons(experiment, points):
        console.print(line)


def _table(columns: Sequence[PointColumn], points: Sequence[Point]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    rows = [[column.write(point) for column in columns] for point in points]
    for column, cells in zip(columns, zip(*rows, strict=True) if rows else [()] * len(columns), strict=True):
        # Only the notes may break, and only between two of them: everything else is vital or not there.
        words = [word for cell in cells for word in (cell.split() if column.heading == NOTES else [cell])]
        widest = max(map(cell_len, [column.heading, *words]))
        table.add_column(column.heading, justify=column.justify, no_wrap=column.heading != NOTES, min_width=widest)
    for row in rows:
        table.add_row(*row)
    return table


def print_table(table: Table, console: Console = out) -> None:
    """Print a table: in a pipe, where nobody sees a width, as wide as it needs to be."""
    need = _measure(table, console)
    width = max(need.minimum, min(need.maximum, console.width)) if console.is_terminal else need.maximum
    wide = Console(file=console.file, width=width, highlight=False, markup=False)  # print(width=...) only narrows
    wide.print(table, crop=False)


def _measure(table: Table, console: Console) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=_WIDEST), table)


def print_words(experiment: Experiment, findings: Any, console: Console = out) -> None:
    """Print the answer, the explanation and the caveats."""
    words = experiment.tell(findings)
    for text in (words.answer, words.see, words.why, words.so_what, *words.caveats):
        if text:
            # A terminal would break lines in the middle of a word; in a pipe a line stays a line.
            console.print(f"\n{plain(text)}", soft_wrap=not console.is_terminal)


def follow_with_bar(jobs: Iterable[Job]) -> Job:
    """Show the snapshots of a job as a progress bar on stderr; return the last one."""
    with make_bar() as bar:
        task = bar.add_task("starting", total=1.0)
        for job in jobs:
            bar.update(
                task,
                completed=job.progress.share if job.progress else 0.0,
                description=tell_phase(job),
            )
    return job


def make_bar() -> Progress:
    """Return a progress bar on stderr that is gone when it is over."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True)


def tell_phase(job: Job) -> str:
    """Return what a job does now, in a few words."""
    if job.progress is not None:
        return job.progress.phase
    return f"{job.state}: {job.ahead}" if job.ahead else str(job.state)
