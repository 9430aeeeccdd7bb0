"""The clock of a copy: one synchronisation at its end, and what must happen between two copies."""

from collections.abc import Callable
from typing import Any

from gpuexplain.measuring.clocks import CudaApi, Operation, SynchronisedClock
from gpuexplain.measuring.stopwatch import Check

COPY_TIMING = "host clock around the copy and one synchronisation at its end"


class CopyClock(SynchronisedClock):
    """Call time of a copy; ``between`` runs before every call, outside the timed part."""

    def __init__(
        self,
        operation: Operation,
        check: Callable[[], Check],
        cuda: CudaApi,
        *,
        between: Callable[[], None] = lambda: None,
        timing: str = COPY_TIMING,
        **options: Any,
    ) -> None:
        super().__init__(operation, check, cuda, **options)
        self._between = between
        self.timing = timing

    def _time_calls(self, n_calls: int) -> float:
        total_s = 0.0
        for _ in range(n_calls):
            self._between()
            total_s += super()._time_calls(1)
        return total_s
