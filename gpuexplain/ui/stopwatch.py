"""The stopwatch trap's switches: make a mistake, and see what the clock shows then."""

import html
from collections.abc import Callable

import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.experiments.stopwatch.choice import (
    AT_FIRST,
    Shown,
    mistakes_on,
    show_mistakes,
    tell_absent,
    tell_choice,
    tell_together,
)
from gpuexplain.experiments.stopwatch.conclude import StopwatchFindings
from gpuexplain.experiments.stopwatch.spec import MISTAKES
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.ui.rich_text import to_html
from gpuexplain.wording.markup import capitalise

_HEADINGS = ("Mistake", "The clock shows", "Right is", "Factor", "Why")


def make_mistakes_panel(params: Params, machine: Machine) -> Callable[[StopwatchFindings], None]:
    """Write a switch for every mistake of the device, and return what writes what the clock shows with them."""
    try:
        device = resolve_device(params, machine)
    except GpuExplainError:  # said above, beside the controls
        device = CPU
    st.html('<h2 class="gx-chart-title">Make a mistake</h2>')
    with st.container(horizontal=True, key="mistakes"):
        chosen = [m for m in mistakes_on(device, machine.cpu.usable_threads) if _switch(m)]

    def show_choice(findings: StopwatchFindings) -> None:
        st.html(_choice_html(findings, chosen))

    return show_choice


def _switch(mistake: str) -> bool:
    name = capitalise(MISTAKES[mistake].name)
    return st.toggle(name, value=mistake == AT_FIRST, key=f"make_{mistake}", bind="query-params")


def _choice_html(findings: StopwatchFindings, chosen: list[str]) -> str:
    rows = "".join(_row_html(shown) for shown in show_mistakes(findings, chosen))
    head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    table = f'<table class="gx-choice"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>' if rows else ""
    notes = "".join(
        f'<p class="gx-muted">{to_html(t)}</p>' for t in (tell_together(chosen), tell_absent(findings)) if t
    )
    sentence = to_html(tell_choice(findings, chosen))
    body = f"<p><strong>{sentence}</strong></p>{table}{notes}"
    return f'<section class="gx-words gx-panel" aria-live="polite">{body}</section>'


def _row_html(shown: Shown) -> str:
    cells = (shown.wrong or "not measured", shown.right, shown.factor, shown.why)
    marks = ("gx-warning" if shown.is_off else "", "", "gx-warning" if shown.is_off else "", "")
    row = "".join(
        f'<td data-label="{heading}"><span class="{mark}">{html.escape(cell)}</span></td>'
        for heading, cell, mark in zip(_HEADINGS[1:], cells, marks, strict=True)
    )
    return f'<tr><th scope="row">{html.escape(shown.name)}</th>{row}</tr>'
