"""Conditions in windows, attributed to the cases that were sampled in them."""

from sweep_fakes import make_case

from gpuexplain.hardware.host_load import CpuTicks, HostReading
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.model import Case, Clock, Conditions, Dtype, Flag


class FakeHost:
    """Counters that grow at a chosen rate of other people's work."""

    def __init__(self) -> None:
        self.at_s = 0.0
        self.busy = 0
        self.throttled_s = 0.0

    def pass_time(self, seconds: float, others: float = 0.0, throttled_s: float = 0.0) -> None:
        self.at_s += seconds
        self.busy += round(others * seconds * 100)
        self.throttled_s += throttled_s

    def read(self) -> HostReading:
        return HostReading(self.at_s, 2, CpuTicks(self.busy, 0, round(self.at_s * 200)), 0, self.throttled_s, 0)


def monitor_of(host: FakeHost, gpu: list[Conditions] | None = None) -> ConditionsMonitor:
    samples = iter(gpu or [])
    return ConditionsMonitor({"cuda:0": "GPU-1"} if gpu else {}, read=host.read, sample_gpu=lambda _: next(samples))


def gpu_case() -> Case:
    return Case("gpu", 16.0, (16, 16, 16), Dtype.FP32, "cuda:0", Clock.CALL, None, 1.0, 1.0, 1)


def test_a_quiet_host_flags_nothing() -> None:
    """A tenth of a core is the limit."""
    host = FakeHost()
    monitor = monitor_of(host)
    for _ in range(30):
        host.pass_time(0.2, others=0.05)
        monitor.note(make_case(16))
    monitor.finish()
    conditions = monitor.of(make_case(16))
    assert conditions is not None
    assert conditions.other_cpu_cores is not None
    assert conditions.other_cpu_cores < 0.1
    assert monitor.flags(make_case(16)) == ()


def test_only_the_cases_sampled_under_load_are_flagged() -> None:
    """The busy seconds belong to the case that was sampled in them."""
    host = FakeHost()
    monitor = monitor_of(host)
    for x, others in ((16, 0.0), (32, 0.8)):
        for _ in range(100):
            host.pass_time(0.2, others=others)
            monitor.note(make_case(x))
    monitor.finish()
    assert monitor.flags(make_case(16)) == ()
    assert monitor.flags(make_case(32)) == (Flag.UNDER_LOAD,)


def test_a_run_too_short_for_the_kernels_ticks_says_so() -> None:
    """Ten milliseconds of resolution prove nothing in a tenth of a second."""
    host = FakeHost()
    monitor = monitor_of(host)
    host.pass_time(0.1)
    monitor.note(make_case(16))
    monitor.finish()
    conditions = monitor.of(make_case(16))
    assert conditions is not None
    assert conditions.other_cpu_cores is None
    assert "too short" in conditions.not_reported["other_cpu_cores"]


def test_a_throttled_quota_flags_the_cpu() -> None:
    """The control group stopped us for a while."""
    host = FakeHost()
    monitor = monitor_of(host)
    host.pass_time(1.5, throttled_s=0.3)
    monitor.note(make_case(16))
    assert monitor.flags(make_case(16)) == (Flag.THROTTLED,)


def test_a_power_limit_is_no_throttling_but_heat_is() -> None:
    """A card at its limit does what it was built for; a hot one does not."""
    for reason, flags in (
        ("power limit reached", ()),
        ("too hot (slowed by the hardware)", (Flag.THROTTLED,)),
    ):
        host = FakeHost()
        state = Conditions(throttle_reasons=(reason,), sm_clock_mhz=1400, pcie_generation=4, pcie_width=16)
        monitor = monitor_of(host, [state])
        host.pass_time(1.5)
        monitor.note(gpu_case())
        assert monitor.flags(gpu_case()) == flags
        conditions = monitor.of(gpu_case())
        assert conditions is not None
        assert (conditions.sm_clock_mhz, conditions.pcie_generation) == (1400, 4)
        assert monitor.of(make_case(16)) is None  # never sampled


def test_a_foreign_process_on_the_card_puts_its_points_under_load() -> None:
    """Somebody else computes there."""
    host = FakeHost()
    monitor = monitor_of(host, [Conditions(other_gpu_processes=1)])
    host.pass_time(1.5)
    monitor.note(gpu_case())
    assert monitor.flags(gpu_case()) == (Flag.UNDER_LOAD,)
