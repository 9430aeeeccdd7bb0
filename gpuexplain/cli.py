"""The command line: the same measuring, store and conclusions as the pages, without a browser.

Exit status: 0 done, 2 bad input, 3 nothing could be measured, 130 interrupted.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gpuexplain import __version__
from gpuexplain.analyse import ANALYSES, analyse_file
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import EngineError, GpuExplainError, InputError, NothingMeasuredError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.findings import to_json
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Params, Point, Status
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings, load_settings
from gpuexplain.store.exports import export_csv, export_json, read_json
from gpuexplain.store.run import StoredRun
from gpuexplain.store.runs import RunStore, open_store
from gpuexplain.units import format_age, format_rate_flops, format_time
from gpuexplain.wording.machine_words import Section, doctor_rows
from gpuexplain.wording.markup import plain

EXIT_BAD_INPUT = 2
EXIT_NOTHING_MEASURED = 3
EXIT_INTERRUPTED = 130
# torch with a CUDA context takes 5-10 s to load on a slow disk; beyond this something hangs.
PROBE_TIMEOUT_S = 60.0
VISITOR = "command line"

app = typer.Typer(
    help="Measure why GPUs matter for deep learning, on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


class ExportFormat(StrEnum):
    """What a run can be written as."""

    CSV = "csv"
    JSON = "json"


def main() -> None:
    """Run the command line; every error we know becomes one clear line and its exit status."""
    try:
        app()
    except NothingMeasuredError as error:
        _leave(error, EXIT_NOTHING_MEASURED)
    except (InputError, EngineError) as error:
        _leave(error, EXIT_BAD_INPUT if isinstance(error, InputError) else EXIT_NOTHING_MEASURED)
    except GpuExplainError as error:
        _leave(error, EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


def _leave(error: GpuExplainError, status: int) -> None:
    print(f"gpuexplain: {error}", file=sys.stderr)
    sys.exit(status)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


# -- doctor -------------------------------------------------------------------------------------


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Tell what this machine is, which devices can measure, and why there is no GPU where there is none."""
    settings = load_settings()
    with _runner(settings) as (runner, _):
        machine = inspect_machine(runner.wait_for_probe(PROBE_TIMEOUT_S))
    if as_json:
        print(machine.model_dump_json())
        return
    for section in (*doctor_rows(machine), _settings_section(settings)):
        table = Table(title=section.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for label, text in section.rows:
            table.add_row(label, text)
        out.print(table)
        out.print()


def _settings_section(settings: Settings) -> Section:
    rows = (
        ("Version", __version__),
        ("Store", settings.store_url),
        ("Longest run", format_time(settings.max_budget_s)),
        ("Queue", f"at most {settings.max_queue} jobs"),
        ("Mode", "read-only: shows, never measures" if settings.read_only else "measures"),
    )
    return Section("GPU Explain", rows)


# -- run ----------------------------------------------------------------------------------------


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    settings_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda:N.")] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds to spend.")] = None,
    fresh: Annotated[bool, typer.Option(help="Measure even where a stored run answers.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Measure an experiment now and store it; prints a progress bar, or one JSON object a line."""
    chosen = _experiment(experiment)
    params = _params(chosen, settings_ or [], device=device, budget_s=budget)
    with _runner(load_settings()) as (runner, _):
        machine = inspect_machine(runner.wait_for_probe(PROBE_TIMEOUT_S))
        chosen.plan_cases(params, machine)  # refuses what cannot run before anything starts
        job = runner.submit(chosen, params, machine, VISITOR, fresh=fresh)
        try:
            job = _follow_as_json(runner, job) if as_json else _follow_with_bar(runner, job)
        except KeyboardInterrupt:
            runner.cancel(job.run_id, VISITOR)
            runner.wait(job.run_id, 5.0)
            raise
    _conclude_run(chosen, job, as_json)


def _params(experiment: Experiment, assignments: list[str], **options: object) -> Params:
    asked: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment!r} cannot be used. Allowed: NAME=VALUE, such as dtype=bf16.")
        asked[name.strip()] = text.strip()
    asked.update({name: option for name, option in options.items() if option is not None})
    try:
        return experiment.params_type.model_validate(asked)
    except ValidationError as error:
        raise InputError(_tell_bad_params(experiment, error)) from None


def _tell_bad_params(experiment: Experiment, error: ValidationError) -> str:
    lines = []
    fields = experiment.params_type.model_fields
    for problem in error.errors():
        name = str(problem["loc"][0]) if problem["loc"] else ""
        if problem["type"] == "extra_forbidden":
            lines.append(f"{name!r} is no parameter of {experiment.id}. Allowed: {', '.join(fields)}.")
        elif name in fields:
            allowed = fields[name].description or problem["msg"]
            lines.append(f"{name}={problem['input']!r} cannot be used. Allowed: {allowed}.")
        else:
            lines.append(str(problem["msg"]).removeprefix("Value error, ") + ".")
    return " ".join(lines)


def _follow_as_json(runner: Runner, job: Job) -> Job:
    sent: dict[str, Point] = {}
    for job in runner.follow(job.run_id):  # noqa: B020 - the newest snapshot replaces the one before
        for point in job.points:
            if sent.get(point.case_id) is not point:
                sent[point.case_id] = point
                _print_json({"event": "point", "run_id": job.run_id, **_public_point(point)})
    return job


def _public_point(point: Point) -> dict[str, Any]:
    return point.model_dump(mode="json", exclude={"samples_s", "calls_per_sample", "warmup_s"})


def _print_json(row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)


def _follow_with_bar(runner: Runner, job: Job) -> Job:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        for job in runner.follow(job.run_id):  # noqa: B020
            waiting = f"{job.state}: {job.ahead}" if job.ahead else str(job.state)
            bar.update(
                task,
                completed=job.progress.share if job.progress else 0.0,
                description=job.progress.phase if job.progress else waiting,
            )
    return job


def _conclude_run(experiment: Experiment, job: Job, as_json: bool) -> None:
    findings = experiment.find(job.points)
    points = experiment.flag_points(job.points, findings)
    measured = [point for point in points if point.status is Status.OK and point.median_s is not None]
    if as_json:
        _print_json(
            {
                "event": "done",
                "run_id": job.run_id,
                "state": str(job.state),
                "reason": job.reason,
                "findings": experiment.findings_json(findings),
                "coverage": job.coverage.model_dump() if job.coverage else None,
            }
        )
    else:
        _print_points(points)
        _print_words(experiment, findings)
        out.print(f"\nRun {job.run_id}: {job.state}{f'. {job.reason}' if job.reason else ''}")
    if not measured:
        raise NothingMeasuredError(job.reason or "Nothing could be measured; the points say why.")
    if job.state is JobState.CANCELLED:
        raise KeyboardInterrupt
    if job.state is not JobState.DONE:
        raise EngineError(f"The run ended early ({job.state}): {job.reason} Its points so far are stored.")


def _print_points(points: list[Point]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("series", "n", "median", "95 %", "samples", "first call", "rate", "error", "notes"):
        table.add_column(heading, justify="left" if heading in ("series", "notes") else "right")
    for p in points:
        table.add_row(
            p.series,
            f"{p.x:,g}",
            format_time(p.median_s) if p.median_s is not None else str(p.status),
            f"±{p.half_width * 100:.1f} %" if p.half_width is not None else "-",
            str(p.n_samples),
            format_time(p.first_call_s) if p.first_call_s is not None else "-",
            format_rate_flops(p.rate_flops) if p.rate_flops else "-",
            f"{p.rel_error:.1e}" if p.rel_error is not None else "-",
            " ".join([*p.flags, p.reason]).strip(),
        )
    out.print(table)


def _print_words(experiment: Experiment, findings: Any) -> None:
    words = experiment.tell(findings)
    for text in (words.answer, words.see, words.why, words.so_what, *words.caveats):
        if text:
            out.print(f"\n{plain(text)}")


# -- analyse ------------------------------------------------------------------------------------


@app.command()
def analyse(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(ANALYSES)}.")],
    file: Annotated[Path, typer.Argument(help="A CSV or JSON file with measurements from anywhere.")],
    gpu: Annotated[str | None, typer.Option(help="Name of the GPU, as the driver prints it.")] = None,
    dtype: Annotated[str | None, typer.Option(help="Number format of the whole file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what anybody's measurements say, by the same rules as our own."""
    analysis = analyse_file(experiment, file, gpu=gpu, dtype=dtype)
    if as_json:
        _print_json({"findings": to_json(analysis.findings), "notes": list(analysis.notes)})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, found in to_json(analysis.findings).items():
        table.add_row(name, "-" if found is None else json.dumps(found, ensure_ascii=False))
    out.print(table)
    for note in analysis.notes:
        err.print(f"note: {note}")


# -- stored runs --------------------------------------------------------------------------------


@app.command()
def runs(
    experiment: Annotated[str | None, typer.Option(help="Only this experiment.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the stored runs, newest first."""
    summaries = _store().list_runs(experiment, limit=limit)
    if as_json:
        _print_json({"runs": [s.model_dump(mode="json", exclude={"machine"}) for s in summaries]})
        return
    import time

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("run", "experiment", "device", "state", "points", "when", "parameters"):
        table.add_column(heading, no_wrap=heading == "run", overflow="fold")  # the id is there to be copied
    for s in summaries:
        chosen = " ".join(f"{name}={v}" for name, v in s.params.items() if v is not None)
        table.add_row(
            s.id, s.experiment, s.device, str(s.state), str(s.n_points),
            format_age(max(0.0, time.time() - s.created_at)), chosen,
        )  # fmt: skip
    out.print(table)


@app.command()
def show(run_id: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False) -> None:
    """Show a stored run: its points and what they say."""
    stored = _store().load_run(run_id)
    experiment = _experiment(stored.experiment)
    findings = experiment.find(stored.points)
    points = experiment.flag_points(stored.points, findings)
    if as_json:
        _print_json(
            {
                **stored.model_dump(mode="json", exclude={"points"}),
                "points": [_public_point(point) for point in points],
                "findings": experiment.findings_json(findings),
            }
        )
        return
    _print_points(points)
    _print_words(experiment, findings)
    out.print(f"\nRun {stored.id}: {stored.state}{f'. {stored.reason}' if stored.reason else ''}")


@app.command()
def export(
    run_id: Annotated[str, typer.Argument(metavar="ID")],
    format_: Annotated[ExportFormat, typer.Option("--format", help="csv or json.")] = ExportFormat.JSON,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; standard output if unset.")] = None,
) -> None:
    """Write a stored run: csv has one row a point, json also every raw sample."""
    stored = _store().load_run(run_id)
    text = export_json(stored) if format_ is ExportFormat.JSON else export_csv(stored)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror}. Name a file that can be written.") from None
    err.print(f"Wrote {len(stored.points)} points to {output}")


@app.command("import")
def import_(file: Annotated[Path, typer.Argument(help="A JSON export.")]) -> None:
    """Take a run that was exported elsewhere into the store."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"Cannot read {file}: {why}. Name a JSON export of this program.") from None
    stored: StoredRun = read_json(text, str(file))
    _store().add_run(stored)
    out.print(f"Imported run {stored.id} with {len(stored.points)} points")


@app.command()
def snippet(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    settings_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda:N.")] = None,
) -> None:
    """Print a standalone script that reproduces one point with nothing but torch."""
    chosen = _experiment(experiment)
    params = _params(chosen, settings_ or [], device=device)
    print(chosen.write_snippet(params, None), end="")


# -- what the commands share --------------------------------------------------------------------


def _experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise InputError(f"experiment={name!r} cannot be used. Allowed: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]


def _store() -> RunStore:
    return open_store(load_settings())


@contextmanager
def _runner(settings: Settings) -> Iterator[tuple[Runner, RunStore]]:
    store = open_store(settings)
    with Runner(store, settings) as runner:
        yield runner, store
