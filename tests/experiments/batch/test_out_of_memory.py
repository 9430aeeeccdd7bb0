"""Out of memory is the end of a batch, not of the run nor of the worker."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from batch_made import make_machine

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.runner import Runner
from gpuexplain.experiments.batch.conclude import find_batch_findings
from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.findings import BatchCeiling
from gpuexplain.model import Status
from gpuexplain.settings import Settings
from gpuexplain.store.runs import open_store

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

INJECTED = "tests.experiments.batch.injected_oom"
REAL = "gpuexplain.experiments.batch.measure"
PATIENCE_S = 110.0
needs_a_limit = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="RLIMIT_DATA counts mappings on Linux only"
)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the engine needs of an experiment."""

    measure_module: str
    id: str = "batch"
    measuring_version: int = 1
    params_type: type[BatchParams] = BatchParams


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """A real worker on one core, which other work delays but does not stall."""
    settings = Settings(home=tmp_path / "home")
    command = [sys.executable, "-m", "gpuexplain.engine.worker", "--allow-module", INJECTED]
    if sys.platform.startswith("linux"):
        command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
    command += ["--lock-folder", str(tmp_path)]
    made = Runner(open_store(settings), settings, command, limits=Limits(), warm=False)
    made.start()
    yield made
    made.stop()


def run(runner: Runner, module: str, **params: object) -> Job:
    """Run to the end and return the job."""
    asked = BatchParams(device="cpu", **params)  # type: ignore[arg-type]
    job = runner.submit(Experiment(module), asked, make_machine(), "anna", fresh=True)
    ended = runner.wait(job.run_id, PATIENCE_S)
    assert ended is not None
    return ended


def outcomes(job: Job) -> dict[int, Status]:
    """Return the status of each batch."""
    return {int(point.x): point.status for point in sorted(job.points, key=lambda point: point.x)}


def test_ten_points_with_the_eighth_out_of_memory_give_seven_and_a_cross(runner: Runner) -> None:
    """The larger ones are left out, recovery is proven, and the same worker measures again at once."""
    job = run(runner, INJECTED, mode="inference", width=16, depth=1, largest_batch=512, budget_s=25.0)
    assert job.state is JobState.DONE, job.reason
    assert outcomes(job) == {**{2**power: Status.OK for power in range(7)}, 128: Status.OOM}
    (full,) = [point for point in job.points if point.status is Status.OOM]
    assert full.reason.replace("\u00a0", " ").endswith("Afterwards batch 1 ran again: only this size does not fit.")
    again = run(runner, REAL, mode="inference", width=16, depth=1, largest_batch=256, budget_s=15.0)
    assert again.state is JobState.DONE, again.reason
    assert outcomes(again)[256] is Status.OK
    assert runner.status().worker_restarts == 0


@needs_a_limit
def test_a_ceiling_search_meets_the_limit_of_a_real_worker(runner: Runner) -> None:
    """11 MiB and 12 KiB a row: 4,096 rows fit well into 80 MiB, 8,192 by far do not."""
    job = run(runner, REAL, mode="inference", width=1024, depth=1, ceiling_search=True, ceiling_mib=80, budget_s=40.0)
    assert job.state is JobState.DONE, job.reason
    ended = outcomes(job)
    assert ended == {**{2**power: Status.OK for power in range(13)}, 8192: Status.OOM}
    (series,) = find_batch_findings(job.points).series
    assert isinstance(series.ceiling, BatchCeiling)
    assert (series.ceiling.first_failed, series.ceiling.largest_ran, series.ceiling.agrees) == (8192, 4096, True)
    assert series.ceiling.limit_bytes == 80 * 2**20
    again = run(runner, REAL, mode="inference", width=1024, depth=1, largest_batch=8192, budget_s=20.0)
    assert outcomes(again)[8192] is Status.OK
    assert runner.status().worker_restarts == 0


@needs_a_limit
def test_the_soft_limit_is_recoverable_in_a_process_of_its_own() -> None:
    """torch says that it cannot allocate, the limit is given back, and the same allocation then succeeds."""
    code = """
import resource, torch
from gpuexplain.measuring.cuda import explained_errors
from gpuexplain.measuring.memory import data_limit, read_process_bytes
from gpuexplain.measuring.stopwatch import OutOfMemoryError
before = resource.getrlimit(resource.RLIMIT_DATA)
try:
    with data_limit(read_process_bytes("VmData") + 2**26), explained_errors():
        torch.ones(2**26)
except OutOfMemoryError as error:
    print(error)
assert resource.getrlimit(resource.RLIMIT_DATA) == before
print(int(torch.ones(2**26).sum()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    told, total = done.stdout.splitlines()
    assert "can't allocate memory" in told
    assert total == str(2**26)
