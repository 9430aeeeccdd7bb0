"""A runner with a light worker: no torch, a host's lock of its own, short waits."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_measure import MODULE, FakeExperiment, FakeParams

from gpuexplain.engine.jobs import Job
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.runner import Runner
from gpuexplain.hardware.machine import Cpu, Machine, Memory, Platform
from gpuexplain.settings import Settings
from gpuexplain.store.runs import RunStore, open_store

PATIENCE_S = 20.0  # longest wait of a test for something that takes milliseconds


@pytest.fixture
def experiment() -> FakeExperiment:
    """The experiment that does what its params say."""
    return FakeExperiment()


@pytest.fixture
def machine() -> Machine:
    """A machine without a GPU."""
    return Machine(
        cpu=Cpu(model="Some CPU", architecture="x86_64", logical_cpus=2, affinity_cpus=2, usable_threads=2),
        memory=Memory(total_bytes=2**33, available_bytes=2**32),
        platform=Platform(hostname="host", machine_id="m1", system="Linux", kernel="6", python="3.11"),
        torch_version="2.13.0",
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder of the test's own, a queue of three."""
    return Settings(home=tmp_path / "home", max_queue=3)


@pytest.fixture
def store(settings: Settings) -> RunStore:
    """An empty store."""
    return open_store(settings)


@pytest.fixture
def worker_command(tmp_path: Path) -> list[str]:
    """A worker that may load the fake and does not wait for measurements outside this test."""
    command = [sys.executable, "-m", "gpuexplain.engine.worker"]
    return [*command, "--allow-module", MODULE, "--lock-folder", str(tmp_path)]


@pytest.fixture
def make_runner(store: RunStore, settings: Settings, worker_command: list[str]) -> Iterator[Callable[..., Runner]]:
    """Make started runners, stopped at the end of the test; keywords are those of ``Limits``."""
    runners = []

    def make(settings: Settings = settings, store: RunStore = store, **limits: float) -> Runner:
        limits = {"flush_s": 0.05, "poll_s": 0.02, "idle_poll_s": 0.02} | limits
        runner = Runner(store, settings, worker_command, limits=Limits(**limits), warm=False)
        runners.append(runner)
        runner.start()
        return runner

    yield make
    for runner in runners:
        runner.stop()


@pytest.fixture
def runner(make_runner: Callable[..., Runner]) -> Runner:
    """A started runner."""
    return make_runner()


@pytest.fixture
def submit(experiment: FakeExperiment, machine: Machine) -> Callable[..., Job]:
    """Submit a script to a runner."""

    def submit(
        runner: Runner,
        script: str,
        visitor: str = "anna",
        tag: str = "",
        fresh: bool = False,
        **params: float,
    ) -> Job:
        asked = FakeParams(script=script, tag=tag, **params)  # type: ignore[arg-type]
        return runner.submit(experiment, asked, machine, visitor, fresh)

    return submit


@pytest.fixture
def ended() -> Callable[[Runner, Job], Job]:
    """Wait for the end of a job."""

    def wait(runner: Runner, job: Job) -> Job:
        last = runner.wait(job.run_id, PATIENCE_S)
        assert last is not None
        assert not last.state.is_active, last
        return last

    return wait


@pytest.fixture
def until() -> Callable[..., Job]:
    """Wait until a job's snapshot has a property."""

    def wait(runner: Runner, job: Job, has: Callable[[Job], bool]) -> Job:
        deadline = time.monotonic() + PATIENCE_S
        snapshot: Job | None = runner.job(job.run_id)
        while snapshot is not None and not has(snapshot):
            assert snapshot.state.is_active, snapshot
            assert time.monotonic() < deadline, snapshot
            snapshot = runner.wait_change(job.run_id, snapshot.version, 1.0)
        assert snapshot is not None
        return snapshot

    return wait
