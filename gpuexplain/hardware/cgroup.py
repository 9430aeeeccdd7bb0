"""How much CPU and memory may this process use, however its limits are nested?

A limit of any ancestor binds, so every function walks from the process's own
group up to the mount point and takes the tightest. Version 1 and 2 (and both at
once, the "hybrid" layout) are read. Inside a cgroup namespace the ancestors are
hidden: only what the mount shows can be told.
Source: Linux Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gpuexplain.hardware.files import ROOT, parse_key_numbers, read_int, read_text

# Version 1 writes "no limit" as the largest multiple of the page size below 2**63.
NO_LIMIT_BYTES = 2**60


@dataclass(frozen=True, slots=True)
class CgroupDir:
    """One folder of the hierarchy; ``version`` is 1 or 2."""

    path: Path
    version: int


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The tightest limit and the least room under any limit, in bytes."""

    limit_bytes: int
    free_bytes: int


def find_cgroup_dirs(controller: str, root: Path = ROOT) -> tuple[CgroupDir, ...]:
    """Return the folders that govern ``controller`` ("cpu", "memory"), own group first.

    Args:
        controller: Its name in ``/proc/self/cgroup``.
        root: Where ``/proc`` and ``/sys`` lie; another folder in tests.
    """
    groups = read_text(root / "proc/self/cgroup") or ""
    mounts = read_text(root / "proc/self/mountinfo") or ""
    found: list[CgroupDir] = []
    for line in groups.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        version = 1 if controllers else 2
        for mount_root, mount_point in _mounts_of(mounts, version, controller):
            top = root / mount_point.lstrip("/")
            found += [CgroupDir(path, version) for path in _walk_up(top, mount_root, group)]
            break
    return tuple(found)


def _mounts_of(mountinfo: str, version: int, controller: str) -> Iterator[tuple[str, str]]:
    """Yield (root inside the hierarchy, mount point) of each matching mount."""
    for line in mountinfo.splitlines():
        head, separator, tail = line.partition(" - ")
        fields, kind = head.split(), tail.split()
        if not separator or len(fields) < 5 or not kind:
            continue
        options = kind[2].split(",") if len(kind) > 2 else []
        if (version == 2 and kind[0] == "cgroup2") or (version == 1 and kind[0] == "cgroup" and controller in options):
            yield fields[3].replace(r"\040", " "), fields[4].replace(r"\040", " ")


def _walk_up(top: Path, mount_root: str, group: str) -> Iterator[Path]:
    own, base = PurePosixPath(group), PurePosixPath(mount_root)
    # A group outside the mount (a namespace, a bind mount) shows only the mount point.
    relative = own.relative_to(base) if own.is_relative_to(base) else PurePosixPath()
    if ".." in relative.parts:
        relative = PurePosixPath()
    for part in (relative, *relative.parents):
        yield top / part
        if part == PurePosixPath():
            break


def read_quota_cpus(root: Path = ROOT) -> float | None:
    """Return the tightest CPU quota in CPUs (2.5 = two and a half), or None without one."""
    quotas = [_quota_of(folder) for folder in find_cgroup_dirs("cpu", root)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota_of(folder: CgroupDir) -> float | None:
    if folder.version == 2:
        quota, _, period = (read_text(folder.path / "cpu.max") or "").partition(" ")
    else:
        quota = read_text(folder.path / "cpu.cfs_quota_us") or ""
        period = read_text(folder.path / "cpu.cfs_period_us") or ""
    if not quota.isdigit() or not period.isdigit() or not int(period):
        return None  # "max", "-1" or no such file
    return int(quota) / int(period)


def read_memory_limit(root: Path = ROOT) -> MemoryLimit | None:
    """Return the tightest memory limit and the least room left, or None without a limit.

    Reclaimable file cache (``inactive_file``) counts as room, as the kernel frees it first.
    """
    limits = [limit for f in find_cgroup_dirs("memory", root) if (limit := _memory_of(f))]
    if not limits:
        return None
    return MemoryLimit(min(x.limit_bytes for x in limits), min(x.free_bytes for x in limits))


def _memory_of(folder: CgroupDir) -> MemoryLimit | None:
    v2 = folder.version == 2
    statistics = parse_key_numbers(read_text(folder.path / "memory.stat"))
    limit = read_int(folder.path / ("memory.max" if v2 else "memory.limit_in_bytes"))
    # Version 1 tells the tightest of the ancestors even where a namespace hides them.
    known = [x for x in (limit, statistics.get("hierarchical_memory_limit")) if x is not None]
    if not known or min(known) >= NO_LIMIT_BYTES:
        return None
    used = read_int(folder.path / ("memory.current" if v2 else "memory.usage_in_bytes")) or 0
    cache = statistics.get("inactive_file" if v2 else "total_inactive_file", 0)
    return MemoryLimit(min(known), max(0, min(known) - max(0, used - cache)))


def read_throttled_s(root: Path = ROOT) -> float | None:
    """Return the seconds the group of this process has been throttled so far, all groups of its path.

    None without the CPU controller. Only differences between two readings mean something.
    """
    total_s: float | None = None
    for folder in find_cgroup_dirs("cpu", root):
        statistics = parse_key_numbers(read_text(folder.path / "cpu.stat"))
        if "throttled_usec" in statistics:
            total_s = (total_s or 0.0) + statistics["throttled_usec"] / 1e6
        elif "throttled_time" in statistics:
            total_s = (total_s or 0.0) + statistics["throttled_time"] / 1e9
    return total_s
