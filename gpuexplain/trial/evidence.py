"""Which run of this machine speaks for a lab, and what does it find?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Flag, Params, Point, Preset, Source
from gpuexplain.points import LOAD_FLAGS
from gpuexplain.store.run import RunState, RunSummary, StoredRun

# How a run may be sampled without becoming another question.
_EFFORT = frozenset({"preset", "budget_s"})


@dataclass(frozen=True, slots=True)
class Exhibit:
    """The findings of one run of this machine, and what to know of it.

    ``settings``: what was asked for beside the usual question. ``n_disturbed`` of ``n_timed`` points were
    measured beside other work, throttled or drifting.
    """

    lab: str
    run_id: str
    findings: Any
    measured_at: float | None
    state: RunState
    settings: tuple[tuple[str, str], ...] = ()
    n_timed: int = 0
    n_disturbed: int = 0
    flags: tuple[Flag, ...] = ()  # of those that disturb

    @property
    def is_disturbed(self) -> bool:
        """Whether most of its points were disturbed, so that its numbers are provisional."""
        return self.n_disturbed > self.n_timed / 2


def pick_run(experiment: Experiment, runs: Sequence[RunSummary], machine: Machine) -> RunSummary | None:
    """Return the run that speaks for a lab: a whole one of the usual question if there is one, the newest first.

    ``runs`` are newest first. Without a usual one another question of the same lab speaks, without a whole
    one what was measured until it ended.
    """
    here = [run for run in runs if run.n_points and _machine_id(run) == machine.platform.machine_id]
    ended = [run for run in here if run.state is not RunState.RUNNING]

    def rank(run: RunSummary) -> tuple[bool, bool]:
        return run.state is not RunState.DONE, bool(unusual_settings(experiment, run.params))

    return min(ended, key=rank, default=None)


def _machine_id(run: RunSummary) -> str:
    platform = (run.machine or {}).get("platform")
    return str(platform.get("machine_id", "")) if isinstance(platform, dict) else ""


def unusual_settings(experiment: Experiment, params: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the settings of a run that differ from the defaults, its effort left out."""
    usual = experiment.params_type().model_dump(mode="json")
    names = [name for name in params if name not in _EFFORT and params[name] != usual.get(name)]
    return tuple((name, str(params[name])) for name in names)


def exhibit_of(experiment: Experiment, run: StoredRun) -> Exhibit:
    """Return what a run says; points from elsewhere in it do not count."""
    points: list[Point] = [p for p in run.points if p.source in (Source.MEASURED, Source.MODEL)]
    timed = [p for p in points if p.source is Source.MEASURED and p.median_s is not None]
    disturbed = [p for p in timed if LOAD_FLAGS.intersection(p.flags)]
    return Exhibit(
        lab=experiment.id,
        run_id=run.id,
        findings=experiment.find(points),
        measured_at=run.finished_at or run.created_at,
        state=run.state,
        settings=unusual_settings(experiment, run.params),
        n_timed=len(timed),
        n_disturbed=len(disturbed),
        flags=tuple(flag for flag in Flag if flag in LOAD_FLAGS and any(flag in p.flags for p in disturbed)),
    )


def gather(
    experiments: Sequence[Experiment],
    machine: Machine,
    list_runs: Callable[[str], Sequence[RunSummary]],
    make_exhibit: Callable[[Experiment, RunSummary], Exhibit],
) -> dict[str, Exhibit]:
    """Return the exhibit of every lab that has a run of this machine, by its id."""
    picked = ((experiment, pick_run(experiment, list_runs(experiment.id), machine)) for experiment in experiments)
    return {experiment.id: make_exhibit(experiment, run) for experiment, run in picked if run is not None}


def short_params(experiment: Experiment) -> Params:
    """Return what a lab is asked for from here first: the tour's settings, else its quick preset."""
    return experiment.tour_params or experiment.params_type(preset=Preset.QUICK)
