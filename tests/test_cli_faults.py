"""The command line says what failed lately, goes on with what broke off, and asks before it disturbs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuexplain.cli import measuring
from gpuexplain.cli.machine import tell_failure
from gpuexplain.cli.measuring import ask_neighbours
from gpuexplain.engine.key import compute_key
from gpuexplain.errors import InputError
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Gpu, TorchProbe
from gpuexplain.model import Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState, RunSummary
from gpuexplain.store.runs import RunStore, open_store

ROOT = Path(__file__).resolve().parents[1]
Call = Callable[..., subprocess.CompletedProcess]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder of the test's own."""
    return tmp_path / "home"


@pytest.fixture
def call(home: Path, tmp_path: Path) -> Call:
    """Call the command line as a process."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "gpuexplain", *arguments],
            cwd=ROOT,
            env={**os.environ, "GPUEXPLAIN_HOME": str(home), "GPUEXPLAIN_LOCK_DIR": str(tmp_path), **environment},
            capture_output=True,
            text=True,
            timeout=110,
        )

    return call


def keep_run(store: RunStore, state: RunState, reason: str, **fields: object) -> str:
    """Keep a run that ended in a state, with one point."""
    plain = {"experiment": "matmul", "measuring_version": 1, "key": "k", "params": {}, "device": "cpu"}
    run_id = store.create_run(**plain | fields)  # type: ignore[arg-type]
    point = Point(
        experiment="matmul", series="cpu", x=16, shape=(16, 16, 16), dtype="fp32", device="cpu", reason="before"
    )
    store.save_points(run_id, [point])
    store.finish_run(run_id, state, reason)
    return run_id


@pytest.mark.parametrize(
    ("state", "n_points", "age_s", "told"),
    [
        (RunState.CRASHED, 14, 7200, "matmul on cpu, crashed 2\xa0h ago, 14 points kept. It died."),
        (RunState.INTERRUPTED, 1, 0, "matmul on cpu, interrupted just now, 1 point kept. It died."),
    ],
)
def test_a_failure_is_told_in_one_line(state: RunState, n_points: int, age_s: float, told: str) -> None:
    """What, how, when, what is left of it and why."""
    run = RunSummary(
        id="r", experiment="matmul", measuring_version=1, key="k", params={}, machine=None, device="cpu",
        state=state, reason="It died.", created_at=0.0, finished_at=100.0, n_points=n_points,
    )  # fmt: skip
    assert tell_failure(run, 100.0 + age_s) == told


def test_doctor_shows_recent_failures_and_a_damaged_store(call: Call, home: Path) -> None:
    """Newest first, five at most; runs that ended well are not among them."""
    store = open_store(Settings(home=home))
    ids = [keep_run(store, RunState.CRASHED, f"Reason {n}.", created_at=float(n)) for n in range(6)]
    keep_run(store, RunState.DONE, "Fine.")
    keep_run(store, RunState.CANCELLED, "Cancelled by its visitor.")
    store.close()
    (home / "gpuexplain-damaged-20260102-150405.txt").write_text("A damaged file was kept.")
    said = call("doctor", GPUEXPLAIN_READ_ONLY="true").stdout
    assert [n for n in range(6) if f"Reason {n}." in said] == [1, 2, 3, 4, 5]
    assert said.index(ids[5]) < said.index(ids[1])
    assert "Fine." not in said
    assert "Cancelled by" not in said
    assert "A damaged file was kept." in said
    told = json.loads(call("doctor", "--json", GPUEXPLAIN_READ_ONLY="true").stdout)
    assert [run["id"] for run in told["recent_failures"]] == ids[:0:-1]
    assert told["store"] == {"problem": "", "notices": ["A damaged file was kept."]}
    assert told["cpu"]["usable_threads"] >= 1


def test_doctor_works_without_a_store_and_says_why_there_is_none(call: Call, home: Path) -> None:
    """The remedies of the store's errors name this command."""
    home.write_text("in the way")
    left = call("doctor", GPUEXPLAIN_READ_ONLY="true")
    assert (left.returncode, left.stderr) == (0, "")
    assert "A file stands where the folder should be: move it, or set GPUEXPLAIN_HOME" in left.stdout
    assert "Architecture" in left.stdout


@pytest.mark.torch
def test_an_interrupted_run_is_gone_on_with(call: Call, home: Path) -> None:
    """A new run that keeps what is not measured anew; a run that is done is refused."""
    experiment = EXPERIMENTS["matmul"]
    machine = inspect_machine(None)
    params = MatmulParams(budget_s=0.5, largest_side=64)
    store = open_store(Settings(home=home))
    run_id = keep_run(
        store, RunState.INTERRUPTED, "", params=params.model_dump(mode="json"),
        key=compute_key("matmul", experiment.measuring_version, params, machine),
        measuring_version=experiment.measuring_version,
    )  # fmt: skip
    left = call("resume", run_id, "--json")
    done = json.loads(left.stdout.splitlines()[-1])
    assert (done["event"], done["state"]) == ("done", "done")
    assert done["run_id"] != run_id
    again = call("resume", done["run_id"])
    assert again.returncode == 2
    assert "is done: only an interrupted or crashed run can be resumed" in again.stderr
    store.close()


def test_nobody_is_disturbed_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe nobody can be asked: --yes is needed."""
    gpu = Gpu(name="Card", uuid="GPU-1", torch_device="cuda:0", compute_processes=1)
    shared = inspect_machine(None).model_copy(update={"gpus": (gpu,), "torch": TorchProbe(version="2.13.0")})
    ask_neighbours("auto", shared, yes=True)
    ask_neighbours("cpu", shared, yes=False)
    monkeypatch.setattr(measuring.sys.stdin, "isatty", lambda: False, raising=False)
    with pytest.raises(InputError, match=r"Another process computes on Card.*Add --yes to measure all the same\."):
        ask_neighbours("auto", shared, yes=False)
