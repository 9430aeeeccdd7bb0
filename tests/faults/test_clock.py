"""Somebody sets the wall clock during a run: durations, deadlines and owners do not follow it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_made import PATIENCE_S, begin_run, light_command, until

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.tour import TourPart, note_job
from gpuexplain.settings import Settings
from gpuexplain.store.runs import RunStore, open_store

DAY_S = 86_400.0


class SetClock:
    """A wall clock that can be set."""

    def __init__(self) -> None:
        self.shift_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.shift_s


@pytest.mark.parametrize("shift_s", [DAY_S, -DAY_S], ids=["a day on", "a day back"])
def test_a_run_takes_as_long_as_it_took(
    submit: Callable[..., Job], settings: Settings, tmp_path: Path, shift_s: float
) -> None:
    """Seen, stored and counted: neither a day nor less than nothing."""
    clock, store, gate = SetClock(), open_store(settings), tmp_path / "gate"
    limits = Limits(flush_s=0.05, deadline_grace_s=PATIENCE_S)
    begun = time.monotonic()
    with Runner(store, settings, light_command(tmp_path), clock, limits=limits, warm=False) as runner:
        job = submit(runner, f"point file={gate} point")
        until(lambda: bool(runner.job(job.run_id).points))
        clock.shift_s = shift_s
        gate.touch()
        ended = runner.wait(job.run_id, PATIENCE_S)
        counted = runner.counts().times["fake"].total_s
    longest_s = time.monotonic() - begun
    stored = store.load_run(job.run_id)
    assert ended.state is JobState.DONE
    for run in (ended, stored):
        assert 0 <= run.finished_at - run.started_at <= longest_s
        assert abs(run.finished_at - clock()) < longest_s + 1
    assert 0 <= counted <= longest_s
    part = note_job(TourPart(experiment="fake", wanted_s=1.0), ended)
    assert 0 <= part.spent_s <= longest_s
    store.close()


@pytest.mark.parametrize("shift_s", [365 * DAY_S, -365 * DAY_S], ids=["a year on", "a year back"])
def test_a_living_process_keeps_its_run_whatever_the_clock_says(settings: Settings, shift_s: float) -> None:
    """A command that starts after the clock was set finds the app's run going on."""
    store = open_store(settings)
    begin_run(store, 1)
    later = RunStore(settings.store_url, clock=lambda: time.time() + shift_s)
    assert later.interrupt_orphans() == []
    later.close()
    store.close()
