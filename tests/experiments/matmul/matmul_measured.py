"""A real sweep in this process, its points kept."""

from dataclasses import dataclass, field

import torch

from gpuexplain.experiments.matmul.measure import measure
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


def measure_session(params: dict[str, object], *, stop: bool = False) -> tuple[KeepingSession, Outcome]:
    """Run one sweep and return its session and outcome."""
    session = KeepingSession(stop=stop)
    try:
        return session, measure(params, session)
    finally:
        torch.set_flush_denormal(False)  # the measuring process keeps it; other tests want their subnormals


def measure_points(params: dict[str, object]) -> list[Point]:
    """Run one sweep and return its points."""
    return list(measure_session(params)[0].by_case.values())
