"""Points, runs, and what another process reads of them."""

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil

import gpuexplain
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.worker_process import default_command
from gpuexplain.model import Dtype, Point
from gpuexplain.store.runs import RunStore

PATIENCE_S = 90.0
MODULE = "tests.engine.fake_measure"
ROOT = Path(gpuexplain.__file__).parent.parent

# Lists every run with its state and the sizes of its points, as a process of its own sees them.
_READER = """
    import json, sys
    from gpuexplain.store.runs import RunStore
    store = RunStore(sys.argv[1])
    runs = [store.load_run(run.id) for run in store.list_runs(limit=1000)]
    print(json.dumps({run.id: [run.state.value, sorted(point.x for point in run.points)] for run in runs}))
"""


def make_point(x: float, n_samples: int = 3) -> Point:
    """Return a point whose case is named by ``x``; each sample takes about 20 bytes in the store."""
    return Point(
        experiment="fake",
        series="cpu",
        x=x,
        shape=(int(x),),
        dtype=Dtype.FP32,
        device="cpu",
        samples_s=tuple(0.1 + i / 7e5 for i in range(n_samples)),
        n_samples=n_samples,
        median_s=0.2,
    )


def read_elsewhere(url: str) -> dict[str, tuple[str, list[float]]]:
    """Return (state, sizes of the points) of every run, as read by another process."""
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_READER), url], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return {run_id: (state, sizes) for run_id, (state, sizes) in json.loads(said).items()}


def begin_run(store: RunStore, *sizes: float) -> str:
    """Begin a run with these points."""
    run_id = store.create_run(experiment="fake", measuring_version=1, key="key", params={}, device="cpu")
    store.save_points(run_id, [make_point(size) for size in sizes])
    return run_id


def light_command(folder: Path) -> list[str]:
    """Return how a worker without torch is started, with a host's lock of its own in ``folder``."""
    return [*default_command(), "--allow-module", MODULE, "--lock-folder", str(folder)]


def until(holds: Callable[[], bool], what: str = "") -> None:
    """Wait for something that takes milliseconds on a quiet machine."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Return whether a process has ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def worker_pid(runner: Runner) -> int:
    """Return the process of a runner's worker."""
    assert runner._slot._worker is not None
    return runner._slot._worker.pid
