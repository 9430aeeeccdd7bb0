"""Run, Cancel, Run again; what it costs, how far it is, who waits for whom."""

from collections.abc import Callable

import streamlit as st

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Source
from gpuexplain.store.run import RESUMABLE
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.controls import Controls
from gpuexplain.ui.result import Result
from gpuexplain.ui.rich_text import plain_markdown
from gpuexplain.ui.session import visitor_id
from gpuexplain.ui.shared_card import has_agreed, needs_agreement
from gpuexplain.wording.short import format_budget

_ENDINGS = {
    JobState.CANCELLED: ("Cancelled", "Run again when you like."),
    JobState.CRASHED: ("The measuring process ended unexpectedly", "It was restarted; resume, or run again."),
    JobState.FAILED: ("The run could not go on", "Change the settings, or run again."),
    JobState.INTERRUPTED: ("The app stopped during this run", "Resume, or run again."),
}


def error_slot(experiment: Experiment) -> str:
    """Return where this session keeps what went wrong when a run was asked for."""
    return f"{experiment.id}:error"


def watched_slot(experiment: Experiment) -> str:
    """Return where this session keeps the id of the run it looks at."""
    return f"{experiment.id}:run_id"


def show_run_buttons(
    experiment: Experiment, controls: Controls, machine: Machine, job: Job | None, result: Result
) -> None:
    """Write the button that is right now: Cancel while it runs, else Run or Run again."""
    if job is not None and job.state.is_active:
        mine = visitor_id() in job.visitors
        st.button(
            "Cancel",
            key="cancel",
            icon=":material/stop:",
            disabled=not mine,
            help=None if mine else "Somebody else asked for this run; you are watching it.",
            on_click=_cancel,
            args=(experiment, job.run_id),
        )
        return
    is_again = result.source is Source.MEASURED and result.is_exact and result.state == JobState.DONE
    is_refused = (
        bool(controls.blocked)
        or access.get_runner().status().read_only
        or needs_agreement(controls.params.device, machine)
    )
    st.button(
        "Run again" if is_again else "Run",
        key="run",
        type="primary",
        icon=":material/play_arrow:",
        disabled=is_refused,
        on_click=_start,
        args=(experiment, controls.params, machine, is_again),
    )
    if broken_off := _find_broken_off(job, result):
        st.button(
            "Resume",
            key="resume",
            icon=":material/resume:",
            disabled=is_refused,
            help="Begins with the points that were measured before the run broke off, and measures all of them anew.",
            on_click=_resume,
            args=(experiment, broken_off, machine),
        )


def _find_broken_off(job: Job | None, result: Result) -> str:
    """Return the run on screen that can be gone on with, "" if it is none."""
    if job is not None and job.points:
        return job.run_id if job.state.value in RESUMABLE else ""
    is_here = result.source is Source.MEASURED and result.is_exact
    return result.id if is_here and result.state in RESUMABLE else ""


def _start(experiment: Experiment, params: Params, machine: Machine, fresh: bool) -> None:
    start_run(experiment, params, machine, fresh)


def start_run(experiment: Experiment, params: Params, machine: Machine, fresh: bool = False) -> bool:
    """Ask the engine for a run; what it refuses is kept for the page to say. True when it was taken."""
    st.session_state.pop(error_slot(experiment), None)
    try:
        job = access.get_runner().submit(experiment, params, machine, visitor_id(), fresh=fresh, confirmed=has_agreed())
    except GpuExplainError as error:
        st.session_state[error_slot(experiment)] = str(error)
        return False
    st.session_state[watched_slot(experiment)] = job.run_id
    return True


def _resume(experiment: Experiment, run_id: str, machine: Machine) -> None:
    st.session_state.pop(error_slot(experiment), None)
    try:
        job = access.get_runner().resume(experiment, run_id, machine, visitor_id(), confirmed=has_agreed())
    except GpuExplainError as error:
        st.session_state[error_slot(experiment)] = str(error)
        return
    st.session_state[watched_slot(experiment)] = job.run_id


def _cancel(experiment: Experiment, run_id: str) -> None:
    try:
        access.get_runner().cancel(run_id, visitor_id())
    except GpuExplainError as error:
        st.session_state[error_slot(experiment)] = str(error)


def say_cost(controls: Controls) -> str:
    """Return what a run will take, before it is asked for."""
    text = f"Takes about {format_budget(controls.params.sweep_budget_s)}"
    waiting = access.get_runner().status()
    if waiting.running is not None:
        ahead = 1 + waiting.queue_length
        text += f", after {ahead} run{'s' if ahead > 1 else ''} already asked for"
    return text + ". Ends earlier when every point is narrow enough."


def show_progress(job: Job) -> None:
    """Write how far an active job is."""
    share, text = progress_of(job)
    st.progress(share, plain_markdown(text))
    others = len(job.visitors) - (visitor_id() in job.visitors)
    if others > 0:
        st.caption(f"{others} more asked for this run: it is measured once, for all.")


def progress_of(job: Job) -> tuple[float, str]:
    """Return the share done and what to say beside the bar."""
    says: dict[JobState, Callable[[], str]] = {
        JobState.QUEUED: lambda: f"Number {job.queue_position} in the queue. {job.ahead}".strip(),
        JobState.WAITING: lambda: f"Waiting for this machine. {job.ahead}".strip(),
        JobState.STARTING: lambda: "Starting the measuring process",
    }
    if job.state in says or job.progress is None:
        return 0.0, says.get(job.state, lambda: "Starting")()
    progress = job.progress
    left_s = max(0.0, progress.remaining_s)
    measured = f"{len(job.points)} points" if job.points else "no point yet"
    left = f"about {left_s:.0f} s left" if left_s >= 1 else "finishing"
    return min(1.0, progress.share), f"{progress.phase} · {measured} · {left}"


def show_ending(job: Job | None) -> None:
    """Say how a watched job ended when it did not simply finish."""
    if job is None or job.state not in _ENDINGS:
        return
    what, remedy = _ENDINGS[job.state]
    kept = f"{len(job.points)} points were measured and are kept." if job.points else "No point was measured."
    reason = f" {plain_markdown(job.reason.removeprefix(f'{what}. '))}" if job.reason else ""
    show = st.info if job.state is JobState.CANCELLED else st.warning
    show(f"**{what}.**{reason} {kept} {'' if job.reason else remedy}".strip(), icon=":material/info:")
