"""The lab page, without a browser: what it shows, asks for and says when something is wrong."""

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, as_shown, html_of, make_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.model import Preset
from gpuexplain.store.run import RunState

Open = Callable[..., AppTest]


def button(at: AppTest, key: str):
    """Return the button of that key."""
    return at.button(key=key)


def figure(at: AppTest, number: int = 0) -> dict:
    """Return a figure of the page as JSON."""
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def test_an_unmeasured_machine_sees_a_published_series(open_page: Open) -> None:
    """Never an empty page: the badge says that the chart is somebody else's."""
    at = open_page("matmul")
    assert not at.exception
    assert "published: RTX 4060 Ti" in html_of(at)
    assert "nothing measured here yet" in html_of(at)
    assert figure(at)["data"]
    assert button(at, "run").label == "Run"


def test_every_chart_has_a_text_alternative(open_page: Open) -> None:
    """Both charts carry alt text."""
    at = open_page("matmul")
    assert all(chart.proto.alt for chart in at.get("plotly_chart"))
    assert len(at.get("plotly_chart")) == 2


def test_a_page_without_any_points_has_one_hint_and_claims_nothing(open_page: Open) -> None:
    """No second empty chart, and no word of times that somebody published."""
    at = open_page("workers")
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1
    assert "--gx-chart-px:160px" in html_of(at)
    assert "published by others" not in html_of(at)


def test_the_finding_is_a_heading_above_its_chart(open_page: Open, keep_run) -> None:
    """The page breaks it to its width, its series keep their colour, and the figure has no second title."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = open_page("matmul")
    headings = [block for block in html_of(at).split("\n") if 'class="gx-chart-title"' in block]
    assert len(headings) == 2
    assert '<span class="gx-cpu">Two threads</span>' in headings[0]
    for number, heading in enumerate(headings):
        layout = figure(at, number)["layout"]
        assert not layout["title"].get("text")
        assert f"--gx-chart-px:{layout['height']}px" in heading


def test_run_asks_the_engine_for_what_the_controls_say(open_page: Open, runner: FakeRunner) -> None:
    """A click submits the params of the controls, once."""
    at = open_page("matmul", preset="quick")
    button(at, "run").click().run()
    assert not at.exception
    assert [(p.preset, p.dtype, fresh) for p, fresh in runner.submitted] == [("quick", "fp32", False)]
    assert button(at, "cancel").label == "Cancel"
    assert "about 9 s left" in at.get("progress")[0].proto.text


def test_points_of_a_running_job_are_drawn(open_page: Open, runner: FakeRunner) -> None:
    """As soon as a job has points they are the result, marked as being measured now."""
    at = open_page("matmul")
    button(at, "run").click().run()
    runner.change("run-1", points=tuple(make_points(64, 128)))
    at.run()
    assert "measuring here, now" in html_of(at)
    names = [trace.get("name") for trace in figure(at)["data"]]
    assert "CPU" in names


def test_what_was_published_stays_faint_beside_the_first_run(open_page: Open, runner: FakeRunner) -> None:
    """It is what the page showed before Run was pressed; the words compare with it from the first points on."""
    at = open_page("matmul")
    button(at, "run").click().run()
    runner.change("run-1", points=tuple(make_points(128, 256)))
    at.run()
    lines = {trace["name"]: trace for trace in figure(at)["data"] if trace["mode"] == "lines+markers"}
    assert lines["GPU"]["line"]["dash"] == "dot"
    assert lines["CPU"]["line"]["dash"] == "solid"
    assert "Compared with a published" in html_of(at)


def test_a_second_session_watches_the_same_job(open_page: Open, runner: FakeRunner) -> None:
    """The same address leads to the same flight: nothing is submitted again."""
    at = open_page("matmul")
    button(at, "run").click().run()
    other = open_page("matmul")
    assert len(runner.submitted) == 1
    assert other.get("progress")


def test_cancel_asks_the_engine(open_page: Open, runner: FakeRunner) -> None:
    """A cancelled run keeps its points and says so."""
    at = open_page("matmul")
    button(at, "run").click().run()
    runner.change("run-1", points=tuple(make_points(64)))
    at.run()
    button(at, "cancel").click().run()
    assert runner.cancelled == ["run-1"]
    assert any("Cancelled" in info.value and "2 points" in info.value for info in at.info)
    assert "incomplete: cancelled" in html_of(at)


@pytest.mark.parametrize("state", [JobState.CRASHED, JobState.FAILED, JobState.INTERRUPTED])
def test_a_broken_run_says_why_and_keeps_its_points(open_page: Open, runner: FakeRunner, state: JobState) -> None:
    """The reason stands where the progress was; the points so far stay on the chart."""
    at = open_page("matmul")
    button(at, "run").click().run()
    runner.change("run-1", state=state, reason="The worker ran out of memory. Choose a smaller n.")
    at.run()
    assert any("ran out of memory" in warning.value for warning in at.warning)
    assert not at.exception
    assert figure(at)["data"]


def test_a_refusal_of_the_engine_is_said(open_page: Open, runner: FakeRunner) -> None:
    """A full queue is told in words; the earlier result stays."""
    runner.refuses = "The queue is full (20 runs wait). Try again in a minute."
    at = open_page("matmul")
    button(at, "run").click().run()
    assert any("queue is full" in error.value for error in at.error)
    assert figure(at)["data"]


def test_a_stored_result_answers_with_its_age(open_page: Open, keep_run) -> None:
    """A finished run of this machine is on screen at once, and can be run again."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = open_page("matmul")
    assert "measured here, just now" in html_of(at)
    assert button(at, "run").label == "Run again"


def test_run_again_measures_anew(open_page: Open, keep_run, runner: FakeRunner) -> None:
    """The second run does not take the stored answer; the old line stays as a ghost."""
    keep_run(MatmulParams(), make_points(64, 128, 256))
    at = open_page("matmul")
    button(at, "run").click().run()
    assert runner.submitted[0][1] is True
    before = len(figure(at)["data"])
    runner.change("run-1", points=tuple(make_points(64)))
    at.run()
    assert len(figure(at)["data"]) >= before


def test_a_run_of_other_effort_is_shown_and_named(open_page: Open, keep_run) -> None:
    """A quick run answers a standard page, with a badge that says so."""
    keep_run(MatmulParams(preset=Preset.QUICK), make_points(64, 128))
    at = open_page("matmul")
    assert "quick run" in html_of(at)
    assert button(at, "run").label == "Run"


def test_an_incomplete_run_does_not_hide_a_done_one(open_page: Open, keep_run) -> None:
    """Of several runs the newest finished one answers."""
    keep_run(MatmulParams(), make_points(64, 128))
    keep_run(MatmulParams(), make_points(64), state=RunState.CANCELLED, key="k2")
    assert "incomplete" not in html_of(open_page("matmul"))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"dtype": "fp7"}, "dtype='fp7' cannot be used. Allowed: fp64, fp32, bf16 or fp16."),
        ({"preset": "slow"}, "preset='slow' cannot be used. Allowed: quick, standard, thorough."),
        (
            {"largest_side": "9999999"},
            "largest_side='9999999' cannot be used. Allowed: largest square side n",
        ),
        ({"m": "0"}, "m='0' cannot be used. Allowed: rows of the result, 1 to 65536."),
        ({"m": "64"}, "m=64 cannot be used: m, k and n go together: set all three, or none."),
        ({"budget_s": "x"}, "budget_s='x' cannot be used. Allowed: seconds to spend"),
        ({"device": "tpu"}, "device='tpu' cannot be used. Allowed: auto, cpu or cuda:N"),
        ({"device": "cuda:0"}, "device='cuda:0' cannot be used: No driver was found."),
    ],
    ids=["dtype", "preset", "largest", "m", "shape", "budget", "device", "missing device"],
)
def test_a_bad_address_is_explained_and_the_page_works(open_page: Open, query: dict[str, str], text: str) -> None:
    """The message names the field, the value and what is allowed; the chart is there."""
    at = open_page("matmul", **query)
    assert not at.exception
    said = [as_shown(error.value) for error in at.error]
    assert any(text in error for error in said), said
    assert figure(at)["data"]


def test_a_good_address_sets_every_control(open_page: Open, runner: FakeRunner) -> None:
    """A deep link asks for exactly what it says."""
    at = open_page("matmul", preset="thorough", dtype="bf16", largest_side="1024", m="64", k="64", n="64", budget_s="3")
    assert not at.error
    button(at, "run").click().run()
    params = runner.submitted[0][0]
    assert params == MatmulParams(preset="thorough", dtype="bf16", largest_side=1024, m=64, k=64, n=64, budget_s=3)


def test_the_articles_example_is_one_click(open_page: Open, runner: FakeRunner) -> None:
    """The preset button fills the controls."""
    at = open_page("matmul")
    next(b for b in at.button if b.label.startswith("Article's example")).click().run()
    button(at, "run").click().run()
    assert runner.submitted[0][0].shape == (4000, 4000, 4000)


def test_a_size_that_does_not_fit_blocks_the_run(open_page: Open) -> None:
    """What the memory cannot hold is said before anybody waits for it."""
    at = open_page("matmul", m="60000", k="60000", n="60000")
    assert any("largest square that fits" in error.value for error in at.error)
    assert button(at, "run").disabled


def test_a_read_only_installation_cannot_run(open_page: Open, runner: FakeRunner) -> None:
    """Results can be looked at; the button is off."""
    runner.read_only = True
    assert button(open_page("matmul"), "run").disabled


@pytest.mark.parametrize("tab", ["How it was measured", "Data", "Code", "Compare"])
def test_every_tab_opens(open_page: Open, keep_run, tab: str) -> None:
    """No tab fails on a stored result."""
    keep_run(MatmulParams(), make_points(64, 128))
    at = open_page("matmul", tab=tab)
    assert not at.exception
    assert not at.error


def test_the_samples_of_a_point_show_the_cold_call(open_page: Open, keep_run) -> None:
    """The third chart has the cold call, the warm-up and the samples in order."""
    keep_run(MatmulParams(), make_points(64, 128))
    at = open_page("matmul")
    names = [trace["name"] for trace in figure(at, 2)["data"]]
    assert names == ["cold call", "warm-up", "sample"]


def test_a_guess_is_judged_by_its_factor(open_page: Open, runner: FakeRunner) -> None:
    """The visitor is told by what factor the guess was off."""
    at = open_page("matmul")
    at.select_slider[0].set_value(1024)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    button(at, "run").click().run()
    runner.change("run-1", points=tuple(make_points(32, 64, 128, 256)), state=JobState.DONE)
    at.run()
    assert any(text.value.startswith("You guessed n\u00a0=\u00a01,024") for text in at.success)


def test_a_guess_is_not_held_against_another_question(open_page: Open, keep_run) -> None:
    """Guessed about fp32; what is stored of fp64 was never guessed."""
    keep_run(MatmulParams(dtype="fp64"), make_points(32, 64, 128, 256))
    at = open_page("matmul")
    at.select_slider[0].set_value(1024)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    assert any(caption.value.startswith("Your guess: n") for caption in at.caption)
    at.selectbox(key="dtype").set_value("fp64").run()
    assert "measured here" in html_of(at)
    assert not any(text.value.startswith("You guessed") for text in at.success)


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("matmul", "From which n will"),
        ("batch", "Which is the smallest batch that gives this CPU 90 %"),
        ("precision", "How many times as fast as fp32 is bf16"),
        ("transfer", "How fast is a large copy"),
    ],
)
def test_a_guess_comes_first_where_it_teaches(open_page: Open, name: str, question: str) -> None:
    """Crossover, knee, precision gain and transfer cost: asked, kept, and told to press Run."""
    at = open_page(name)
    assert f"**Guess first.** {question}" in html_of(at)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    assert any("Press Run to see." in caption.value for caption in at.caption)


def test_guessing_can_be_switched_off(open_page: Open) -> None:
    """One click, and it does not come back."""
    at = open_page("matmul")
    next(b for b in at.button if b.label == "No guessing").click().run()
    at.run()
    assert "Guess first" not in html_of(at)
