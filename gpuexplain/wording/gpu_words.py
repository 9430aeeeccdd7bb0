"""What is this GPU, in words: one line for the card, one row per fact for ``doctor``."""

from collections.abc import Callable
from typing import Any

from gpuexplain.hardware.machine import Gpu, TorchDevice
from gpuexplain.hardware.reference import match_reference_gpu, reference_peak
from gpuexplain.model import Dtype
from gpuexplain.units import format_rate_flops, format_size

Rows = tuple[tuple[str, str], ...]
_PEAK_DTYPES = (Dtype.FP32, Dtype.TF32, Dtype.BF16)

# Label, field, how the fact is written: units as NVML's documentation gives them.
_FACTS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("Memory", "memory_total_bytes", format_size),
    ("Memory free", "memory_free_bytes", format_size),
    ("Compute capability", "compute_capability", str),
    ("Multiprocessors", "multiprocessors", str),
    ("PCI bus", "pci_bus_id", str),
    ("Power limit", "power_limit_w", "{:g} W".format),
    ("Temperature", "temperature_c", "{:g} °C".format),
    ("Highest SM clock", "sm_clock_max_mhz", "{:g} MHz".format),
    ("Exclusive mode", "exclusive_mode", lambda on: "yes: one process at a time" if on else "no"),
    ("Other compute processes", "compute_processes", str),
)


def tell_gpu_line(gpu: Gpu, probed: bool) -> str:
    """Return one line: what it is and whether torch can use it."""
    facts = [gpu.name]
    if gpu.memory_total_bytes:
        facts.append(format_size(gpu.memory_total_bytes))
    if gpu.compute_capability:
        facts.append(f"compute capability {gpu.compute_capability}")
    told = ", ".join(facts)
    if gpu.torch_device:
        return f"GPU {gpu.torch_device}: {told}"
    if gpu.problem:
        return f"GPU not usable: {told}. {gpu.problem.explanation}"
    if "torch_device" in gpu.not_reported:
        return f"GPU not used: {told} ({gpu.not_reported['torch_device']})"
    return f"GPU not usable: {told}" if probed else f"GPU not tried yet: {told}"


def tell_gpu_rows(gpu: Gpu, probed: TorchDevice | None) -> Rows:
    """Return one row per fact; what the driver did not tell says why."""
    rows = [("torch device", _usable(gpu)), ("UUID", gpu.mig_uuid or gpu.uuid or _missing(gpu, "uuid"))]
    for label, field, write in _FACTS:
        fact = getattr(gpu, field)
        rows.append((label, _missing(gpu, field) if fact is None else write(fact)))
    rows += [("PCIe link", _link(gpu)), ("MIG", _mig(gpu))]
    if probed and probed.bf16_native is not None:
        rows.append(("bf16", "native" if probed.bf16_native else "emulated: slower than fp32"))
    rows.append(("Reference peak", tell_reference_peak(gpu.name)))
    if gpu.problem:
        rows += [("Why not usable", gpu.problem.explanation), ("What to do", gpu.problem.remedy)]
    return tuple(rows)


def tell_reference_peak(name: str) -> str:
    """Return the dense peaks of the data sheet with their source, or that we cannot judge."""
    part = match_reference_gpu(name)
    if part is None:
        return "not known for this name: rates cannot be judged against a peak"
    told = []
    for dtype in _PEAK_DTYPES:
        peak = reference_peak(part, dtype)
        if peak is not None:
            doubt = "" if peak.verified else " (unverified)"
            told.append(f"{dtype} {format_rate_flops(peak.rate_flops)}{doubt}")
    return f"{', '.join(told)}, dense; {part.name}, {part.source}"


def _usable(gpu: Gpu) -> str:
    if gpu.torch_device:
        return f"{gpu.torch_device}, a real kernel ran"
    return gpu.not_reported.get("torch_device", "none yet")


def _missing(gpu: Gpu, field: str) -> str:
    return f"not reported ({gpu.not_reported[field]})" if field in gpu.not_reported else "not reported"


def _link(gpu: Gpu) -> str:
    """An idle link falls back to generation 1, so "now" alone would mislead."""
    if gpu.pcie_generation is None or gpu.pcie_width is None:
        return _missing(gpu, "pcie_generation" if gpu.pcie_generation is None else "pcie_width")
    now = f"generation {gpu.pcie_generation} x{gpu.pcie_width} now (an idle link reports less)"
    if gpu.pcie_generation_max is None or gpu.pcie_width_max is None:
        return now
    return f"{now}, at most generation {gpu.pcie_generation_max} x{gpu.pcie_width_max}"


def _mig(gpu: Gpu) -> str:
    if gpu.mig_enabled is None:
        return _missing(gpu, "mig_enabled")
    if not gpu.mig_enabled:
        return "off"
    return "on; this is an instance" if gpu.mig_uuid else "on, without an instance for this process"
