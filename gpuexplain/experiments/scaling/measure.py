"""Measure more devices: start one process per device, and turn what they report into points (torch-free here)."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.scaling.spec import (
    ALL_REDUCE,
    EXPERIMENT_ID,
    ScalingParams,
    device_counts,
    plan_cases,
    threads_per_process,
)
from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.host_load import read_host_and_children
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.ledger import Ledger
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.measuring.track import Track
from gpuexplain.model import Case, Status

TIMING = "host clock around each step in every process, the device awaited before and after"
# All processes load torch and meet: on a slow disk this takes long.
START_S = 60.0
# Of what is left once the processes have met; the rest is for warming up and meeting between the cases.
SAMPLING_SHARE = 0.8
POLL_S = 0.2
ENDING_S = 5.0
EXCHANGE_SHARE = 0.25  # of the sampling goes to the exchanges


def measure(params_json: dict[str, Any], session: Session) -> Outcome:
    """Run the group of processes that the params ask for, handing every point to the session."""
    params = ScalingParams.model_validate(params_json)
    machine = inspect_machine(probe_torch(inspect_cpu().usable_threads))
    cases = plan_cases(params, machine)
    device = cases[0].device
    gpus = [name for name in machine.devices if name != CPU]
    count = max(device_counts(device, machine))
    places = [device] * count if device == CPU else gpus[:count]
    group = Group(cases, places, threads_per_process(device, machine) if device == CPU else 0, params.sweep_budget_s)
    # The processes of the group are ours: their work is no load of others.
    uuids = {d: gpu.uuid for d in places if (gpu := machine.gpu(d)) is not None}
    monitor = ConditionsMonitor(uuids, read=read_host_and_children)
    return follow(group, cases, session, monitor, machine.device_name(device), params.sweep_budget_s)


class Group:
    """The processes, one per device, and the lines that the first of them writes."""

    def __init__(self, cases: Sequence[Case], places: Sequence[str], threads: int, budget_s: float) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gpuexplain-")
        meeting_point = str(Path(self._folder.name) / "meeting-point")
        common = {"world": len(places), "threads": threads, "meeting_point": meeting_point}
        # Loading torch on a busy machine eats into the budget: what is left of it is shared out.
        common |= {"budget_s": budget_s, "ends_at": time.time() + budget_s}
        plans = [_plan_of(case, cases, budget_s) for case in cases]
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.processes = [
            subprocess.Popen(
                [
                    sys.executable, "-m", "gpuexplain.experiments.scaling.rank",
                    json.dumps({**common, "rank": rank, "device": place, "cases": plans}),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            for rank, place in enumerate(places)
        ]  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stdout = self.processes[0].stdout
        assert stdout is not None
        for line in stdout:
            if line.startswith("{"):
                self.lines.put(line)
        self.lines.put(None)

    @property
    def problem(self) -> str:
        """Why the first process ended early: the last line it wrote on stderr."""
        stderr = self.processes[0].stderr
        text = stderr.read().strip() if stderr is not None else ""
        return text.splitlines()[-1] if text else "the processes ended without a word"

    def end(self) -> None:
        """End every process, however it stands, and forget the meeting point."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
            if process.stderr is not None:
                process.stderr.close()
        self._folder.cleanup()


def _plan_of(case: Case, cases: Sequence[Case], budget_s: float) -> dict[str, Any]:
    exchanges = sum(c.series == ALL_REDUCE for c in cases)
    sampling_s = SAMPLING_SHARE * budget_s
    if case.series == ALL_REDUCE:
        own = {"size_bytes": case.shape[1], "budget_s": EXCHANGE_SHARE * sampling_s / exchanges}
    else:
        share = 1 - EXCHANGE_SHARE if exchanges else 1.0
        own = {"per_device": case.shape[1], "width": case.shape[2], "depth": case.shape[3]}
        own["budget_s"] = share * sampling_s / (len(cases) - exchanges)
    return {"id": case.id, "series": case.series, "count": case.shape[0], **own}


def follow(
    group: Group, cases: Sequence[Case], session: Session, monitor: ConditionsMonitor, device_name: str, budget_s: float
) -> Outcome:
    """Hand over a point for every line of the group, until it ends, is cancelled or takes far too long."""
    ledger, started_s = Ledger(budget_s), time.perf_counter()
    by_id, reported, cancelled = {case.id: case for case in cases}, set[str](), False
    monitor.start()
    try:
        # Nobody waits for the processes to end in order: all was said when every case is reported.
        while not cancelled and len(reported) < len(cases) and time.perf_counter() - started_s < budget_s + START_S:
            line = _next_line(group)
            if line is None:
                break
            if line:
                found = json.loads(line)
                case = by_id[found["case"]]
                reported.add(case.id)
                monitor.note(case)
                _hand_over(case, found, session, monitor, device_name, ledger)
            session.progress(ledger.progress(f"{len(reported)} of {len(cases)} cases", time.perf_counter() - started_s))
            cancelled = session.cancelled()
        missing = [case for case in cases if case.id not in reported]
        problem = "" if cancelled or not missing else group_problem(group)
    finally:
        group.end()
    if not cancelled:
        for case in missing:
            track = Track(case)
            track.end(Status.FAILED, problem)
            session.point(track.point(EXPERIMENT_ID, device_name))
    return Outcome(cancelled=cancelled, coverage=ledger.coverage(time.perf_counter() - started_s))


def group_problem(group: Group) -> str:
    """Return why cases are missing."""
    try:
        group.processes[0].wait(ENDING_S)  # its last line may come before its end
    except subprocess.TimeoutExpired:
        return "The processes took far longer than planned and were ended. Choose a smaller step."
    return f"The processes ended early: {group.problem}"


def _next_line(group: Group) -> str | None:
    """Return the next line, "" while there is none, None at the end."""
    try:
        return group.lines.get(timeout=POLL_S)
    except queue.Empty:
        return ""


def _hand_over(
    case: Case, found: dict[str, Any], session: Session, monitor: ConditionsMonitor, device_name: str, ledger: Ledger
) -> None:
    samples_s = [float(s) for s in found["samples_s"]]
    track = Track(case, first_call_s=found["first_s"], warmup_s=found["warmup_s"], samples_s=samples_s)
    track.calls_per_sample = [1] * len(samples_s)
    track.converged = True  # a fixed number of steps was agreed on; the interval says how narrow that is
    if found["rel_error"] is not None:
        wrong = "" if found["rel_error"] < 1e-3 else "the devices hold different weights afterwards"
        track.take_check(Check(found["rel_error"], 0, 0, failure=wrong))
    ledger.timed_s += sum(samples_s)
    ledger.warmup_s += found["first_s"] + sum(found["warmup_s"])
    monitor.finish()
    point = track.point(EXPERIMENT_ID, device_name, monitor.of(case), monitor.flags(case))
    session.point(point.model_copy(update={"timing": TIMING}))
