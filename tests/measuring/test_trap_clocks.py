"""Wrong clocks, made on purpose."""

from gpuexplain.measuring.clocks import HostClock
from gpuexplain.measuring.stopwatch import Check
from gpuexplain.measuring.trap_clocks import EnqueueClock, SingleCalls


class FakeDevice:
    """A device whose calls take 1 ms but return after 10 us; the host's clock moves with both."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.busy_until_s = 0.0

    def clock(self) -> float:
        return self.now_s

    def queue(self) -> None:
        self.now_s += 10e-6
        self.busy_until_s = max(self.busy_until_s, self.now_s) + 1e-3

    def synchronize(self) -> None:
        self.now_s = max(self.now_s, self.busy_until_s)


def right() -> Check:
    return Check(1e-7, 0, 0)


def test_without_a_wait_only_the_queueing_is_seen() -> None:
    """10 us of 1 ms; the block leaves an idle device behind."""
    device = FakeDevice()
    clock = EnqueueClock(device.queue, right, device, clock=device.clock)  # type: ignore[arg-type]
    block = clock.time_block(0, 5)
    assert round(block.call_s * 1e6) == 10
    assert device.now_s >= device.busy_until_s
    assert round(clock.call_once() * 1e6) == 10


def test_a_single_call_has_nothing_before_it_but_the_disturbance() -> None:
    """What is run before is outside the clock, and told as untimed."""
    device = FakeDevice()
    calls = []

    def work() -> None:
        calls.append("work")
        device.now_s += 2e-3

    def disturb() -> None:
        calls.append("disturb")
        device.now_s += 5e-3

    clock = SingleCalls(HostClock(work, right, clock=device.clock), disturb, clock=device.clock)
    block = clock.time_block(2, 7)
    assert calls == ["disturb", "work"]
    assert (round(block.call_s * 1e3), round(block.timed_s * 1e3), round(block.untimed_s * 1e3)) == (2, 2, 5)
    assert clock.most_calls == 1
