"""What else kept the processor busy between two instants?

Everybody's time on the CPUs this process may use, minus its own, from ``/proc/stat`` and
``/proc/self/stat``. Both count in ticks of 10 ms, so a short interval proves nothing: see
``trusted_interval_s``. Source: proc_stat(5), proc_pid_stat(5), getrusage(2).
"""

import math
import os
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuexplain.hardware.cgroup import read_throttled_s
from gpuexplain.hardware.cpu import read_affinity
from gpuexplain.hardware.files import ROOT, read_text
from gpuexplain.model import Conditions

# The error we accept: half of the 0.1 core above which a point counts as taken under load.
TRUSTED_ERROR_CORES = 0.05
_NO_PROC = "this system has no /proc/stat"
_OWN_TICKS_LOST = 2  # user and system time are each cut to a whole tick


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Ticks since the system started, summed over some CPUs."""

    busy: int
    steal: int
    total: int


@dataclass(frozen=True, slots=True)
class HostReading:
    """The counters at one instant; None where the system has none."""

    at_s: float  # monotonic clock
    n_cpus: int
    ticks: CpuTicks | None
    own_ticks: int | None
    throttled_s: float | None
    involuntary_switches: int | None
    ticks_per_s: int = 100


def parse_proc_stat(text: str, cpus: Collection[int]) -> CpuTicks | None:
    """Return the ticks of ``cpus`` from ``/proc/stat``, None if none of them is listed.

    Guest time is inside user time; waiting for a disk is idle; stolen time is nobody's work here.
    """
    wanted = {f"cpu{cpu}" for cpu in cpus}
    rows = [line.split() for line in text.splitlines() if line.split(" ", 1)[0] in wanted]
    if not rows:
        return None
    busy = steal = total = 0
    for row in rows:
        user, nice, system, idle, iowait, irq, softirq, stolen = [*map(int, row[1:9]), *[0] * 8][:8]
        busy += user + nice + system + irq + softirq
        steal += stolen
        total += user + nice + system + idle + iowait + irq + softirq + stolen
    return CpuTicks(busy, steal, total)


def parse_self_stat(text: str) -> int | None:
    """Return the ticks all threads of a process have used (user + system), from ``/proc/PID/stat``."""
    _, closed, rest = text.rpartition(")")  # the program's name may hold spaces and brackets
    fields = rest.split()
    if not closed or len(fields) < 13:
        return None
    return int(fields[11]) + int(fields[12])


def trusted_interval_s(n_cpus: int, ticks_per_s: int = 100) -> float:
    """Return the shortest interval (s) over which the load of others is known to 0.05 cores.

    Every CPU's counters are off by a fraction of a tick at random (they add up like a square root),
    our own by up to two ticks: 0.8 s on 2 CPUs, 2 s on 64.
    """
    return (_OWN_TICKS_LOST + math.ceil(math.sqrt(n_cpus))) / ticks_per_s / TRUSTED_ERROR_CORES


def read_host(root: Path = ROOT) -> HostReading:
    """Return the counters now; costs a few small files."""
    cpus = read_affinity()
    return HostReading(
        at_s=time.monotonic(),
        n_cpus=len(cpus),
        ticks=parse_proc_stat(read_text(root / "proc/stat") or "", cpus),
        own_ticks=parse_self_stat(read_text(root / "proc/self/stat") or ""),
        throttled_s=read_throttled_s(root),
        involuntary_switches=_read_involuntary_switches(),
        ticks_per_s=os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100,
    )


def read_host_and_children(root: Path = ROOT) -> HostReading:
    """Return the counters now, the work of the processes that this one started counted as its own."""
    texts = [read_text(root / f"proc/{pid}/stat") or "" for pid in _children(root)]
    own = parse_family_stat(read_text(root / "proc/self/stat") or "", texts)
    return replace(read_host(root), own_ticks=own)


def _children(root: Path) -> list[str]:
    """Return the running processes that the main thread started; none where the kernel does not list them."""
    return (read_text(root / f"proc/self/task/{os.getpid()}/children") or "").split()


def parse_family_stat(own: str, children: Sequence[str]) -> int | None:
    """Return the ticks of a process, of its ended children (the kernel adds those up) and of its running ones."""
    ticks = parse_self_stat(own)
    fields = own.rpartition(")")[2].split()
    if ticks is None or len(fields) < 15:
        return ticks
    return ticks + int(fields[13]) + int(fields[14]) + sum(parse_self_stat(text) or 0 for text in children)


def _read_involuntary_switches() -> int | None:
    """Return how often the kernel took the CPU away from any thread of this process.

    ``/proc/self/status`` would tell of the main thread only.
    """
    if sys.platform == "win32":
        return None
    import resource  # does not exist on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def tell_load_between(before: HostReading, after: HostReading) -> Conditions:
    """Return the CPU fields of the conditions between two readings; what cannot be told says why."""
    reasons: dict[str, str] = {}
    other_cores, steal = _load_of_others(before, after, reasons)
    throttled_s = switches = None
    if before.throttled_s is None or after.throttled_s is None:
        reasons["quota_throttled_s"] = "the control group has no CPU statistics"
    else:
        throttled_s = max(0.0, after.throttled_s - before.throttled_s)
    if before.involuntary_switches is None or after.involuntary_switches is None:
        reasons["involuntary_switches"] = "this system does not count them"
    else:
        switches = after.involuntary_switches - before.involuntary_switches
    return Conditions(
        other_cpu_cores=other_cores,
        steal_share=steal,
        quota_throttled_s=throttled_s,
        involuntary_switches=switches,
        not_reported=reasons,
    )


def _load_of_others(
    before: HostReading, after: HostReading, reasons: dict[str, str]
) -> tuple[float | None, float | None]:
    """Return (cores kept busy by others, share of time stolen), noting why when unknown."""
    elapsed_s = after.at_s - before.at_s
    needed_s = trusted_interval_s(after.n_cpus, after.ticks_per_s)
    why = ""
    if before.ticks is None or after.ticks is None or before.own_ticks is None or after.own_ticks is None:
        why = _NO_PROC
    elif elapsed_s < needed_s:
        why = f"{elapsed_s:.2f} s is too short for 10 ms ticks; {needed_s:.2g} s or more are needed"
    else:
        others = (after.ticks.busy - before.ticks.busy) - (after.own_ticks - before.own_ticks)
        passed = after.ticks.total - before.ticks.total
        stolen = after.ticks.steal - before.ticks.steal
        return max(0.0, others / after.ticks_per_s / elapsed_s), max(0.0, stolen / passed) if passed else None
    reasons["other_cpu_cores"] = reasons["steal_share"] = why
    return None, None


class HostLoadProbe:
    """Tells what the host did between ``start`` and ``stop``; also a context, read after it by ``load``."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._before = read_host(root)
        self.load: Conditions | None = None

    def start(self) -> None:
        """Begin an interval."""
        self._before, self.load = read_host(self._root), None

    def stop(self) -> Conditions:
        """End the interval that the last ``start`` (or the making of the probe) began, and tell its load.

        May be called again: each answer covers the time since the start.
        """
        self.load = tell_load_between(self._before, read_host(self._root))
        return self.load

    def __enter__(self) -> "HostLoadProbe":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
