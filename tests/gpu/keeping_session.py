"""A session for runs on a real device: nothing is sent anywhere."""

from gpuexplain.measuring.session import Progress
from gpuexplain.model import Point


class KeepingSession:
    """Keeps the last point of each case."""

    def __init__(self) -> None:
        self.by_case: dict[str, Point] = {}

    def point(self, point: Point) -> None:
        self.by_case[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        pass

    def cancelled(self) -> bool:
        return False
