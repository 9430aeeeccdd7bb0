"""The stopwatch page's switches: a mistake on, its figure on screen; off, gone."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "stopwatch"))
from stopwatch_made import cpu_points, gpu_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.stopwatch.spec import COLD, Way
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]
POINTS = cpu_points(**{Way.RIGHT: {"first_call_s": 9e-3}, Way.ONE_THREAD: {"median_s": 2e-3}})


def said(at: AppTest) -> str:
    """Return what the page shows: no tags, ordinary spaces."""
    return re.sub("<[^>]+>", " ", html_of(at)).replace(NBSP, " ")


def rows(at: AppTest) -> list[str]:
    """Return the mistakes in the table."""
    return re.findall(r'<th scope="row">([^<]+)</th>', html_of(at))


@pytest.fixture
def measured(open_page: Open, runner: FakeRunner) -> AppTest:
    """The page after a run."""
    at = open_page("stopwatch")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(POINTS), state=JobState.DONE)
    return at.run()


def test_every_mistake_of_this_machine_has_a_switch(open_page: Open) -> None:
    """No warm-up is on; a CPU has no queue to forget."""
    at = open_page("stopwatch")
    switches = {t.key: t.value for t in at.toggle if str(t.key).startswith("make_")}
    assert set(switches) == {
        f"make_{m}" for m in (COLD, Way.SINGLE, Way.ITEM, Way.CONSTANTS, Way.ONE_THREAD, Way.DISTURBED)
    }
    assert [key for key, is_on in switches.items() if is_on] == [f"make_{COLD}"]


def test_before_a_run_it_says_what_to_do(open_page: Open) -> None:
    """And claims nothing."""
    at = open_page("stopwatch")
    assert "Press Run once" in said(at)
    assert rows(at) == []


def test_a_switch_shows_the_wrong_figure_the_right_one_the_factor_and_the_name(measured: AppTest) -> None:
    """No warm-up first; one thread beside it, then alone; then the clock is held right."""
    assert rows(measured) == ["No warm-up"]
    assert "With no warm-up the clock shows 9.00 ms instead of 1.00 ms: 9.00 × as much." in said(measured)
    measured.toggle(key=f"make_{Way.ONE_THREAD}").set_value(True).run()
    assert rows(measured) == ["No warm-up", "One CPU thread"]
    assert "Together they would show yet another figure." in said(measured)
    measured.toggle(key=f"make_{COLD}").set_value(False).run()
    assert rows(measured) == ["One CPU thread"]
    assert "With one CPU thread the clock shows 2.00 ms instead of 1.00 ms: 2.00 × as much." in said(measured)
    measured.toggle(key=f"make_{Way.ONE_THREAD}").set_value(False).run()
    assert rows(measured) == []
    assert "The clock is held right: it shows 1.00 ms." in said(measured)


def test_a_link_has_its_switches(open_page: Open) -> None:
    """The address bar is the share link."""
    at = open_page("stopwatch", **{f"make_{Way.ITEM}": "true", f"make_{COLD}": "false"})
    assert [t.key for t in at.toggle if str(t.key).startswith("make_") and t.value] == [f"make_{Way.ITEM}"]


def test_what_a_cpu_cannot_do_wrong_is_said(measured: AppTest) -> None:
    """With the reason."""
    assert "Not possible here: no synchronise (a call on a CPU returns when its work is done)" in said(measured)


def test_the_lanes_of_a_gpu_are_on_the_page(open_page: Open, runner: FakeRunner) -> None:
    """Program and work, with and without a wait, above the factors."""
    at = open_page("stopwatch")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(gpu_points()), state=JobState.DONE)
    at.run()
    assert not at.exception
    assert "queueing: program" in at.get("plotly_chart")[0].proto.spec
