"""A lab page, top to bottom, for any experiment: question, answer, controls, chart, words, tabs."""

import html
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitInvalidLayoutContextError

from gpuexplain.engine.jobs import Job
from gpuexplain.engine.key import compute_key
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Source
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.chart_panel import show_panel
from gpuexplain.ui.compare import Beside, chosen_beside
from gpuexplain.ui.controls import Controls, note_url_problems, show_controls
from gpuexplain.ui.explanation import show_answer, show_caveats, show_words
from gpuexplain.ui.figures import draw
from gpuexplain.ui.guess import show_guess
from gpuexplain.ui.head import show_head
from gpuexplain.ui.lab_claims import show_claims
from gpuexplain.ui.next_steps import show_next
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.pages import lab_page
from gpuexplain.ui.result import Result, as_ghosts, find_result, result_of_job
from gpuexplain.ui.run_panel import (
    error_slot,
    say_cost,
    show_ending,
    show_progress,
    show_run_buttons,
    watched_slot,
)
from gpuexplain.ui.session import current_theme, tab_id
from gpuexplain.ui.shared_card import show_neighbours
from gpuexplain.ui.tabs import show_tabs
from gpuexplain.ui.tour import tour_job
from gpuexplain.ui.viewers import VIEWERS, is_out_of_step, poll_interval_s


@dataclass(frozen=True, slots=True)
class Extras:
    """What one lab has beside what every lab has.

    ``opening`` is written under the title, before the answer. ``panel`` is written above the charts: it writes its
    widgets and returns what draws the rest from the findings, as often as these change. ``below`` is written under the
    charts and their words, before the tabs.
    """

    opening: Callable[[], None] | None = None
    panel: Callable[[Params, Machine], Callable[[Any], None]] | None = None
    below: Callable[[], None] | None = None


NO_EXTRAS = Extras()


@dataclass(frozen=True, slots=True)
class Boxes:
    """The places of a lab page, in reading order."""

    answer: DeltaGenerator
    controls: DeltaGenerator
    problems: DeltaGenerator
    progress: DeltaGenerator
    panel: DeltaGenerator
    main: DeltaGenerator
    words: DeltaGenerator
    second: DeltaGenerator


@dataclass(frozen=True, slots=True)
class Scene:
    """What one run of the page is about."""

    experiment: Experiment
    controls: Controls
    machine: Machine
    stored: Result  # what to show while nothing new has arrived
    beside: Beside  # what lies beside that
    beside_live: Beside  # and beside what a job measures
    draw_panel: Callable[[Any], None] | None = None  # what this lab has above its charts


def show_lab(experiment: Experiment, extras: Extras = NO_EXTRAS) -> None:
    """Write the whole page."""
    note_url_problems(experiment)
    _show_head(experiment)
    if extras.opening is not None:
        extras.opening()
    boxes = _make_boxes()
    try:
        machine = access.get_machine()
        with boxes.controls:
            scene, job = _prepare(experiment, machine)
    except GpuExplainError as error:
        show_error(error)
        return
    if extras.panel is not None:
        with boxes.panel:
            scene = replace(scene, draw_panel=extras.panel(scene.controls.params, machine))
    with boxes.problems:
        _show_problems(scene)
        if job is None or not job.state.is_active:
            show_neighbours(scene.controls.params.device, machine)
    _show_live(scene, job, boxes)
    if extras.below is not None:
        extras.below()
    show_tabs(experiment, scene.controls.params, _shown(scene, job))
    show_next(experiment.id)


def _show_head(experiment: Experiment) -> None:
    page = lab_page(experiment.id)
    eyebrow = f"{page.group} · {page.title}" if page else experiment.nav_label
    show_head(eyebrow, experiment.title)


def _make_boxes() -> Boxes:
    with st.container(key="lab-body"):
        # The style rules lay them out: words beside both charts, or one below the other on a phone.
        return Boxes(**{field.name: st.container(key=f"lab-{field.name}") for field in fields(Boxes)})


def _prepare(experiment: Experiment, machine: Machine) -> tuple[Scene, Job | None]:
    """Write the controls and find what they lead to."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="lab-row")
    with row:
        # On a phone the controls are one row until this is on (style rules); elsewhere it is hidden.
        st.toggle("Settings", key="lab-open", on_change="ignore")
        controls = show_controls(experiment, machine)
    stored = find_result(experiment, controls.params, machine)
    job = _find_job(experiment, controls, machine)
    with row:
        show_run_buttons(experiment, controls, machine, job, stored)
    if job is None or not job.state.is_active:
        st.html(f'<div class="gx-visible-cost">{html.escape(say_cost(controls))}</div>')
    live = result_of_job(job) if job is not None else stored
    beside, beside_live = (chosen_beside(experiment, controls.params, machine, shown) for shown in (stored, live))
    return Scene(experiment, controls, machine, stored, beside, beside_live), job


def _find_job(experiment: Experiment, controls: Controls, machine: Machine) -> Job | None:
    """Return the active job of these params, whoever asked for it, else the one watched if it ended badly."""
    runner = access.get_runner()
    key = compute_key(experiment.id, experiment.measuring_version, controls.params, machine)
    active = next((job for job in runner.active_jobs() if job.key == key), None)
    # A tour asks the same question with its own effort: the page fills while it is at it.
    active = active or tour_job(experiment, controls.params)
    if active is not None:
        st.session_state[watched_slot(experiment)] = active.run_id
        return active
    watched = st.session_state.get(watched_slot(experiment))
    job = runner.job(str(watched)) if watched else None
    return job if job is not None and job.key == key else None


def _show_problems(scene: Scene) -> None:
    for problem in scene.controls.problems:
        show_error(problem, icon=":material/link_off:")
    if scene.controls.blocked:
        show_error(scene.controls.blocked, icon=":material/block:")
    refused = st.session_state.get(error_slot(scene.experiment))
    if refused:
        show_error(refused, icon=":material/error:")


def _shown(scene: Scene, job: Job | None) -> Result:
    """Return the result on screen: the job's points once there are any, the stored ones faint behind."""
    if job is None or not job.points:
        return scene.stored
    live = result_of_job(job)
    if scene.stored.id == live.id:  # it has ended, and the store has it whole
        return scene.stored
    if scene.stored.source is not Source.MEASURED:
        return live
    return replace(live, ghosts=as_ghosts(scene.stored.points, "earlier run on this machine"))


def _show_live(scene: Scene, job: Job | None, boxes: Boxes) -> None:
    """Draw the part of the page that moves, and poll while a job is active."""
    is_active = job is not None and job.state.is_active
    viewers = VIEWERS.note(job.run_id, tab_id()) if job is not None and is_active else 0
    run_id = job.run_id if job is not None else ""
    interval_s = poll_interval_s(viewers) if is_active else None

    @st.fragment(run_every=interval_s)
    def live() -> None:
        now = access.get_runner().job(run_id) if run_id else None
        if is_active and (now is None or not now.state.is_active):
            st.rerun()
        if interval_s is not None and is_out_of_step(interval_s, VIEWERS.note(run_id, tab_id())):
            st.rerun()
        try:
            _draw_live(scene, now, boxes)
        except StreamlitInvalidLayoutContextError:
            # A click cut the page short before this part was written; now the whole page is.
            st.rerun()

    live()


def _draw_live(scene: Scene, job: Job | None, boxes: Boxes) -> None:
    shown = _shown(scene, job)
    beside = scene.beside if shown is scene.stored else scene.beside_live
    drawing = draw(scene.experiment, shown, beside, current_theme())
    with boxes.answer:
        show_answer(drawing.explanation, (*shown.badges, *beside.badges))
    with boxes.progress:
        if job is not None and job.state.is_active:
            show_progress(job)
        else:
            show_ending(job)
    if scene.draw_panel is not None:
        with boxes.panel:
            scene.draw_panel(drawing.findings)
    with boxes.main:
        show_panel(drawing.main, "lab-main", drawing.main_alt)
    with boxes.words:
        show_guess(scene.experiment, drawing.findings, shown, job)
        show_words(drawing.explanation)
    with boxes.second:
        if drawing.main.is_empty and drawing.second.is_empty:  # one hint is enough
            st.empty()  # a fragment may later write only where the whole page wrote
        else:
            show_panel(drawing.second, "lab-second", drawing.second_alt)
        show_caveats(drawing.explanation)
        show_claims(scene.experiment.id, drawing.findings, shown)
