"""What a processor is called, what it can do, and what it is not asked."""

import pytest

from gpuexplain.hardware import cpu as cpu_module
from gpuexplain.hardware.cpu import find_model, find_units, inspect_cpu, parse_cpuinfo, read_last_level_cache

X86 = (
    "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   Platinum 8481C\n"
    "flags\t\t: fpu avx2 avx512f avx512_bf16 avx512_fp16 amx_bf16 amx_tile amx_int8 hypervisor\n\n"
    "processor\t: 1\nmodel name\t: other\n"
)
ARM = (
    "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd asimdhp sve bf16 i8mm\n"
    "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"
)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (X86, "Intel(R) Xeon(R) Platinum 8481C"),
        (ARM, "Arm Neoverse-V2"),
        ("CPU implementer : 0x41\nCPU part : 0xfff\n", "Arm part 0xfff"),
        ("CPU implementer : 0x99\nCPU part : 0x001\n", "implementer 0x99 part 0x001"),
        ("CPU implementer : what\nCPU part : 0x001\n", None),
        ("", None),
    ],
)
def test_the_model_is_the_printed_name_or_arms_numbers(text, model):
    """Arm's Linux prints no model name."""
    assert find_model(parse_cpuinfo(text)) == model


@pytest.mark.parametrize(
    ("text", "units"),
    [
        (X86, ("AVX2", "AVX-512", "AVX512-BF16", "AVX512-FP16", "AMX-BF16", "AMX-INT8")),
        (ARM, ("NEON", "NEON-FP16", "NEON-BF16", "NEON-INT8", "SVE")),
        ("", ()),
    ],
)
def test_units_come_from_the_flags(text, units):
    """Only the units that matter for deep learning are named."""
    assert find_units(parse_cpuinfo(text)) == units


def _cache(cpu: int, index: int, level: int, size: str, shared: str) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
    return {f"{folder}/level": str(level), f"{folder}/size": size, f"{folder}/shared_cpu_list": shared}


def test_each_last_level_cache_is_counted_once(write_tree):
    """Two groups of two CPUs with 32 MiB each hold 64 MiB; a smaller level does not count."""
    tree: dict[str, str] = {}
    for cpu, shared in ((0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")):
        tree |= _cache(cpu, 2, 2, "1024K", str(cpu)) | _cache(cpu, 3, 3, "32768K", shared)
    root = write_tree(tree)
    assert read_last_level_cache((0, 1, 2, 3), root) == 64 * 2**20
    assert read_last_level_cache((0, 1), root) == 32 * 2**20


def test_what_is_unknown_is_not_reported_and_never_zero(write_tree, monkeypatch):
    """On a system without /proc and /sys each absent value carries its reason."""
    monkeypatch.setattr(cpu_module.platform, "processor", lambda: "")
    monkeypatch.setattr(cpu_module.platform, "machine", lambda: "AMD64")
    cpu = inspect_cpu(write_tree({}))
    assert (cpu.model, cpu.units, cpu.last_level_cache_bytes, cpu.max_mhz) == (None, (), None, None)
    assert cpu.not_reported == {
        "model": "the system does not name the processor",
        "units": "the system does not list vector units the way Linux does",
        "last_level_cache_bytes": "the kernel does not show the caches",
        "max_mhz": "the kernel does not show a frequency range",
    }


def test_an_affinity_smaller_than_the_machine_limits_the_threads(write_tree, monkeypatch):
    """A process pinned to three CPUs gets three threads, whatever the quota."""
    monkeypatch.setattr(cpu_module, "read_affinity", lambda: (0, 1, 2))
    root = write_tree(
        {
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/cpu.max": "800000 100000",
        }
    )
    cpu = inspect_cpu(root)
    assert (cpu.affinity_cpus, cpu.quota_cpus, cpu.usable_threads) == (3, 8.0, 3)
