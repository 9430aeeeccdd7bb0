"""Which NVIDIA GPUs does the driver report, and in what state are they?

Everything comes from NVML (the library behind nvidia-smi). A value that it refuses is
"not reported" with its reason, never 0.
Source: NVML API reference, https://docs.nvidia.com/deploy/nvml-api/
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pynvml

from gpuexplain.hardware.gpu_processes import count_foreign_processes
from gpuexplain.hardware.machine import Gpu

_EXCLUSIVE_MODES = ("NVML_COMPUTEMODE_EXCLUSIVE_THREAD", "NVML_COMPUTEMODE_EXCLUSIVE_PROCESS")


@dataclass(frozen=True, slots=True)
class NvmlReport:
    """What the driver said; ``error`` says why it could not be asked."""

    gpus: tuple[Gpu, ...] = ()
    driver_version: str | None = None
    cuda_driver_version: str | None = None
    error: str = ""


class Asked:
    """Asks one thing at a time and keeps the reason of every refusal, by field name."""

    def __init__(self) -> None:
        self.not_reported: dict[str, str] = {}

    def ask(self, field: str, question: Callable[..., Any], *args: Any) -> Any:
        """Return the answer, or None after noting NVML's reason under ``field``."""
        try:
            return question(*args)
        except pynvml.NVMLError as error:
            self.not_reported[field] = f"NVML: {error}"
        except (AttributeError, UnicodeDecodeError) as error:  # an older binding, a broken string
            self.not_reported[field] = f"NVML binding: {error}"
        return None


@contextmanager
def nvml_session(api: Any = pynvml) -> Iterator[None]:
    """Keep NVML open for a block; the library counts its users.

    Raises:
        pynvml.NVMLError: If the library or the driver is missing.
    """
    api.nvmlInit()
    try:
        yield
    finally:
        api.nvmlShutdown()


def read_nvml(api: Any = pynvml) -> NvmlReport:
    """Return every GPU (and MIG instance) with its state; never raises.

    Args:
        api: The ``pynvml`` module, or a stand-in in tests.
    """
    try:
        with nvml_session(api):
            asked = Asked()
            count = asked.ask("count", api.nvmlDeviceGetCount)
            gpus = [gpu for index in range(count or 0) for gpu in _read_device(api, index)]
            return NvmlReport(
                gpus=tuple(gpus),
                driver_version=asked.ask("driver", api.nvmlSystemGetDriverVersion),
                cuda_driver_version=_format_cuda(asked.ask("cuda", api.nvmlSystemGetCudaDriverVersion)),
                error=asked.not_reported.get("count", "").removeprefix("NVML: "),
            )
    except pynvml.NVMLError as error:
        return NvmlReport(error=str(error))


def _format_cuda(number: int | None) -> str | None:
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def normalise_uuid(uuid: str) -> str:
    """Return a UUID in lower case without ``GPU-`` or ``MIG-``, so that torch's and NVML's compare equal."""
    text = uuid.strip().lower()
    for prefix in ("gpu-", "mig-"):
        text = text.removeprefix(prefix)
    return text


def _read_device(api: Any, index: int) -> Iterator[Gpu]:
    """Yield the GPU at ``index``, or its MIG instances where it is split."""
    asked = Asked()
    handle = asked.ask("handle", api.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        reason = asked.not_reported["handle"]
        yield Gpu(name=f"GPU {index}", uuid="", nvml_index=index, not_reported={"name": reason, "uuid": reason})
        return
    mig = asked.ask("mig_enabled", api.nvmlDeviceGetMigMode, handle)
    facts = _read_facts(api, handle, asked)
    facts |= {
        "nvml_index": index,
        "mig_enabled": None if mig is None else mig[0] == api.NVML_DEVICE_MIG_ENABLE,
    }
    instances = list(_mig_handles(api, handle)) if facts["mig_enabled"] else []
    if not instances:
        yield Gpu(**facts, not_reported=asked.not_reported)
    for instance in instances:
        yield _read_instance(api, instance, facts, dict(asked.not_reported))


def _mig_handles(api: Any, handle: Any) -> Iterator[Any]:
    asked = Asked()
    for slot in range(asked.ask("count", api.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
        instance = asked.ask("slot", api.nvmlDeviceGetMigDeviceHandleByIndex, handle, slot)
        if instance is not None:  # an empty slot answers "Not Found"
            yield instance


def _read_instance(api: Any, handle: Any, parent: dict[str, Any], reasons: dict[str, str]) -> Gpu:
    """Return a MIG instance: its own name, memory and processors, the parent's link and limits."""
    asked = Asked()
    memory = asked.ask("memory_total_bytes", api.nvmlDeviceGetMemoryInfo, handle)
    attributes = asked.ask("multiprocessors", api.nvmlDeviceGetAttributes, handle)
    own = {
        "name": asked.ask("name", api.nvmlDeviceGetName, handle) or parent["name"],
        "mig_uuid": asked.ask("mig_uuid", api.nvmlDeviceGetUUID, handle),
        "memory_total_bytes": memory and int(memory.total),
        "memory_free_bytes": memory and int(memory.free),
        "multiprocessors": attributes and int(attributes.multiprocessorCount),
        "compute_processes": read_foreign_processes(api, handle, asked),
    }
    kept = {field: why for field, why in reasons.items() if field not in own}
    return Gpu(**parent | own, not_reported=kept | asked.not_reported)


def _read_facts(api: Any, handle: Any, asked: Asked) -> dict[str, Any]:
    ask = asked.ask
    memory = ask("memory_total_bytes", api.nvmlDeviceGetMemoryInfo, handle)
    if memory is None:
        asked.not_reported["memory_free_bytes"] = asked.not_reported["memory_total_bytes"]
    capability = ask("compute_capability", api.nvmlDeviceGetCudaComputeCapability, handle)
    mode = ask("exclusive_mode", api.nvmlDeviceGetComputeMode, handle)
    pci = ask("pci_bus_id", api.nvmlDeviceGetPciInfo, handle)
    limit_mw = ask("power_limit_w", api.nvmlDeviceGetEnforcedPowerLimit, handle)
    asked.not_reported["multiprocessors"] = "NVML does not tell it for a whole GPU; torch does"
    return {
        "name": ask("name", api.nvmlDeviceGetName, handle) or "NVIDIA GPU",
        "uuid": ask("uuid", api.nvmlDeviceGetUUID, handle) or "",
        "pci_bus_id": pci and _as_text(pci.busId),
        "memory_total_bytes": memory and int(memory.total),
        "memory_free_bytes": memory and int(memory.free),
        "compute_capability": capability and f"{capability[0]}.{capability[1]}",
        "exclusive_mode": None if mode is None else mode in {getattr(api, name) for name in _EXCLUSIVE_MODES},
        "pcie_generation": ask("pcie_generation", api.nvmlDeviceGetCurrPcieLinkGeneration, handle),
        "pcie_generation_max": ask("pcie_generation_max", api.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        "pcie_width": ask("pcie_width", api.nvmlDeviceGetCurrPcieLinkWidth, handle),
        "pcie_width_max": ask("pcie_width_max", api.nvmlDeviceGetMaxPcieLinkWidth, handle),
        "power_limit_w": None if limit_mw is None else limit_mw / 1000,
        "temperature_c": ask("temperature_c", api.nvmlDeviceGetTemperature, handle, api.NVML_TEMPERATURE_GPU),
        "sm_clock_max_mhz": ask("sm_clock_max_mhz", api.nvmlDeviceGetMaxClockInfo, handle, api.NVML_CLOCK_SM),
        "compute_processes": read_foreign_processes(api, handle, asked),
    }


def _as_text(text: str | bytes) -> str:
    return text.decode() if isinstance(text, bytes) else text


def read_foreign_processes(api: Any, handle: Any, asked: Asked, field: str = "compute_processes") -> int | None:
    """Return how many compute processes of others are on the device, or None with the reason noted."""
    processes = asked.ask(field, api.nvmlDeviceGetComputeRunningProcesses, handle)
    if processes is None:
        return None
    count, reason = count_foreign_processes([int(process.pid) for process in processes])
    if reason:
        asked.not_reported[field] = reason
    return count
