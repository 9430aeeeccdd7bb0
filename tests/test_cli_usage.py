"""What a wrong command line gets: one clear line on stderr, exit status 2, never a usage box."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuexplain.cli.main import main
from gpuexplain.settings import load_settings


@dataclass(frozen=True, slots=True)
class Left:
    """How the command line left, and what it had said."""

    status: object
    stdout: str
    stderr: str


Call = Callable[..., Left]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """Return a function that runs the command line in this process, with a data folder of its own."""
    monkeypatch.setenv("GPUEXPLAIN_HOME", str(tmp_path))

    def run(*arguments: str, **environment: str) -> Left:
        for name, setting in environment.items():
            monkeypatch.setenv(name, setting)
        load_settings.cache_clear()
        monkeypatch.setattr(sys, "argv", ["gpuexplain", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Left(left.value.code, said.out, said.err)

    yield run
    load_settings.cache_clear()


BAD = {
    "budget of a run": (["run", "matmul", "--budget", "abc"], ["budget_s='abc'", "seconds to spend, 0.5 to 3600"]),
    "budget of a tour": (["tour", "--budget", "abc"], ["--budget 'abc'", "seconds for the whole tour"]),
    "too short a tour": (["tour", "--budget", "1"], ["budget=1 cannot", "seconds for the whole tour"]),
    "too long a tour": (["tour", "--budget", "1e9"], ["seconds for the whole tour"]),
    "no tour at all": (["tour", "--budget", "nan"], ["budget=nan cannot", "seconds for the whole tour"]),
    "summary nowhere": (
        ["tour", "-o", "/no/such/folder/x.html"],
        ["Cannot write", "there is no folder /no/such/folder"],
    ),
    "no such option": (["run", "matmul", "--colour", "red"], ["No such option: --colour", "run --help"]),
    "no such option of all": (["--colour"], ["No such option: --colour", "--help"]),
    "no such command": (["race"], ["No such command 'race'", "--help"]),
    "missing argument": (["run"], ["Missing argument", "run --help"]),
    "missing value": (["run", "matmul", "--budget"], ["'--budget' requires an argument"]),
    "one argument too many": (["doctor", "now"], ["unexpected extra argument", "(now)", "doctor --help"]),
    "format": (["export", "x", "--format", "xml"], ["'--format'", "'xml'", "'csv', 'json', 'parquet', 'html'"]),
    "bad type": (["runs", "--limit", "many"], ["'--limit'", "runs --help"]),
    "out of range": (["runs", "--limit", "0"], ["'--limit'", "greater than or equal to 1"]),
}


@pytest.mark.parametrize(("arguments", "told"), BAD.values(), ids=list(BAD))
def test_a_wrong_command_line_gets_one_clear_line(call: Call, arguments: list[str], told: list[str]) -> None:
    """It says what is wrong and where help is; nothing goes to stdout."""
    left = call(*arguments)
    assert (left.status, left.stdout) == (2, ""), left
    assert len(left.stderr.strip().splitlines()) == 1, left.stderr
    assert left.stderr.startswith("gpuexplain: ")
    assert "Value error" not in left.stderr
    assert [text for text in told if text not in left.stderr] == [], left.stderr


def test_without_a_command_there_is_help(call: Call) -> None:
    """A newcomer types the name alone."""
    left = call()
    assert (left.status, left.stderr) == (0, "")
    for command in ("doctor", "run", "tour", "analyse", "runs", "show", "export", "import", "snippet"):
        assert command in left.stdout


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["tour", "--help"]], ids=" ".join)
def test_asking_is_no_mistake(call: Call, arguments: list[str]) -> None:
    """Version and help leave with 0."""
    left = call(*arguments)
    assert left.status == 0
    assert left.stdout


def test_the_program_is_a_module() -> None:
    """`python -m gpuexplain` is that same command line, and names itself so."""
    done = subprocess.run(
        [sys.executable, "-m", "gpuexplain", "run"], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 2
    assert done.stderr.endswith("See `python -m gpuexplain run --help`.\n")


@pytest.mark.parametrize("command", [["tour"], ["run", "matmul"]], ids=" ".join)
def test_a_read_only_installation_measures_nothing(call: Call, command: list[str]) -> None:
    """It says so at once: no worker is waited for."""
    left = call(*command, GPUEXPLAIN_READ_ONLY="true")
    assert left.status == 3
    assert left.stderr.startswith("gpuexplain: Nothing is measured here (GPUEXPLAIN_READ_ONLY is set).")
    assert len(left.stderr.strip().splitlines()) == 1


def test_doctor_still_tells_the_machine_where_nothing_is_measured(call: Call) -> None:
    """Without a worker there is no word from torch, and no wait for it."""
    left = call("doctor", GPUEXPLAIN_READ_ONLY="true")
    assert left.status == 0
    assert "read-only: shows, never measures" in left.stdout
