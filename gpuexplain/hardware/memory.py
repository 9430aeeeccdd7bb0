"""How much memory is there, and how much of it is ours?"""

from pathlib import Path

import psutil

from gpuexplain.hardware.cgroup import read_memory_limit
from gpuexplain.hardware.files import ROOT
from gpuexplain.hardware.machine import Memory


def inspect_memory(root: Path = ROOT) -> Memory:
    """Return the system's memory (bytes) and the limit of this process's control group.

    A limit at or above the memory that exists is none.
    """
    memory = psutil.virtual_memory()
    limit = read_memory_limit(root)
    if limit is None or limit.limit_bytes >= memory.total:
        return Memory(total_bytes=memory.total, available_bytes=memory.available)
    return Memory(
        total_bytes=memory.total,
        available_bytes=memory.available,
        cgroup_limit_bytes=limit.limit_bytes,
        cgroup_free_bytes=limit.free_bytes,
    )
