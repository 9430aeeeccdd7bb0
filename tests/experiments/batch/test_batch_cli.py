"""The batch experiment on the command line: a real process, its output and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SMALL = ["--set", "width=16", "--set", "depth=1", "--set", "largest_batch=8", "--budget", "3"]

pytestmark = pytest.mark.torch


def gpuexplain(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end; other measurements of this host need not be waited for."""
    return subprocess.run(
        [sys.executable, "-m", "gpuexplain", *arguments],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home), "GPUEXPLAIN_LOCK_DIR": str(home)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_run_prints_points_with_examples_and_memory_then_the_findings(tmp_path: Path) -> None:
    """Every line is an object; the last one has the published names."""
    done = gpuexplain(tmp_path, "run", "batch", *SMALL, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    last = events[-1]
    assert (last["event"], last["state"]) == ("done", "done")
    wanted = {"best_throughput", "best_batch", "knee_batch", "knee_unstable", "saturated", "series", "headline_series"}
    assert wanted <= set(last["findings"])
    assert last["findings"]["headline_series"] == "mlp_training_cpu"
    points = {event["x"]: event for event in events[:-1]}
    assert set(points) == {1.0, 2.0, 4.0, 8.0}
    assert points[8.0]["items"] == 8.0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["dtype=fp8"], "dtype='fp8' cannot be used. Allowed: fp32 or autocast."),
        (["model=transformer", "width=100"], "the width of a model of kind transformer goes from 64 to 8192"),
        (["width=16384", "depth=200"], "fits."),
    ],
    ids=["value", "shape", "memory"],
)
def test_what_cannot_run_is_one_clear_line(tmp_path: Path, given: list[str], told: str) -> None:
    """Status 2, nothing measured."""
    done = gpuexplain(tmp_path, "run", "batch", *(part for each in given for part in ("--set", each)))
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_script_is_printed_for_any_model(tmp_path: Path) -> None:
    """It names the network and the batch."""
    done = gpuexplain(tmp_path, "snippet", "batch", "--set", "model=convnet", "--set", "largest_batch=16")
    assert done.returncode == 0
    assert "network = build_network(ConvNet, 16, 3)" in done.stdout
    assert 'make_examples(network, 16, "cpu")' in done.stdout
