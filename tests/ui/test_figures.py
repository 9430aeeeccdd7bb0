"""A drawing is made once for all who look at it, however fast the points come."""

import itertools

import pytest
from ui_fakes import make_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.ui.compare import Beside
from gpuexplain.ui.figures import SHARED, draw
from gpuexplain.ui.result import Result


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test moves, and nothing drawn yet."""
    now = [1000.0]
    monkeypatch.setattr("gpuexplain.ui.figures.time.monotonic", lambda: now[0])
    monkeypatch.setattr("gpuexplain.ui.figures.time.thread_time", lambda: 0.0)
    SHARED.clear()
    return now


@pytest.fixture
def matmul() -> Experiment:
    """An experiment that can draw."""
    return EXPERIMENTS["matmul"]


def result(points: list[Point], version: int, state: str) -> Result:
    """Return a state of one run."""
    return Result("run", version, tuple(points), Source.MEASURED, {}, state=state)


def test_viewers_of_a_running_job_share_a_drawing_for_a_moment(clock: list[float], matmul: Experiment) -> None:
    """New points meanwhile wait; then all of them are drawn."""
    first = draw(matmul, result(make_points(64), 1, JobState.RUNNING), Beside(), "light")
    clock[0] += 0.2
    assert draw(matmul, result(make_points(64, 128), 2, JobState.RUNNING), Beside(), "light") is first
    clock[0] += 0.2
    assert draw(matmul, result(make_points(64, 128), 3, JobState.RUNNING), Beside(), "light") is not first
    assert SHARED.n_drawn == 2


def test_progress_without_a_new_point_draws_nothing(clock: list[float], matmul: Experiment) -> None:
    """A job's version grows with every step of its progress bar."""
    points = tuple(make_points(64))
    for version in range(5):
        running = Result("run", version, points, Source.MEASURED, {}, state=JobState.RUNNING)
        draw(matmul, running, Beside(), "light")
        clock[0] += 10.0
    assert SHARED.n_drawn == 1


def test_the_end_is_drawn_at_once(matmul: Experiment) -> None:
    """Nobody looks at a picture from before the end; afterwards it stays as it is."""
    running = draw(matmul, result(make_points(64), 1, JobState.RUNNING), Beside(), "light")
    done = draw(matmul, result(make_points(64, 128), 2, RunState.DONE), Beside(), "light")
    assert done is not running
    assert draw(matmul, result(make_points(64, 128), 2, RunState.DONE), Beside(), "light") is done


def test_each_theme_has_its_own(matmul: Experiment) -> None:
    """Colours differ."""
    points = make_points(64)
    light = draw(matmul, result(points, 1, RunState.DONE), Beside(), "light")
    assert draw(matmul, result(points, 1, RunState.DONE), Beside(), "dark") is not light


def test_a_costly_drawing_stays_longer(clock: list[float], matmul: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes a tenth of a core at most: it would disturb what is measured."""
    took = itertools.count(0.0, 0.1)
    monkeypatch.setattr("gpuexplain.ui.figures.time.thread_time", lambda: next(took))
    first = draw(matmul, result(make_points(64), 1, JobState.RUNNING), Beside(), "light")
    clock[0] += 0.9
    assert draw(matmul, result(make_points(64, 128), 2, JobState.RUNNING), Beside(), "light") is first
    clock[0] += 0.2
    assert draw(matmul, result(make_points(64, 128), 3, JobState.RUNNING), Beside(), "light") is not first
