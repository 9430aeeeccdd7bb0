"""What does a tour cost, on a warm worker: seconds, share of them in calls, memory of the worker?

Wanted: at most 60 s for the whole tour; at least 85 % of a Standard sweep inside calls; a worker under
4 GB on a machine of 24 GB. Each is printed as a ratio to its limit. Run it on a quiet machine.
"""

import re
from pathlib import Path

import psutil

from benchmarks.server import temporary_home
from gpuexplain.engine.jobs import Job
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.tour import TOUR_S, Tour
from gpuexplain.engine.tour_guide import TourGuide
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.registry import CORE
from gpuexplain.settings import Settings
from gpuexplain.store.runs import open_store

LEAST_SHARE = 0.85
MOST_BYTES = 4e9
VISITOR = "benchmark"


def main() -> None:
    """Print the tour, then a Standard sweep of each experiment, then the memory."""
    with temporary_home() as home:
        settings = Settings(home=home)
        with Runner(open_store(settings), settings) as runner:
            machine = inspect_machine(runner.wait_for_probe())  # the worker is warm now
            _tell_tour(runner, _take_tour(runner, machine, settings))
            _tell_peak("after the tour")
            for experiment in CORE:
                _tell_sweep(experiment, _measure(runner, experiment, machine))
            _tell_peak("after a Standard sweep of each")


def _take_tour(runner: Runner, machine: Machine, settings: Settings) -> Tour:
    guide = TourGuide(runner, settings.max_budget_s)
    guide.begin(CORE, machine, VISITOR)
    *_, tour = guide.follow()
    return tour


def _tell_tour(runner: Runner, tour: Tour) -> None:
    for part in tour.parts:
        job = runner.job(part.run_id) if part.run_id else None
        share = f", sampling share {job.coverage.sampling_share:.1%}" if job and job.coverage else ""
        print(
            f"tour, {part.experiment}: {part.state}, budget {part.budget_s or 0:.1f} s, wall {part.spent_s:.2f} s, "
            f"{part.n_points} points{share} {part.reason}".rstrip()
        )
    wall_s = (tour.finished_at or 0.0) - tour.created_at
    print(
        f"tour: {tour.state}, {wall_s:.1f} s of {TOUR_S:.0f} s allowed, ratio {wall_s / TOUR_S:.2f} (wanted: under 1)"
    )


def _measure(runner: Runner, experiment: Experiment, machine: Machine) -> Job:
    asked = runner.submit(experiment, experiment.params_type(), machine, VISITOR, fresh=True)
    job = runner.wait(asked.run_id)
    assert job is not None
    return job


def _tell_sweep(experiment: Experiment, job: Job) -> None:
    if job.coverage is None:
        print(f"Standard, {experiment.id}: {job.state}. {job.reason}")
        return
    c = job.coverage
    print(
        f"Standard, {experiment.id}: wall {c.wall_s:.2f} s for a budget of {c.budget_s:.0f} s "
        f"(prepare {c.prepare_s:.2f} s, verify {c.verify_s:.2f} s, longest predicted call {c.predicted_call_s:.2f} s), "
        f"sampling share {c.sampling_share:.1%} of at least {LEAST_SHARE:.0%}, "
        f"ratio {c.sampling_share / LEAST_SHARE:.2f} (wanted: over 1)"
    )


def _tell_peak(when: str) -> None:
    """Print the most memory that the worker ever held, where the system tells."""
    for child in psutil.Process().children(recursive=True):
        if "gpuexplain.engine.worker" in child.cmdline():
            found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{child.pid}/status").read_text())
            peak = int(found[1]) * 1024 if found else child.memory_info().rss
            print(f"worker {when}: peak {peak / 1e9:.2f} GB of {MOST_BYTES / 1e9:.0f} GB allowed, "
                  f"ratio {peak / MOST_BYTES:.2f} (wanted: under 1)")  # fmt: skip


if __name__ == "__main__":
    main()
