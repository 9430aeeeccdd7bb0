"""Does your own work need a GPU? Layer sizes in; times, fit, break-even and what they rest on out."""

import time

import streamlit as st

from gpuexplain.adviser.evidence import Missing, gather
from gpuexplain.adviser.params import USUAL_PART, AdviceParams
from gpuexplain.adviser.words import AdviceWords, tell_advice
from gpuexplain.analysis.advice import advise
from gpuexplain.engine.jobs import Job
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.by_hand.spec import ByHandParams
from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.devices import CPU
from gpuexplain.hardware.machine import Machine
from gpuexplain.hardware.reference import load_reference_gpus, peak_flops
from gpuexplain.model import Dtype
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.pages import lab_page
from gpuexplain.ui.result import load_points
from gpuexplain.ui.rich_text import to_html, to_markdown
from gpuexplain.ui.run_panel import error_slot, show_ending, show_progress, start_run, watched_slot
from gpuexplain.ui.shared_card import needs_agreement
from gpuexplain.ui.url_params import read_params
from gpuexplain.wording.short import format_budget

_POLL_S = 1.0
_WIDTH_PX = 140  # two beside each other on a phone
_NUMBERS = ("width", "depth", "batch", "passes", "data_mib")


def show_adviser() -> None:
    """Write the adviser: its controls, what it says, and the run that tests it."""
    with st.container(border=True, key="adviser"):
        st.html(
            '<div class="gx-words"><h2>Your own network: would a GPU pay?</h2>'
            "<p>A stack of layers, predicted from what was measured on this machine. Nothing is measured until you "
            "press <em>Test mine</em>.</p></div>"
        )
        try:
            machine = access.get_machine()
            params = _ask(machine)
            basis = gather(params, access.get_store(), machine, load_points)
        except GpuExplainError as error:
            show_error(error)
            return
        advice = advise(params.stack, basis.cpu, basis.gpu, basis.link)
        words = tell_advice(advice, basis, time.time())
        _show_words(words)
        _show_test(params.test_params, machine, words)


def _ask(machine: Machine) -> AdviceParams:
    """Write the controls, bound to the address, and return what they ask for."""
    given: dict[str, object] = {}
    with st.container(horizontal=True, vertical_alignment="bottom", key="adviser-row"):
        for name in _NUMBERS:
            given[name] = _number(name)
        if not [device for device in machine.devices if device != CPU]:
            given["part"] = _part()
    reading = read_params(AdviceParams, given)
    for problem in reading.problems:
        show_error(problem)
    return reading.params


def _number(name: str) -> float | None:
    field = AdviceParams.model_fields[name]
    limits = {type(m).__name__: m for m in field.metadata}
    number = float if name == "data_mib" else int
    return st.number_input(
        field.title or name,
        min_value=number(limits["Ge"].ge),
        max_value=number(limits["Le"].le),
        value=number(field.default),
        step=number(1),
        help=field.description,
        key=f"ask_{name}",
        bind="query-params",
        width=_WIDTH_PX,
    )


def _part() -> str | None:
    names = [part.name for part in load_reference_gpus() if peak_flops(part, Dtype.FP32)]
    return st.selectbox(
        "GPU to compare with",
        names,
        index=names.index(USUAL_PART),
        help="No GPU works here: its side is a bound from the data sheet of this part.",
        key="ask_part",
        bind="query-params",
        width=320,
    )


def _show_words(words: AdviceWords) -> None:
    st.markdown(f"**{to_markdown(words.answer)}**")
    st.html(f'<div class="gx-words">{_list(words.facts)}</div>')
    if words.measured:
        st.html(f'<div class="gx-words"><h2>Predicted and measured</h2>{_list(words.measured)}</div>')
    if words.rests_on:
        st.html(f'<div class="gx-words"><h2>What this rests on</h2>{_list(words.rests_on)}</div>')
    if words.missing:
        st.html(f'<div class="gx-words"><h2>What would make it surer</h2>{_list([t for _, t in words.missing])}</div>')
        with st.container(horizontal=True, key="adviser-missing"):
            for missing in {m.experiment: m for m, _ in words.missing}.values():
                _show_link(missing)


def _list(lines: object) -> str:
    assert isinstance(lines, list | tuple)
    return f"<ul>{''.join(f'<li>{to_html(line)}</li>' for line in lines)}</ul>"


def _show_link(missing: Missing) -> None:
    page = lab_page(missing.experiment)
    if page is not None:
        st.page_link(
            page.script,
            label=f"Measure it: {page.title}",
            icon=page.icon,
            query_params={"device": missing.device},
        )


# -- test mine --------------------------------------------------------------------------------------


def _show_test(params: ByHandParams, machine: Machine, words: AdviceWords) -> None:
    """Write the button that measures the stack, and how that goes; the result is told with the prediction."""
    experiment = EXPERIMENTS["by_hand"]
    job = _find_job(experiment, params)
    is_active = job is not None and job.state.is_active
    blocked = _why_blocked(experiment, params, machine)
    with st.container(horizontal=True, vertical_alignment="center", key="adviser-test"):
        st.button(
            "Test mine again" if words.measured else "Test mine",
            key="test_mine",
            icon=":material/science:",
            disabled=is_active or bool(blocked),
            help=blocked or None,
            on_click=_start,
            args=(experiment, params, machine),
        )
        st.caption(blocked or f"Measures this stack, about {format_budget(params.sweep_budget_s)}.")
    refused = st.session_state.get(error_slot(experiment))
    if refused:
        show_error(refused)
    if job is None:
        return
    if is_active:
        _follow(job.run_id)
    else:
        show_ending(job)


def _start(experiment: Experiment, params: ByHandParams, machine: Machine) -> None:
    start_run(experiment, params, machine, fresh=True)


def _why_blocked(experiment: Experiment, params: ByHandParams, machine: Machine) -> str:
    if access.get_runner().status().read_only:
        return "Nothing can be measured here: this server only shows."
    if needs_agreement(params.device, machine):
        return "Another process uses the GPU: agree above to measure beside it."
    try:
        experiment.plan_cases(params, machine)
    except GpuExplainError as error:
        return str(error)
    return ""


def _find_job(experiment: Experiment, params: ByHandParams) -> Job | None:
    """Return the run of this very stack that this session looks at."""
    run_id = st.session_state.get(watched_slot(experiment))
    job = access.get_runner().job(str(run_id)) if run_id else None
    return job if job is not None and job.params == params.model_dump(mode="json") else None


def _follow(run_id: str) -> None:
    """Show how far the run is until it has ended; then the whole page tells what it found."""

    @st.fragment(run_every=_POLL_S)
    def follow() -> None:
        job = access.get_runner().job(run_id)
        if job is None or not job.state.is_active:
            st.rerun()
        else:
            show_progress(job)

    follow()
