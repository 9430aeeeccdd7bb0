"""The end of the sidebar: this machine, and what it is doing now."""

import html
from collections.abc import Sequence

import streamlit as st

from gpuexplain.engine.jobs import EngineStatus, Job
from gpuexplain.errors import GpuExplainError
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.notices import show_warning
from gpuexplain.ui.pages import lab_page
from gpuexplain.ui.store_notes import tell_store_notes
from gpuexplain.wording.machine_words import tell_machine_card


def show_sidebar() -> None:
    """Write the machine's card at the end of the sidebar."""
    try:
        card = tell_machine_card(access.get_machine())
        status = _with_what_begins(access.get_runner().status(), access.get_runner().active_jobs())
        notes = tell_store_notes(access.get_store(), status, brief=True)
    except GpuExplainError as error:
        with st.sidebar:
            show_warning(error)
        return
    parts = "".join(f"<div>{html.escape(part)}</div>" for part in card.headline.split(" · "))
    st.sidebar.html(
        f'<section class="gx-machine" aria-label="This machine"><div class="gx-eyebrow">This machine</div>'
        f'{parts}<div class="gx-muted">{html.escape(say_now(status))}</div></section>'
    )
    with st.sidebar:
        for note in notes:
            show_warning(note)


def _with_what_begins(status: EngineStatus, jobs: Sequence[Job]) -> EngineStatus:
    """Count a job that was just asked for as running: the visitor has pressed Run already."""
    return status if status.running or not jobs else status.model_copy(update={"running": jobs[0]})


def say_now(status: EngineStatus) -> str:
    """Return what runs now, as one short sentence."""
    if status.read_only:
        return "Shows results only; measuring is off."
    waiting = f", {status.queue_length} waiting" if status.queue_length else ""
    if status.running is not None:
        page = lab_page(status.running.experiment)
        return f"Measuring now: {page.title if page else status.running.experiment}{waiting}"
    if status.worker == "starting":
        return "Getting ready to measure"
    return "Nothing is running"
