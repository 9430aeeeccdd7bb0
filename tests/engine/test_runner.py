"""A job goes its way: live, shared, queued, cancelled, answered from the store."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_measure import FakeExperiment, FakeParams

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import EngineError, InputError, QueueFullError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

Submit = Callable[..., Job]
Ended = Callable[[Runner, Job], Job]
Until = Callable[..., Job]
MakeRunner = Callable[..., Runner]


def _has_points(job: Job) -> bool:
    return bool(job.points)


def _runs(job: Job) -> bool:
    return job.state is JobState.RUNNING


def test_a_run_is_shown_while_it_goes_on(
    runner: Runner, submit: Submit, ended: Ended, until: Until, tmp_path: Path, store: RunStore
) -> None:
    """Points are there, and in the store, before the end; the snapshots only grow."""
    gate = tmp_path / "gate"
    job = submit(runner, f"point point file={gate} point")
    live = until(runner, job, lambda j: len(j.points) == 2)
    assert (live.state, live.progress is not None, live.visitors) == (JobState.RUNNING, True, ("anna",))
    assert runner.status().running == runner.job(job.run_id)
    assert runner.status().worker == "busy"
    deadline = time.monotonic() + 5
    while len(store.load_run(job.run_id).points) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [point.x for point in store.load_run(job.run_id).points] == [1, 2]
    gate.touch()
    done = ended(runner, job)
    assert (done.state, [point.x for point in done.points]) == (JobState.DONE, [1, 2, 4])
    assert done.version > live.version
    assert done.coverage is not None
    stored = store.load_run(job.run_id)
    assert (stored.state, stored.points) == (RunState.DONE, done.points)
    assert stored.coverage == done.coverage.model_dump()
    assert runner.status().worker == "ready"


def test_follow_yields_every_stage_and_ends(runner: Runner, submit: Submit) -> None:
    """Versions rise; the last snapshot has ended."""
    job = submit(runner, "point point")
    seen = list(runner.follow(job.run_id))
    versions = [snapshot.version for snapshot in seen]
    assert versions == sorted(set(versions))
    assert seen[-1].state is JobState.DONE
    assert all(snapshot.state.is_active for snapshot in seen[:-1])


def test_the_worker_stays_warm_between_jobs(runner: Runner, submit: Submit, ended: Ended) -> None:
    """Two jobs, one process."""
    pids = {ended(runner, submit(runner, "pid", tag=tag)).points[0].reason for tag in "ab"}
    assert len(pids) == 1
    assert runner.status().worker_restarts == 0


def test_stray_output_does_not_disturb(runner: Runner, submit: Submit, ended: Ended) -> None:
    """What libraries and child processes print on standard output goes elsewhere."""
    job = ended(runner, submit(runner, "print point"))
    assert (job.state, len(job.points)) == (JobState.DONE, 1)


def test_the_same_request_of_two_visitors_is_one_flight(
    runner: Runner, submit: Submit, ended: Ended, tmp_path: Path, store: RunStore
) -> None:
    """Both see the same job; it is measured once."""
    gate = tmp_path / "gate"
    first = submit(runner, f"point file={gate}", "anna")
    second = submit(runner, f"point file={gate}", "ben", fresh=True)
    assert (second.run_id, second.visitors) == (first.run_id, ("anna", "ben"))
    gate.touch()
    ended(runner, first)
    assert len(store.list_runs()) == 1


def test_a_finished_run_answers_at_once(runner: Runner, submit: Submit, ended: Ended) -> None:
    """Unless it shall be measured anew; both are kept then."""
    first = ended(runner, submit(runner, "point"))
    again = submit(runner, "point", "ben")
    assert (again.state, again.run_id, again.points) == (JobState.DONE, first.run_id, first.points)
    fresh = submit(runner, "point", "ben", fresh=True)
    assert fresh.run_id != first.run_id
    ended(runner, fresh)
    assert runner.job(first.run_id) == again


def test_another_runner_answers_from_the_store(make_runner: MakeRunner, submit: Submit, ended: Ended) -> None:
    """The next start of the app remembers."""
    one = make_runner()
    first = ended(one, submit(one, "point point"))
    one.stop()
    other = make_runner()
    answer = submit(other, "point point")
    assert (answer.state, answer.run_id, answer.points) == (JobState.DONE, first.run_id, first.points)
    assert (answer.created_at, answer.coverage) == (first.created_at, first.coverage)
    assert other.job("20200101-000000-0000") is None


@pytest.mark.parametrize("flag", ["under_load", "throttled"])
def test_a_disturbed_run_does_not_answer(runner: Runner, submit: Submit, ended: Ended, flag: str) -> None:
    """It is measured again."""
    first = ended(runner, submit(runner, f"point disturbed={flag}"))
    again = submit(runner, f"point disturbed={flag}")
    assert again.run_id != first.run_id
    ended(runner, again)


def test_the_queue_is_fair_and_bounded(
    runner: Runner, submit: Submit, ended: Ended, until: Until, tmp_path: Path, store: RunStore
) -> None:
    """First come, first served; each knows its place; one too many is told what to do."""
    gate = tmp_path / "gate"
    first = submit(runner, f"file={gate}", "v0")
    until(runner, first, _runs)
    waiting = [submit(runner, "point", f"v{n}", tag=f"{n}") for n in (1, 2, 3)]
    assert [(job.state, job.queue_position) for job in waiting] == [(JobState.QUEUED, n) for n in (1, 2, 3)]
    assert waiting[0].ahead == "1 run is ahead: fake on cpu"
    assert waiting[2].ahead == "3 runs are ahead: fake on cpu, fake on cpu, fake on cpu"
    assert runner.status().queue_length == 3
    assert [job.run_id for job in runner.active_jobs()] == [job.run_id for job in (first, *waiting)]
    with pytest.raises(QueueFullError, match=r"queue is full: 3 runs wait\. Try again in a few minutes"):
        submit(runner, "point", "v9", tag="9")
    gate.touch()
    done = [ended(runner, job) for job in waiting]
    begun = [job.started_at or 0 for job in done]
    assert begun == sorted(begun)
    assert all((job.queue_position, job.ahead) == (0, "") for job in done)


def test_a_visitor_has_two_jobs_at_most(runner: Runner, submit: Submit, until: Until) -> None:
    """The third is refused until one ends; others may still come."""
    first = submit(runner, "point polite", tag="1")
    second = submit(runner, "point", tag="2")
    with pytest.raises(QueueFullError, match=r"already have 2 runs.*cancel it"):
        submit(runner, "point", tag="3")
    assert submit(runner, "point", "ben", tag="3").state is JobState.QUEUED
    assert runner.cancel(second.run_id, "anna")
    submit(runner, "point", tag="4")
    runner.cancel(first.run_id, "anna")


def test_a_polite_cancel_keeps_points_and_worker(
    runner: Runner, submit: Submit, ended: Ended, until: Until, store: RunStore
) -> None:
    """The next job runs in the same process."""
    job = until(runner, submit(runner, "pid polite"), _has_points)
    assert runner.cancel(job.run_id, "anna")
    cancelled = ended(runner, job)
    assert (cancelled.state, len(cancelled.points)) == (JobState.CANCELLED, 1)
    assert cancelled.reason == "Cancelled. Points measured until then are kept; run it again."
    assert store.load_run(job.run_id).state is RunState.CANCELLED
    assert runner.cancel(job.run_id, "anna") is False
    after = ended(runner, submit(runner, "pid"))
    assert after.points[0].reason == cancelled.points[0].reason


@pytest.mark.parametrize("script", ["stubborn", "deaf"], ids=["heeds SIGTERM", "heeds nothing"])
def test_a_forced_cancel_takes_two_seconds_at_most(
    runner: Runner, submit: Submit, ended: Ended, until: Until, store: RunStore, script: str
) -> None:
    """Points are kept, and the next job works."""
    job = until(runner, submit(runner, f"point {script}"), _has_points)
    began = time.monotonic()
    runner.cancel(job.run_id, "anna")
    cancelled = ended(runner, job)
    assert time.monotonic() - began < 2.0
    assert (cancelled.state, len(cancelled.points)) == (JobState.CANCELLED, 1)
    assert cancelled.reason.startswith("Cancelled in the middle of a step.")
    assert store.load_run(job.run_id).points == cancelled.points
    assert ended(runner, submit(runner, "point")).state is JobState.DONE


def test_a_queued_job_is_just_removed(
    runner: Runner, submit: Submit, ended: Ended, until: Until, tmp_path: Path, store: RunStore
) -> None:
    """It never began, so the store does not know it; the one behind moves up."""
    gate = tmp_path / "gate"
    first = until(runner, submit(runner, f"file={gate}", "v0"), _runs)
    second, third = submit(runner, "point", "v1", tag="1"), submit(runner, "point", "v2", tag="2")
    runner.cancel(second.run_id, "v1")
    gone = runner.job(second.run_id)
    assert gone is not None
    assert (gone.state, gone.reason) == (JobState.CANCELLED, "Cancelled before it began.")
    moved = runner.job(third.run_id)
    assert moved is not None
    assert moved.queue_position == 1
    gate.touch()
    ended(runner, third)
    assert {run.id for run in store.list_runs()} == {first.run_id, third.run_id}


def test_the_last_visitor_of_a_flight_cancels_it(runner: Runner, submit: Submit, ended: Ended, until: Until) -> None:
    """The first only leaves; a stranger may not; a newcomer's same request is a new flight then."""
    job = until(runner, submit(runner, "point stubborn", "anna"), _has_points)
    submit(runner, "point stubborn", "ben")
    assert runner.join(job.run_id, "cleo").visitors == ("anna", "ben", "cleo")
    with pytest.raises(EngineError, match="asked for by somebody else"):
        runner.cancel(job.run_id, "dora")
    runner.cancel(job.run_id, "anna")
    runner.cancel(job.run_id, "cleo")
    left = runner.job(job.run_id)
    assert left is not None
    assert (left.state, left.visitors) == (JobState.RUNNING, ("ben",))
    runner.cancel(job.run_id, "ben")
    newcomer = submit(runner, "point stubborn", "eva")
    assert newcomer.run_id != job.run_id
    assert ended(runner, job).state is JobState.CANCELLED
    runner.cancel(newcomer.run_id, "eva")
    with pytest.raises(EngineError, match="no run nope"):
        runner.cancel("nope", "eva")
    with pytest.raises(EngineError, match="not going on"):
        runner.join(job.run_id, "eva")


def test_what_cannot_be_measured_here_is_refused(
    make_runner: MakeRunner, settings: Settings, submit: Submit, ended: Ended, machine: Machine
) -> None:
    """Read-only, a budget above the operator's, params of another experiment, a stopped engine."""
    one = make_runner()
    first = ended(one, submit(one, "point"))
    with pytest.raises(InputError, match=r"budget of 700 s is too long here: at most 600 s"):
        submit(one, "point", budget_s=700)
    with pytest.raises(InputError, match="Cannot run fake with Params: it takes FakeParams"):
        one.submit(FakeExperiment(), Params(), machine, "anna")
    one.stop()
    with pytest.raises(EngineError, match="stopped"):
        submit(one, "point", fresh=True)
    shows = make_runner(settings.model_copy(update={"read_only": True}))
    assert submit(shows, "point").run_id == first.run_id
    assert shows.status().read_only
    with pytest.raises(EngineError, match="GPUEXPLAIN_READ_ONLY"):
        submit(shows, "point", fresh=True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("point known", "This machine cannot do that. Choose another one."),
        ("point unknown", "unexpected error (ZeroDivisionError: division by zero)"),
    ],
    ids=["on purpose", "by mistake"],
)
def test_an_error_of_the_measurement_fails_the_job_only(
    runner: Runner, submit: Submit, ended: Ended, script: str, said: str
) -> None:
    """Its text is shown, points are kept, the next job works."""
    job = ended(runner, submit(runner, script))
    assert (job.state, len(job.points)) == (JobState.FAILED, 1)
    assert said in job.reason
    assert ended(runner, submit(runner, "point")).state is JobState.DONE


def test_only_modules_of_experiments_are_loaded(
    runner: Runner, ended: Ended, machine: Machine, experiment: FakeExperiment
) -> None:
    """A name from elsewhere is refused by the worker."""
    foreign = FakeExperiment(measure_module="antigravity")
    job = ended(runner, runner.submit(foreign, FakeParams(), machine, "anna"))
    assert (job.state, job.reason) == (
        JobState.FAILED,
        "Cannot measure with module 'antigravity': it is not part of an experiment.",
    )


def test_every_end_of_a_job_can_be_stored() -> None:
    """The states of the store are those of jobs, less the ways to wait."""
    waits = {"queued", "waiting", "starting"}
    assert {state.value for state in JobState} - waits == {state.value for state in RunState}
