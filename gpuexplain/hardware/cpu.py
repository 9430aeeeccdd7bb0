"""What is the processor, and how many threads may this process start on it?"""

import math
import os
import platform
from pathlib import Path

import psutil

from gpuexplain.hardware.arm_names import name_arm_cpu
from gpuexplain.hardware.cgroup import read_quota_cpus
from gpuexplain.hardware.files import ROOT, read_int, read_text
from gpuexplain.hardware.machine import Cpu
from gpuexplain.hardware.sysctl import read_sysctl

# Flag of /proc/cpuinfo (x86 "flags", Arm "Features") -> the name a person knows.
_UNIT_BY_FLAG = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_bf16": "AVX512-BF16",
    "avx512_fp16": "AVX512-FP16",
    "amx_bf16": "AMX-BF16",
    "amx_int8": "AMX-INT8",
    "amx_fp16": "AMX-FP16",
    "asimd": "NEON",
    "asimdhp": "NEON-FP16",
    "bf16": "NEON-BF16",
    "i8mm": "NEON-INT8",
    "sve": "SVE",
    "sve2": "SVE2",
    "sme": "SME",
}
_SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def inspect_cpu(root: Path = ROOT) -> Cpu:
    """Return the processor as this process may use it; what is unknown says why.

    Args:
        root: Where ``/proc`` and ``/sys`` lie; another folder in tests.
    """
    cpuinfo = parse_cpuinfo(read_text(root / "proc/cpuinfo") or "")
    cpus = read_affinity()
    quota = read_quota_cpus(root)
    facts = {
        "model": find_model(cpuinfo) or read_sysctl("machdep.cpu.brand_string") or platform.processor(),
        "units": find_units(cpuinfo) or _units_without_cpuinfo(),
        "last_level_cache_bytes": read_last_level_cache(cpus, root) or _apple_cache_bytes(),
        "max_mhz": read_max_mhz(cpus, root),
    }
    reasons = {
        "model": "the system does not name the processor",
        "units": "the system does not list vector units the way Linux does",
        "last_level_cache_bytes": "the kernel does not show the caches",
        "max_mhz": "the kernel does not show a frequency range",
    }
    return Cpu(
        architecture=platform.machine(),
        logical_cpus=os.cpu_count() or len(cpus),
        affinity_cpus=len(cpus),
        quota_cpus=quota,
        usable_threads=count_usable_threads(len(cpus), quota),
        not_reported={name: reasons[name] for name, fact in facts.items() if not fact},
        **{name: fact for name, fact in facts.items() if fact},
    )


def count_usable_threads(affinity_cpus: int, quota_cpus: float | None) -> int:
    """Return min(affinity, floor of the quota), at least 1."""
    limits = [affinity_cpus] if quota_cpus is None else [affinity_cpus, math.floor(quota_cpus)]
    return max(1, min(limits))


def read_affinity() -> tuple[int, ...]:
    """Return the CPUs this process may run on, by number; all of them where the system has no affinity."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):  # Windows, FreeBSD; macOS has none
        return tuple(sorted(process.cpu_affinity()))
    return tuple(range(os.cpu_count() or 1))


def parse_cpuinfo(text: str) -> dict[str, str]:
    """Return the fields of the first processor that names each of them."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, content = line.partition(":")
        if colon and content.strip():
            fields.setdefault(name.strip(), content.strip())
    return fields


def find_model(cpuinfo: dict[str, str]) -> str | None:
    """Return the processor's name: as printed, else from Arm's implementer and part numbers."""
    if "model name" in cpuinfo:
        return " ".join(cpuinfo["model name"].split())
    return name_arm_cpu(cpuinfo.get("CPU implementer"), cpuinfo.get("CPU part"))


def find_units(cpuinfo: dict[str, str]) -> tuple[str, ...]:
    """Return the vector and matrix units that matter for deep learning, from the flags."""
    flags = set((cpuinfo.get("flags") or cpuinfo.get("Features") or "").split())
    return tuple(unit for flag, unit in _UNIT_BY_FLAG.items() if flag in flags)


def _units_without_cpuinfo() -> tuple[str, ...]:
    # Every 64-bit Arm core has NEON (Armv8-A); x86 outside Linux stays unknown.
    return ("NEON",) if platform.machine().lower() in {"arm64", "aarch64"} else ()


def read_last_level_cache(cpus: tuple[int, ...], root: Path = ROOT) -> int | None:
    """Return the bytes of last-level cache that ``cpus`` reach together, each cache counted once.

    A virtual machine may report the whole host's cache, far more than its share.
    """
    total, counted = 0, set[str]()
    for cpu in cpus:
        caches = (root / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index[0-9]*")
        last = max(caches, key=lambda index: read_int(index / "level") or 0, default=None)
        size = _parse_size(read_text(last / "size")) if last else None
        if last is None or size is None:
            continue
        shared = read_text(last / "shared_cpu_list") or str(cpu)
        if shared not in counted:
            counted.add(shared)
            total += size
    return total or None


def _parse_size(text: str | None) -> int | None:
    number, unit = (text or "")[:-1], (text or "")[-1:]
    if number.isdigit() and unit in _SIZE_UNITS:
        return int(number) * _SIZE_UNITS[unit]
    return None


def _apple_cache_bytes() -> int | None:
    text = read_sysctl("hw.perflevel0.l2cachesize") or read_sysctl("hw.l3cachesize")
    return int(text) if text and text.isdigit() else None


def read_max_mhz(cpus: tuple[int, ...], root: Path = ROOT) -> float | None:
    """Return the highest clock (MHz) that the kernel may choose on ``cpus``."""
    folder = root / "sys/devices/system/cpu"
    clocks = [read_int(folder / f"cpu{cpu}/cpufreq/cpuinfo_max_freq") for cpu in cpus]
    return max((khz / 1000 for khz in clocks if khz), default=None)
