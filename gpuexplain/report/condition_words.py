"""What went on beside the measuring, and what was read off once per case, as labelled text."""

from gpuexplain.units import format_size

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
    "energy_j": "energy of one call, J",
    "clipped_count": "values beyond the format's largest number",
}


def write_reading(name: str, value: object) -> str:
    """Return a condition or gauge as text; ``name`` is its field."""
    if name.endswith("_bytes") and isinstance(value, int):
        return format_size(value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
