"""A store that somebody breaks."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults_made import PATIENCE_S, begin_run, light_command

from gpuexplain.engine.jobs import Job
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.runner import Runner
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore, open_store
from tests.engine.fake_measure import FakeExperiment, FakeParams

# Whoever waits in these tests waits long: the machine may be busy. What must be short is made short here.
SHORT = {"flush_s": 0.05, "poll_s": 0.02, "idle_poll_s": 0.02, "retry_store_s": 0.1}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Settings:
    """A data folder of the test's own."""
    return Settings(home=home)


@pytest.fixture
def store_file(home: Path) -> Path:
    """Where the store lies."""
    return home / "gpuexplain.db"


@pytest.fixture
def store(settings: Settings) -> Iterator[RunStore]:
    """A store of two ended runs, with the points 1 to 40 and 41 to 80."""
    opened = open_store(settings)
    for first in (1, 41):
        run_id = begin_run(opened, *range(first, first + 40))
        opened.finish_run(run_id, RunState.DONE)
    yield opened
    opened.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a disk of the size given; only root can, elsewhere the test is skipped."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"only root can mount a small disk: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="session")
def machine() -> Machine:
    """This machine, without torch."""
    return inspect_machine(None)


@pytest.fixture
def make_runner(settings: Settings, tmp_path: Path) -> Iterator[Callable[..., Runner]]:
    """Make started runners with a light worker, stopped at the end; keywords are those of ``Limits``."""
    runners = []

    def make(store: RunStore | None = None, command: list[str] | None = None, **limits: float) -> Runner:
        worker = command or light_command(tmp_path)
        made = Runner(store or open_store(settings), settings, worker, limits=Limits(**SHORT | limits), warm=False)
        runners.append(made)
        made.start()
        return made

    yield make
    for made in runners:
        made.stop()


@pytest.fixture
def submit(machine: Machine) -> Callable[..., Job]:
    """Ask a runner to follow a script; see ``fake_measure``."""

    def submit(runner: Runner, script: str, tag: str = "", visitor: str = "anna") -> Job:
        return runner.submit(FakeExperiment(), FakeParams(script=script, tag=tag), machine, visitor, fresh=True)

    return submit


@pytest.fixture
def finish(submit: Callable[..., Job]) -> Callable[..., Job]:
    """Run a script to its end."""

    def finish(runner: Runner, script: str, tag: str = "") -> Job:
        job = runner.wait(submit(runner, script, tag).run_id, PATIENCE_S)
        assert job is not None
        assert not job.state.is_active, job
        return job

    return finish
