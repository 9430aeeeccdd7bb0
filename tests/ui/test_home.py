"""Home: one button, one bar, a number an experiment, each from the findings and with its source."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from tour_fakes import FakeGuide
from ui_fakes import FakeRunner, html_of, make_machine, make_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.tour import Tour, TourPart, TourState
from gpuexplain.experiments.contract import Experiment, Headline
from gpuexplain.experiments.matmul.experiment import MATMUL
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Dtype, Flag, Preset
from gpuexplain.report.page import write_summary
from gpuexplain.store.run import RunState
from gpuexplain.ui import home, story
from gpuexplain.ui import tour as touring
from gpuexplain.ui.home_results import latest_card, told_card
from gpuexplain.ui.pages import PAGES

Open = Callable[..., AppTest]
NAMES = {"matmul": "Matrix multiply", "batch": "Batch size", "precision": "Precision", "transfer": "Transfer"}


def _four() -> tuple[Experiment, ...]:
    """Return four experiments that measure matrix products under four names."""
    headline = {
        name: lambda findings, name=name: (
            Headline(
                f"Label of {name}", f"{sum(s.largest_n for s in findings.series):g} {name}", "1 to 2", "<somewhere>"
            )
            if findings.series
            else None
        )
        for name in NAMES
    }
    return tuple(
        replace(MATMUL, id=name, nav_label=label, headline=headline[name], teaser=f"Teaser of {name}.")
        for name, label in NAMES.items()
    )


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> tuple[Experiment, ...]:
    """Four core experiments."""
    four = _four()
    for module in (home, touring):
        monkeypatch.setattr(module, "CORE", four)
    monkeypatch.setattr(touring, "EXPERIMENTS", {experiment.id: experiment for experiment in four})
    return four


@pytest.fixture
def guide(runner: FakeRunner, labs: object, monkeypatch: pytest.MonkeyPatch) -> FakeGuide:
    """A guide that the test moves."""
    fake = FakeGuide(runner)
    monkeypatch.setattr(touring, "get_guide", lambda: fake)
    return fake


def cards_of(at: AppTest) -> list[str]:
    """Return the text of every card, in order."""
    return [
        element.proto.body
        for element in at.get("html")
        if "gx-card" in element.proto.body and "<style" not in element.proto.body
    ]


# -- the numbers ------------------------------------------------------------------------------------


def test_every_card_says_something_before_anything_is_measured(open_page: Open, guide: FakeGuide) -> None:
    """What others published, by its name, and that nothing was measured here."""
    at = open_page("home")
    assert not at.exception
    assert len(cards_of(at)) == 4
    assert html_of(at).count("nothing measured here yet") == 4
    assert html_of(at).count("published: RTX 4060 Ti") == 4
    assert "source: " not in html_of(at)
    assert not at.get("download_button")


def test_without_a_published_number_the_card_has_its_teaser(
    open_page: Open, guide: FakeGuide, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an empty card."""
    bare = tuple(replace(lab, default_published=lambda _: None) for lab in home.CORE)
    monkeypatch.setattr(home, "CORE", bare)
    assert [text.split(">")[2].split("<")[0] for text in cards_of(open_page("home"))] == [
        f"Teaser of {name}." for name in NAMES
    ]


def test_a_card_shows_number_interval_condition_source_and_age(open_page: Open, guide: FakeGuide, keep_run) -> None:
    """All from the findings of the stored run; what came from elsewhere is escaped."""
    keep_run(MatmulParams(), make_points(64, 128))
    at = open_page("home")
    first = cards_of(at)[0]
    for text in ("Label of matmul", "256 matmul", "1 to 2, &lt;somewhere&gt;"):
        assert text in first
    assert "measured here, just now" in html_of(at)
    assert at.get("download_button")[0].proto.label == "Download the summary"


def test_a_card_is_a_link_to_its_lab(open_page: Open, guide: FakeGuide) -> None:
    """Each leads to its own page."""
    links = [element.proto.page for element in open_page("home").get("page_link")]
    built = [name for name in NAMES if any(page.name == name for page in PAGES)]
    assert [link for link in links if link in built][: len(built)] == built


def test_the_newest_answer_counts_and_its_link_leads_to_it(open_page: Open, guide: FakeGuide, keep_run) -> None:
    """A tour's run replaces an older one of the page's own settings."""
    keep_run(MatmulParams(), make_points(64), key="old")
    time.sleep(0.01)
    keep_run(MatmulParams(budget_s=11.0), make_points(64, 512), key="new")
    at = open_page("home")
    assert "1024 matmul" in cards_of(at)[0]
    link = next(e.proto for e in at.get("page_link") if e.proto.page == "matmul")
    assert sorted(link.query_string.split("&")) == ["budget_s=11", "preset=standard"]


@pytest.mark.parametrize(
    ("params", "state"),
    [(MatmulParams(dtype=Dtype.BF16), RunState.DONE), (MatmulParams(budget_s=11.0), RunState.CANCELLED)],
    ids=["another question", "not finished"],
)
def test_an_answer_to_the_usual_question_is_not_replaced(
    machine: Machine, guide: FakeGuide, keep_run, params: MatmulParams, state: RunState
) -> None:
    """Neither by another number format nor by half a run."""
    keep_run(MatmulParams(preset=Preset.QUICK), make_points(64, 128))
    time.sleep(0.01)
    keep_run(params, make_points(1024), state=state, key="k2")
    card = latest_card(home.CORE[0], machine)
    assert card.headline is not None
    assert card.headline.number == "256 matmul"


def test_a_run_of_an_older_release_is_passed_over(machine: Machine, guide: FakeGuide, store, keep_run) -> None:
    """Its settings cannot be read any more."""
    run_id = store.create_run(
        experiment="matmul", measuring_version=0, key="k", params={"flavour": "old"}, device="cpu", machine=machine
    )
    store.save_points(run_id, make_points(64))
    store.finish_run(run_id, RunState.DONE)
    assert latest_card(home.CORE[0], machine).result.id != run_id


def test_a_number_measured_beside_other_work_says_so(open_page: Open, guide: FakeGuide, keep_run) -> None:
    """When most of its points were touched."""
    points = [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)} if p.x > 64 else {}) for p in make_points(64, 128, 256)]
    keep_run(MatmulParams(), points)
    assert "measured under load" in html_of(open_page("home"))


def test_the_machine_says_why_there_is_no_gpu_and_what_helps(open_page: Open, guide: FakeGuide) -> None:
    """The card has the reason and the remedy."""
    at = open_page("home")
    assert "No driver was found." in html_of(at)
    assert any("Install it." in info.value for info in at.info)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Install it (`nvidia-smi` lists it) for $5.", "Install it (`nvidia-smi` lists it) for \\$5."),
        ("A `lonely tick and *stars*", "A \\`lonely tick and \\*stars\\*"),
        ("`a``b`", "`a``b`"),
    ],
    ids=["code", "odd ticks", "side by side"],
)
def test_only_code_is_set_apart_in_a_remedy(text: str, shown: str) -> None:
    """Whatever else a driver says stays text."""
    assert home._with_code(text) == shown


def test_a_long_number_is_smaller(open_page: Open, guide: FakeGuide, keep_run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several formats that share a rank fill a line."""
    keep_run(MatmulParams(), make_points(64))
    wordy = replace(home.CORE[0], headline=lambda _: Headline("Best", "fp32, fp16, bf16 or fp64"))
    monkeypatch.setattr(home, "CORE", (wordy, *home.CORE[1:]))
    first, *others = cards_of(open_page("home"))
    assert "gx-long" in first
    assert "gx-long" not in "".join(others)


# -- the tour ---------------------------------------------------------------------------------------


def test_one_click_starts_the_tour(open_page: Open, guide: FakeGuide) -> None:
    """All four, once; then there is one bar and a way to stop."""
    at = open_page("home")
    assert at.button(key="run").label == "Measure this machine"
    assert "Four experiments, about " in html_of(at)
    at.button(key="run").click().run()
    assert not at.exception
    assert [experiments for experiments, _ in guide.begun] == [tuple(NAMES)]
    assert at.button(key="cancel").label == "Cancel"
    [bar] = at.get("progress")
    assert bar.proto.text.startswith("1 of 4 · Matrix multiply · warming up n = 64")
    assert "left in all" in bar.proto.text


def test_each_card_fills_as_its_part_is_measured(open_page: Open, guide: FakeGuide, keep_run) -> None:
    """The running one shows its own points, the next ones wait with what they had."""
    keep_run(MatmulParams(), make_points(64))
    at = open_page("home")
    at.button(key="run").click().run()
    assert "Measuring now<" in cards_of(at)[0]
    guide.run_part("matmul", points=tuple(make_points(64, 512)))
    at.run()
    first, *others = cards_of(at)
    assert "1024 matmul" in first
    assert "Measuring now: four points" in first
    assert "measuring here, now" in html_of(at)
    assert all("Waiting for its turn" in card for card in others)
    guide.end_part("matmul")
    guide.run_part("batch", points=tuple(make_points(128)))
    at.run()
    assert "gx-now" not in cards_of(at)[0]
    assert "256 batch" in cards_of(at)[1]


def test_a_part_that_failed_says_why_and_the_tour_goes_on(open_page: Open, guide: FakeGuide) -> None:
    """On its card at once, and above all cards at the end."""
    at = open_page("home")
    at.button(key="run").click().run()
    guide.end_part("matmul", JobState.FAILED, reason="No memory. Close something.")
    guide.run_part("batch")
    at.run()
    assert "Not finished: No memory. Close something." in cards_of(at)[0]
    guide.end_part("batch")
    guide.end()
    at.run()
    assert any("Matrix multiply: No memory. Close something." in warning.value for warning in at.warning)


def test_another_session_sees_the_same_tour(open_page: Open, guide: FakeGuide) -> None:
    """It asks for nothing, and may not stop what somebody else asked for."""
    open_page("home").button(key="run").click().run()
    guide.change(visitors=("somebody else",))
    other = open_page("home")
    assert other.get("progress")
    assert other.button(key="cancel").disabled
    assert "Another visitor asked for this tour; you are watching it." in html_of(other)
    assert len(guide.begun) == 1


def test_sharing_is_said(open_page: Open, guide: FakeGuide) -> None:
    """Who else asked for the same tour."""
    at = open_page("home")
    at.button(key="run").click().run()
    guide.change(visitors=(*guide.tour.visitors, "ben"))  # type: ignore[union-attr]
    at.run()
    assert "One other visitor asked for it, too." in html_of(at)


def test_cancel_ends_the_tour(open_page: Open, guide: FakeGuide) -> None:
    """The button is back, and what is kept is named."""
    at = open_page("home")
    at.button(key="run").click().run()
    guide.run_part("matmul", points=tuple(make_points(64)))
    at.button(key="cancel").click().run()
    assert len(guide.left) == 1
    assert at.button(key="run").label == "Measure this machine"
    assert any("Cancelled after" in c.value and "Matrix multiply" in c.value for c in at.caption)


def test_a_full_queue_is_told(open_page: Open, guide: FakeGuide) -> None:
    """In the engine's words; the next click clears them."""
    guide.refuses = "The queue is full: 20 runs wait. Try again in a few minutes."
    at = open_page("home")
    at.button(key="run").click().run()
    assert any("queue is full" in error.value for error in at.error)
    guide.refuses = ""
    at.button(key="run").click().run()
    assert not at.error


def test_a_read_only_installation_says_that_it_only_shows(
    open_page: Open, guide: FakeGuide, runner: FakeRunner
) -> None:
    """The button is off, the reason beside it."""
    runner.read_only = True
    at = open_page("home")
    assert at.button(key="run").disabled
    assert "Measuring is off here" in html_of(at)


def test_after_a_whole_tour_it_can_be_measured_again(
    open_page: Open, guide: FakeGuide, store, machine: Machine
) -> None:
    """Every card has a number of this machine."""
    for name in NAMES:
        run_id = store.create_run(
            experiment=name, measuring_version=1, key=name, device="cpu", machine=machine,
            params=MatmulParams(budget_s=11.0).model_dump(mode="json"),
        )  # fmt: skip
        store.save_points(run_id, make_points(64))
        store.finish_run(run_id, RunState.DONE)
    at = open_page("home")
    assert at.button(key="run").label == "Measure again"
    assert html_of(at).count("measured here, just now") == 4


# -- words ------------------------------------------------------------------------------------------


def _tour(*states: JobState | None, state: TourState = TourState.DONE, reason: str = "") -> Tour:
    parts = tuple(
        TourPart(
            experiment=name,
            wanted_s=11,
            state=ended,
            spent_s=10.0 if ended else 0.0,
            n_points=5 if ended is JobState.DONE else 0,
            reason="It broke." if ended is JobState.CRASHED else "",
        )
        for name, ended in zip(NAMES, states, strict=False)
    )
    return Tour(state=state, reason=reason, budget_s=60, visitors=("me",), parts=parts, created_at=0.0)


@pytest.mark.parametrize(
    ("tour", "said", "is_bad"),
    [
        (_tour(JobState.DONE, JobState.DONE), "Measured in 20.0 s.", False),
        (
            _tour(JobState.DONE, JobState.CRASHED),
            "Measured in 20.0 s, but one experiment did not finish. Batch size: It broke.",
            True,
        ),
        (
            _tour(JobState.DONE, JobState.CANCELLED, None, state=TourState.CANCELLED),
            "Cancelled after 20.0 s of measuring. What Matrix multiply measured is kept.",
            False,
        ),
        (_tour(None, state=TourState.CANCELLED), "Cancelled after 0 s of measuring. Nothing was measured.", False),
        (
            _tour(JobState.INTERRUPTED, state=TourState.INTERRUPTED, reason="The app was stopped."),
            "The tour ended early. The app was stopped.",
            True,
        ),
    ],
    ids=["done", "one failed", "cancelled", "cancelled at once", "interrupted"],
)
def test_how_a_tour_ended(labs: object, tour: Tour, said: str, is_bad: bool) -> None:
    """One sentence for each way."""
    text, bad = touring.say_end(tour)
    assert (text.replace("\xa0", " "), bad) == (said, is_bad)


def test_every_measuring_page_has_its_place_in_the_story() -> None:
    """A link to the next one says why it is next."""
    core = [page.name for page in PAGES if page.name in NAMES]
    assert [name for name in (*core, "home") if not story.why_next(name)] == []
    assert story.why_next("elsewhere") == ""


# -- what else uses the tour --------------------------------------------------------------------------


def test_a_lab_page_finds_the_tours_job_of_its_question(
    open_page: Open, guide: FakeGuide, labs: tuple[Experiment, ...], machine: Machine
) -> None:
    """With whatever effort; not for another question, not for another experiment, not once it has ended."""
    assert touring.tour_job(labs[0], MatmulParams()) is None
    guide.begin(labs, machine, "anna")
    job = touring.tour_job(labs[0], MatmulParams())
    assert job is not None
    assert job.experiment == "matmul"
    assert touring.tour_job(labs[0], MatmulParams(preset=Preset.THOROUGH)) == job
    assert touring.tour_job(labs[0], MatmulParams(dtype=Dtype.BF16)) is None
    assert touring.tour_job(labs[1], MatmulParams()) is None
    guide.end_part("matmul")
    assert touring.tour_job(labs[0], MatmulParams()) is None


def test_the_summary_tells_what_the_cards_show(guide: FakeGuide, machine: Machine, keep_run) -> None:
    """The same numbers, by the same rules; what was not measured here says so."""
    keep_run(MatmulParams(), make_points(64, 128))
    cards = [latest_card(lab, machine) for lab in home.CORE]
    page = write_summary(make_machine(), [told_card(card) for card in cards], now_s=0.0)
    assert "256 matmul" in page
    assert "measured on this machine" in page
    assert page.count("published: RTX 4060 Ti") >= 3
