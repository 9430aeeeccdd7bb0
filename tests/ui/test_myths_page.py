"""Myths on trial: every verdict is said, every test that can be run here is offered, and a run shows how far it is."""

import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.experiments.scaling import spec
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Clock, Dtype, Flag, Point, Preset
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]


def _steps(flags: tuple[Flag, ...] = ()) -> list[Point]:
    return [
        Point(
            experiment="scaling", series=spec.STRONG, x=float(count), shape=(count, 256, 512, 4), dtype=Dtype.FP32,
            device="cpu", clock=Clock.CALL, threads=1, median_s=time_s, ci_low_s=0.99 * time_s,
            ci_high_s=1.01 * time_s, n_samples=20, flags=flags,
        )
        for count, time_s in ((1, 0.1), (2, 0.06))
    ]  # fmt: skip


@pytest.fixture
def keep_scaling(store: RunStore, machine: Machine) -> Callable[..., str]:
    """Return a function that stores a run of two processes."""

    def keep(points: list[Point]) -> str:
        run_id = store.create_run(
            experiment="scaling",
            measuring_version=1,
            key="k",
            params=EXPERIMENTS["scaling"].params_type().model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, RunState.DONE, "")
        return run_id

    return keep


def _shown(page: AppTest) -> str:
    return html_of(page).replace(NBSP, " ")


def _card(page: AppTest, myth_id: str) -> str:
    """Return the HTML of one myth's head."""
    return next(e.proto.body for e in page.get("html") if f"<h2><span>{myth_id}</span>" in e.proto.body)


def test_with_an_empty_store_every_myth_says_what_can_be_done(open_page: Open) -> None:
    """Tested here or not: without a GPU two of six cannot be."""
    page = open_page("myths")
    assert not page.exception
    assert "Of six myths four are not tested yet and two cannot be tested here." in _shown(page)
    assert "Cannot be tested on this machine (it takes a GPU)" in _card(page, "M1")
    assert "Cannot be tested on this machine (it takes a GPU)" in _card(page, "M2")
    for myth_id in ("M3", "M4", "M5", "M6"):
        assert "</span> Not tested yet</p>" in _card(page, myth_id)


def test_what_others_published_stands_in_labelled(open_page: Open) -> None:
    """Where this machine has no answer."""
    shown = _shown(open_page("myths"))
    assert "Published, not of this machine: " in shown
    assert " Source: " in shown


def test_a_test_that_would_decide_nothing_is_not_offered(open_page: Open) -> None:
    """The button is there for what can be tested here only."""
    keys = {button.key for button in open_page("myths").button}
    assert "run-M4-scaling" in keys
    assert "run-M1-matmul" not in keys
    assert "run-M2-transfer" not in keys


def test_the_button_runs_the_lab_shortly_and_shows_how_far_it_is(open_page: Open, runner: FakeRunner) -> None:
    """The run is the lab's own: its page shows it, too."""
    page = open_page("myths")
    assert page.button(key="run-M4-scaling").label == f"Run, about 5{NBSP}s"
    page.button(key="run-M4-scaling").click().run()
    page.run()
    assert not page.exception
    (params, fresh), *others = runner.submitted
    assert (params, fresh, others) == (EXPERIMENTS["scaling"].params_type(preset=Preset.QUICK), False, [])
    assert "cancel-M4-scaling" in {button.key for button in page.button}
    assert any("warming up n = 64" in bar.proto.text for bar in page.get("progress"))


def test_a_finished_run_becomes_the_verdict(open_page: Open, keep_scaling: Callable[..., str]) -> None:
    """With its numbers, and when it was measured."""
    keep_scaling(_steps())
    page = open_page("myths")
    assert "Myth does not hold here" in _card(page, "M4")
    shown = _shown(page)
    assert "train 1.67 × (1.63 to 1.70) as fast as one" in shown
    assert "Measured just now." in shown
    assert page.button(key="run-M4-scaling").label == f"Run again, about 5{NBSP}s"


def test_numbers_taken_beside_other_work_are_provisional(open_page: Open, keep_scaling: Callable[..., str]) -> None:
    """The verdict stands, and says so."""
    keep_scaling(_steps((Flag.UNDER_LOAD,)))
    assert "2 of its 2 points beside other work: provisional." in _shown(open_page("myths"))


def test_a_noisy_answer_offers_a_longer_run(open_page: Open, keep_scaling: Callable[..., str], runner) -> None:
    """The usual effort instead of the short one, measured anew."""
    wide = [p.model_copy(update={"ci_low_s": p.median_s / 3, "ci_high_s": p.median_s * 3}) for p in _steps()]  # type: ignore[operator]
    keep_scaling(wide)
    page = open_page("myths")
    assert "Too noisy to say" in _card(page, "M4")
    assert page.button(key="run-M4-scaling").label == f"Run longer, about 15{NBSP}s"
    page.button(key="run-M4-scaling").click().run()
    assert runner.submitted == [(EXPERIMENTS["scaling"].params_type(), True)]


def test_a_refused_run_says_why(open_page: Open, runner: FakeRunner) -> None:
    """At its place, and in the engine's words."""
    page = open_page("myths")
    runner.refuses = "The queue is full."
    page.button(key="run-M4-scaling").click().run()
    assert any("The queue is full." in error.value for error in page.error)


def test_a_run_that_crashed_says_so(open_page: Open, runner: FakeRunner) -> None:
    """It ends in the page's words, and can be asked for again."""
    page = open_page("myths")
    page.button(key="run-M4-scaling").click().run()
    runner.change("run-1", state=JobState.CRASHED, finished_at=time.time())
    page.run()
    assert any("The measuring process ended unexpectedly" in warning.value for warning in page.warning)
    assert "run-M4-scaling" in {button.key for button in page.button}


def test_somebody_elses_run_can_be_watched_and_not_cancelled(open_page: Open, runner: FakeRunner) -> None:
    """It is measured once, for all."""
    page = open_page("myths")
    job = Job(
        run_id="theirs", key="k", experiment="scaling", params={}, state=JobState.RUNNING, visitors=("somebody",),
        created_at=time.time(),
    )  # fmt: skip
    runner.jobs["theirs"] = job
    page.run()
    assert page.button(key="cancel-M4-scaling").disabled


def test_where_nothing_may_be_measured_nothing_is_offered(open_page: Open, runner: FakeRunner) -> None:
    """The buttons are there, and off; a line says why."""
    runner.read_only = True
    page = open_page("myths")
    assert page.button(key="run-M4-scaling").disabled
    assert any("Measuring is off here" in caption.value for caption in page.caption)


def test_every_claim_stands_beside_its_lab(open_page: Open) -> None:
    """All 28, with the verdict on each."""
    shown = _shown(open_page("myths"))
    for number in range(1, 29):
        assert f'<span class="gx-no">{number}</span>' in shown
    assert "Shown, not measured" in shown


def test_a_lab_says_what_its_result_means_for_its_claims(open_page: Open, keep_scaling: Callable[..., str]) -> None:
    """By the findings on screen; nothing before anything was measured here."""
    assert "by this result" not in _shown(open_page("scaling"))
    keep_scaling(_steps())
    shown = _shown(open_page("scaling"))
    assert '<li><strong><span aria-hidden="true">✓</span> Held here:</strong> Several devices train faster' in shown
