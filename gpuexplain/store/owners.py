"""Is the process that measured a run still there, so that nobody else ends the run for it?"""

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from gpuexplain.hardware.files import ROOT

# psutil derives a start from the wall clock, which corrections shift a little; the kernel's own never moves.
_START_TOLERANCE_S = 5.0
_HOST_PARTS = 3  # host name, pid namespace, boot
_STAT_START = 19  # of the fields after the program's name: start in clock ticks since boot (Linux proc(5))
# A process on another host (or in another container) cannot be looked at: without a sign of life
# for this long, its run is taken for abandoned. Runners sign every 30 s.
SILENT_AFTER_S = 600.0


@dataclass(frozen=True, slots=True)
class Owner:
    """One process, recognisable after its pid was given to another."""

    host: str  # with boot and pid namespace: a pid means nothing in another container or after a reboot
    pid: int
    started: float  # seconds since boot; since the epoch where the system tells no other


@cache
def _this_host() -> str:
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # not Linux
        return socket.gethostname()
    return f"{socket.gethostname()} {namespace} {boot}"


def this_process() -> Owner:
    """Return the calling process."""
    return Owner(_this_host(), os.getpid(), read_start(os.getpid()))


def read_start(pid: int, root: Path = ROOT) -> float:
    """Return when a process began (seconds), whatever was done to the wall clock since.

    Raises:
        psutil.Error: If it cannot be told: there is no such process, or it may not be looked at.
    """
    try:
        stat = (root / f"proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[_STAT_START]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):  # not Linux, or gone: psutil tells which
        return float(psutil.Process(pid).create_time())


def is_gone(owner: Owner, alive_at: float, now: float) -> bool:
    """Return whether ``owner`` has certainly ended; elsewhere, whether it was silent for too long.

    Args:
        owner: The process that wrote the run.
        alive_at: Its last sign of life, seconds since the epoch.
        now: Seconds since the epoch.
    """
    if owner.host != _this_host():
        return now - alive_at > SILENT_AFTER_S or (_was_here(owner) and alive_at < psutil.boot_time())
    try:
        if psutil.Process(owner.pid).status() == psutil.STATUS_ZOMBIE:
            return True
        return abs(read_start(owner.pid) - owner.started) > _START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:  # it lives; whose it is cannot be told
        return False


def _was_here(owner: Owner) -> bool:
    """Whether it ran on a host of this name before the latest boot (or on a namesake, who signs on)."""
    there, here = owner.host.split(), _this_host().split()
    return len(there) == len(here) == _HOST_PARTS and there[:-1] == here[:-1]
