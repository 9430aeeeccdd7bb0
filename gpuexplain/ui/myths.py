"""Myths on trial: six misconceptions and the article's claims, each with its verdict on this machine."""

import html
import time
from collections.abc import Mapping
from functools import cache, lru_cache

import streamlit as st

from gpuexplain.engine.jobs import Job
from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunSummary
from gpuexplain.trial.court import Answer, ClaimVerdict, MythVerdict, Trial, hold_trial
from gpuexplain.trial.evidence import Exhibit, exhibit_of, gather
from gpuexplain.trial.ruling import MEASURED
from gpuexplain.trial.words import (
    SIGNS,
    tell_answer,
    tell_claim_outcome,
    tell_condition,
    tell_published,
    tell_summary,
    tell_verdict,
)
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.head import show_head
from gpuexplain.ui.myths_style import MYTHS_RULES
from gpuexplain.ui.next_steps import show_next
from gpuexplain.ui.notices import show_error
from gpuexplain.ui.pages import MYTHS
from gpuexplain.ui.rich_text import to_html, to_markdown
from gpuexplain.ui.session import tab_id
from gpuexplain.ui.shared_card import show_neighbours
from gpuexplain.ui.trial_actions import DEVICE, show_actions
from gpuexplain.ui.viewers import VIEWERS, poll_interval_s

_VIEWED = "trial"


def show_myths() -> None:
    """Write the whole page."""
    show_head(f"{MYTHS.group} · {MYTHS.title}", "Which of these myths hold here?")
    st.html(f"<style>{MYTHS_RULES}</style>")
    try:
        machine = access.get_machine()
        trial = hold_trial(_gather(machine), machine)
        with st.container(key="myths-answer"):
            st.markdown(to_markdown(tell_summary(trial)))
        st.markdown("What is often believed, put to the test by the labs, and what this machine says to it.")
        if access.get_runner().status().read_only:
            st.caption("Measuring is off here: this installation shows results only.")
        if not _active_jobs():
            show_neighbours(DEVICE, machine)
        _show_live(trial, machine)
    except GpuExplainError as error:
        show_error(error)
        return
    show_next(MYTHS.name)


# -- what there is to judge by ------------------------------------------------------------------


def _gather(machine: Machine) -> dict[str, Exhibit]:
    return gather(tuple(EXPERIMENTS.values()), machine, access.get_store().list_runs, _exhibit)


def _exhibit(experiment: Experiment, run: RunSummary) -> Exhibit:
    return _known_exhibit(experiment.id, run.id, run.n_points, run.finished_at)


@lru_cache(maxsize=32)  # a page shows one of each lab
def _known_exhibit(lab: str, run_id: str, n_points: int, finished_at: float | None) -> Exhibit:
    """Conclude once per state of a run, whoever looks."""
    del n_points, finished_at  # a resumed run keeps its id and grows
    return exhibit_of(EXPERIMENTS[lab], access.get_store().load_run(run_id))


# -- the part that moves ------------------------------------------------------------------------


def _active_jobs() -> dict[str, Job]:
    """Return the jobs under way, by the lab they are of."""
    return {job.experiment: job for job in reversed(access.get_runner().active_jobs())}


def _show_live(trial: Trial, machine: Machine) -> None:
    """Write myths and claims, and poll while a run of any lab is under way."""
    known = _ids(_active_jobs())
    viewers = VIEWERS.note(_VIEWED, tab_id()) if known else 0

    @st.fragment(run_every=poll_interval_s(viewers) if known else None)
    def live() -> None:
        jobs = _active_jobs()
        # A run began or ended: what it found changes the rest of the page.
        if _ids(jobs) != known:
            st.rerun()
        if known:
            VIEWERS.note(_VIEWED, tab_id())
        for verdict in trial.myths:
            _show_myth(verdict, machine, jobs)
        _show_claims(trial.claims, machine, jobs)

    live()


def _ids(jobs: Mapping[str, Job]) -> frozenset[str]:
    return frozenset(job.run_id for job in jobs.values())


# -- the myths ----------------------------------------------------------------------------------


def _show_myth(verdict: MythVerdict, machine: Machine, jobs: Mapping[str, Job]) -> None:
    myth = verdict.myth
    with st.container(border=True, key=f"myth-{myth.id}"):
        st.html(
            f'<div class="gx-myth"><h2><span>{myth.id}</span>“{html.escape(myth.text)}”</h2>'
            f'<p class="gx-verdict gx-verdict-{verdict.outcome}"><span aria-hidden="true">{SIGNS[verdict.outcome]}'
            f"</span> {html.escape(tell_verdict(verdict))}</p>"
            f'<p><span class="gx-muted">The article:</span> {to_html(myth.counter)}</p></div>'
        )
        for question, answer in verdict.answers:
            experiment = EXPERIMENTS[answer.reading.lab]
            st.html(f'<div class="gx-test">{_test_html(question.asks, answer, experiment)}</div>')
            show_actions(experiment, answer, machine, jobs.get(experiment.id), f"{myth.id}-{experiment.id}")


def _test_html(asks: str, answer: Answer, experiment: Experiment) -> str:
    notes = [tell_condition(answer.exhibit, time.time())] if answer.exhibit is not None else []
    # Where this machine has no answer, others may have published one.
    notes += [_published(experiment.id)] if answer.ruling.outcome not in MEASURED else []
    told = "".join(f'<p class="gx-note">{to_html(note)}</p>' for note in notes if note)
    return f'<p class="gx-asks">{to_html(asks)}</p><p>{to_html(tell_answer(answer))}</p>{told}'


@cache
def _published(lab: str) -> str:
    return tell_published(EXPERIMENTS[lab])


# -- the claims ---------------------------------------------------------------------------------


def _show_claims(claims: tuple[ClaimVerdict, ...], machine: Machine, jobs: Mapping[str, Job]) -> None:
    st.header("The article's claims on this machine", anchor=False)
    st.markdown("Each claim beside the lab that tests it. What is illustrated is shown there, and needs no verdict.")
    for experiment in EXPERIMENTS.values():
        own = [verdict for verdict in claims if verdict.claim.labs[0] == experiment.id]
        answers = [verdict.answer for verdict in own if verdict.answer is not None]
        if not own:
            continue
        with st.container(key=f"claims-{experiment.id}", gap=None):
            # What could be tested here decides which run is offered.
            answer = min(answers, key=_offers_most, default=None)
            if answer is not None:
                place = f"claims-{experiment.id}"
                show_actions(experiment, answer, machine, jobs.get(experiment.id), place, is_main=False)
            st.html(f'<ul class="gx-claims">{"".join(map(_claim_html, own))}{_condition_html(answers)}</ul>')


def _offers_most(answer: Answer) -> int:
    order = ("not_tested", "cannot_tell", "held", "not_held", "cannot_be_tested")
    return order.index(answer.ruling.outcome)


def _claim_html(verdict: ClaimVerdict) -> str:
    claim, answer = verdict.claim, verdict.answer
    sign = f'<span aria-hidden="true">{SIGNS[answer.ruling.outcome]}</span> ' if answer is not None else ""
    told = f"<br>{to_html(answer.ruling.told)}" if answer is not None and answer.ruling.told else ""
    stance = f'<br><span class="gx-note">{to_html(claim.stance)}</span>' if claim.stance else ""
    return (
        f'<li><span class="gx-no">{claim.number}</span><span>{to_html(claim.text)}<br>'
        f'<span class="gx-outcome">{sign}{html.escape(tell_claim_outcome(answer))}</span>{told}{stance}</span></li>'
    )


def _condition_html(answers: list[Answer]) -> str:
    exhibit = next((answer.exhibit for answer in answers if answer.exhibit is not None), None)
    if exhibit is None:
        return ""
    told = html.escape(tell_condition(exhibit, time.time()))
    return f'<li><span></span><span class="gx-note">{told}</span></li>'
