"""Every claim of the article is on the list, and every tested one can hold, fail, or be left open by a lab."""

import batch_made
import pytest
from trial_made import CANNOT_TELL, CASES, HELD, NOT_HELD, need_points, no_interval

from gpuexplain.registry import EXPERIMENTS
from gpuexplain.trial.claims import CLAIMS, Kind
from gpuexplain.trial.judge_need import judge_classical, judge_small
from gpuexplain.trial.judge_runs import judge_memory_caps
from gpuexplain.trial.judge_work import judge_articles_stack
from gpuexplain.trial.myths import MYTHS
from gpuexplain.trial.ruling import Outcome

# The article's claims by number: T is tested by a lab, I is illustrated by one.
ILLUSTRATED = {3, 5, 8, 25}
TESTED = set(range(1, 29)) - ILLUSTRATED
BY_NUMBER = {claim.number: claim for claim in CLAIMS}
OUTCOMES = (HELD, NOT_HELD, CANNOT_TELL)


def test_every_claim_is_listed_once_in_order() -> None:
    """1 to 28, each tested or illustrated as the article's list says; six myths beside them."""
    assert [claim.number for claim in CLAIMS] == list(range(1, 29))
    assert {claim.number for claim in CLAIMS if claim.kind is Kind.TESTED} == TESTED
    assert [myth.id for myth in MYTHS] == ["M1", "M2", "M3", "M4", "M5", "M6"]


def test_every_claim_names_labs_that_exist() -> None:
    """So do the tests of every myth."""
    named = {lab for claim in CLAIMS for lab in claim.labs}
    named |= {question.reading.lab for myth in MYTHS for question in myth.questions}
    assert named - set(EXPERIMENTS) == set()
    assert all(claim.labs for claim in CLAIMS)


def test_every_tested_claim_has_points_for_all_three_outcomes() -> None:
    """A claim that no points can refute would be an assertion."""
    assert set(CASES) == TESTED


@pytest.mark.parametrize("number", sorted(CASES))
@pytest.mark.parametrize("position", range(3), ids=[str(outcome) for outcome in OUTCOMES])
def test_a_lab_can_say(number: int, position: int) -> None:
    """From points to findings to the verdict, as in a run."""
    reading = BY_NUMBER[number].reading
    assert reading is not None
    ruling = reading.judge(EXPERIMENTS[reading.lab].find(list(CASES[number][position])))
    assert (ruling.outcome, bool(ruling.told)) == (OUTCOMES[position], True), ruling


@pytest.mark.parametrize("number", sorted(TESTED))
def test_no_judge_needs_a_point(number: int) -> None:
    """A run that measured nothing says so."""
    reading = BY_NUMBER[number].reading
    assert reading is not None
    ruling = reading.judge(EXPERIMENTS[reading.lab].find([]))
    assert ruling.outcome not in (HELD, NOT_HELD)
    assert ruling.told.endswith(".")


def test_a_run_that_left_it_out_tested_nothing() -> None:
    """Another stack, no search for the ceiling: no noise, and no verdict."""
    another = [p.model_copy(update={"shape": (8, *p.shape[1:])}) for p in CASES[4][0]]
    ruling = judge_articles_stack(EXPERIMENTS["by_hand"].find(another))
    assert (ruling.outcome, ruling.told) == (
        Outcome.UNTESTED,
        "Another stack was measured: batch x width x depth = 8 x 1,024 x 50.",
    )
    ruling = judge_memory_caps(EXPERIMENTS["batch"].find(batch_made.cpu_points()))
    assert ruling.outcome is Outcome.UNTESTED
    assert ruling.told.endswith("none was tried that did not fit: switch the search for the ceiling on.")


@pytest.mark.parametrize("number", [1, 4, 7, 15, 16, 17, 19, 26, 28])
def test_medians_without_intervals_decide_nothing(number: int) -> None:
    """One sample of each is no verdict."""
    reading = BY_NUMBER[number].reading
    assert reading is not None
    for points in CASES[number]:
        ruling = reading.judge(EXPERIMENTS[reading.lab].find(no_interval(points)))
        assert ruling.outcome in (CANNOT_TELL, Outcome.UNTESTED), ruling


def test_milliseconds_are_within_minutes_even_without_an_interval() -> None:
    """A few calls of 20 ms are not off by a factor of thousands."""
    assert judge_classical(EXPERIMENTS["need"].find(no_interval(need_points()))).outcome is HELD
    assert judge_small(EXPERIMENTS["need"].find(no_interval(need_points()))).outcome is CANNOT_TELL
