"""What went on beside the measuring, and what was read off once per case, as labelled text."""

from collections.abc import Iterable

from gpuexplain.model import Point
from gpuexplain.units import format_significant, format_size

CONDITION_LABELS = {
    "other_cpu_cores": "CPU cores kept busy by others",
    "steal_share": "time given to other virtual machines",
    "quota_throttled_s": "seconds held back by the CPU quota",
    "involuntary_switches": "involuntary context switches",
    "sm_clock_mhz": "GPU clock, MHz",
    "memory_clock_mhz": "GPU memory clock, MHz",
    "power_w": "GPU power, W",
    "power_limit_w": "GPU power limit, W",
    "temperature_c": "GPU temperature, °C",
    "throttle_reasons": "throttle reasons",
    "pcie_generation": "PCIe generation under load",
    "pcie_width": "PCIe lanes under load",
    "other_gpu_processes": "other processes on the GPU",
    "gpu_utilisation": "share of the time in which the GPU ran a kernel",
}
GAUGE_LABELS = {
    "memory_allocated_bytes": "peak memory of live tensors",
    "memory_reserved_bytes": "peak memory held by the allocator",
    "memory_context_bytes": "CUDA context, in no allocator's count",
    "memory_resident_bytes": "peak growth of the process in memory",
    "memory_limit_bytes": "memory that the run was allowed to fill",
    "energy_j": "energy of one call, J",
    "clipped_count": "values beyond the format's largest number",
    "zeroed_count": "values that the format rounds to zero",
}


def write_reading(name: str, value: object) -> str:
    """Return a condition or gauge as text; ``name`` is its field."""
    if name.endswith("_bytes") and isinstance(value, int):
        return format_size(value)
    return format_significant(value) if isinstance(value, float) else str(value)


def summarise_conditions(points: Iterable[Point]) -> list[tuple[str, str]]:
    """Return (label, text) of what went on while these points were taken: a value, or the range of it."""
    seen: dict[str, list[object]] = {}
    missing: dict[str, str] = {}
    for conditions in (point.conditions for point in points if point.conditions is not None):
        for name, value in conditions.model_dump(exclude={"not_reported"}, exclude_none=True).items():
            seen.setdefault(name, []).append(value)
        missing |= conditions.not_reported
    rows = [(CONDITION_LABELS.get(name, name), _range(name, values)) for name, values in seen.items()]
    rows = [(label, text) for label, text in rows if text]
    gone = [(CONDITION_LABELS.get(name, name), reason) for name, reason in missing.items() if name not in seen]
    return rows + [(label, f"not reported ({reason})") for label, reason in gone]


def _range(name: str, values: list[object]) -> str:
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers:
        low, high = (write_reading(name, number) for number in (min(numbers), max(numbers)))
        return low if low == high else f"{low} to {high}"
    return ", ".join(sorted({str(word) for value in values if isinstance(value, tuple | list) for word in value}))
