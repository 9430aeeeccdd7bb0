"""What lies beside a result: a published series by default where there is no GPU, or what a visitor picks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point, Source
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.published import find_published
from gpuexplain.ui.result import Result, as_ghosts, load_points
from gpuexplain.ui.rich_text import plain_markdown

NOTHING = "nothing"
_SEPARATOR = " · "
_RUNS_OFFERED = 30


@dataclass(frozen=True, slots=True)
class Beside:
    """``points`` are compared with in words too; ``ghosts`` are only drawn."""

    points: tuple[Point, ...] = ()
    ghosts: tuple[Point, ...] = ()


def chosen_beside(experiment: Experiment, params: Params, machine: Machine, result: Result) -> Beside:
    """Return what to draw beside a result."""
    choice = str(st.session_state.get("compare") or st.query_params.get("compare") or "")
    dtype = params.model_dump(mode="json").get("dtype")
    if choice == NOTHING:
        return Beside()
    if (published := find_published(experiment, choice)) is not None:
        same = published.dtype == dtype and result.source is Source.MEASURED and len(machine.devices) == 1
        return Beside(points=published.points) if same else Beside(ghosts=published.points)
    if choice:
        return _run_beside(choice, result)
    if len(machine.devices) > 1:
        return Beside()
    default = experiment.default_published(params)
    # A published result does not stand beside itself.
    return Beside(points=default.points) if default and result.source is Source.MEASURED else Beside()


def _run_beside(choice: str, result: Result) -> Beside:
    run_id = choice.split(_SEPARATOR)[0]
    run = access.get_store().find_run(run_id) if run_id != result.id else None
    return Beside(ghosts=as_ghosts(run.points, f"run {run.id}")) if run else Beside()


def show_compare(experiment: Experiment, result: Result) -> None:
    """Write the choice of what to draw beside the result."""
    runs = access.get_store().list_runs(experiment.id, limit=_RUNS_OFFERED)
    options = [NOTHING, *(published.key for published in experiment.published())]
    options += [_run_label(run.id, run.params) for run in runs if run.n_points and run.id != result.id]
    asked = st.query_params.get("compare")
    if asked and asked not in options:
        show_error(f"compare={asked!r} cannot be used: there is no such run or series here. Choose one below.")
    chosen = st.selectbox(
        "Draw beside it",
        options,
        index=None,
        placeholder="the usual (a published series where there is no GPU)",
        key="compare",
        bind="query-params",
    )
    st.caption("It is drawn faint and dotted, with open markers: it was not measured in this run.")
    if (published := find_published(experiment, chosen or "")) is not None:
        st.caption(f"Source: {plain_markdown(published.source)}")
    elif chosen and chosen != NOTHING:
        stored = next((run for run in runs if run.id == chosen.split(_SEPARATOR)[0]), None)
        if stored is not None:
            st.caption(f"{len(load_points(stored).points)} points, {stored.state.value}.")


def _run_label(run_id: str, params: Mapping[str, Any]) -> str:
    return _SEPARATOR.join([run_id, *(str(params[name]) for name in ("preset", "dtype") if params.get(name))])
