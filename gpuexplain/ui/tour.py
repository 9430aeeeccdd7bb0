"""The tour in the browser: one guide a process, its progress, its end, and the job a lab page may show."""

from functools import cache

import streamlit as st

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.tour import Tour, TourPart, TourState
from gpuexplain.engine.tour_guide import TourGuide
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.registry import CORE, EXPERIMENTS
from gpuexplain.settings import load_settings
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.run_panel import progress_of
from gpuexplain.ui.session import visitor_id
from gpuexplain.ui.shared_card import has_agreed
from gpuexplain.units import format_time
from gpuexplain.wording.phrases import count_of, join_words

ERROR_SLOT = "tour:error"
DEVICE = next(lab.tour_params.device for lab in CORE if lab.tour_params)  # all parts run on the same one


@cache
def get_guide() -> TourGuide:
    """Return the guide of this process."""
    return TourGuide(access.get_runner(), load_settings().max_budget_s)


def latest_tour() -> Tour | None:
    """Return the tour under way, else the one that ended last since the app started."""
    return get_guide().latest()


def start_tour(machine: Machine) -> None:
    """Ask for a tour, or join the one under way; what is refused is kept for the page to say."""
    st.session_state.pop(ERROR_SLOT, None)
    try:
        get_guide().begin(CORE, machine, visitor_id(), confirmed=has_agreed())
    except GpuExplainError as error:
        st.session_state[ERROR_SLOT] = str(error)


def cancel_tour() -> None:
    """Leave the tour under way; the last visitor ends it."""
    st.session_state.pop(ERROR_SLOT, None)
    try:
        get_guide().leave(visitor_id())
    except GpuExplainError as error:
        st.session_state[ERROR_SLOT] = str(error)


def tour_job(experiment: Experiment, params: Params) -> Job | None:
    """Return the active job of the tour if it answers the question of ``params``, with whatever effort.

    A lab page shows it as the run under way, so that each page fills as the tour goes.
    """
    tour = latest_tour()
    part = tour.current if tour is not None and tour.is_active else None
    if part is None or part.experiment != experiment.id or not part.run_id:
        return None
    asked = experiment.tour_params
    effort = {"preset": params.preset, "budget_s": params.budget_s}
    if asked is None or asked.model_copy(update=effort) != params:
        return None
    job = access.get_runner().job(part.run_id)
    return job if job is not None and job.state.is_active else None


def progress_of_tour(tour: Tour) -> tuple[float, str]:
    """Return the share of the whole tour that is done, and what to say beside the bar."""
    part = tour.current
    if part is None:
        return tour.share, "Finishing"
    number = tour.parts.index(part) + 1
    left_s = tour.remaining_s
    left = f"about {left_s:.0f} s left in all" if left_s >= 1 else "finishing"
    return tour.share, f"{number} of {len(tour.parts)} · {_name(part)} · {_doing(part)} · {left}"


def _doing(part: TourPart) -> str:
    job = access.get_runner().job(part.run_id) if part.run_id else None
    if job is None:
        return "getting ready"
    return job.progress.phase if job.progress is not None else progress_of(job)[1]


def say_part(part: TourPart) -> str:
    """Return how an experiment of the tour under way stands, for its card."""
    if part.has_failed:
        return f"Not finished: {part.reason}"
    if part.state is JobState.RUNNING:
        return f"Measuring now: {count_of(part.n_points, 'point')}" if part.n_points else "Measuring now"
    return "" if part.is_over else "Waiting for its turn"


def say_end(tour: Tour) -> tuple[str, bool]:
    """Return how a tour ended, and whether that is bad news."""
    took = format_time(tour.spent_s)
    failed = [part for part in tour.parts if part.has_failed]
    if tour.state is TourState.CANCELLED:
        kept = [part for part in tour.parts if part.n_points]
        what = f"What {join_words([_name(p) for p in kept])} measured is kept." if kept else "Nothing was measured."
        return f"Cancelled after {took} of measuring. {what}", False
    if tour.state is TourState.INTERRUPTED:
        return f"The tour ended early. {tour.reason}", True
    if failed:
        told = " ".join(f"{_name(part)}: {part.reason}" for part in failed)
        return f"Measured in {took}, but {count_of(len(failed), 'experiment')} did not finish. {told}", True
    return f"Measured in {took}.", False


def _name(part: TourPart) -> str:
    return EXPERIMENTS[part.experiment].nav_label if part.experiment in EXPERIMENTS else part.experiment
