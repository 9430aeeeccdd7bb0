"""Which of the processes on a GPU are somebody else's?"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from gpuexplain.hardware.files import ROOT

# The inode of the first PID namespace (Linux include/linux/proc_ns.h, PROC_PID_INIT_INO).
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"
HIDDEN_BY_NAMESPACE = "inside a container the driver's list of processes cannot be told apart from our own"


def count_foreign_processes(pids: Sequence[int], root: Path = ROOT) -> tuple[int | None, str]:
    """Return how many of ``pids`` are not ours, and why that cannot be told if it cannot.

    Ours are this process and what it started. In a PID namespace the driver may list the host's
    numbers, or hide other processes: there, only "some" is sure.
    """
    foreign = sum(not _is_ours(pid) for pid in pids)
    if not in_pid_namespace(root):
        return foreign, ""
    if os.getpid() in pids and foreign:  # our own number is listed, so the numbers are ours
        return foreign, ""
    return None, HIDDEN_BY_NAMESPACE


def in_pid_namespace(root: Path = ROOT) -> bool:
    """Return whether process numbers here differ from those of the host."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return str((root / "proc/self/ns/pid").readlink()) != _INITIAL_PID_NAMESPACE
    except OSError:
        return False


def _is_ours(pid: int) -> bool:
    if pid == os.getpid():
        return True
    try:
        return any(parent.pid == os.getpid() for parent in psutil.Process(pid).parents())
    except psutil.Error:
        return False
