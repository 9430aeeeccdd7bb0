"""What lies beside a result: a published series by default, what a visitor picks, and dropped files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point, Source
from gpuexplain.store.borrowed import borrow_points, lent_points, machine_id_of
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.badges import KIND_OF_SOURCE, Badge
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.published import find_published
from gpuexplain.ui.result import Result, as_ghosts, load_points
from gpuexplain.ui.rich_text import plain_markdown
from gpuexplain.ui.upload_box import show_upload
from gpuexplain.ui.upload_files import DroppedFile, dropped_files

NOTHING = "nothing"
_SEPARATOR = " · "
_RUNS_OFFERED = 30


@dataclass(frozen=True, slots=True)
class Beside:
    """``points`` are compared with in words too; ``ghosts`` are only drawn."""

    points: tuple[Point, ...] = ()
    ghosts: tuple[Point, ...] = ()
    file_names: Mapping[str, str] = field(default_factory=dict)  # labels of files, by source note
    files_id: str = ""  # names all that comes from files; what it names belongs to one session
    badges: tuple[Badge, ...] = ()


def chosen_beside(experiment: Experiment, params: Params, machine: Machine, result: Result) -> Beside:
    """Return what to draw beside a result."""
    files = dropped_files(experiment)
    picked = _picked(experiment, params, machine, result, has_files=bool(files))
    has_times = any(point.median_s is not None for point in result.points)
    if experiment.borrows_from and result.source is Source.MEASURED and has_times:
        picked = _with_borrowed(picked, experiment, machine)
    return _with_files(picked, files, _can_compare(params, machine, result, files[-1]) if files else False)


def _with_borrowed(picked: Beside, experiment: Experiment, machine: Machine) -> Beside:
    """Add what other experiments measured here."""
    borrowed = borrow_points(access.get_store(), experiment.borrows_from, machine.platform.machine_id, _lent_by)
    if not borrowed:
        return picked
    n_runs = len({point.source_note for point in borrowed})
    badge = Badge(f"with points of {n_runs} other run{'s' if n_runs > 1 else ''} here")
    return replace(picked, points=(*picked.points, *borrowed), badges=(*picked.badges, badge))


@lru_cache(maxsize=16)
def _lent_by(run_id: str) -> tuple[Point, ...]:
    return lent_points(access.get_store().load_run(run_id))


def _picked(experiment: Experiment, params: Params, machine: Machine, result: Result, *, has_files: bool) -> Beside:
    choice = str(st.session_state.get("compare") or st.query_params.get("compare") or "")
    dtype = params.model_dump(mode="json").get("dtype")
    if choice == NOTHING:
        return Beside()
    if (published := find_published(experiment, choice)) is not None:
        same = published.dtype == dtype and result.source is Source.MEASURED and len(machine.devices) == 1
        return Beside(points=published.points) if same and not has_files else Beside(ghosts=published.points)
    if choice:
        return _run_beside(choice, machine, result)
    if len(machine.devices) > 1 or has_files:  # who brings a file wants to compare with that
        return Beside()
    default = experiment.default_published(params)
    # A published result does not stand beside itself.
    return Beside(points=default.points) if default and result.source is Source.MEASURED else Beside()


def _run_beside(choice: str, machine: Machine, result: Result) -> Beside:
    run_id = choice.split(_SEPARATOR)[0]
    run = access.get_store().find_run(run_id) if run_id != result.id else None
    if run is None:
        return Beside()
    is_here = machine_id_of(run) == machine.platform.machine_id
    return Beside(ghosts=as_ghosts(run.points, f"run {run.id}" + ("" if is_here else ", another machine")))


def _can_compare(params: Params, machine: Machine, result: Result, file: DroppedFile) -> bool:
    """Whether the words may compare with a file: one device measured here, and the same number format."""
    if result.source is not Source.MEASURED or len(machine.devices) > 1:
        return False
    dtype = params.model_dump(mode="json").get("dtype")
    return dtype is None or {str(point.dtype) for point in file.points} == {dtype}


def _with_files(picked: Beside, files: Sequence[DroppedFile], can_compare: bool) -> Beside:
    """Add the files: the newest one is compared with where that is possible, all are drawn."""
    if not files:
        return picked
    drawn = [file for file in files if file is not files[-1] or not can_compare]
    return replace(
        picked,
        points=(*picked.points, *(files[-1].points if can_compare else ())),
        ghosts=(*picked.ghosts, *(point for file in drawn for point in file.points)),
        file_names={file.note: file.content.label for file in files},
        files_id="|".join(file.id for file in files),
        badges=(
            *picked.badges,
            *(Badge(f"beside it: {file.content.label}", KIND_OF_SOURCE[Source.RECORDED]) for file in files),
        ),
    )


def show_compare(experiment: Experiment, params: Params, result: Result) -> None:
    """Write the choice of what to draw beside the result, and the place for a visitor's own files."""
    _show_choice(experiment, result)
    show_upload(experiment, params)


def _show_choice(experiment: Experiment, result: Result) -> None:
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
