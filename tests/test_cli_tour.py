"""The tour in a terminal: its events, its headlines, its page, and its end at Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gpuexplain.cli import printing, touring
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.tour import FLOOR_S, RESERVE_S, Tour, TourPart, TourState
from gpuexplain.errors import EngineError, NothingMeasuredError
from gpuexplain.experiments.contract import Headline
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Dtype, Point
from gpuexplain.registry import CORE, EXPERIMENTS

ROOT = Path(__file__).resolve().parents[1]
SHORTEST = f"{len(CORE) * (FLOOR_S + RESERVE_S):g}"
TOURED = [experiment.id for experiment in CORE]


def _hear_ctrl_c() -> None:
    """A background job of a shell is started with Ctrl-C ignored; a terminal's is not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpuexplain", *arguments],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_ctrl_c,
        text=True,
    )


@pytest.mark.torch
def test_a_tour_measures_every_experiment_and_writes_its_page(tmp_path: Path) -> None:
    """Points as they come, one last event with runs and findings by experiment, and a page."""
    page = tmp_path / "summary.html"
    process = start(tmp_path, "tour", "--budget", SHORTEST, "--json", "-o", str(page))
    stdout, stderr = process.communicate(timeout=110)
    assert process.returncode == 0, stderr
    *points, done = (json.loads(line) for line in stdout.splitlines())
    assert {event["event"] for event in points} == {"point"}
    assert {event["experiment"] for event in points} == set(TOURED)
    assert (done["event"], done["state"], done["reason"]) == ("done", "done", "")
    assert list(done["runs"]) == list(done["findings"]) == TOURED
    assert set(done["states"].values()) == {"done"}
    assert {event["run_id"] for event in points} == set(done["runs"].values())
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    stored = start(tmp_path, "runs", "--json").communicate(timeout=60)[0]
    assert {run["id"]: run["experiment"] for run in json.loads(stored)["runs"]} == {
        run_id: name for name, run_id in done["runs"].items()
    }


@pytest.mark.torch
def test_an_interrupted_tour_keeps_what_it_measured(tmp_path: Path) -> None:
    """Ctrl-C: the last event says cancelled, the points are stored, the exit status is 130."""
    process = start(tmp_path, "tour", "--json")
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    done = json.loads(stdout.splitlines()[-1])
    assert (done["event"], done["state"]) == ("done", "cancelled")
    assert done["runs"] == {first["experiment"]: first["run_id"]}
    [run] = json.loads(start(tmp_path, "runs", "--json").communicate(timeout=60)[0])["runs"]
    assert (run["id"], run["state"]) == (first["run_id"], "cancelled")
    assert run["n_points"] >= 1


# -- what is printed, without measuring -------------------------------------------------------------


def job(name: str, state: JobState = JobState.DONE, reason: str = "", n_points: int = 1) -> Job:
    """Return the ended job of an experiment."""
    point = {"experiment": name, "series": "cpu", "x": 64, "dtype": Dtype.FP32, "device": "cpu", "median_s": 1e-3}
    return Job(
        run_id=f"run-{name}",
        key=name,
        experiment=name,
        params={},
        state=state,
        reason=reason,
        points=tuple(Point.model_validate({**point, "x": 2**i, "n_samples": 7}) for i in range(n_points)),
        created_at=0.0,
    )


def tour_of(*jobs: Job, state: TourState = TourState.DONE, reason: str = "") -> Tour:
    """Return the tour of these jobs."""
    parts = tuple(
        TourPart(experiment=j.experiment, wanted_s=11, budget_s=11, run_id=j.run_id, state=j.state, reason=j.reason)
        for j in jobs
    )
    return Tour(state=state, reason=reason, budget_s=60, visitors=("me",), parts=parts, created_at=0.0)


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four experiments whose headline is the number of their points."""
    names = ("matmul", "batch", "precision", "transfer")
    fakes = {
        name: replace(
            EXPERIMENTS["matmul"],
            id=name,
            nav_label=name.capitalize(),
            find=len,
            headline=lambda n: Headline("Points", f"{n} of them", f"{n} to {n + 1}", "somewhere") if n else None,
            findings_json=lambda n: {"points": n},
        )
        for name in names
    }
    monkeypatch.setattr(touring, "EXPERIMENTS", fakes)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """A terminal of 80 columns."""
    screen = StringIO()
    console = Console(file=screen, width=80, force_terminal=True, color_system=None, soft_wrap=True, markup=False)
    for module in (touring, printing):
        monkeypatch.setattr(module, "out", console)
    monkeypatch.setattr(printing.print_table, "__defaults__", (console,))
    return screen


def conclude(tour: Tour, *jobs: Job, output: Path | None = None, as_json: bool = False) -> None:
    """Print the end of a tour."""
    touring._conclude(tour, {j.experiment: j for j in jobs}, inspect_machine(None), output, as_json)


def test_four_headlines_and_where_their_runs_are(labs: None, terminal: StringIO) -> None:
    """Number, interval, what it is, where; and the run that has it."""
    jobs = [job(name, n_points=n) for n, name in enumerate(("matmul", "batch", "precision", "transfer"), 1)]
    conclude(tour_of(*jobs), *jobs)
    lines = [line.rstrip().replace("\xa0", " ") for line in terminal.getvalue().splitlines()]
    assert lines[:4] == [
        "Matmul     1 of them (1 to 2)  Points, somewhere",
        "           run run-matmul: done",
        "Batch      2 of them (2 to 3)  Points, somewhere",
        "           run run-batch: done",
    ]
    assert lines[-2] == "Tour done after 0 s of 60.0 s of measuring."
    assert max(len(line) for line in lines) <= 80


def test_a_part_that_failed_says_why_and_the_rest_counts(labs: None, terminal: StringIO) -> None:
    """Exit status 0: something was measured."""
    jobs = [job("matmul"), job("batch", JobState.FAILED, "The device was lost. Run it again.", n_points=0)]
    conclude(tour_of(*jobs), *jobs)
    assert "no number yet" in terminal.getvalue()
    assert "run run-batch: failed. The device was lost. Run it again." in terminal.getvalue()


def test_a_tour_that_measured_nothing_ends_with_its_reason(labs: None, terminal: StringIO) -> None:
    """Exit status 3."""
    jobs = [job("matmul", JobState.FAILED, "No device works here.", n_points=0)]
    with pytest.raises(NothingMeasuredError, match="No device works here"):
        conclude(tour_of(*jobs), *jobs)


@pytest.mark.parametrize(
    ("state", "error"),
    [(TourState.CANCELLED, KeyboardInterrupt), (TourState.INTERRUPTED, EngineError)],
    ids=["cancelled", "interrupted"],
)
def test_a_tour_that_ended_early_says_so_after_its_numbers(
    labs: None, terminal: StringIO, state: TourState, error: type[BaseException]
) -> None:
    """What was measured is printed first."""
    with pytest.raises(error):
        conclude(tour_of(job("matmul"), state=state, reason="It was stopped."), job("matmul"))
    assert "1 of them" in terminal.getvalue()
    assert "It was stopped." in terminal.getvalue()


def test_the_last_event_has_every_experiment(labs: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs and findings by name; reasons only where there are some."""
    jobs = [job("matmul", n_points=3), job("batch", JobState.CRASHED, "It died.", n_points=1)]
    conclude(tour_of(*jobs), *jobs, as_json=True)
    done = json.loads(capsys.readouterr().out)
    assert done["runs"] == {"matmul": "run-matmul", "batch": "run-batch"}
    assert done["states"] == {"matmul": "done", "batch": "crashed"}
    assert done["reasons"] == {"batch": "It died."}
    assert done["findings"] == {"matmul": {"points": 3}, "batch": {"points": 1}}
