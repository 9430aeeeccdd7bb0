"""A real sweep in this process, its points kept."""

from dataclasses import dataclass, field

import torch

from gpuexplain.experiments.precision.measure import measure
from gpuexplain.measuring.session import Outcome, Progress
from gpuexplain.model import Point


@dataclass
class KeepingSession:
    """Keeps the last point of each case."""

    by_case: dict[str, Point] = field(default_factory=dict)
    stop: bool = False

    @property
    def points(self) -> list[Point]:
        return list(self.by_case.values())

    def point(self, point: Point) -> None:
        self.by_case[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        pass

    def cancelled(self) -> bool:
        return self.stop


def measure_session(params: dict[str, object], *, stop: bool = False) -> tuple[KeepingSession, Outcome]:
    """Run one sweep and return its session and outcome."""
    session = KeepingSession(stop=stop)
    threads = torch.get_num_threads()
    try:
        return session, measure({"device": "cpu", **params}, session)
    finally:
        torch.set_flush_denormal(False)  # the measuring process keeps it; other tests want their subnormals
        torch.set_num_threads(threads)
