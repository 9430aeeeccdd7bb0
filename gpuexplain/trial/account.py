"""How does the trial look as JSON values, and as lines for a terminal?"""

from collections.abc import Iterator
from typing import Any

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.trial.court import Answer, ClaimVerdict, MythVerdict, Trial
from gpuexplain.trial.ruling import MEASURED, Outcome
from gpuexplain.trial.words import (
    SIGNS,
    tell_answer,
    tell_claim_outcome,
    tell_condition,
    tell_published,
    tell_verdict,
)
from gpuexplain.wording.markup import plain


def published_beside(answer: Answer) -> str:
    """Return what others published for a lab that has no answer here; "" where it has one, or they did not."""
    return "" if answer.ruling.outcome in MEASURED else tell_published(EXPERIMENTS[answer.reading.lab])


def trial_json(trial: Trial) -> dict[str, Any]:
    """Return all verdicts with their numbers in words, the runs they rest on, and where they stand."""
    return {
        "myths": [
            {
                "id": verdict.myth.id,
                "myth": verdict.myth.text,
                "instead": plain(verdict.myth.counter),
                "outcome": str(verdict.outcome),
                "tests": [
                    {"asks": plain(question.asks), **_answer_json(answer)} for question, answer in verdict.answers
                ],
            }
            for verdict in trial.myths
        ],
        "claims": [
            {
                "number": verdict.claim.number,
                "claim": plain(verdict.claim.text),
                "kind": str(verdict.claim.kind),
                "labs": list(verdict.claim.labs),
                **(_answer_json(verdict.answer) if verdict.answer is not None else {"outcome": None}),
            }
            for verdict in trial.claims
        ],
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    exhibit = answer.exhibit
    return {
        "lab": answer.reading.lab,
        "where": answer.reading.where,
        "outcome": str(answer.ruling.outcome),
        "told": plain(answer.ruling.told),
        "lack": str(answer.ruling.lack) if answer.ruling.lack else None,
        "run_id": exhibit.run_id if exhibit else None,
        "measured_at": exhibit.measured_at if exhibit else None,
        "settings": dict(exhibit.settings) if exhibit else {},
        "published": plain(published_beside(answer)),
        "provisional": exhibit.is_disturbed if exhibit else None,
    }


def trial_lines(trial: Trial, now_s: float) -> Iterator[str]:
    """Yield the trial as lines, most important first; marks are dropped."""
    for verdict in trial.myths:
        yield from _myth_lines(verdict, now_s)
        yield ""
    yield "The article's claims on this machine"
    for claim in trial.claims:
        yield _claim_line(claim)


def _myth_lines(verdict: MythVerdict, now_s: float) -> Iterator[str]:
    yield f"{verdict.myth.id} “{verdict.myth.text}”"
    yield f"  {SIGNS[verdict.outcome]} {tell_verdict(verdict)}"
    for question, answer in verdict.answers:
        yield f"  {answer.reading.lab}: {plain(question.asks)} {plain(tell_answer(answer))}{_condition(answer, now_s)}"
        if published := published_beside(answer):
            yield f"    {plain(published)}"


def _condition(answer: Answer, now_s: float) -> str:
    # When it was measured; or what to do, where that would help.
    if answer.exhibit is not None:
        return f" {tell_condition(answer.exhibit, now_s)}"
    return f" Run it: `run {answer.reading.lab}`." if answer.ruling.outcome is Outcome.UNTESTED else ""


def _claim_line(verdict: ClaimVerdict) -> str:
    sign = SIGNS[verdict.answer.ruling.outcome] if verdict.answer is not None else " "
    outcome = tell_claim_outcome(verdict.answer)
    return f"{verdict.claim.number:>3} {sign} {outcome}: {plain(verdict.claim.text)} ({verdict.claim.labs[0]})"
