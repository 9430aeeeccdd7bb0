"""Which result does a page show for these params: live, measured before, or published?"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Params, Point, Source
from gpuexplain.store.borrowed import machine_id_of
from gpuexplain.store.run import RunState, RunSummary, StoredRun
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.badges import KIND_OF_SOURCE, Badge
from gpuexplain.units import format_age

# How a run may be sampled without becoming another question.
_EFFORT = frozenset({"preset", "budget_s"})
_ACTIVE = frozenset(state.value for state in JobState if state.is_active)
_RUNS_TO_LOOK_AT = 100


@dataclass(frozen=True, slots=True)
class Result:
    """Points to draw and tell, and where they are from. ``id`` and ``version`` name a state of it."""

    id: str
    version: int
    points: tuple[Point, ...]
    source: Source
    params: Mapping[str, Any]
    badges: tuple[Badge, ...] = ()
    state: str = RunState.DONE.value
    reason: str = ""
    coverage: Coverage | None = None
    measured_at: float | None = None
    is_exact: bool = True  # the params of the result are those of the controls
    ghosts: tuple[Point, ...] = field(default=())  # drawn faint, not concluded from

    @property
    def is_active(self) -> bool:
        """Whether more points may come."""
        return self.state in _ACTIVE


def result_of_job(job: Job) -> Result:
    """Return the points of a running or just ended job."""
    label = "measuring here, now" if job.state.is_active else "measured here, just now"
    return Result(
        id=job.run_id,
        version=job.version,
        points=job.points,
        source=Source.MEASURED,
        params=job.params,
        badges=(Badge(label, "measured"), *_incomplete(job.state.value)),
        state=job.state.value,
        reason=job.reason,
        coverage=job.coverage,
        measured_at=job.finished_at,
    )


def find_result(experiment: Experiment, params: Params, machine: Machine) -> Result:
    """Return what to show when nothing runs: this machine's latest answer, else a published series."""
    wanted = params.model_dump(mode="json")
    runs = [run for run in runs_here(experiment.id, machine) if is_same_question(run.params, wanted)]
    exact = [run for run in runs if run.params == wanted]
    for candidates in (exact, runs):
        done = [run for run in candidates if run.state is RunState.DONE]
        if done or candidates:
            return result_of_run(load_points((done or candidates)[0]), is_exact=candidates is exact)
    return _published_result(experiment, params)


def runs_here(experiment_id: str, machine: Machine) -> list[RunSummary]:
    """Return the ended runs of this machine that have points, newest first."""
    runs = access.get_store().list_runs(experiment_id, limit=_RUNS_TO_LOOK_AT)
    here = machine.platform.machine_id
    ended = (run for run in runs if run.n_points and run.state is not RunState.RUNNING)
    return [run for run in ended if machine_id_of(run) == here]


def load_points(run: RunSummary) -> StoredRun:
    """Return an ended run with its points; it is read from the store once."""
    return _load_ended(run.id)


# With all their raw samples: a few megabytes a run.
@lru_cache(maxsize=16)
def _load_ended(run_id: str) -> StoredRun:
    return access.get_store().load_run(run_id)


def result_of_run(run: StoredRun, *, is_exact: bool = True) -> Result:
    """Return a stored run of this machine as a result."""
    measured_at = run.finished_at or run.created_at
    age = f"measured here, {format_age(max(0.0, time.time() - measured_at))}"
    return Result(
        id=run.id,
        version=len(run.points),
        points=run.points,
        source=Source.MEASURED,
        params=run.params,
        badges=(Badge(age, "measured"), *_effort(run, is_exact), *_incomplete(run.state.value)),
        state=run.state.value,
        reason=run.reason,
        coverage=Coverage.model_validate(run.coverage) if run.coverage else None,
        measured_at=measured_at,
        is_exact=is_exact,
    )


def _effort(run: RunSummary, is_exact: bool) -> tuple[Badge, ...]:
    """Say with which effort it was measured where the controls ask for another."""
    if is_exact:
        return ()
    budget = run.params.get("budget_s")
    text = f"a run of {budget:g} s" if isinstance(budget, (int, float)) else f"{run.params.get('preset')} run"
    return (Badge(text),)


def _incomplete(state: str) -> tuple[Badge, ...]:
    if state in (RunState.DONE.value, *_ACTIVE):
        return ()
    return (Badge(f"incomplete: {state}", "warning"),)


def _published_result(experiment: Experiment, params: Params) -> Result:
    wanted = params.model_dump(mode="json")
    published = experiment.default_published(params)
    if published is None:
        return Result("nothing", 0, (), Source.PUBLISHED, wanted)
    badges = (
        Badge(f"published: {published.name}", KIND_OF_SOURCE[Source.PUBLISHED]),
        Badge(f"source: {published.source}"),
        Badge("nothing measured here yet"),
    )
    return Result(f"published {published.key}", 0, published.points, Source.PUBLISHED, wanted, badges)


def is_same_question(have: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether params, as stored, ask for the same thing, with whatever effort."""
    names = (set(have) | set(wanted)) - _EFFORT
    return all(have.get(name) == wanted.get(name) for name in names)


def as_ghosts(points: tuple[Point, ...], note: str) -> tuple[Point, ...]:
    """Return measured points as what they are beside a newer measurement: recorded ones."""
    changed = {"source": Source.RECORDED, "source_note": note}
    return tuple(p.model_copy(update=changed) if p.source is Source.MEASURED else p for p in points)
