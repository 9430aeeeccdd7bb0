"""The memory wall's page, without a browser: its roofs, and the points of other runs under them."""

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import html_of, make_points

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "memory"))
from memory_made import points as roofs

from gpuexplain.experiments.memory.spec import MemoryParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point, Status
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]


def said(at: AppTest) -> str:
    """Return what the page shows, without tags, with ordinary spaces."""
    return re.sub("<[^>]+>", "", html_of(at)).replace(NBSP, " ")


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a run of this machine."""

    def save(experiment: str, points: Iterable[Point], params: Params | None = None) -> None:
        run_id = store.create_run(
            experiment=experiment,
            measuring_version=1,
            key="k",
            params=(params or MemoryParams()).model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, RunState.DONE, "")

    return save


def products() -> list[Point]:
    """Return products of another experiment at 80 GFLOP/s, with the bytes they move."""
    return [p.model_copy(update={"bytes": 12.0 * p.x**2}) for p in make_points(512, 1024, speed=8e10)]


def test_an_unmeasured_machine_is_told_what_to_do(open_page: Open) -> None:
    """One hint, no chart that pretends."""
    at = open_page("memory")
    assert not at.exception
    assert "Nothing is measured yet" in said(at)


def test_the_roofs_are_drawn_and_told(open_page: Open, keep: Callable[..., None]) -> None:
    """Two charts, and the ridge as the answer."""
    keep("memory", roofs())
    at = open_page("memory")
    assert not at.exception
    assert "can do 10 operations in the time it takes to load one byte" in said(at)
    assert len(at.get("plotly_chart")) == 2
    assert "other run" not in said(at)


def test_points_of_other_runs_of_this_machine_are_placed_under_the_roofs(
    open_page: Open, keep: Callable[..., None]
) -> None:
    """In words, in the chart and in a badge; the one-thread series is not theirs."""
    keep("memory", roofs())
    keep("matmul", products())
    at = open_page("memory")
    assert not at.exception
    assert "From other runs of this machine two points are placed here: two compute-bound." in said(at)
    assert "with points of 1 other run here" in html_of(at)
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert "matmul" in [trace.get("name") for trace in figure["data"]]


def test_a_run_without_a_time_borrows_nothing(open_page: Open, keep: Callable[..., None]) -> None:
    """It says why instead."""
    bare = {"median_s": None, "ci_low_s": None, "ci_high_s": None, "n_samples": 0}
    keep("memory", [p.model_copy(update={**bare, "status": Status.FAILED, "reason": "It is wrong."}) for p in roofs()])
    keep("matmul", products())
    at = open_page("memory")
    assert "Nothing could be measured here: It is wrong." in said(at)
    assert "other run" not in said(at)


def test_a_page_that_measured_nothing_borrows_nothing(open_page: Open, keep: Callable[..., None]) -> None:
    """Points without roofs say nothing here."""
    keep("matmul", products())
    at = open_page("memory")
    assert "Nothing is measured yet" in said(at)
    assert "other run" not in said(at)
