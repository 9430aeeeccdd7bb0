"""What is said of verdicts, conditions and what others published."""

import matmul_made
import pytest
import scaling_made
from trial_made import NO_GPU, NOW_S, WITH_GPU, exhibit, exhibits

from gpuexplain.model import Flag
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.trial.account import trial_json, trial_lines
from gpuexplain.trial.court import hold_trial, weigh
from gpuexplain.trial.ruling import Outcome
from gpuexplain.trial.words import (
    CLAIM_OUTCOMES,
    MYTH_OUTCOMES,
    SIGNS,
    tell_claim_outcome,
    tell_condition,
    tell_published,
    tell_summary,
    tell_verdict,
)
from gpuexplain.units import NBSP

ALL = (*Outcome,)
SCALING = scaling_made.steps(0.1, 0.06)


def test_every_outcome_has_words_and_a_sign_of_its_own() -> None:
    """No verdict can be mistaken for another, with colours or without."""
    for table in (MYTH_OUTCOMES, CLAIM_OUTCOMES, SIGNS):
        assert set(table) == set(Outcome)
        assert len(set(table.values())) == len(Outcome)


def test_the_verdict_on_a_myth_says_what_is_missing() -> None:
    """A GPU, or a second device."""
    verdicts = {v.myth.id: tell_verdict(v) for v in hold_trial({}, matmul_made.make_machine(threads=1)).myths}
    assert verdicts["M1"] == "Cannot be tested on this machine (it takes a GPU)"
    assert verdicts["M4"] == "Cannot be tested on this machine (it takes two devices)"
    assert verdicts["M3"] == "Not tested yet"


def test_the_verdict_on_a_claim() -> None:
    """Illustrated ones have none."""
    verdicts = {v.claim.number: tell_claim_outcome(v.answer) for v in hold_trial({}, NO_GPU).claims}
    assert verdicts[3] == "Shown, not measured"
    assert verdicts[7] == "Cannot be tested on this machine (it takes a GPU)"
    assert verdicts[1] == "Not tested yet"


@pytest.mark.parametrize(
    ("found", "machine", "told"),
    [
        ({}, WITH_GPU, "Of six myths five are not tested yet and one cannot be tested here."),
        ({}, NO_GPU, "Of six myths four are not tested yet and two cannot be tested here."),
        (
            exhibits(scaling=SCALING),
            NO_GPU,
            "Of six myths one does not hold on this machine, three are not tested yet and two cannot be tested here.",
        ),
    ],
    ids=["GPU", "no GPU", "one run"],
)
def test_the_summary_counts_the_verdicts(found: dict, machine: object, told: str) -> None:
    """One sentence with its numbers."""
    assert tell_summary(hold_trial(found, machine)) == told  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "Measured 10 min ago."),
        ({"measured_at": None}, "Measured."),
        ({"settings": (("dtype", "bf16"),)}, "Measured 10 min ago, with dtype = bf16."),
        ({"state": RunState.CANCELLED}, "Measured 10 min ago, incomplete (cancelled)."),
        (
            {"n_timed": 8, "n_disturbed": 4, "flags": (Flag.UNDER_LOAD,)},
            "Measured 10 min ago, 4 of its 8 points beside other work.",
        ),
        (
            {"n_timed": 8, "n_disturbed": 5, "flags": (Flag.UNDER_LOAD, Flag.DRIFTING)},
            "Measured 10 min ago, 5 of its 8 points beside other work and drifting: provisional.",
        ),
    ],
    ids=["clean", "no time", "settings", "cancelled", "half disturbed", "provisional"],
)
def test_the_condition_of_a_run(changes: dict[str, object], told: str) -> None:
    """When, with which settings, and what speaks against it."""
    assert tell_condition(exhibit("scaling", SCALING, **changes), NOW_S).replace(NBSP, " ") == told


def test_what_others_published_is_called_that() -> None:
    """With its part and its source, and nothing where nothing was published."""
    told = tell_published(EXPERIMENTS["transfer"])
    assert told.startswith("Published, not of this machine: A published copy from pinned memory to the ")
    assert "press Run" not in told
    assert " Source: " in told
    assert tell_published(EXPERIMENTS["stopwatch"]) == ""


@pytest.mark.parametrize("first", ALL, ids=str)
def test_weighing_knows_every_outcome(first: Outcome) -> None:
    """One test decides alone."""
    assert weigh([first]) is first


def test_one_case_in_which_it_fails_is_enough_and_an_open_one_leaves_it_open() -> None:
    """In this order."""
    assert weigh(list(ALL)) is Outcome.NOT_HELD
    assert weigh([Outcome.HELD, Outcome.CANNOT_TELL, Outcome.UNTESTED]) is Outcome.CANNOT_TELL
    assert weigh([Outcome.UNTESTED, Outcome.HELD]) is Outcome.HELD
    assert weigh([Outcome.UNTESTABLE, Outcome.UNTESTED]) is Outcome.UNTESTED


def test_the_lines_of_a_terminal() -> None:
    """Verdict first, then the test with its numbers and its condition."""
    lines = [line.replace(NBSP, " ") for line in trial_lines(hold_trial(exhibits(scaling=SCALING), NO_GPU), NOW_S)]
    at = lines.index("M4 “Two GPUs are twice as fast as one.”")
    assert lines[at + 1] == "  ✗ Myth does not hold here"
    assert lines[at + 2] == (
        "  scaling: Does a training step shared by all devices reach the ideal speed-up? Two processes on this CPU train "
        "1.67 × (1.63 to 1.70) as fast as one, 83 % of the ideal. Processes stand in for GPUs here: they share their "
        "memory and its bandwidth. Measured 10 min ago."
    )
    assert " 26 ✓ Held here: Several devices train faster than one. (scaling)" in lines


def test_the_values_of_json() -> None:
    """The outcome by its published name, and the run it rests on."""
    shown = trial_json(hold_trial(exhibits(scaling=SCALING), NO_GPU))
    fourth = shown["myths"][3]
    assert (fourth["id"], fourth["outcome"]) == ("M4", "not_held")
    assert (fourth["tests"][0]["run_id"], fourth["tests"][0]["lab"]) == ("run-scaling", "scaling")
    assert [claim["number"] for claim in shown["claims"]] == list(range(1, 29))
    assert shown["claims"][2]["outcome"] is None
    assert shown["claims"][25]["outcome"] == "held"
