"""Wrong ways to hold a clock, made on purpose: to show what each of them does to the figure."""

import time
from collections.abc import Callable

from gpuexplain.measuring.clocks import MOST_QUEUED_CALLS, SynchronisedClock
from gpuexplain.measuring.stopwatch import Block, Check, Stopwatch


class EnqueueClock(SynchronisedClock):
    """Enqueue time: the clock stops when the calls are queued. The device is idle before, not after."""

    timing = "host clock around calls that were only queued, not awaited: the mistake, shown as one"
    most_calls = MOST_QUEUED_CALLS

    def _time_calls(self, n_calls: int) -> float:
        operation = self._operation
        self._cuda.synchronize()
        started_s = self._clock()
        for _ in range(n_calls):
            operation()
        queued_s = self._clock() - started_s
        self._cuda.synchronize()  # outside: the next block must not find this one's work
        return queued_s


class SingleCalls:
    """One call a sample and no untimed call before it; ``before`` runs ahead of each, outside the clock."""

    most_calls = 1

    def __init__(
        self,
        inner: Stopwatch,
        before: Callable[[], object] = lambda: None,
        note: str = "",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._inner = inner
        self._before = before
        self._clock = clock
        self.resolution_s = inner.resolution_s
        self.cache_ratio = inner.cache_ratio
        self.timing = f"one call a sample, none before it{note}"

    def call_once(self) -> float:
        """Run one call and return its seconds."""
        self._before()
        return self._inner.call_once()

    def time_block(self, untimed: int, n_calls: int) -> Block:  # noqa: ARG002 - that is the mistake
        """Time one call; nothing is run before it but ``before``."""
        started_s = self._clock()
        self._before()
        untimed_s = self._clock() - started_s
        call_s = self._inner.call_once()
        return Block(call_s, call_s, untimed_s)

    def check(self) -> Check:
        """Compare the result with float64."""
        return self._inner.check()
