"""What can be done about a verdict: go to its lab, run it from here, and see how far it is."""

import streamlit as st

from gpuexplain.engine.jobs import Job
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.trial.court import Answer
from gpuexplain.trial.evidence import short_params
from gpuexplain.trial.ruling import Outcome
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.pages import lab_page
from gpuexplain.ui.run_panel import error_slot, show_ending, show_progress, start_run, watched_slot
from gpuexplain.ui.session import visitor_id
from gpuexplain.ui.shared_card import needs_agreement
from gpuexplain.wording.short import format_budget

DEVICE = "auto"  # every run from here takes the first GPU that works, else the CPU
_PLACE = "trial:place"  # where on the page this visitor clicked last: there an ending is told


def show_actions(
    experiment: Experiment, answer: Answer, machine: Machine, job: Job | None, key: str, *, is_main: bool = True
) -> None:
    """Write the link to the lab, the run that would decide, and how far it is; ``key`` names the place.

    ``is_main``: whether an untested claim's button stands out.
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"trial-{key}"):
        page = lab_page(experiment.id)
        if page is not None:
            chosen = dict(answer.exhibit.settings) if answer.exhibit is not None else {}
            st.page_link(page.script, label=page.title, icon=page.icon, query_params=chosen or None)
        if job is not None:
            _show_cancel(experiment, job, key)
        elif answer.ruling.outcome is not Outcome.UNTESTABLE:
            _show_run(experiment, answer, machine, key, is_main)
    _show_progress(experiment, job, key)


def _show_run(experiment: Experiment, answer: Answer, machine: Machine, key: str, is_main: bool) -> None:
    params, what = _offer(experiment, answer)
    st.button(
        f"{what}, about {format_budget(params.sweep_budget_s)}",
        key=f"run-{key}",
        type="primary" if is_main and answer.ruling.outcome is Outcome.UNTESTED else "secondary",
        icon=":material/play_arrow:",
        disabled=access.get_runner().status().read_only or needs_agreement(DEVICE, machine),
        on_click=_start,
        args=(experiment, params, machine, answer.exhibit is not None, key),
    )


def _start(experiment: Experiment, params: Params, machine: Machine, fresh: bool, key: str) -> None:
    st.session_state[_PLACE] = key
    start_run(experiment, params, machine, fresh)


def _offer(experiment: Experiment, answer: Answer) -> tuple[Params, str]:
    """Return the run that would decide, and what its button says: a short one, or a longer one where that was noisy."""
    if answer.ruling.outcome is Outcome.CANNOT_TELL:
        return experiment.params_type(), "Run longer"
    return short_params(experiment), "Run" if answer.exhibit is None else "Run again"


def _show_cancel(experiment: Experiment, job: Job, key: str) -> None:
    mine = visitor_id() in job.visitors
    st.button(
        "Cancel",
        key=f"cancel-{key}",
        icon=":material/stop:",
        disabled=not mine,
        help=None if mine else "Somebody else asked for this run; you are watching it.",
        on_click=_cancel,
        args=(experiment, job.run_id, key),
    )


def _cancel(experiment: Experiment, run_id: str, key: str) -> None:
    st.session_state[_PLACE] = key
    try:
        access.get_runner().cancel(run_id, visitor_id())
    except GpuExplainError as error:
        st.session_state[error_slot(experiment)] = str(error)


def _show_progress(experiment: Experiment, job: Job | None, key: str) -> None:
    """Write how far the run is; where it was asked for, how it ended if it did not simply finish, or why not."""
    if job is not None:
        show_progress(job)
    if job is not None or st.session_state.get(_PLACE) != key:
        return
    watched = st.session_state.get(watched_slot(experiment))
    show_ending(access.get_runner().job(str(watched)) if watched else None)
    if refused := st.session_state.get(error_slot(experiment)):
        show_error(refused, icon=":material/error:")
