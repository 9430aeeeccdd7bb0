"""The store is locked, full, damaged or gone while a run goes on: every point is in it in the end."""

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_made import PATIENCE_S, ROOT, light_command, read_elsewhere, until

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.settings import Settings
from gpuexplain.store.runs import open_store

MakeRunner = Callable[..., Runner]
Submit = Callable[..., Job]
Finish = Callable[..., Job]

_LOCKER = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("locked", flush=True)
    sys.stdin.readline()
"""


def _reason(runner: Runner, job: Job) -> str:
    now = runner.job(job.run_id)
    return "" if now is None else now.reason


def _ended(runner: Runner, job: Job) -> Job:
    last = runner.wait(job.run_id, PATIENCE_S)
    assert last is not None
    assert not last.state.is_active, last
    return last


def _until_stored(runner: Runner) -> None:
    until(lambda: runner.status().not_stored == 0, "the store has not taken everything")


def test_a_locked_store_neither_stops_a_run_nor_loses_its_points(
    make_runner: MakeRunner, submit: Submit, settings: Settings, store_file: Path, tmp_path: Path
) -> None:
    """Another process holds it during the whole run, which can even be cancelled meanwhile."""
    runner = make_runner()
    locker = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_LOCKER), str(store_file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert locker.stdout is not None
    assert locker.stdout.readline() == "locked\n"
    job = submit(runner, "point point polite point")
    until(lambda: _reason(runner, job).startswith("Not stored yet: "))
    assert "Another process keeps it busy: wait for it or end it" in _reason(runner, job)
    until(lambda: len(runner.job(job.run_id).points) == 2)
    runner.cancel(job.run_id, "anna")
    ended = _ended(runner, job)
    assert (ended.state, len(ended.points)) == (JobState.CANCELLED, 2)
    assert runner.status().not_stored == 1
    assert runner.counts().store_failures > 0
    locker.communicate("\n")
    _until_stored(runner)
    assert read_elsewhere(settings.store_url) == {job.run_id: ("cancelled", [1, 2])}
    until(lambda: "Not stored" not in _reason(runner, job))


def test_a_full_disk_loses_no_point(
    small_disk: Callable[[str], Path], make_runner: MakeRunner, submit: Submit, tmp_path: Path
) -> None:
    """What did not fit is kept in memory, said, and stored once there is room; what was stored stays readable."""
    disk = small_disk("512k")
    settings = Settings(home=disk)
    store = open_store(settings)
    runner = make_runner(store=store)
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        file.write(b"x" * (512 - 200) * 1024)
    gate = tmp_path / "gate"
    job = submit(runner, f"stream=400 file={gate}")
    until(lambda: "Free some space on that disk" in _reason(runner, job) or "check its space" in _reason(runner, job))
    stored = read_elsewhere(settings.store_url)[job.run_id][1]
    until(lambda: len(runner.job(job.run_id).points) == 400)
    filler.unlink()
    gate.touch()
    assert _ended(runner, job).state is JobState.DONE
    _until_stored(runner)
    found = read_elsewhere(settings.store_url)[job.run_id]
    assert found == ("done", list(range(1, 401)))
    assert set(stored) < set(found[1])
    runner.stop()
    store.close()


_SMALL_FILES = """
    import json, resource, sys
    from pathlib import Path
    from gpuexplain.engine.limits import Limits
    from gpuexplain.engine.runner import Runner
    from gpuexplain.hardware.inspect import inspect_machine
    from gpuexplain.settings import Settings
    from gpuexplain.store.runs import open_store
    from tests.engine.fake_measure import FakeExperiment, FakeParams

    settings = Settings(home=Path(sys.argv[1]))
    store = open_store(settings)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    with Runner(store, settings, sys.argv[2:], limits=Limits(flush_s=0.02, retry_store_s=0.1), warm=False) as runner:
        largest = max(path.stat().st_size for path in settings.home.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 30_000, hard))
        job = runner.submit(FakeExperiment(), FakeParams(script="stream=200"), inspect_machine(None), "anna")
        job = runner.wait(job.run_id, 90)
        print(json.dumps([job.run_id, job.state.value, len(job.points), job.reason, runner.counts().store_failures]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
"""


def test_a_file_that_may_not_grow_loses_no_point(settings: Settings, tmp_path: Path) -> None:
    """The limit of a user's files (a quota looks the same) is lifted before the engine stops: the last chance."""
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_SMALL_FILES), str(settings.home), *light_command(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    run_id, state, n_points, reason, n_failures = json.loads(said)
    assert (state, n_points) == ("done", 200)
    assert "Not stored yet: Cannot" in reason
    assert n_failures > 0
    assert read_elsewhere(settings.store_url) == {run_id: ("done", list(range(1, 201)))}


def _damage(store_file: Path) -> None:
    """Cut the file off, with everything in it and nothing left in its log."""
    with sqlite3.connect(store_file, timeout=PATIENCE_S) as file:
        until(lambda: file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
    os.truncate(store_file, store_file.stat().st_size // 2)


def _delete(store_file: Path) -> None:
    for path in store_file.parent.iterdir():
        path.unlink()


@pytest.mark.parametrize(("harm", "n_notices"), [(_damage, 1), (_delete, 0)], ids=["cut off", "deleted"])
def test_the_whole_run_is_in_the_store_that_takes_the_place_of_a_broken_one(
    make_runner: MakeRunner,
    submit: Submit,
    finish: Finish,
    settings: Settings,
    store_file: Path,
    tmp_path: Path,
    harm: Callable[[Path], None],
    n_notices: int,
) -> None:
    """Also the points that had been written to the old one."""
    store, gate = open_store(settings), tmp_path / "gate"
    runner = make_runner(store=store)
    job = submit(runner, f"point point point file={gate} point")
    until(lambda: (run := store.find_run(job.run_id)) is not None and len(run.points) == 3)
    harm(store_file)
    gate.touch()
    assert _ended(runner, job).state is JobState.DONE
    _until_stored(runner)
    assert read_elsewhere(settings.store_url)[job.run_id] == ("done", [1, 2, 3, 5])
    assert len(store.notices) == n_notices
    assert finish(runner, "point", tag="after").state is JobState.DONE


def test_the_engine_runs_without_a_store_that_can_be_written(
    small_disk: Callable[[str], Path], make_runner: MakeRunner, finish: Finish
) -> None:
    """What is measured is shown, and that it is not kept; once the disk can be written, it is."""
    disk = small_disk("4m")
    settings = Settings(home=disk / "home")
    open_store(settings).close()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    store = open_store(settings)
    runner = make_runner(store=store)
    job = finish(runner, "point point")
    assert (job.state, len(job.points)) == (JobState.DONE, 2)
    assert "Not stored yet: Cannot open the store" in job.reason
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    _until_stored(runner)
    assert read_elsewhere(settings.store_url) == {job.run_id: ("done", [1, 2])}
    runner.stop()
    store.close()
