"""Which numbers does Home show? The latest result of each experiment, and the headline of its findings."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gpuexplain.engine.jobs import Job
from gpuexplain.experiments.contract import Experiment, Headline
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Source
from gpuexplain.report.chapter import Told
from gpuexplain.store.run import RunState
from gpuexplain.ui.result import Result, find_result, result_of_job, runs_here

_KEPT = 64


@dataclass(frozen=True, slots=True)
class Card:
    """What Home shows of one experiment."""

    experiment: Experiment
    result: Result
    headline: Headline | None
    query: Mapping[str, str]  # what the lab page must be asked for, to show this very result


def latest_card(experiment: Experiment, machine: Machine) -> Card:
    """Return the newest finished answer of this machine to the usual question, else what stands in for it."""
    usual = find_result(experiment, experiment.params_type(), machine)
    params = _latest_params(experiment, machine)
    result = find_result(experiment, params, machine) if params is not None else usual
    # The page prefers a run with exactly its settings, even an older one.
    query = _effort(result.params) if result.id != usual.id else {}
    return Card(experiment, result, _headlines.get(experiment, result), query)


def card_of_job(experiment: Experiment, job: Job) -> Card:
    """Return what a running or just ended job of a tour shows."""
    result = result_of_job(job)
    return Card(experiment, result, _headlines.get(experiment, result), _effort(job.params))


def told_card(card: Card) -> Told:
    """Return a card's result as the summary tells it."""
    result = card.result
    is_measured = result.source is Source.MEASURED
    return Told(
        experiment=card.experiment,
        points=result.points,
        params=result.params if is_measured else {},
        run_id=result.id if is_measured else "",
        state=result.state,
        reason=result.reason,
        coverage=result.coverage,
        measured_at=result.measured_at,
    )


def _latest_params(experiment: Experiment, machine: Machine) -> Params | None:
    """Return the settings of the newest finished run that differ from the usual ones in effort only."""
    usual = experiment.params_type()
    for run in runs_here(experiment.id, machine):
        try:
            params = experiment.params_type.model_validate(run.params)
        except ValidationError:  # a run of a release with other settings
            continue
        is_usual = params.model_copy(update={"preset": usual.preset, "budget_s": usual.budget_s}) == usual
        if is_usual and run.state is RunState.DONE:
            return params
    return None


def _effort(params: Mapping[str, Any]) -> dict[str, str]:
    asked = {name: params.get(name) for name in ("preset", "budget_s")}
    return {
        name: f"{effort:g}" if isinstance(effort, float) else str(effort)
        for name, effort in asked.items()
        if effort is not None
    }


class _Headlines:
    """Concludes once per state of a result, whoever looks; bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, int, str], Headline | None] = OrderedDict()

    def get(self, experiment: Experiment, result: Result) -> Headline | None:
        key = (experiment.id, result.id, result.version, result.state)
        with self._lock:
            if key not in self._known:
                self._known[key] = experiment.headline(experiment.find(result.points)) if result.points else None
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            return self._known[key]


_headlines = _Headlines()
