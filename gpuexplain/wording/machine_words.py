"""What is this machine, in words: the card on Home and in the sidebar, and the rows of ``doctor``."""

from dataclasses import dataclass

from gpuexplain.hardware.machine import Cpu, GpuProblem, Machine, Memory
from gpuexplain.hardware.receipts import cuda_path_verified
from gpuexplain.units import format_size
from gpuexplain.wording.gpu_words import tell_gpu_line, tell_gpu_rows

Rows = tuple[tuple[str, str], ...]

# Beside the reason for having no GPU: nothing is lost that the CPU can do.
CPU_GOES_ON = "Every experiment runs on the CPU; GPU figures shown beside it are published or recorded ones."
# Until a recorded run from a real GPU ships with the package.
UNVERIFIED = "unverified: no recorded run from a real GPU ships with this version"
VERIFIED = "verified: a recorded run from a real GPU ships with this version"


@dataclass(frozen=True, slots=True)
class MachineCard:
    """``headline`` fits the sidebar; ``lines`` fill the card; ``problem`` says why no GPU works."""

    headline: str
    lines: tuple[str, ...]
    problem: GpuProblem | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A titled block of (label, text) rows."""

    title: str
    rows: Rows


def tell_machine_card(machine: Machine) -> MachineCard:
    """Return what a visitor should know of the machine before reading its numbers."""
    cpu = machine.cpu
    gpus = tuple(tell_gpu_line(gpu, probed=machine.torch is not None) for gpu in machine.gpus)
    problem = machine.gpu_problem
    lines = [
        f"CPU: {_model(cpu)}",
        f"Threads: {tell_threads(cpu)}",
        f"Memory: {tell_memory(machine.memory)}",
        f"Vector and matrix units: {_units(cpu)}",
        *gpus,
    ]
    if problem:
        if all(gpu.problem != problem for gpu in machine.gpus):  # its own line says it already
            lines.append(f"No GPU to measure with: {problem.explanation}")
        if problem.rung != "no_torch":  # without torch nothing can be measured at all
            lines.append(CPU_GOES_ON)
    return MachineCard(_headline(machine), tuple(lines), problem)


def _headline(machine: Machine) -> str:
    names = [gpu.name for gpu in machine.gpus if gpu.torch_device]
    if not names:
        untried = machine.gpus and not machine.gpu_problem and machine.torch is None
        names = [f"{machine.gpus[0].name} (not tried yet)"] if untried else ["no usable GPU"]
    threads = machine.cpu.usable_threads
    counted = "1 thread" if threads == 1 else f"{threads} threads"
    return f"{_model(machine.cpu)}, {counted} · {', '.join(_count_equal(names))}"


def _count_equal(names: list[str]) -> list[str]:
    counts = {name: names.count(name) for name in names}
    return [name if count == 1 else f"{count} × {name}" for name, count in counts.items()]


def tell_threads(cpu: Cpu) -> str:
    """Return the number of threads we use and why that many."""
    threads = cpu.usable_threads
    if cpu.quota_cpus is not None and cpu.quota_cpus < cpu.affinity_cpus:
        plural = "CPU" if cpu.quota_cpus == 1 else "CPUs"
        return f"{threads} of {cpu.logical_cpus}, because the CPU quota of this group is {cpu.quota_cpus:.3g} {plural}"
    if cpu.affinity_cpus < cpu.logical_cpus:
        return f"{threads} of {cpu.logical_cpus}, because this process may run on {cpu.affinity_cpus} of them"
    return f"{threads}, one for each logical CPU"


def tell_memory(memory: Memory) -> str:
    """Return how much memory there is, and the limit on it if there is one."""
    total, available = format_size(memory.total_bytes), format_size(memory.available_bytes)
    if memory.cgroup_limit_bytes is None:
        return f"{total}, {available} available"
    limit, usable = format_size(memory.cgroup_limit_bytes), format_size(memory.usable_bytes)
    return f"{usable} usable under a limit of {limit} (the machine has {total})"


def tell_cache(cpu: Cpu, in_virtual_machine: bool) -> str:
    """Return the size of the last-level cache, with the doubt that a virtual machine calls for."""
    if cpu.last_level_cache_bytes is None:
        return not_reported(cpu.not_reported, "last_level_cache_bytes")
    doubt = " (as the virtual machine reports it; our share may be far smaller)" if in_virtual_machine else ""
    return format_size(cpu.last_level_cache_bytes) + doubt


def not_reported(reasons: dict[str, str], field: str) -> str:
    """Return ``not reported (reason)``."""
    return f"not reported ({reasons[field]})" if field in reasons else "not reported"


def _model(cpu: Cpu) -> str:
    return cpu.model or f"{cpu.architecture} CPU"


def _units(cpu: Cpu) -> str:
    if cpu.units:
        return ", ".join(cpu.units)
    return not_reported(cpu.not_reported, "units") if "units" in cpu.not_reported else "none that we know"


def doctor_rows(machine: Machine) -> tuple[Section, ...]:
    """Return everything known about the machine, in the order a person would ask."""
    sections = [
        Section("System", _system_rows(machine)),
        Section("CPU", _cpu_rows(machine)),
        Section("Memory", (("Memory", tell_memory(machine.memory)),)),
        Section("GPU support", _support_rows(machine)),
    ]
    for number, gpu in enumerate(machine.gpus):
        probed = next(
            (d for d in (machine.torch.devices if machine.torch else ()) if d.device == gpu.torch_device),
            None,
        )
        sections.append(Section(f"GPU {number}: {gpu.name}", tell_gpu_rows(gpu, probed)))
    sections.append(Section("Environment", _environment_rows(machine)))
    return tuple(sections)


def _system_rows(machine: Machine) -> Rows:
    host = machine.platform
    return (
        ("System", host.system),
        ("Kernel", host.kernel + (" (WSL)" if host.wsl else "")),
        ("Python", host.python),
        ("Container", host.container or "none found"),
        ("Virtual machine", host.virtual_machine or "none found"),
    )


def _cpu_rows(machine: Machine) -> Rows:
    cpu = machine.cpu
    clock = not_reported(cpu.not_reported, "max_mhz") if cpu.max_mhz is None else f"{cpu.max_mhz:,.0f} MHz"
    return (
        ("Model", cpu.model or not_reported(cpu.not_reported, "model")),
        ("Architecture", cpu.architecture),
        ("Threads", tell_threads(cpu)),
        ("Vector and matrix units", _units(cpu)),
        ("Last-level cache", tell_cache(cpu, machine.platform.virtual_machine is not None)),
        ("Highest clock", clock),
    )


def _support_rows(machine: Machine) -> Rows:
    missing = f"not reported ({machine.nvml_error})" if machine.nvml_error else "not reported"
    rows = [
        ("NVIDIA driver", machine.driver_version or missing),
        ("CUDA of the driver", machine.cuda_driver_version or missing),
        ("torch", _torch_text(machine)),
        ("CUDA measuring path", VERIFIED if cuda_path_verified() else UNVERIFIED),
    ]
    if machine.torch and machine.torch.version != "not importable":
        probe = machine.torch
        flushed = (
            "flushed to zero in every thread" if probe.flush_denormals else "not flushed: CPU times may be far too long"
        )
        rows += [("Threads in the worker", str(probe.threads)), ("Denormal numbers", flushed)]
    if machine.gpu_problem:
        rows += [("Why no GPU", machine.gpu_problem.explanation), ("What to do", machine.gpu_problem.remedy)]
    return tuple(rows)


def _torch_text(machine: Machine) -> str:
    probe = machine.torch
    if probe is None:
        return f"{machine.torch_version} (not started yet)" if machine.torch_version else "not installed"
    if probe.cuda_build:
        built_for = ", ".join(probe.arch_list) or "no architectures"
        return f"{probe.version}, built for CUDA {probe.cuda_build}: {built_for}"
    return f"{probe.version}, built for " + (f"ROCm {probe.rocm_build}" if probe.rocm_build else "the CPU only")


def _environment_rows(machine: Machine) -> Rows:
    overrides = machine.environment_overrides
    if not overrides:
        return (("Variables that change results", "none set"),)
    return tuple((name, setting or "set, but empty") for name, setting in sorted(overrides.items()))
