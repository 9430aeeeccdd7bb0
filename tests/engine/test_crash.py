"""Whatever dies, the points that arrived are kept, and the next run works."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from fake_measure import MODULE

import gpuexplain
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import StoreError
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore, open_store

Submit = Callable[..., Job]
Ended = Callable[[Runner, Job], Job]
Until = Callable[..., Job]
MakeRunner = Callable[..., Runner]
ROOT = Path(gpuexplain.__file__).parent.parent


def _until_true(holds: Callable[[], bool], patience_s: float = 20.0) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _worker_pid(runner: Runner) -> int:
    assert runner._slot._worker is not None
    return runner._slot._worker.pid


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("point complain signal=SIGSEGV", "was ended by signal SIGSEGV; its last words: the last words"),
        ("point signal=SIGKILL", "SIGKILL (the system does that when memory runs out)"),
        ("point garble", "Not a valid event of protocol 1: 'this is no message'"),
    ],
    ids=["segfault", "killed", "garbage on the pipe"],
)
def test_a_crash_keeps_points_and_the_next_run_works(
    runner: Runner, submit: Submit, ended: Ended, store: RunStore, script: str, said: str
) -> None:
    """The reason says how it ended."""
    job = ended(runner, submit(runner, script))
    assert (job.state, len(job.points)) == (JobState.CRASHED, 1)
    assert said in job.reason
    stored = store.load_run(job.run_id)
    assert (stored.state, stored.points, stored.reason) == (RunState.CRASHED, job.points, job.reason)
    assert ended(runner, submit(runner, "point")).state is JobState.DONE
    assert runner.status().worker_restarts == 1


def test_a_child_of_the_worker_does_not_hide_its_death(
    runner: Runner, submit: Submit, ended: Ended, tmp_path: Path
) -> None:
    """A data loader's process holds the pipe open: it is ended, too."""
    job = ended(runner, submit(runner, f"point fork={tmp_path / 'child'}"))
    assert (job.state, len(job.points)) == (JobState.CRASHED, 1)
    child = int((tmp_path / "child").read_text())
    _until_true(lambda: _is_gone(child))


def test_a_child_that_escaped_does_not_hide_it_either(
    runner: Runner, submit: Submit, ended: Ended, tmp_path: Path
) -> None:
    """It cannot be ended with the group, but nobody waits for it."""
    job = ended(runner, submit(runner, f"point escape={tmp_path / 'child'}"))
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
    assert (job.state, len(job.points)) == (JobState.CRASHED, 1)
    assert ended(runner, submit(runner, "point")).state is JobState.DONE


def test_an_idle_worker_that_went_silent_is_replaced(make_runner: MakeRunner, submit: Submit, ended: Ended) -> None:
    """The next job does not suffer for it."""
    runner = make_runner(silent_s=3.0)
    ended(runner, submit(runner, "point"))
    os.kill(_worker_pid(runner), signal.SIGSTOP)
    _until_true(lambda: runner.status().worker == "stopped")
    assert ended(runner, submit(runner, "point point")).state is JobState.DONE


def test_a_silent_worker_is_ended(make_runner: MakeRunner, submit: Submit, ended: Ended) -> None:
    """A stopped process sends no heartbeats; a working one is left alone."""
    runner = make_runner(silent_s=3.0)
    job = ended(runner, submit(runner, "point signal=SIGSTOP"))
    assert (job.state, len(job.points)) == (JobState.CRASHED, 1)
    assert "gave no sign of life for 3 s and was ended" in job.reason
    assert ended(runner, submit(runner, "point")).state is JobState.DONE


def test_a_run_that_never_ends_has_a_deadline(make_runner: MakeRunner, submit: Submit, ended: Ended) -> None:
    """Three budgets and some grace."""
    runner = make_runner(deadline_factor=0.1, deadline_grace_s=0.3)
    job = ended(runner, submit(runner, "point polite", budget_s=2))
    assert (job.state, len(job.points)) == (JobState.CRASHED, 1)
    assert "took more than 0.5 s for a budget of 2 s and was ended" in job.reason


def test_a_worker_that_never_gets_ready_has_a_deadline(
    store: RunStore, settings: Settings, make_runner: MakeRunner, submit: Submit, ended: Ended
) -> None:
    """As does one that cannot be started at all."""
    runner = make_runner(start_s=0.3)
    runner._slot._command = [sys.executable, "-c", "import time; time.sleep(600)"]
    job = ended(runner, submit(runner, "point"))
    assert (job.state, "not ready within 0.3 s" in job.reason) == (JobState.CRASHED, True)
    runner._slot._command = ["/nowhere/python"]
    job = ended(runner, submit(runner, "point"))
    assert (job.state, "Cannot start the measuring process" in job.reason) == (JobState.FAILED, True)
    runner._slot._command = [sys.executable, "-c", "raise SystemExit(7)"]
    job = ended(runner, submit(runner, "point"))
    assert (job.state, "ended with exit status 7" in job.reason) == (JobState.CRASHED, True)


def test_no_point_is_lost_when_the_worker_is_killed_at_any_moment(
    make_runner: MakeRunner, submit: Submit, ended: Ended, until: Until, settings: Settings
) -> None:
    """Twenty times; a second process then reads what was received, in order and without gaps."""
    runner, moments = make_runner(flush_s=0.3), random.Random(7)
    kept: dict[str, int] = {}
    for number in range(20):
        enough = moments.randrange(1, 12)
        job = submit(runner, "stream", tag=str(number))
        until(runner, job, lambda j, enough=enough: len(j.points) >= enough)
        time.sleep(moments.random() / 200)
        os.kill(_worker_pid(runner), signal.SIGKILL)
        crashed = ended(runner, job)
        assert crashed.state is JobState.CRASHED
        assert [point.x for point in crashed.points] == list(range(1, len(crashed.points) + 1))
        kept[job.run_id] = len(crashed.points)
    code = """
        import sys
        from gpuexplain.store.runs import RunStore
        store = RunStore(sys.argv[1])
        for run in store.list_runs():
            print(run.id, run.state.value, len(store.load_run(run.id).points))
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), settings.store_url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {line.split()[0]: line.split()[1:] for line in said.splitlines()} == {
        run_id: ["crashed", str(count)] for run_id, count in kept.items()
    }


def test_stop_interrupts_and_keeps(make_runner: MakeRunner, submit: Submit, until: Until, store: RunStore) -> None:
    """The running job and the queue end; the worker goes."""
    runner = make_runner()
    job = until(runner, submit(runner, "point stubborn"), lambda j: bool(j.points))
    queued = submit(runner, "point")
    worker = _worker_pid(runner)
    began = time.monotonic()
    runner.stop()
    assert time.monotonic() - began < 2
    assert _is_gone(worker)
    for run_id in (job.run_id, queued.run_id):
        stopped = runner.job(run_id)
        assert stopped is not None
        assert stopped.state is JobState.INTERRUPTED
    stored = store.load_run(job.run_id)
    assert (stored.state, len(stored.points)) == (RunState.INTERRUPTED, 1)
    assert "app was stopped during the run" in stored.reason
    assert runner.status().worker == "stopped"


def test_an_idle_worker_ends_and_comes_back(make_runner: MakeRunner, submit: Submit, ended: Ended) -> None:
    """It gives its memory back; the next run pays the start."""
    runner = make_runner(idle_exit_s=0.1)
    first = ended(runner, submit(runner, "pid"))
    _until_true(lambda: runner.status().worker == "stopped")
    assert _is_gone(int(first.points[0].reason))
    assert ended(runner, submit(runner, "point")).state is JobState.DONE


def test_an_idle_worker_that_dies_is_noticed(runner: Runner, submit: Submit, ended: Ended) -> None:
    """The next run gets a new one, even if it comes at once."""
    for tag in "ab":
        ended(runner, submit(runner, "point", tag=tag))
        pid = _worker_pid(runner)
        os.kill(pid, signal.SIGKILL)
        _until_true(lambda pid=pid: _is_gone(pid))
    assert ended(runner, submit(runner, "point point")).state is JobState.DONE


def test_a_killed_app_leaves_no_worker_and_no_lost_points(settings: Settings, worker_command: list[str]) -> None:
    """The worker ends in the middle of a call; the next start marks the run interrupted."""
    code = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        import fake_measure
        from gpuexplain.engine.limits import Limits
        from gpuexplain.engine.runner import Runner
        from gpuexplain.hardware.machine import Machine
        from gpuexplain.settings import Settings
        from gpuexplain.store.runs import open_store
        settings = Settings(home=Path(sys.argv[1]))
        machine = Machine.model_validate_json(sys.argv[2])
        runner = Runner(open_store(settings), settings, sys.argv[3:], limits=Limits(flush_s=0), warm=False)
        runner.start()
        asked = fake_measure.FakeParams(script="pid stubborn")
        job = runner.submit(fake_measure.FakeExperiment(), asked, machine, "anna")
        for snapshot in runner.follow(job.run_id):
            if snapshot.points:
                print(job.run_id, snapshot.points[0].reason, flush=True)
    """
    machine = {
        "cpu": {"architecture": "x", "logical_cpus": 2, "affinity_cpus": 2, "usable_threads": 2},
        "memory": {"total_bytes": 1, "available_bytes": 1},
        "platform": {"hostname": "h", "machine_id": "m", "system": "s", "kernel": "k", "python": "3"},
    }
    app = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(code),
            str(settings.home),
            json.dumps(machine),
            *worker_command,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert app.stdout is not None
    run_id, worker = app.stdout.readline().split()
    store = open_store(settings)
    _until_true(lambda: bool((run := store.find_run(run_id)) and run.points))
    app.kill()
    app.wait()
    app.stdout.close()
    _until_true(lambda: _is_gone(int(worker)))
    with Runner(store, settings, worker_command, warm=False):
        run = store.load_run(run_id)
    assert (run.state, len(run.points)) == (RunState.INTERRUPTED, 1)


class _FailingStore(RunStore):
    """A store whose disk is full for a while."""

    is_full = False

    def save_points(self, *arguments: object) -> None:
        if self.is_full:
            raise StoreError("Cannot save points in the store: disk is full. Free some space.")
        super().save_points(*arguments)  # type: ignore[arg-type]

    def finish_run(self, *arguments: object) -> None:
        if self.is_full:
            raise StoreError("Cannot write to the store: disk is full. Free some space.")
        super().finish_run(*arguments)  # type: ignore[arg-type]


def test_a_failing_store_loses_no_point(
    make_runner: MakeRunner, submit: Submit, ended: Ended, until: Until, settings: Settings
) -> None:
    """The points are shown, the reason says so, and they are stored once that works again."""
    open_store(settings).close()
    store = _FailingStore(settings.store_url)
    store.is_full = True
    runner = make_runner(store=store, retry_store_s=0.05)
    job = submit(runner, "point polite point")
    live = until(runner, job, lambda j: j.reason != "")
    assert (len(live.points), live.reason[:35]) == (1, "Not stored yet: Cannot save points ")
    runner.cancel(job.run_id, "anna")
    last = ended(runner, job)
    assert "Points measured until then are kept" in last.reason
    assert "Not stored yet: Cannot save points in the store: disk is full." in last.reason
    store.is_full = False
    _until_true(lambda: store.load_run(job.run_id).state is RunState.CANCELLED)
    assert store.load_run(job.run_id).points == last.points
    _until_true(lambda: "Not stored" not in getattr(runner.job(job.run_id), "reason", ""))


def test_a_store_that_fails_until_the_end_is_tried_once_more_at_stop(
    make_runner: MakeRunner, submit: Submit, ended: Ended, settings: Settings
) -> None:
    """The last chance is taken."""
    store = _FailingStore(settings.store_url)
    store.is_full = True
    runner = make_runner(store=store, retry_store_s=600)
    job = ended(runner, submit(runner, "point"))
    store.is_full = False
    runner.stop()
    assert store.load_run(job.run_id).state is RunState.DONE


def test_a_light_worker_loads_nothing_heavy() -> None:
    """It must start in a fraction of a second: torch comes with the first job."""
    code = """
        import sys
        import gpuexplain.engine.worker
        print(*{"torch", "numpy", "pandas", "plotly", "streamlit", "sqlalchemy"}.intersection(sys.modules),
              *(name for name in sys.modules if name.startswith("gpuexplain.registry")))
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == ""


def test_the_fake_is_found_where_the_worker_looks() -> None:
    """The module's name and file belong together."""
    assert (ROOT / MODULE.replace(".", "/")).with_suffix(".py").exists()
