"""An interrupted run is gone on with; a run of another process is waited for, or found abandoned."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_measure import FakeExperiment, FakeParams, make_point

from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.key import compute_key
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import EngineError, InputError
from gpuexplain.hardware.machine import Machine
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

MakeRunner = Callable[..., Runner]
PATIENCE_S = 60.0


@pytest.fixture
def keep(store: RunStore, machine: Machine, experiment: FakeExperiment) -> Callable[..., str]:
    """Keep a run of this machine that ended in a state, with points 1 and 2."""

    def keep(state: RunState, script: str = "point", **other: object) -> str:
        params = FakeParams(script=script)
        fields = {
            "experiment": "fake",
            "measuring_version": 1,
            "key": compute_key("fake", 1, params, machine),
            "params": params.model_dump(mode="json"),
            "device": "cpu",
        }
        run_id = store.create_run(**fields | other)  # type: ignore[arg-type]
        store.save_points(run_id, [make_point(1, reason="before"), make_point(2, reason="before")])
        if state is not RunState.RUNNING:
            store.finish_run(run_id, state)
        return run_id

    return keep


def test_known_points_are_shown_until_they_are_measured_anew(
    runner: Runner, keep: Callable[..., str], machine: Machine, experiment: FakeExperiment, store: RunStore
) -> None:
    """The interrupted run stays as it was; the new one has every case once."""
    before = keep(RunState.INTERRUPTED, "polite point=1")
    job = runner.resume(experiment, before, machine, "anna")
    assert [point.reason for point in job.points] == ["before", "before"]
    deadline = time.monotonic() + PATIENCE_S
    while (stored := store.find_run(job.run_id)) is None or len(stored.points) < 2:
        assert time.monotonic() < deadline
    assert [point.reason for point in stored.points] == ["before", "before"]
    runner.cancel(job.run_id, "anna")
    assert runner.wait(job.run_id, PATIENCE_S).state is JobState.CANCELLED
    crashed = keep(RunState.CRASHED, "point=1 point=3")
    done = runner.wait(runner.resume(experiment, crashed, machine, "anna").run_id, PATIENCE_S)
    assert [(point.x, point.reason) for point in done.points] == [(1, ""), (2, "before"), (3, "")]
    assert store.load_run(done.run_id).points == done.points
    assert store.load_run(crashed).state is RunState.CRASHED


@pytest.mark.parametrize("state", [s for s in RunState if s not in (RunState.INTERRUPTED, RunState.CRASHED)])
def test_what_ended_as_somebody_wanted_is_not_resumed(
    runner: Runner, keep: Callable[..., str], machine: Machine, experiment: FakeExperiment, state: RunState
) -> None:
    """Nor is one that still goes on."""
    run_id = keep(state)
    with pytest.raises(InputError) as told:
        runner.resume(experiment, run_id, machine, "anna")
    assert str(told.value) == f"Run {run_id} is {state.value}: only an interrupted or crashed run can be resumed."


def test_points_of_other_conditions_are_not_mixed_with_new_ones(
    runner: Runner, keep: Callable[..., str], machine: Machine, experiment: FakeExperiment
) -> None:
    """Another torch is another measurement; the remedy is to measure anew."""
    run_id = keep(RunState.INTERRUPTED)
    other = machine.model_copy(update={"torch_version": "2.11.0"})
    with pytest.raises(InputError, match=rf"Run {run_id} cannot be resumed: .*torch.* Measure anew instead\."):
        runner.resume(experiment, run_id, other, "anna")
    with pytest.raises(InputError, match=r"is one of fake, not of other\."):
        runner.resume(FakeExperiment(id="other"), run_id, machine, "anna")
    with pytest.raises(InputError, match=r"There is no run 'nope'"):
        runner.resume(experiment, "nope", machine, "anna")


def test_nothing_is_resumed_where_nothing_is_measured(
    make_runner: MakeRunner, keep: Callable[..., str], machine: Machine, experiment: FakeExperiment, settings: Settings
) -> None:
    """Read-only shows the interrupted run."""
    run_id = keep(RunState.INTERRUPTED)
    shows = make_runner(settings.model_copy(update={"read_only": True}))
    with pytest.raises(EngineError, match="GPUEXPLAIN_READ_ONLY"):
        shows.resume(experiment, run_id, machine, "anna")


def test_two_who_resume_the_same_run_share_one_flight(
    runner: Runner, keep: Callable[..., str], machine: Machine, experiment: FakeExperiment
) -> None:
    """So do those who ask for the same run anew meanwhile."""
    run_id = keep(RunState.INTERRUPTED, "polite")
    first = runner.resume(experiment, run_id, machine, "anna")
    second = runner.resume(experiment, run_id, machine, "ben")
    third = runner.submit(experiment, FakeParams(script="polite"), machine, "cleo", fresh=True)
    assert {first.run_id, second.run_id} == {third.run_id}
    assert third.visitors == ("anna", "ben", "cleo")


class _CountingStore(RunStore):
    """Counts how often a run is read."""

    n_reads = 0

    def find_run(self, run_id: str):
        self.n_reads += 1
        return super().find_run(run_id)


def test_a_run_of_another_process_is_waited_for_without_haste(
    make_runner: MakeRunner, keep: Callable[..., str], settings: Settings
) -> None:
    """It is looked at now and then, and its end is noticed."""
    store = _CountingStore(settings.store_url)
    runner = make_runner(store=store, foreign_poll_s=0.1)
    run_id = keep(RunState.RUNNING)
    job = runner.wait(run_id, 0.5)
    assert job.state is JobState.RUNNING
    assert store.n_reads <= 10
    store.finish_run(run_id, RunState.DONE)
    assert runner.wait(run_id, PATIENCE_S).state is JobState.DONE


def test_a_run_whose_process_died_is_ended_while_the_app_goes_on(
    make_runner: MakeRunner, settings: Settings, store: RunStore
) -> None:
    """Not only at the next start."""
    make_runner(orphans_s=0.05)
    code = """
        import sys
        from gpuexplain.store.runs import RunStore
        store = RunStore(sys.argv[1])
        print(store.create_run(experiment="m", measuring_version=1, key="k", params={}, device="cpu"))
    """
    root = Path(__file__).resolve().parents[2]
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), settings.store_url],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S
    while (run := store.load_run(said.strip())).state is RunState.RUNNING:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (run.state, "The app ended during the run" in run.reason) == (RunState.INTERRUPTED, True)
