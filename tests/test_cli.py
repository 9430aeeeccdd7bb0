"""The command line as a person uses it: a real process, its output and its exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases"
RUN = ["run", "matmul", "--set", "largest_side=64", "--budget", "0.6"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that these tests share."""
    return tmp_path_factory.mktemp("home")


def gpuexplain(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "gpuexplain", *arguments],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_run_prints_points_and_findings_as_json_lines(home: Path) -> None:
    """Every line is an object; the last one has the findings under their published names."""
    done = gpuexplain(home, *RUN, "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["event"] for event in events[:-1]} == {"point"}
    last = events[-1]
    assert (last["event"], last["state"]) == ("done", "done")
    assert {"best_tflops", "best_n", "n_at_90pct", "suspect_n", "dips_n", "decline_pct", "crossover"} <= set(
        last["findings"]
    )
    point = events[0]
    wanted = "experiment series x status flags n_samples median_s ci_low_s ci_high_s first_call_s flops bytes"
    assert set(f"{wanted} rel_error device source".split()) <= set(point)


def test_a_stored_run_is_listed_shown_exported_and_imported(home: Path, tmp_path: Path) -> None:
    """Nothing of it is lost on the way to another machine."""
    listed = json.loads(gpuexplain(home, "runs", "--json").stdout)["runs"]
    if not listed:  # this test alone: no other has measured yet
        gpuexplain(home, "run", "matmul", "--preset", "quick", "--largest-side", "64")
        listed = json.loads(gpuexplain(home, "runs", "--json").stdout)["runs"]
    run_id = listed[0]["id"]
    shown = gpuexplain(home, "show", run_id)
    assert shown.returncode == 0
    assert "On this machine" in shown.stdout
    exported = tmp_path / "run.json"
    assert gpuexplain(home, "export", run_id, "--format", "json", "-o", str(exported)).returncode == 0
    rows = gpuexplain(home, "export", run_id, "--format", "csv").stdout.splitlines()
    assert len(rows) == 1 + listed[0]["n_points"]
    table = tmp_path / "run.parquet"
    assert gpuexplain(home, "export", run_id, "--format", "parquet", "-o", str(table)).returncode == 0
    frame = pd.read_parquet(table)
    assert (len(frame), set(frame["run_id"])) == (listed[0]["n_points"], {run_id})
    page = gpuexplain(home, "export", run_id, "--format", "html").stdout
    assert page.startswith("<!doctype html>")
    assert run_id in page
    other = tmp_path / "other"
    assert gpuexplain(other, "import", str(exported)).returncode == 0
    again = gpuexplain(other, "export", run_id, "--format", "json").stdout
    assert json.loads(again)["points"] == json.loads(exported.read_text())["points"]


def test_analyse_prints_the_published_verdict(home: Path) -> None:
    """The names and values are those of the public cases."""
    done = gpuexplain(home, "analyse", "crossover", str(CASES / "c_overtakes.csv"), "--json")
    findings = json.loads(done.stdout)["findings"]
    assert (findings["verdict"], findings["low"], findings["high"]) == ("crossed", 128, 256)


def test_doctor_tells_the_machine(home: Path) -> None:
    """As JSON and as text, with the state of the CUDA path."""
    machine = json.loads(gpuexplain(home, "doctor", "--json").stdout)
    assert machine["cpu"]["usable_threads"] >= 1
    assert machine["torch"]["flush_denormals"] is True
    assert "verified" in gpuexplain(home, "doctor").stdout


def test_snippet_prints_a_script(home: Path) -> None:
    """It compiles."""
    done = gpuexplain(home, "snippet", "matmul", "--set", "dtype=bf16")
    compile(done.stdout, "snippet.py", "exec")
    assert "torch.bfloat16" in done.stdout


BAD = {
    "dtype": (["run", "matmul", "--set", "dtype=fp128"], ["dtype='fp128'", "fp64, fp32, bf16 or fp16"]),
    "unknown parameter": (["run", "matmul", "--set", "speed=9"], ["'speed'", "dtype"]),
    "only m": (["run", "matmul", "--set", "m=100"], ["m, k and n go together"]),
    "too large": (["run", "matmul", "--set", "largest_side=99999"], ["largest_side='99999'", "16 to 8192"]),
    "does not fit": (
        ["run", "matmul", "--set", "m=65536", "--set", "k=65536", "--set", "n=65536"],
        ["needs", "largest square that fits"],
    ),
    "experiment": (["run", "knitting"], ["experiment='knitting'", "matmul"]),
    "device": (["run", "matmul", "--device", "cuda:77"], ["device='cuda:77'", "auto, cpu"]),
    "device text": (["run", "matmul", "--device", "tpu"], ["device='tpu'", "cuda:N"]),
    "budget": (["run", "matmul", "--budget", "0"], ["budget_s=0.0", "seconds"]),
    "budget nan": (["run", "matmul", "--budget", "nan"], ["budget_s=nan"]),
    "no equals": (["run", "matmul", "--set", "dtype"], ["NAME=VALUE"]),
    "no file": (["analyse", "matmul", "nowhere.csv"], ["nowhere.csv"]),
    "no run": (["show", "20200101-000000-aaaa"], ["20200101-000000-aaaa"]),
}


@pytest.mark.parametrize(("arguments", "told"), BAD.values(), ids=list(BAD))
def test_bad_input_gets_one_clear_line(home: Path, arguments: list[str], told: list[str]) -> None:
    """It names the field, the value and what is allowed; exit status 2, no traceback."""
    done = gpuexplain(home, *arguments)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert [text for text in told if text not in done.stderr] == [], done.stderr


def test_a_bad_setting_names_the_variable(home: Path) -> None:
    """Before anything starts."""
    done = gpuexplain(home, "runs", GPUEXPLAIN_MAX_QUEUE="abc")
    assert done.returncode == 2
    assert done.stderr.startswith("gpuexplain: GPUEXPLAIN_MAX_QUEUE='abc' cannot be used.")


def _hear_ctrl_c() -> None:
    """A background job of a shell is started with Ctrl-C ignored; a terminal's is not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_run_keeps_its_points(home: Path) -> None:
    """Ctrl-C ends it with 130; what was measured is stored."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuexplain", "run", "matmul", "--set", "largest_side=128", "--budget", "60", "--json"],
        cwd=ROOT,
        env={**os.environ, "GPUEXPLAIN_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_ctrl_c,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["event"] == "point"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    latest = json.loads(gpuexplain(home, "runs", "--json").stdout)["runs"][0]
    assert latest["state"] == "cancelled"
    assert latest["n_points"] >= 1
