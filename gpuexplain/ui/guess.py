"""Guess first: a visitor places a guess and is told by what factor it was off."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from gpuexplain.engine.jobs import Job
from gpuexplain.experiments.contract import Experiment, Question
from gpuexplain.model import Source
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.result import Result, is_same_question
from gpuexplain.units import format_significant

# A guess this close to the measured value counts as right: sizes are measured in powers of two.
CLOSE_ENOUGH = 1.25


def show_guess(experiment: Experiment, findings: Any, shown: Result, job: Job | None) -> None:
    """Ask for a guess before anything is measured; judge it afterwards."""
    question = experiment.question
    off = f"{experiment.id}:guess_off"
    if question is None or st.session_state.get(off):
        return
    slot = f"{experiment.id}:guess"
    guess = st.session_state.get(slot)
    is_ended = job is None or not job.state.is_active
    if shown.source is Source.MEASURED:
        # A guess about another format or model says nothing of this result.
        is_about_this = is_same_question(st.session_state.get(_about(slot), {}), shown.params)
        if guess is not None and is_ended and is_about_this:
            st.success(judge(question, float(guess), question.find_answer(findings)), icon=":material/psychology:")
        return
    _ask(question, slot, off, guess, shown.params)


def _about(slot: str) -> str:
    """Return where this session keeps the params that its guess is about."""
    return f"{slot}_params"


def _ask(question: Question, slot: str, off: str, guess: float | None, params: Mapping[str, Any]) -> None:
    slider = f"{slot}_slider"
    with st.container(border=True, key="lab-guess"):
        st.markdown(f"**Guess first.** {question.ask(len(access.get_machine().devices) > 1)}")
        st.select_slider(
            "Your guess",
            question.options,
            value=guess or question.options[len(question.options) // 2],
            format_func=question.say,
            key=slider,
            label_visibility="collapsed",
        )
        with st.container(horizontal=True):
            st.button(
                "Keep this guess", key=f"{slot}_keep", type="tertiary", on_click=_keep, args=(slot, slider, params)
            )
            st.button("No guessing", key=f"{slot}_off", type="tertiary", on_click=_switch_off, args=(off,))
        is_about_this = is_same_question(st.session_state.get(_about(slot), {}), params)
        if st.session_state.get(slot) is not None and is_about_this:
            st.caption(f"Your guess: {question.say(st.session_state[slot])}. Press Run to see.")


def _keep(slot: str, slider: str, params: Mapping[str, Any]) -> None:
    st.session_state[slot] = st.session_state[slider]
    st.session_state[_about(slot)] = dict(params)


def _switch_off(off: str) -> None:
    st.session_state[off] = True


def judge(question: Question, guess: float, answer: float | None) -> str:
    """Return how far a guess was off, as a factor."""
    said = f"You guessed {question.say(guess)}"
    if answer is None:
        return f"{said}; this run found no clear answer."
    found = f"measured: {question.say(answer)}"
    factor = max(guess / answer, answer / guess)
    if factor <= CLOSE_ENOUGH:
        return f"{said}; {found}. Spot on."
    side = "high" if guess > answer else "low"
    return f"{said}; {found}. Too {side} by a factor of {format_significant(factor, 2)}."
