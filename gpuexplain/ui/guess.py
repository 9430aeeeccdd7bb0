"""Guess first: a visitor places a guess and is told by what factor it was off."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from gpuexplain.engine.jobs import Job
from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.conclude import MatmulFindings
from gpuexplain.experiments.matmul.spec import (
    CPU,
    CPU_ONE_THREAD,
    EXPERIMENT_ID,
    GPU_CALL,
    LARGEST_SIDE,
    SMALLEST_SIDE,
)
from gpuexplain.model import Source
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.result import Result
from gpuexplain.units import format_count, format_significant

# A guess this close to the measured value counts as right: sizes are measured in powers of two.
CLOSE_ENOUGH = 1.25


@dataclass(frozen=True, slots=True)
class Question:
    """What to guess, and how to read the measured answer."""

    text: Callable[[], str]
    options: tuple[int, ...]
    find_answer: Callable[[Any], float | None]


def _matmul_text() -> str:
    has_gpu = len(access.get_machine().devices) > 1
    who = "the GPU beat the CPU" if has_gpu else "all CPU threads beat one"
    return f"From which n will {who}?"


def _matmul_answer(findings: MatmulFindings) -> float | None:
    """Return the measured crossover of this machine's pair, None while there is none."""
    for pair in ((CPU, GPU_CALL), (CPU_ONE_THREAD, CPU)):
        for found in findings.pairs:
            sides = (found.baseline, found.challenger)
            if tuple(s.series for s in sides) == pair and all(s.is_measured for s in sides):
                return found.crossover.estimate or found.crossover.high
    return None


_SIDES = tuple(2**e for e in range(SMALLEST_SIDE.bit_length() - 1, LARGEST_SIDE.bit_length()))
QUESTIONS = {EXPERIMENT_ID: Question(_matmul_text, _SIDES, _matmul_answer)}


def show_guess(experiment: Experiment, findings: Any, shown: Result, job: Job | None) -> None:
    """Ask for a guess before anything is measured; judge it afterwards."""
    question = QUESTIONS.get(experiment.id)
    off = f"{experiment.id}:guess_off"
    if question is None or st.session_state.get(off):
        return
    slot = f"{experiment.id}:guess"
    guess = st.session_state.get(slot)
    is_ended = job is None or not job.state.is_active
    if shown.source is Source.MEASURED:
        if guess is not None and is_ended:
            st.success(judge(int(guess), question.find_answer(findings)), icon=":material/psychology:")
        return
    _ask(question, slot, off, guess)


def _ask(question: Question, slot: str, off: str, guess: int | None) -> None:
    slider = f"{slot}_slider"
    with st.container(border=True, key="lab-guess"):
        st.markdown(f"**Guess first.** {question.text()}")
        st.select_slider(
            "Your guess for n",
            question.options,
            value=guess or question.options[len(question.options) // 2],
            format_func=format_count,
            key=slider,
            label_visibility="collapsed",
        )
        with st.container(horizontal=True):
            st.button("Keep this guess", key=f"{slot}_keep", type="tertiary", on_click=_keep, args=(slot, slider))
            st.button("No guessing", key=f"{slot}_off", type="tertiary", on_click=_switch_off, args=(off,))
        if st.session_state.get(slot) is not None:
            st.caption(f"Your guess: n = {format_count(st.session_state[slot])}. Press Run to see.")


def _keep(slot: str, slider: str) -> None:
    st.session_state[slot] = st.session_state[slider]


def _switch_off(off: str) -> None:
    st.session_state[off] = True


def judge(guess: int, answer: float | None) -> str:
    """Return how far a guess was off, as a factor."""
    said = f"You guessed n = {format_count(guess)}"
    if answer is None:
        return f"{said}; this run found no clear change-over."
    found = f"measured: n = {format_count(round(answer))}"
    factor = max(guess / answer, answer / guess)
    if factor <= CLOSE_ENOUGH:
        return f"{said}; {found}. Spot on."
    side = "high" if guess > answer else "low"
    return f"{said}; {found}. Too {side} by a factor of {format_significant(factor, 2)}."
