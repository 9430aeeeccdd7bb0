"""``myths`` on the command line: a real process, before and after a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def gpuexplain(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "gpuexplain", *arguments],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home), "GPUEXPLAIN_DEVICES": "cpu"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_myths_are_told_as_text_and_as_json(tmp_path: Path) -> None:
    """Nothing is tested on an empty store; a run of the lab makes a verdict."""
    before = gpuexplain(tmp_path, "myths")
    assert before.returncode == 0, before.stderr
    assert "M5 “All deep learning code suits a GPU.”\n  ○ Not tested yet\n" in before.stdout
    assert "The article's claims on this machine" in before.stdout
    run = gpuexplain(tmp_path, "run", "stopwatch", "--budget", "1.5", "--set", "side=128")
    assert run.returncode == 0, run.stderr
    shown = json.loads(gpuexplain(tmp_path, "myths", "--json").stdout)
    assert [myth["id"] for myth in shown["myths"]] == ["M1", "M2", "M3", "M4", "M5", "M6"]
    claim = shown["claims"][19]
    assert (claim["number"], claim["lab"]) == (20, "stopwatch")
    assert claim["outcome"] in ("held", "not_held", "cannot_tell")
    assert claim["run_id"]
    assert claim["settings"] == {"side": "128"}
