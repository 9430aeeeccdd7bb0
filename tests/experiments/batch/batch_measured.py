"""A real sweep in this process, its points kept."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from gpuexplain.experiments.batch.measure import measure
from gpuexplain.measuring.session import Outcome, Progress
from gpuexplain.model import Point


@dataclass
class KeepingSession:
    """Keeps the last point of each case."""

    by_case: dict[str, Point] = field(default_factory=dict)
    progresses: list[Progress] = field(default_factory=list)
    stop: bool = False

    def point(self, point: Point) -> None:
        self.by_case[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        self.progresses.append(progress)

    def cancelled(self) -> bool:
        return self.stop


@contextmanager
def one_core() -> Iterator[None]:
    """Use one core, so that other work on the machine delays a step but does not stall its threads."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before, threads = os.sched_getaffinity(0), torch.get_num_threads()
    os.sched_setaffinity(0, {max(before)})
    torch.set_num_threads(1)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        torch.set_num_threads(threads)


def measure_session(params: dict[str, object], *, stop: bool = False) -> tuple[KeepingSession, Outcome]:
    """Run one sweep on one core and return its session and outcome."""
    session = KeepingSession(stop=stop)
    try:
        with one_core():
            return session, measure({"device": "cpu", **params}, session)
    finally:
        torch.set_flush_denormal(False)  # the measuring process keeps it; other tests want their subnormals


def measure_points(params: dict[str, object]) -> list[Point]:
    """Run one sweep and return its points, small batches first."""
    return sorted(measure_session(params)[0].by_case.values(), key=lambda point: point.x)
