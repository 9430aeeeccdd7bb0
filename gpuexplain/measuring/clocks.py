"""The honest clocks: call time, device time and transfer-inclusive time of one operation.

They time a plain callable and know of a device only through ``CudaApi``, so their logic is tested
with a fake; the real thing is ``gpuexplain.measuring.cuda``.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from gpuexplain.measuring.stopwatch import Block, Check

Operation = Callable[[], object]

# Kernels shorter than this are timed many at once: an event pair resolves only about 0.5 us.
SHORT_KERNEL_S = 100e-6
EVENT_RESOLUTION_S = 0.5e-6
# A host may block near 1,000 queued launches; stay far below.
MOST_QUEUED_CALLS = 256
MOST_HOST_CALLS = 100_000
# How often the blocking kernel is made longer because queueing outlasted it.
MOST_QUEUEING_ATTEMPTS = 4


class CudaApi(Protocol):
    """The few things the clocks ask of a CUDA device."""

    def synchronize(self) -> None:
        """Wait until the device is idle."""

    def event(self) -> Any:
        """Return a timing event with record() and elapsed_time(other) in milliseconds."""

    def block_stream(self, duration_s: float) -> None:
        """Queue a kernel that keeps the stream busy for at least ``duration_s``."""


class HostClock:
    """Call time: the host's clock around calls that have finished when they return."""

    timing = "host clock around k calls, divided by k"
    most_calls = MOST_HOST_CALLS

    def __init__(
        self,
        operation: Operation,
        check: Callable[[], Check],
        *,
        before: Callable[[], None] = lambda: None,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
        cache_ratio: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._operation = operation
        self._check = check
        self._before = before  # sets the thread count, outside the timed part
        self._guard = guard  # turns the library's exceptions into ours
        self._clock = clock
        self.cache_ratio = cache_ratio
        self.resolution_s = time.get_clock_info("perf_counter").resolution

    def call_once(self) -> float:
        """Run one call and return its seconds."""
        self._before()
        with self._guard():
            return self._time_calls(1)

    def time_block(self, untimed: int, n_calls: int) -> Block:
        """Run ``untimed`` calls, then time ``n_calls``."""
        self._before()
        with self._guard():
            untimed_s = self._time_calls(untimed)
            timed_s = self._time_calls(n_calls)
        return Block(timed_s / n_calls, timed_s, untimed_s)

    def check(self) -> Check:
        """Compare the result with float64."""
        with self._guard():
            return self._check()

    def _time_calls(self, n_calls: int) -> float:
        operation = self._operation
        calls = range(n_calls)
        started_s = self._clock()
        for _ in calls:
            operation()
        return self._clock() - started_s


class SynchronisedClock(HostClock):
    """Call time on a device: synchronised before and after every call, so k = 1."""

    timing = "host clock, device synchronised before and after every call"
    most_calls = 1

    def __init__(self, operation: Operation, check: Callable[[], Check], cuda: CudaApi, **options: Any) -> None:
        super().__init__(operation, check, **options)
        self._cuda = cuda

    def _time_calls(self, n_calls: int) -> float:
        total_s = 0.0
        for _ in range(n_calls):
            self._cuda.synchronize()
            started_s = self._clock()
            self._operation()
            self._cuda.synchronize()
            total_s += self._clock() - started_s
        return total_s


class TransferClock(SynchronisedClock):
    """Transfer-inclusive time: the operation copies in, computes and copies out, one sync at the end."""

    timing = "host clock around copy in, product, copy out and one synchronisation"


class DeviceClock(HostClock):
    """Device time: events around queued calls, no sync between them."""

    most_calls = MOST_QUEUED_CALLS

    def __init__(self, operation: Operation, check: Callable[[], Check], cuda: CudaApi, **options: Any) -> None:
        super().__init__(operation, check, **options)
        self._cuda = cuda
        self.resolution_s = EVENT_RESOLUTION_S
        self._blocking_s = 0.001
        self.timing = "one event pair per call"

    def call_once(self) -> float:
        """Run one call and return the seconds a program waits for it: the cold call is the host's."""
        with self._guard():
            self._cuda.synchronize()
            started_s = self._clock()
            self._operation()
            self._cuda.synchronize()
            return self._clock() - started_s

    def time_block(self, untimed: int, n_calls: int) -> Block:
        """Run ``untimed`` calls, then time ``n_calls`` by events."""
        with self._guard():
            started_s = self._clock()
            for _ in range(untimed):
                self._operation()
            self._cuda.synchronize()
            untimed_s = self._clock() - started_s
            # Many calls in a block means short calls: plan_block fills 2 ms.
            timed_s = self._behind_a_blocker(n_calls) if n_calls > 1 else self._pair_per_call(n_calls)
            if n_calls > 1 and timed_s / n_calls >= SHORT_KERNEL_S:
                timed_s = self._pair_per_call(n_calls)
        return Block(timed_s / n_calls, timed_s, untimed_s)

    def _pair_per_call(self, n_calls: int) -> float:
        self.timing = "one event pair per call, queued without a sync between them"
        pairs = [(self._cuda.event(), self._cuda.event()) for _ in range(n_calls)]
        for start, end in pairs:
            start.record()
            self._operation()
            end.record()
        self._cuda.synchronize()
        return sum(float(start.elapsed_time(end)) for start, end in pairs) / 1e3

    def _behind_a_blocker(self, n_calls: int) -> float:
        """Time one event pair around calls that were all queued before the first could start."""
        self.timing = "one event pair around k calls queued behind a blocking kernel, divided by k"
        timed_s = 0.0
        for _ in range(MOST_QUEUEING_ATTEMPTS):
            start, end = self._cuda.event(), self._cuda.event()
            queueing_started_s = self._clock()
            self._cuda.block_stream(self._blocking_s)
            start.record()
            for _ in range(n_calls):
                self._operation()
            end.record()
            queueing_s = self._clock() - queueing_started_s
            self._cuda.synchronize()
            timed_s = float(start.elapsed_time(end)) / 1e3
            if queueing_s < self._blocking_s:
                break
            self._blocking_s = 2 * queueing_s  # else the device waited for the host: time that again
        return timed_s
