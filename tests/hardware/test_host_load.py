"""What others did on the CPU between two readings."""

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuexplain.hardware.host_load import (
    CpuTicks,
    HostLoadProbe,
    HostReading,
    parse_family_stat,
    parse_proc_stat,
    parse_self_stat,
    read_host,
    read_host_and_children,
    tell_load_between,
    trusted_interval_s,
)

STAT = (
    "cpu  400 0 200 9000 50 0 10 30 0 0\n"
    "cpu0 100 10 50 800 20 1 9 10 5 0\n"
    "cpu1 200 0 100 600 0 0 0 0 0 0\n"
    "cpu10 7 7 7 7 7 7 7 7 7 7\n"
    "intr 1 2 3\n"
)
BEFORE = HostReading(
    at_s=10.0,
    n_cpus=2,
    ticks=CpuTicks(busy=1000, steal=10, total=5000),
    own_ticks=500,
    throttled_s=1.0,
    involuntary_switches=7,
)


def _after(elapsed_s: float, **changes) -> HostReading:
    facts = {"ticks": CpuTicks(busy=1250, steal=30, total=5400), "own_ticks": 700}
    return dataclasses.replace(
        BEFORE, at_s=10.0 + elapsed_s, throttled_s=1.5, involuntary_switches=9, **facts | changes
    )


@pytest.mark.parametrize(
    ("cpus", "ticks"),
    [
        ((0,), CpuTicks(busy=170, steal=10, total=1000)),
        ((0, 1), CpuTicks(busy=470, steal=10, total=1900)),
        ((3,), None),
    ],
)
def test_only_the_cpus_we_may_use_are_counted(cpus, ticks):
    """CPU 1 is not CPU 10, and guest time is already inside user time."""
    assert parse_proc_stat(STAT, cpus) == ticks


def test_an_old_kernel_without_steal_is_read_too():
    """Columns that do not exist count as zero."""
    assert parse_proc_stat("cpu0 1 2 3 4\n", (0,)) == CpuTicks(busy=6, steal=0, total=10)


@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("42 (python) R 1 2 3 4 5 6 7 8 9 10 300 40 0 0 20 0 9", 340),
        ("42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 1 2 0 0 20 0 9", 3),
        ("", None),
    ],
    ids=["plain", "brackets in the name", "empty"],
)
def test_our_own_time_is_user_and_system_of_all_threads(text, ticks):
    """Fields 14 and 15 of /proc/PID/stat."""
    assert parse_self_stat(text) == ticks


def test_the_load_of_others_is_all_minus_ours():
    """250 busy ticks, 200 of them ours, in 2 s: others kept a quarter of a core busy."""
    load = tell_load_between(BEFORE, _after(2.0))
    assert load.other_cpu_cores == pytest.approx(0.25)
    assert load.steal_share == pytest.approx(0.05)
    assert (load.quota_throttled_s, load.involuntary_switches) == (0.5, 2)
    assert load.not_reported == {}


def test_an_interval_too_short_for_the_ticks_gives_the_reason():
    """Switches and throttling are exact, so they stay."""
    load = tell_load_between(BEFORE, _after(0.25))
    assert (load.other_cpu_cores, load.steal_share, load.involuntary_switches) == (None, None, 2)
    assert load.not_reported["other_cpu_cores"] == ("0.25 s is too short for 10 ms ticks; 0.8 s or more are needed")


def test_rounding_never_makes_the_load_negative():
    """Ours may be counted a tick ahead of everybody's."""
    load = tell_load_between(BEFORE, _after(1.0, ticks=CpuTicks(busy=1198, steal=10, total=5200)))
    assert load.other_cpu_cores == 0.0


def test_a_system_without_proc_says_so():
    """Nothing is invented on macOS or Windows."""
    bare = HostReading(0.0, 2, None, None, None, None)
    load = tell_load_between(bare, dataclasses.replace(bare, at_s=5.0))
    assert load.not_reported == {
        "other_cpu_cores": "this system has no /proc/stat",
        "steal_share": "this system has no /proc/stat",
        "quota_throttled_s": "the control group has no CPU statistics",
        "involuntary_switches": "this system does not count them",
    }


@pytest.mark.parametrize(("n_cpus", "interval_s"), [(1, 0.6), (2, 0.8), (64, 2.0), (192, 3.2)])
def test_more_cpus_need_a_longer_interval(n_cpus, interval_s):
    """The errors of the CPUs add up like a square root."""
    assert trusted_interval_s(n_cpus) == pytest.approx(interval_s)


def test_the_probe_reads_this_machine():
    """Between two real readings nothing is negative."""
    with HostLoadProbe() as probe:
        sum(range(1000))
    assert probe.load is not None
    assert (probe.load.involuntary_switches or 0) >= 0
    assert probe.stop().involuntary_switches is not None


def test_ended_and_running_children_count_as_ours() -> None:
    """5 + 1 ticks of our own, 20 + 3 of children that ended, 7 + 2 of one that runs."""
    own = "10 (python) S " + " ".join(["0"] * 10) + " 5 1 20 3 20 0"
    child = "11 (a (b) c) S " + " ".join(["0"] * 10) + " 7 2 0 0 20 0"
    assert parse_family_stat(own, [child]) == 38
    assert parse_family_stat("nonsense", [child]) is None


def test_a_child_that_works_is_not_the_load_of_others() -> None:
    """A real process of ours, seen by the kernel."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        before, family_before = read_host(), read_host_and_children()
        time.sleep(1.0)
        after, family_after = read_host(), read_host_and_children()
    finally:
        busy.kill()
        busy.wait()
    if before.own_ticks is None or not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this system does not list children")
    alone = after.own_ticks - before.own_ticks
    together = family_after.own_ticks - family_before.own_ticks
    assert together > alone
