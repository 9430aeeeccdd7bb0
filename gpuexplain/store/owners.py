"""Is the process that measured a run still there, so that nobody else ends the run for it?"""

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

# The start time is derived from the boot time, which the clock's corrections can shift a little.
_START_TOLERANCE_S = 5.0
# A process on another host (or in another container) cannot be looked at: without a sign of life
# for this long, its run is taken for abandoned. Runners sign every 30 s.
SILENT_AFTER_S = 600.0


@dataclass(frozen=True, slots=True)
class Owner:
    """One process, recognisable after its pid was given to another."""

    host: str  # with the pid namespace: a pid means nothing in another container
    pid: int
    started: float  # seconds since the epoch


@cache
def _this_host() -> str:
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name
    except OSError:  # not Linux
        return socket.gethostname()
    return f"{socket.gethostname()} {namespace}"


def this_process() -> Owner:
    """Return the calling process."""
    return Owner(_this_host(), os.getpid(), psutil.Process().create_time())


def is_gone(owner: Owner, alive_at: float, now: float) -> bool:
    """Return whether ``owner`` has certainly ended; elsewhere, whether it was silent for too long.

    Args:
        owner: The process that wrote the run.
        alive_at: Its last sign of life, seconds since the epoch.
        now: Seconds since the epoch.
    """
    if owner.host != _this_host():
        return now - alive_at > SILENT_AFTER_S
    try:
        process = psutil.Process(owner.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        return abs(process.create_time() - owner.started) > _START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:  # it lives; whose it is cannot be told
        return False
