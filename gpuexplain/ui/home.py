"""Home: this machine in one card, the latest answer, and the first measurement one click away."""

import html

import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Preset, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.explanation import show_answer
from gpuexplain.ui.figures import draw
from gpuexplain.ui.head import show_head
from gpuexplain.ui.pages import METHOD, lab_page
from gpuexplain.ui.result import find_result
from gpuexplain.ui.rich_text import to_html
from gpuexplain.ui.run_panel import error_slot, start_run
from gpuexplain.ui.session import current_theme
from gpuexplain.wording.machine_words import tell_machine_card
from gpuexplain.wording.short import format_budget


def show_home() -> None:
    """Write the whole page."""
    show_head("GPU Explain", "What does a GPU really do for deep learning?")
    st.markdown("Measured on the machine in front of you, every sample kept.")
    try:
        machine = access.get_machine()
        _show_start(machine)
        left, right = st.columns([6, 5], gap="medium")
        with left:
            _show_machine(machine)
        with right:
            for experiment in EXPERIMENTS.values():
                _show_latest(experiment, machine)
    except GpuExplainError as error:
        st.error(str(error))


def _show_start(machine: Machine) -> None:
    """Write the one primary button: it starts the first experiment and opens its page."""
    experiment = next(iter(EXPERIMENTS.values()))
    params = experiment.params_type(preset=Preset.QUICK)
    with st.container(horizontal=True, vertical_alignment="center"):
        read_only = access.get_runner().status().read_only
        pressed = st.button(
            "Measure this machine",
            key="run",
            type="primary",
            icon=":material/play_arrow:",
            disabled=read_only,
        )
        took = format_budget(params.sweep_budget_s)
        st.html(f'<div class="gx-visible-cost">{html.escape(experiment.nav_label)}, about {took}.</div>')
    page = lab_page(experiment.id)
    if pressed and page is not None and start_run(experiment, params, machine):
        st.switch_page(page.script, query_params={"preset": params.preset.value})
    refused = st.session_state.get(error_slot(experiment))
    if refused:
        st.error(str(refused))


def _show_machine(machine: Machine) -> None:
    card = tell_machine_card(machine)
    with st.container(border=True, key="home-machine"):
        st.subheader("This machine", anchor=False)
        pairs = (line.split(": ", 1) for line in card.lines)
        rows = "".join(
            f"<dt>{html.escape(parts[0])}</dt><dd>{html.escape(parts[1])}</dd>"
            if len(parts) == 2
            else f"<dt>Note</dt><dd>{html.escape(parts[0])}</dd>"
            for parts in pairs
        )
        st.html(f'<dl class="gx-facts">{rows}</dl>')
        if card.problem is not None:
            st.info(f"**What would help:** {card.problem.remedy}", icon=":material/lightbulb:")


def _show_latest(experiment: Experiment, machine: Machine) -> None:
    page = lab_page(experiment.id)
    result = find_result(experiment, experiment.params_type(), machine)
    with st.container(border=True, key=f"home-{experiment.id}"):
        st.subheader(experiment.title, anchor=False)
        if result.points:
            with st.container(key=f"{experiment.id}-answer"):
                show_answer(draw(experiment, result, (), current_theme()).explanation, result.badges)
        st.html(f'<p class="gx-muted">{to_html(experiment.teaser)}</p>')
        if page is not None:
            label = "See the chart" if result.source is Source.MEASURED else "Open and measure"
            st.page_link(page.script, label=label, icon=page.icon)
        st.page_link(METHOD.script, label=METHOD.title, icon=METHOD.icon)
