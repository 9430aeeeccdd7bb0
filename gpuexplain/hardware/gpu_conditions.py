"""In what state is a GPU at this moment, while it works?

Cheap enough for every round of a sweep: a dozen driver calls, NVML stays open.
"""

from functools import cache
from typing import Any

import pynvml

from gpuexplain.hardware.nvml import Asked, read_foreign_processes
from gpuexplain.model import Conditions

# Bits of nvmlClocksEventReasons (nvml.h) -> why the clock is held down. "GPU idle" (bit 1) is left
# out: it says that nothing ran at that instant, not that something was slowed.
THROTTLE_REASONS: dict[int, str] = {
    0x002: "clocks set by the operator",
    0x004: "power limit reached",
    0x008: "hardware slowdown (heat or power)",
    0x010: "held to the clock of other GPUs (sync boost)",
    0x020: "too hot (slowed by the driver)",
    0x040: "too hot (slowed by the hardware)",
    0x080: "external power brake",
    0x100: "display clock setting",
    0x200: "board limit",
    0x400: "voltage limit for reliability",
}
_GPU_FIELDS = (
    "sm_clock_mhz",
    "memory_clock_mhz",
    "power_w",
    "power_limit_w",
    "temperature_c",
    "throttle_reasons",
    "pcie_generation",
    "pcie_width",
    "other_gpu_processes",
    "gpu_utilisation",
)


def sample_gpu_conditions(uuid: str, api: Any = pynvml) -> Conditions:
    """Return the GPU fields of the conditions now; what the driver refuses says why. Never raises.

    Args:
        uuid: Of the GPU or MIG instance, as ``Gpu.uuid`` or ``Gpu.mig_uuid`` has it. A bare UUID is
            taken for a GPU's.
        api: The ``pynvml`` module, or a stand-in in tests.
    """
    try:
        _keep_nvml_open(api)
        handle = api.nvmlDeviceGetHandleByUUID(uuid if "-" in uuid[:4] else f"GPU-{uuid}")
        is_instance = uuid.upper().startswith("MIG-")
        whole = api.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle) if is_instance else handle
    except pynvml.NVMLError as error:
        return Conditions(not_reported=dict.fromkeys(_GPU_FIELDS, f"NVML: {error}"))
    asked = Asked()
    ask = asked.ask
    power_mw = ask("power_w", api.nvmlDeviceGetPowerUsage, whole)
    use = ask("gpu_utilisation", api.nvmlDeviceGetUtilizationRates, whole)
    limit_mw = ask("power_limit_w", api.nvmlDeviceGetEnforcedPowerLimit, whole)
    return Conditions(
        sm_clock_mhz=ask("sm_clock_mhz", api.nvmlDeviceGetClockInfo, whole, api.NVML_CLOCK_SM),
        memory_clock_mhz=ask("memory_clock_mhz", api.nvmlDeviceGetClockInfo, whole, api.NVML_CLOCK_MEM),
        power_w=None if power_mw is None else power_mw / 1000,
        power_limit_w=None if limit_mw is None else limit_mw / 1000,
        temperature_c=ask("temperature_c", api.nvmlDeviceGetTemperature, whole, api.NVML_TEMPERATURE_GPU),
        throttle_reasons=_read_throttle_reasons(api, whole, asked),
        pcie_generation=ask("pcie_generation", api.nvmlDeviceGetCurrPcieLinkGeneration, whole),
        pcie_width=ask("pcie_width", api.nvmlDeviceGetCurrPcieLinkWidth, whole),
        other_gpu_processes=read_foreign_processes(api, handle, asked, "other_gpu_processes"),
        gpu_utilisation=None if use is None else use.gpu / 100,
        not_reported=asked.not_reported,
    )


@cache
def _keep_nvml_open(api: Any) -> None:
    """Open NVML once for the life of this process: opening costs up to a second, asking microseconds."""
    api.nvmlInit()


def _read_throttle_reasons(api: Any, handle: Any, asked: Asked) -> tuple[str, ...]:
    bits = asked.ask("throttle_reasons", api.nvmlDeviceGetCurrentClocksEventReasons, handle)
    if bits is None:  # a driver from before 2023 knows the older name only
        bits = asked.ask("throttle_reasons", api.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
        if bits is not None:
            del asked.not_reported["throttle_reasons"]
    return tell_throttle_reasons(bits or 0)


def tell_throttle_reasons(bits: int) -> tuple[str, ...]:
    """Return the words for NVML's bit field of reasons; an unknown bit is told by its number."""
    known = tuple(words for bit, words in THROTTLE_REASONS.items() if bits & bit)
    unknown = bits & ~sum(THROTTLE_REASONS) & ~0x001
    return (*known, f"unknown reason 0x{unknown:x}") if unknown else known


def merge_conditions(*parts: Conditions) -> Conditions:
    """Return one set of conditions out of several that each know other fields; the later ones win."""
    facts: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for part in parts:
        reasons |= part.not_reported
        facts |= {name: fact for name, fact in part if name != "not_reported" and fact is not None and fact != ()}
    return Conditions(**facts, not_reported={k: why for k, why in reasons.items() if k not in facts})
