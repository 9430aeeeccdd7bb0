"""A backup taken while the app writes is whole, and a restore is a copy back."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpuexplain.model import Dtype, Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "back_up.py"


def make_points(start: int) -> list[Point]:
    """Return ten points with many samples."""
    sample = {"samples_s": (1e-3,) * 500, "n_samples": 500, "median_s": 1e-3}
    names = {"experiment": "matmul", "series": "cpu", "dtype": Dtype.FP32, "device": "cpu"}
    return [Point(x=float(x), shape=(x,), **names, **sample) for x in range(start, start + 10)]


def back_up(target: Path, store: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as a person does."""
    return subprocess.run([sys.executable, SCRIPT, target, store], capture_output=True, text=True)


def test_a_backup_while_runs_are_written_is_whole(tmp_path: Path) -> None:
    """Ten points are written in one transaction: every run in the copy has a multiple of ten."""
    path = tmp_path / "home" / "gpuexplain.db"
    store, stop, written = RunStore(f"sqlite:///{path}"), threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            arguments = {"experiment": "matmul", "measuring_version": 1, "key": "k", "params": {}, "device": "cpu"}
            run_id = store.create_run(**arguments, run_id=f"run-{len(written)}")
            store.save_points(run_id, make_points(1))
            store.save_points(run_id, make_points(11))
            store.finish_run(run_id, RunState.DONE)
            written.append(run_id)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(written) < 3:
            pass
        copies = [tmp_path / "backups" / f"{number}.db" for number in range(3)]
        for copy in copies:
            done = back_up(copy, path)
            assert done.returncode == 0, done.stderr
            assert done.stdout.endswith(f"are in {copy}\n")
    finally:
        stop.set()
        writer.join()
    assert [file.name for file in copies[0].parent.iterdir() if "unfinished" in file.name or "-wal" in file.name] == []
    for copy in copies:
        restored = tmp_path / "restored.db"
        shutil.copy(copy, restored)
        opened = RunStore(f"sqlite:///{restored}")
        runs = [opened.load_run(run.id) for run in opened.list_runs(limit=1000)]
        opened.close()
        restored.unlink()
        assert len(runs) >= 3
        assert {len(run.points) % 10 for run in runs} == {0}
        assert all(len(run.points) == 20 for run in runs if run.state is RunState.DONE)
    store.close()


@pytest.mark.parametrize("content", [None, b"no database at all, but long enough to be looked at" * 100])
def test_what_cannot_be_backed_up_is_told_and_nothing_replaced(tmp_path: Path, content: bytes | None) -> None:
    """One line, exit status 1, and the backup of yesterday stays."""
    target, store = tmp_path / "yesterday.db", tmp_path / "gpuexplain.db"
    with sqlite3.connect(target) as yesterday:
        yesterday.execute("CREATE TABLE kept (x)")
    before = target.read_bytes()
    if content is not None:
        store.write_bytes(content)
    done = back_up(target, store)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Cannot back up {store}: ")
    assert len(done.stderr.splitlines()) == 1
    assert target.read_bytes() == before
