"""Is a point lost, a process left over or a handle leaked when the measuring process is killed at any moment?

Wanted: nothing that the app had received, and nothing that another process had read in the store, is missing
afterwards; no process and no open file is left over; the next run works. 95 times with a worker that loads
nothing, 5 times with torch.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.report import Figure, busy_cores, print_figures, tell_provisional, write_section
from benchmarks.server import ROOT
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.worker_process import default_command
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.logs import configure_logging
from gpuexplain.model import Params
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings
from gpuexplain.store.runs import open_store

N_LIGHT, N_TORCH = 95, 5
PATIENCE_S = 180.0  # longest wait for anything that should take seconds, on a machine that is busy
FAKE = "tests.engine.fake_measure"

REMARKS = (
    "Half of the kills come at a random moment after the request, the others a moment after a random number of "
    "points. A run ends as *done* where the kill came before it began (then another worker takes it) or after its "
    "end. A point counts as missing if the app had received it, or another process had read it in the store before "
    "the kill, and another process does not find it afterwards.",
    "`tests/faults` breaks the rest for real, a few times each, and lets another process read the store: the worker "
    "aborts, hangs, closes its pipe, writes garbage, runs out of memory (its own limit, and killed by the system in a "
    "group of 100 MB), loses its device; the store is locked by another process, full, under a file size limit, cut "
    "off or deleted during a run, and cut off, overwritten, emptied, full or read-only when it is opened; the "
    "server gets SIGTERM and SIGKILL during a run with a page open, and is started again; the wall clock is set a day "
    "on and back during a run; two servers and the command line share a store.",
)

_READER = """
    import json, sys
    from gpuexplain.store.runs import RunStore
    store = RunStore(sys.argv[1])
    for line in sys.stdin:
        run = store.find_run(line.strip())
        print(json.dumps(["", []] if run is None else [run.state.value, [p.case_id for p in run.points]]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is killed, how often, and when."""

    n_kills: int
    ask: Callable[[int], tuple[Any, Params]]  # number -> (experiment, params)
    command: list[str]
    latest_s: float  # half of the kills come at a random moment until then, counted from the request
    most_points: int  # the others come after a random number of points, up to this one


@dataclass(slots=True)
class Seen:
    """What happened."""

    ends: Counter[str] = field(default_factory=Counter)
    n_received: int = 0  # points that the app had
    n_read: int = 0  # points that another process had read in the store before the kill
    lost: list[str] = field(default_factory=list)
    left_over: list[int] = field(default_factory=list)  # processes
    leaked: list[str] = field(default_factory=list)  # open files, threads
    last_state: str = ""
    n_restarts: int = 0


class Reader:
    """Another process that has the store open."""

    def __init__(self, url: str) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(_READER), url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def read(self, run_id: str) -> tuple[str, set[str]]:
        """Return the state of a run and the cases of its points, as stored now."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{run_id}\n")
        self._process.stdin.flush()
        state, cases = json.loads(self._process.stdout.readline())
        return state, set(cases)

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def kill_workers(plan: Plan, home: Path, seed: int = 0) -> Seen:
    """Kill the worker of a run, again and again, and return what became of the points."""
    moments, seen = random.Random(seed), Seen()
    settings, machine = Settings(home=home), inspect_machine(None)
    received: dict[str, set[str]] = {}
    with _reading(settings.store_url) as reader:
        runner = Runner(open_store(settings), settings, plan.command, limits=Limits(flush_s=0.1), warm=False)
        with runner:
            _run_to_the_end(runner, plan, machine, -1)
            held, pids = held_by_us(), {_worker_pid(runner)}
            for number in range(plan.n_kills):
                job = runner.submit(*plan.ask(number), machine, "kills", fresh=True)
                _wait_for_a_moment(runner, job, plan, moments)
                known = reader.read(job.run_id)[1]
                pids.add(_kill_worker(runner, job))
                ended = runner.wait(job.run_id, PATIENCE_S)
                assert ended is not None
                assert not ended.state.is_active, ended
                received[job.run_id] = {point.case_id for point in ended.points}
                seen.ends[ended.state.value] += 1
                seen.n_read += len(known)
                seen.lost += [f"{job.run_id} {case}" for case in known - reader.read(job.run_id)[1]]
            seen.last_state = _run_to_the_end(runner, plan, machine, plan.n_kills).state.value
            seen.leaked = sorted((held_by_us() - held).elements())
            seen.n_restarts = runner.status().worker_restarts
            pids.add(_worker_pid(runner))
        for run_id, cases in received.items():
            seen.n_received += len(cases)
            seen.lost += [f"{run_id} {case}" for case in cases - reader.read(run_id)[1]]
        seen.left_over = [pid for pid in pids if _is_there(pid)]
    return seen


@contextmanager
def _reading(url: str) -> Iterator[Reader]:
    reader = Reader(url)
    try:
        yield reader
    finally:
        reader.close()


def _run_to_the_end(runner: Runner, plan: Plan, machine: Any, number: int) -> Job:
    job = runner.wait(runner.submit(*plan.ask(number), machine, "kills", fresh=True).run_id, PATIENCE_S)
    assert job is not None
    return job


def _wait_for_a_moment(runner: Runner, job: Job, plan: Plan, moments: random.Random) -> None:
    """Wait a while, or for some points and a little longer; not beyond the end of the run."""
    if moments.random() < 0.5:
        runner.wait(job.run_id, moments.uniform(0.0, plan.latest_s))
        return
    enough, deadline = moments.randint(1, plan.most_points), time.monotonic() + PATIENCE_S
    while job.state.is_active and len(job.points) < enough and time.monotonic() < deadline:
        job = runner.wait_change(job.run_id, job.version, 1.0) or job
    time.sleep(moments.uniform(0.0, 0.01))


def _kill_worker(runner: Runner, job: Job) -> int:
    """Kill the worker, once there is one."""
    deadline = time.monotonic() + PATIENCE_S
    while (pid := _worker_pid(runner)) == 0 and time.monotonic() < deadline:
        time.sleep(0.001)
        if (now := runner.job(job.run_id)) is not None and not now.state.is_active:
            return 0
    if pid:
        os.kill(pid, signal.SIGKILL)
    return pid


def _worker_pid(runner: Runner) -> int:
    worker = runner._slot._worker
    return 0 if worker is None else worker.pid


def held_by_us() -> Counter[str]:
    """Return what this process holds: open files by target (pipes without their number), and threads by name."""
    found: Counter[str] = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found[str(entry.readlink()).partition(":[")[0]] += 1
        except OSError:  # the listing's own
            continue
    found.update(thread.name.split("-")[0].split(" ")[0] for thread in threading.enumerate())
    return found


def _is_there(pid: int) -> bool:
    try:
        return pid != 0 and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def plan_light(n_kills: int, folder: Path) -> Plan:
    """Plan kills of a worker that loads nothing and sends a point every few milliseconds."""
    from tests.engine.fake_measure import FakeExperiment, FakeParams

    def ask(number: int) -> tuple[Any, Params]:
        return FakeExperiment(), FakeParams(script="stream=300", tag=str(number))

    command = [*default_command(), "--allow-module", FAKE, "--lock-folder", str(folder)]
    return Plan(n_kills, ask, command, latest_s=2.0, most_points=200)


def plan_torch(n_kills: int, folder: Path, budget_s: float = 3.0) -> Plan:
    """Plan kills of a worker that measures matrix products."""
    experiment = EXPERIMENTS["matmul"]

    def ask(_number: int) -> tuple[Any, Params]:
        return experiment, experiment.params_type(budget_s=budget_s, largest_side=512)

    return Plan(n_kills, ask, [*default_command(), "--lock-folder", str(folder)], latest_s=8.0, most_points=10)


def tell_kills(what: str, plan: Plan, seen: Seen) -> list[Figure]:
    """Return the table's lines."""
    ends = ", ".join(f"{count} {state}" for state, count in sorted(seen.ends.items()))
    return [
        Figure(f"kills of a {what}", f"{plan.n_kills} ({ends})"),
        Figure(
            f"{what}: points missing afterwards",
            f"{len(seen.lost)} of {seen.n_received} received and {seen.n_read} read by another process before the kill",
            "0",
            not seen.lost and seen.n_received > 0,
        ),
        Figure(f"{what}: processes left over", str(len(seen.left_over)), "0", not seen.left_over),
        Figure(
            f"{what}: open files and threads more than before",
            ", ".join(seen.leaked) or "0",
            "0",
            not seen.leaked,
        ),
        Figure(f"{what}: the next run", seen.last_state, "done", seen.last_state == JobState.DONE),
    ]


def main() -> None:
    """Kill, count, print and write the section of the document."""
    parser = argparse.ArgumentParser(prog="benchmarks.kills", description=__doc__)
    parser.add_argument("--light", type=int, default=N_LIGHT)
    parser.add_argument("--torch", type=int, default=N_TORCH)
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args()
    configure_logging("error")  # a hundred crashes are what is wanted here
    provisional = tell_provisional(busy_cores())
    figures: list[Figure] = []
    for what, make, n_kills in (
        ("light worker", plan_light, options.light),
        ("torch worker", plan_torch, options.torch),
    ):
        with tempfile.TemporaryDirectory() as folder:
            plan = make(n_kills, Path(folder))
            figures += tell_kills(what, plan, kill_workers(plan, Path(folder) / "home"))
    holds = print_figures(figures)
    if not options.no_write:
        write_section("faults", "python -m benchmarks.kills", figures, provisional=provisional, remarks=REMARKS)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
