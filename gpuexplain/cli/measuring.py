"""``run`` and ``snippet``: measure one experiment now, or get a script that does."""

import sys
from typing import Annotated

import typer

from gpuexplain.cli.asked import read_params, read_seconds
from gpuexplain.cli.printing import follow_with_bar, print_points, print_words, public_point
from gpuexplain.cli.root import (
    VISITOR,
    ExperimentArgument,
    JsonOption,
    RunArgument,
    app,
    borrowed_by,
    find_experiment,
    out,
    print_json,
    started_runner,
    store,
)
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.neighbours import tell_neighbours
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import EngineError, InputError, NothingMeasuredError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point, Status
from gpuexplain.report.point_table import tell_state
from gpuexplain.settings import load_settings

# How long an interrupted run may take to end in order.
LAST_WORDS_S = 5.0

SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Measure although another process computes on the GPU.")]
DeviceOption = Annotated[str | None, typer.Option(help="auto, cpu or cuda:N.")]


@app.command()
def run(
    experiment: ExperimentArgument,
    settings_: SetOption = None,
    device: DeviceOption = None,
    budget: Annotated[str | None, typer.Option(metavar="SECONDS", help="Seconds to spend.")] = None,
    fresh: Annotated[bool, typer.Option(help="Measure even where a stored run answers.")] = True,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure an experiment now and store it; prints a progress bar, or one JSON object a line."""
    chosen = find_experiment(experiment)
    params = read_params(chosen, settings_ or [], device=device, budget_s=read_seconds(budget))
    with started_runner(load_settings()) as (runner, machine):
        chosen.plan_cases(params, machine)  # refuses what cannot run before anything starts
        ask_neighbours(params.device, machine, yes)
        job = _see_through(runner, runner.submit(chosen, params, machine, VISITOR, fresh, confirmed=True), as_json)
    _conclude_run(chosen, job, machine, as_json)


@app.command()
def resume(run_id: RunArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Go on with a run that was interrupted or crashed: a new run begins with its points and measures all anew."""
    before = store().load_run(run_id)
    chosen = find_experiment(before.experiment)
    with started_runner(load_settings()) as (runner, machine):
        ask_neighbours(str(before.params.get("device", "auto")), machine, yes)
        job = _see_through(runner, runner.resume(chosen, run_id, machine, VISITOR, confirmed=True), as_json)
    _conclude_run(chosen, job, machine, as_json)


def ask_neighbours(device: str, machine: Machine, yes: bool) -> None:
    """Let a person at the terminal decide whether a run may disturb whoever else computes on the GPU.

    Raises:
        InputError: If nobody can be asked and ``--yes`` was not given.
        typer.Abort: If the person says no.
    """
    neighbours = "" if yes else tell_neighbours(device, machine)
    if neighbours and not sys.stdin.isatty():
        raise InputError(f"{neighbours} Add --yes to measure all the same.")
    if neighbours:
        typer.confirm(f"{neighbours}\nMeasure all the same?", abort=True, err=True)


@app.command()
def snippet(experiment: ExperimentArgument, settings_: SetOption = None, device: DeviceOption = None) -> None:
    """Print a standalone script that reproduces one point with nothing but torch."""
    chosen = find_experiment(experiment)
    params = read_params(chosen, settings_ or [], device=device)
    print(chosen.write_snippet(params, None), end="")


def _see_through(runner: Runner, job: Job, as_json: bool) -> Job:
    """Return the job at its end; Ctrl-C cancels it in order."""
    try:
        return _follow_as_json(runner, job) if as_json else follow_with_bar(runner.follow(job.run_id))
    except KeyboardInterrupt:
        runner.cancel(job.run_id, VISITOR)
        runner.wait(job.run_id, LAST_WORDS_S)
        raise


def _follow_as_json(runner: Runner, job: Job) -> Job:
    news = News()
    for job in runner.follow(job.run_id):  # noqa: B020 - the newest snapshot replaces the one before
        news.tell(job)
    return job


class News:
    """Prints each point of a job once, and again whenever it is narrower."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], Point] = {}

    def tell(self, job: Job) -> None:
        """Print what is new in a snapshot, one JSON object a line."""
        for point in job.points:
            if self._sent.get((job.run_id, point.case_id)) is not point:
                self._sent[job.run_id, point.case_id] = point
                print_json({"event": "point", "run_id": job.run_id, **public_point(point)})


def has_measured(job: Job) -> bool:
    """Return whether a job has a point that worked."""
    return any(point.status is Status.OK and point.median_s is not None for point in job.points)


def _conclude_run(experiment: Experiment, job: Job, machine: Machine, as_json: bool) -> None:
    findings = experiment.find((*job.points, *borrowed_by(experiment, machine.platform.machine_id)))
    points = experiment.flag_points(job.points, findings)
    if as_json:
        print_json(
            {
                "event": "done",
                "experiment": experiment.id,
                "run_id": job.run_id,
                "state": str(job.state),
                "reason": job.reason,
                "findings": experiment.findings_json(findings),
                "coverage": job.coverage.model_dump() if job.coverage else None,
            }
        )
    else:
        print_points(experiment, points)
        print_words(experiment, findings)
        out.print(f"\nRun {job.run_id}: {tell_state(str(job.state), job.reason)}")
    if not has_measured(job):
        raise NothingMeasuredError(job.reason or "Nothing could be measured; the points say why.")
    if job.state is JobState.CANCELLED:
        raise KeyboardInterrupt
    if job.state is not JobState.DONE:
        raise EngineError(f"The run ended early ({job.state}): {job.reason} Its points so far are stored.")
