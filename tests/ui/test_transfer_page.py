"""The transfer page, without a browser: what it shows and asks for on a machine without a GPU, and with one."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "transfer"))
from transfer_made import GIB, link_points, make_machine, memory_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.transfer.spec import TransferParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point, Status
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.ui import engine_access
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]
MEMORY_TITLE = "A copy within main memory, which is no transfer to a GPU, runs at"


def figure(at: AppTest, number: int = 0) -> dict:
    """Return a figure of the page as JSON."""
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def said(at: AppTest) -> str:
    """Return what the page shows, without tags, with ordinary spaces."""
    return re.sub("<[^>]+>", "", html_of(at)).replace(NBSP, " ")


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a transfer run of this machine."""

    def save(points: list[Point], params: TransferParams | None = None) -> None:
        run_id = store.create_run(
            experiment="transfer",
            measuring_version=1,
            key="k",
            params=(params or TransferParams()).model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, RunState.DONE, "")

    return save


def test_an_unmeasured_machine_sees_the_published_link(open_page: Open) -> None:
    """Never an empty page: both charts are there, and the badge says that they are somebody else's."""
    at = open_page("transfer")
    assert not at.exception
    assert "published: Quadro RTX 6000 (PCIe 3.0 x16)" in html_of(at)
    assert "nothing measured here yet" in html_of(at)
    assert "not in this machine" in html_of(at)
    assert len(at.get("plotly_chart")) == 2
    assert all(chart.proto.alt for chart in at.get("plotly_chart"))
    assert all(figure(at, number)["data"] for number in (0, 1))


def test_a_measured_memory_copy_is_called_that(open_page: Open, keep) -> None:
    """Title, answer and caveats; the published link lies faint beside it, and what is computed says so."""
    keep(memory_points())
    at = open_page("transfer")
    assert not at.exception
    shown = said(at)
    assert MEMORY_TITLE in shown
    assert "No copy over a link was measured here" in shown
    assert "Computed, not measured" in shown
    assert "64 MiB within main memory in pieces of 64 KiB take" in shown
    assert "measured here, just now" in shown
    names = {trace.get("name") for trace in figure(at)["data"]}
    assert {"memory copy", "memory copy to new memory", "pinned, to the GPU"} <= names


def test_compare_with_nothing_leaves_the_link_out(open_page: Open, keep) -> None:
    """Then nothing is computed from it either."""
    keep(memory_points())
    at = open_page("transfer", compare="nothing")
    assert "Computed, not measured" not in html_of(at)
    assert "pinned, to the GPU" not in {trace.get("name") for trace in figure(at)["data"]}


def test_run_asks_for_what_the_controls_say(open_page: Open, runner: FakeRunner) -> None:
    """A deep link sets every control; a click submits it."""
    at = open_page("transfer", preset="quick", largest_mib="64", side="2048", total_mib="16")
    assert not at.error
    at.button(key="run").click().run()
    assert [params for params, _ in runner.submitted] == [
        TransferParams(preset="quick", largest_mib=64, side=2048, total_mib=16)
    ]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"largest_mib": "5000"}, "largest_mib='5000' cannot be used. Allowed: largest copy in MiB, 1 to 1024"),
        ({"side": "7"}, "side='7' cannot be used. Allowed: side n of the product whose copies are weighed, 64 to 8192"),
        ({"total_mib": "x"}, "total_mib='x' cannot be used. Allowed: MiB that are copied at once and in pieces"),
    ],
    ids=["largest", "side", "total"],
)
def test_a_bad_address_is_explained_and_the_page_works(open_page: Open, query: dict[str, str], text: str) -> None:
    """Field, value and what is allowed."""
    at = open_page("transfer", **query)
    assert not at.exception
    assert any(text in error.value.replace("\\", "") for error in at.error), [error.value for error in at.error]
    assert figure(at)["data"]


def test_what_does_not_fit_blocks_the_run(open_page: Open, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anybody waits for it."""
    monkeypatch.setattr(engine_access, "get_machine", lambda: make_machine(memory_bytes=GIB))
    at = open_page("transfer", largest_mib="1024")
    assert any("Choose 170 or less" in error.value for error in at.error)
    assert at.button(key="run").disabled
    assert not runner.submitted


def test_points_of_a_running_job_are_drawn(open_page: Open, runner: FakeRunner) -> None:
    """As soon as there are any, with an answer of their own."""
    at = open_page("transfer")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(memory_points()[:4]))
    at.run()
    assert not at.exception
    assert "measuring here, now" in html_of(at)
    assert MEMORY_TITLE in said(at)


@pytest.mark.parametrize("state", [JobState.CRASHED, JobState.FAILED, JobState.INTERRUPTED])
def test_a_broken_run_says_why_and_keeps_its_points(open_page: Open, runner: FakeRunner, state: JobState) -> None:
    """The reason stands where the progress was."""
    at = open_page("transfer")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(memory_points()[:6]), state=state, reason="The worker was killed. Try again.")
    at.run()
    assert not at.exception
    assert any("The worker was killed" in warning.value for warning in at.warning)
    assert figure(at)["data"]


def test_a_run_in_which_nothing_could_be_measured_says_so(open_page: Open, keep) -> None:
    """Every case failed: crosses, reasons, no numbers."""
    keep([p.model_copy(update={"median_s": None, "status": Status.FAILED, "reason": "The copy is wrong."})
          for p in memory_points()])  # fmt: skip
    at = open_page("transfer", compare="nothing")
    assert not at.exception
    shown = said(at)
    assert "nothing could be measured that may be shown" in shown
    assert "The copy is wrong." in shown


def test_a_machine_with_a_gpu_shows_link_and_break_even(open_page: Open, keep, monkeypatch: pytest.MonkeyPatch) -> None:
    """Share of the link, and when the copies are paid for."""
    keep(link_points())
    machine = make_machine(gpu_free_bytes=70 * GIB)
    machine = machine.model_copy(update={"platform": machine.platform.model_copy(update={"machine_id": "m1"})})
    monkeypatch.setattr(engine_access, "get_machine", lambda: machine)
    at = open_page("transfer")
    assert not at.exception
    shown = said(at)
    assert "79 % of PCIe 4.0 x16" in shown
    assert "pays for its copies" in shown
    assert "no transfer" not in shown
    assert {trace.get("name") for trace in figure(at, 1)["data"]} == {"CPU", "GPU with its copies"}


@pytest.mark.parametrize("tab", ["How it was measured", "Data", "Code", "Compare"])
def test_every_tab_opens(open_page: Open, keep, tab: str) -> None:
    """No tab fails on a stored result."""
    keep(memory_points())
    at = open_page("transfer", tab=tab)
    assert not at.exception
    assert not at.error


def test_points_are_chosen_by_their_size_in_bytes(open_page: Open, keep) -> None:
    """In the words of the experiment."""
    keep(memory_points())
    at = open_page("transfer")
    options = [option.replace(NBSP, " ") for box in at.selectbox for option in box.options]
    assert "memory copy, 256 MiB" in options
    assert not any("n = " in option for option in options)


def test_a_guess_is_judged_by_its_factor(open_page: Open, runner: FakeRunner) -> None:
    """In bytes per second."""
    at = open_page("transfer")
    at.select_slider[0].set_value(4e9)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(memory_points()), state=JobState.DONE)
    at.run()
    told = [text.value.replace(NBSP, " ") for text in at.success]
    assert any("You guessed 4.00 GB/s" in text and "14.0 GB/s" in text for text in told), told
