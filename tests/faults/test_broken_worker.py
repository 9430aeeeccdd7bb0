"""The measuring process dies, hangs, babbles or runs out of memory: nothing is lost, nothing is left over."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from faults_made import is_gone, light_command, read_elsewhere, until, worker_pid

from benchmarks.kills import held_by_us, kill_workers, plan_light, plan_torch
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.settings import Settings

MakeRunner = Callable[..., Runner]
Finish = Callable[..., Job]


def test_no_point_is_lost_when_the_worker_is_killed_at_any_moment(tmp_path: Path) -> None:
    """The benchmark's loop, small: also before the first point, while starting and after the end."""
    seen = kill_workers(plan_light(5, tmp_path), tmp_path / "home", seed=int.from_bytes(os.urandom(2)))
    assert (seen.lost, seen.left_over, seen.leaked, seen.last_state) == ([], [], [], "done")
    assert seen.n_received > 0


@pytest.mark.torch
def test_no_point_is_lost_when_a_worker_with_torch_is_killed(tmp_path: Path) -> None:
    """Once, in the middle of a sweep."""
    seen = kill_workers(plan_torch(1, tmp_path, budget_s=1.0), tmp_path / "home", seed=1)
    assert (seen.lost, seen.left_over, seen.leaked, seen.last_state) == ([], [], [], "done")
    assert seen.n_received > 0


CRASHES = {
    "signal=SIGKILL": "was ended by signal SIGKILL",
    "signal=SIGABRT": "was ended by signal SIGABRT",
    "signal=SIGSTOP": "gave no sign of life for 3 s and was ended",
    "exit=0": "ended with exit status 0",
    "close": "The measuring process ended",
}
GARBAGE = {
    "garbage=bytes": "Not a valid event",
    "garbage=half": "Not a valid event",
    "garbage=deep": "Not a valid event",
    "garbage=wrong": "Not a valid event",
    "garbage=long": "Not a valid event",
    "garbage=foreign": "it speaks protocol 99, we speak 1. Restart the app.",
}
FAILURES = {
    "eat=300": "unexpected error (MemoryError)",
    "lost": "The device failed: CUDA error: an illegal memory access.",
    "unknown": "unexpected error (ZeroDivisionError",
}


@pytest.mark.parametrize(
    ("harms", "state"),
    [(CRASHES, JobState.CRASHED), (GARBAGE, JobState.CRASHED), (FAILURES, JobState.FAILED)],
    ids=["ends or hangs", "garbage on the pipe", "memory, device and other errors"],
)
def test_the_points_before_are_stored_and_the_next_run_works(
    make_runner: MakeRunner, finish: Finish, settings: Settings, harms: dict[str, str], state: JobState
) -> None:
    """As another process reads them; each time another worker, which holds no more than the one before."""
    runner = make_runner(silent_s=3.0)
    finish(runner, "point")
    workers, held, ends = [worker_pid(runner)], held_by_us(), {}
    for harm, said in harms.items():
        job = finish(runner, f"point point {harm} point")
        assert said in job.reason, harm
        ends[job.run_id] = (job.state, [point.x for point in job.points])
        assert finish(runner, "point", tag=harm).state is JobState.DONE, harm
        workers.append(worker_pid(runner))
    found = read_elsewhere(settings.store_url)
    assert {run_id: found[run_id] for run_id in ends} == dict.fromkeys(ends, (state.value, [1, 2]))
    assert ends == dict.fromkeys(ends, (state, [1, 2]))
    assert len(set(workers)) == len(workers)
    assert all(is_gone(worker) for worker in workers[:-1])
    assert held_by_us() - held == {}
    assert runner.counts().runs == {("fake", state.value): len(harms), ("fake", "done"): 1 + len(harms)}


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A control group that may use 100 MB; only root can make one, elsewhere the test is skipped."""
    for controller, limit in (("memory", "memory.limit_in_bytes"), ("", "memory.max")):
        lines = Path("/proc/self/cgroup").read_text().splitlines() if sys.platform == "linux" else []
        place = next((path for _, name, path in (line.split(":", 2) for line in lines) if name == controller), None)
        if place is None:
            continue
        group = Path("/sys/fs/cgroup") / controller / place.lstrip("/") / f"gpuexplain-test-{os.getpid()}"
        try:
            group.mkdir()
            (group / limit).write_text(str(100 * 10**6))
        except OSError:
            continue
        break
    else:
        pytest.skip("only root can limit the memory of a group of processes, where the system has such groups")
    yield group
    until(lambda: not (group / "cgroup.procs").read_text().strip())
    group.rmdir()


def test_the_system_kills_a_worker_that_takes_too_much_memory(
    small_group: Path, make_runner: MakeRunner, finish: Finish, settings: Settings, tmp_path: Path
) -> None:
    """The reason names the likely cause; only the worker's group is short of memory, as in a container."""
    command = light_command(tmp_path)
    into_group = f"import os; open({str(small_group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))"
    code = f"{into_group}; import sys; os.execv(sys.executable, {[sys.executable, *command[1:]]!r})"
    runner = make_runner(command=[sys.executable, "-c", code])
    job = finish(runner, "point point eat")
    assert (job.state, [point.x for point in job.points]) == (JobState.CRASHED, [1, 2])
    assert "SIGKILL (the system does that when memory runs out)" in job.reason
    assert read_elsewhere(settings.store_url)[job.run_id] == ("crashed", [1, 2])
    assert finish(runner, "point", tag="after").state is JobState.DONE


def test_nothing_is_left_over_when_the_engine_stops(
    make_runner: MakeRunner, submit: Callable[..., Job], settings: Settings
) -> None:
    """Whatever the worker was doing."""
    before, children = held_by_us(), set(psutil.Process().children())
    for script in ("point", "point deaf", "point signal=SIGSTOP", "point garbage=long"):
        runner = make_runner()
        job = submit(runner, script)
        until(lambda runner=runner, job=job: bool(runner.job(job.run_id).points), script)
        runner.stop()
        runner._store.close()
    assert set(psutil.Process().children()) == children
    assert held_by_us() - before == {}
    assert {len(sizes) for _, sizes in read_elsewhere(settings.store_url).values()} == {1}
