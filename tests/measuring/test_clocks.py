"""The clocks on a fake CUDA device: what is synchronised, what is queued, what is divided."""

import pytest

from gpuexplain.measuring.clocks import DeviceClock, HostClock, SynchronisedClock
from gpuexplain.measuring.stopwatch import Check

CHECK = Check(1e-7, 0, 0)


class FakeEvent:
    """Remembers the device time at which the queue reached it."""

    def __init__(self, cuda: "FakeCuda") -> None:
        self._cuda = cuda
        self.at_s = -1.0

    def record(self) -> None:
        self._cuda.queue(lambda: setattr(self, "at_s", self._cuda.device_s))

    def elapsed_time(self, later: "FakeEvent") -> float:
        assert later.at_s >= self.at_s >= 0, "read before the device reached it"
        return (later.at_s - self.at_s) * 1e3


class FakeCuda:
    """A device with its own clock: work is queued at a host cost and runs in order."""

    def __init__(self, kernel_s: float, launch_s: float = 5e-6) -> None:
        self.kernel_s, self.launch_s = kernel_s, launch_s
        self.host_s = self.device_s = 0.0
        self.synchronised = 0
        self.blocks_s: list[float] = []
        self.most_queued = 0
        self._queued = 0

    def clock(self) -> float:
        return self.host_s

    def queue(self, effect, cost_s: float = 0.0) -> None:
        self.device_s = max(self.device_s, self.host_s) + cost_s
        effect()

    def operation(self) -> None:
        self.host_s += self.launch_s
        self._queued += 1
        self.most_queued = max(self.most_queued, self._queued)
        self.queue(lambda: None, self.kernel_s)

    def synchronize(self) -> None:
        self.host_s = max(self.host_s, self.device_s)
        self.synchronised += 1
        self._queued = 0

    def event(self) -> FakeEvent:
        return FakeEvent(self)

    def block_stream(self, duration_s: float) -> None:
        self.blocks_s.append(duration_s)
        self.queue(lambda: None, duration_s)


def test_call_time_waits_for_the_device() -> None:
    """A synchronised call takes launch and kernel; an unsynchronised one would show the launch."""
    cuda = FakeCuda(kernel_s=1e-3)
    clock = SynchronisedClock(cuda.operation, lambda: CHECK, cuda, clock=cuda.clock)
    block = clock.time_block(untimed=2, n_calls=1)
    assert block.call_s == pytest.approx(1e-3 + 5e-6)
    assert cuda.synchronised == 2 * 3
    assert clock.most_calls == 1


def test_short_kernels_are_timed_behind_a_blocking_kernel() -> None:
    """Launching takes longer than the kernel, yet the device time is the kernel's."""
    cuda = FakeCuda(kernel_s=2e-6)
    clock = DeviceClock(cuda.operation, lambda: CHECK, cuda, clock=cuda.clock)
    block = clock.time_block(untimed=2, n_calls=256)
    assert block.call_s == pytest.approx(2e-6)
    assert "behind a blocking kernel" in clock.timing
    assert cuda.most_queued <= 256


def test_a_blocker_that_was_too_short_is_made_longer() -> None:
    """The first attempt ran dry and is thrown away."""
    cuda = FakeCuda(kernel_s=1e-6, launch_s=20e-6)
    clock = DeviceClock(cuda.operation, lambda: CHECK, cuda, clock=cuda.clock)
    block = clock.time_block(untimed=0, n_calls=200)
    assert cuda.blocks_s == [0.001, pytest.approx(0.008)]
    assert block.call_s == pytest.approx(1e-6)


def test_long_kernels_get_an_event_pair_each() -> None:
    """Above 100 us the pair resolves the kernel; nothing needs to block the stream."""
    cuda = FakeCuda(kernel_s=5e-3)
    clock = DeviceClock(cuda.operation, lambda: CHECK, cuda, clock=cuda.clock)
    block = clock.time_block(untimed=1, n_calls=1)
    assert block.call_s == pytest.approx(5e-3, rel=2e-3)  # the first pair waits for its launch
    assert clock.timing.startswith("one event pair per call")
    assert cuda.blocks_s == []


def test_kernels_between_get_pairs_without_a_sync_between_them() -> None:
    """Calls of 0.2 ms come ten a block; the device is synchronised once for all pairs."""
    cuda = FakeCuda(kernel_s=2e-4)
    clock = DeviceClock(cuda.operation, lambda: CHECK, cuda, clock=cuda.clock)
    before = cuda.synchronised
    block = clock.time_block(untimed=0, n_calls=10)
    assert block.call_s == pytest.approx(2e-4, rel=4e-3)
    assert clock.timing.startswith("one event pair per call")
    assert cuda.synchronised - before == 3  # after the untimed calls, the first look, the pairs


def test_the_cold_call_of_a_device_is_timed_by_the_host() -> None:
    """Loading a library is time a person waits, which no device event sees."""
    cuda = FakeCuda(kernel_s=1e-5)
    slow_first = iter([0.3])

    def operation() -> None:
        cuda.host_s += next(slow_first, 0.0)
        cuda.operation()

    clock = DeviceClock(operation, lambda: CHECK, cuda, clock=cuda.clock)
    assert clock.call_once() == pytest.approx(0.3 + 5e-6 + 1e-5)
    assert clock.call_once() == pytest.approx(5e-6 + 1e-5)


def test_the_host_clock_divides_by_the_calls() -> None:
    """Untimed calls come first and do not count; the thread count is set outside the timed part."""
    now = [0.0]
    order: list[str] = []

    def operation() -> None:
        order.append("call")
        now[0] += 1e-3

    clock = HostClock(operation, lambda: CHECK, before=lambda: order.append("threads"), clock=lambda: now[0])
    block = clock.time_block(untimed=2, n_calls=4)
    assert (block.call_s, block.timed_s, block.untimed_s) == pytest.approx((1e-3, 4e-3, 2e-3))
    assert order == ["threads", *["call"] * 6]
