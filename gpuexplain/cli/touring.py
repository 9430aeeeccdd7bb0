"""``tour``: the core experiments one after the other, in about a minute."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpuexplain.cli.asked import read_seconds
from gpuexplain.cli.measuring import News, YesOption, ask_neighbours, has_measured
from gpuexplain.cli.printing import make_bar, print_table, tell_phase
from gpuexplain.cli.root import VISITOR, JsonOption, app, err, out, print_json, started_runner
from gpuexplain.cli.runs import write_file
from gpuexplain.engine.jobs import Job
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.tour import TOUR_S, Tour, TourPart, TourState, check_tour_budget
from gpuexplain.engine.tour_guide import TourGuide
from gpuexplain.errors import EngineError, InputError, NothingMeasuredError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.registry import CORE, EXPERIMENTS
from gpuexplain.report.chapter import Told
from gpuexplain.report.page import write_summary
from gpuexplain.report.point_table import tell_state
from gpuexplain.settings import load_settings
from gpuexplain.units import NBSP, format_time

# All parts run on the same one.
TOUR_DEVICE = next(e.tour_params.device for e in CORE if e.tour_params is not None)


@app.command()
def tour(
    budget: Annotated[
        str | None, typer.Option(metavar="SECONDS", help=f"Seconds for the whole tour; {TOUR_S:g} if unset.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write a page (HTML) that opens offline.")
    ] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure this machine: every core experiment once, then its headline numbers."""
    settings = load_settings()
    budget_s = _read_budget(budget, settings.max_budget_s)
    if output is not None:
        _check_place(output)
    with started_runner(settings) as (runner, machine):
        guide = TourGuide(runner, settings.max_budget_s)
        ask_neighbours(TOUR_DEVICE, machine, yes)
        guide.begin(CORE, machine, VISITOR, budget_s, confirmed=True)
        try:
            last = _follow_as_json(runner, guide) if as_json else _follow_with_bar(runner, guide)
        except KeyboardInterrupt:
            guide.leave(VISITOR)
            *_, last = guide.follow()
        jobs = {part.experiment: runner.job(part.run_id) for part in last.parts if part.run_id}
    _conclude(last, {name: job for name, job in jobs.items() if job is not None}, machine, output, as_json)


def _read_budget(text: str | None, most_s: float) -> float:
    if text is None:
        return TOUR_S
    seconds = read_seconds(text)
    if not isinstance(seconds, float):
        raise InputError(f"--budget {text!r} cannot be used. Allowed: seconds for the whole tour, such as {TOUR_S:g}.")
    return check_tour_budget(seconds, len(CORE), most_s)


def _check_place(path: Path) -> None:
    """Refuse a place that cannot be written before a minute is spent."""
    if path.is_dir() or not path.parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise InputError(f"Cannot write {path}: {why}. Name a file that can be written.")


def _follow_as_json(runner: Runner, guide: TourGuide) -> Tour:
    news = News()
    for tour in guide.follow():
        for part in tour.parts:
            if part.run_id and (job := runner.job(part.run_id)) is not None:
                news.tell(job)
    return tour


def _follow_with_bar(runner: Runner, guide: TourGuide) -> Tour:
    with make_bar() as bar:
        task = bar.add_task("starting", total=1.0)
        for tour in guide.follow():
            bar.update(task, completed=tour.share, description=_tell_step(runner, tour))
    return tour


def _tell_step(runner: Runner, tour: Tour) -> str:
    part = tour.current
    if part is None:
        return "finishing"
    job = runner.job(part.run_id) if part.run_id else None
    number = tour.parts.index(part) + 1
    doing = f": {tell_phase(job)}" if job is not None else ""
    return f"{number} of {len(tour.parts)}, {EXPERIMENTS[part.experiment].nav_label}{doing}"


# -- what comes out of it -----------------------------------------------------------------------


def _conclude(tour: Tour, jobs: dict[str, Job], machine: Machine, output: Path | None, as_json: bool) -> None:
    measured = [job for job in jobs.values() if has_measured(job)]
    if as_json:
        print_json(_done_event(tour, jobs))
    else:
        _print_headlines(tour, jobs)
    if output is not None and measured:
        told = [_told(EXPERIMENTS[part.experiment], part, jobs) for part in tour.parts]
        write_file(output, write_summary(machine, told, time.time()).encode())
        err.print(f"Wrote {output}")
    if tour.state is TourState.CANCELLED:
        raise KeyboardInterrupt
    if not measured:
        raise NothingMeasuredError(_first_reason(tour) or "Nothing could be measured; `show ID` says why.")
    if tour.state is not TourState.DONE:
        raise EngineError(f"The tour ended early ({tour.state}): {tour.reason} What it measured is stored.")


def _done_event(tour: Tour, jobs: dict[str, Job]) -> dict[str, object]:
    return {
        "event": "done",
        "state": str(tour.state),
        "reason": tour.reason,
        "budget_s": tour.budget_s,
        "spent_s": round(tour.spent_s, 3),
        "runs": tour.run_ids,
        "states": {part.experiment: str(part.state) if part.state else None for part in tour.parts},
        "reasons": {part.experiment: part.reason for part in tour.parts if part.reason},
        "findings": {
            name: EXPERIMENTS[name].findings_json(EXPERIMENTS[name].find(job.points)) for name, job in jobs.items()
        },
    }


def _print_headlines(tour: Tour, jobs: dict[str, Job]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for part in tour.parts:
        for name, text in zip((EXPERIMENTS[part.experiment].nav_label, "", ""), _tell_part(part, jobs), strict=False):
            table.add_row(name, text)
    print_table(table)
    took = f"{format_time(tour.spent_s)} of {format_time(tour.budget_s)}"
    out.print(f"\nTour {tour.state} after {took} of measuring. {tour.reason}".rstrip())
    out.print("`show ID` explains a run, `export ID --format html -o FILE` makes a page of it.")


def _tell_part(part: TourPart, jobs: dict[str, Job]) -> Sequence[str]:
    """Return the lines about one experiment: its number, its condition, its run."""
    job = jobs.get(part.experiment)
    if job is None:
        return [f"not measured. {part.reason}".strip()]
    experiment = EXPERIMENTS[part.experiment]
    headline = experiment.headline(experiment.find(job.points))
    ended = f"run {job.run_id}: {tell_state(str(job.state), job.reason)}"
    if headline is None:
        return ["no number yet", ended]
    number = f"{headline.number} ({headline.interval})" if headline.interval else headline.number
    return [f"{number}  {headline.label}, {headline.detail}".rstrip(", ").replace(NBSP, " "), ended]


def _told(experiment: Experiment, part: TourPart, jobs: dict[str, Job]) -> Told:
    job = jobs.get(experiment.id)
    if job is None:
        return Told(experiment, points=(), state=str(part.state or "not measured"), reason=part.reason)
    return Told(
        experiment=experiment,
        points=job.points,
        params=job.params,
        run_id=job.run_id,
        state=str(job.state),
        reason=job.reason,
        coverage=job.coverage,
        measured_at=job.finished_at,
    )


def _first_reason(tour: Tour) -> str:
    return next((part.reason for part in tour.parts if part.reason), "")
