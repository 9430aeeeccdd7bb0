"""Stand-ins for NVML and torch, as small as the questions we ask."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

from gpuexplain.hardware.machine import Cpu, Gpu, Machine, Memory, Platform, TorchDevice, TorchProbe

UUID = "GPU-3a3d9b1e-0000-1111-2222-abcdefabcdef"
MIG_UUIDS = ("MIG-aaaa0000-0000-1111-2222-000000000001", "MIG-aaaa0000-0000-1111-2222-000000000002")


@dataclass
class FakeGpu:
    """One device; ``refuses`` names the NVML functions that answer "Not Supported"."""

    name: str = "NVIDIA A100-SXM4-80GB"
    uuid: str = UUID
    pids: list[int] = field(default_factory=list)
    compute_mode: int = pynvml.NVML_COMPUTEMODE_DEFAULT
    mig: bool = False
    instances: list[str] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    error: int = pynvml.NVML_ERROR_NOT_SUPPORTED
    event_reasons: int = 0
    parent: "FakeGpu | None" = None

    def __hash__(self) -> int:
        return id(self)


class FakeNvml:
    """Answers like the ``pynvml`` module does."""

    def __init__(self, gpus: list[FakeGpu] | None = None, init_error: int | None = None) -> None:
        self.gpus = gpus or []
        self.init_error = init_error
        self.open_count = 0
        self.inits = 0

    def __getattr__(self, name: str) -> Any:
        """Constants are the real ones."""
        if name.startswith("NVML_"):
            return getattr(pynvml, name)
        raise AttributeError(name)

    def _answer(self, gpu: FakeGpu, function: str, answer: Any) -> Any:
        if function in gpu.refuses:
            raise pynvml.NVMLError(gpu.error)
        return answer

    def nvmlInit(self) -> None:
        if self.init_error is not None:
            raise pynvml.NVMLError(self.init_error)
        self.open_count += 1
        self.inits += 1

    def nvmlShutdown(self) -> None:
        self.open_count -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "550.54.15"

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return 12040

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        return self._answer(self.gpus[index], "HandleByIndex", self.gpus[index])

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> FakeGpu:
        for gpu in self.gpus:
            if gpu.uuid == uuid:
                return gpu
            if uuid in gpu.instances:
                return self._instance(gpu, uuid)
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    def _instance(self, gpu: FakeGpu, uuid: str) -> FakeGpu:
        return FakeGpu(f"{gpu.name} MIG 1g.10gb", uuid, refuses={"ClockInfo"}, parent=gpu)

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: FakeGpu) -> FakeGpu | None:
        return handle.parent

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:
        return self._answer(gpu, "MigMode", [int(gpu.mig), int(gpu.mig)])

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: FakeGpu) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: FakeGpu, slot: int) -> FakeGpu:
        if slot >= len(gpu.instances):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return self._instance(gpu, gpu.instances[slot])

    def nvmlDeviceGetAttributes(self, gpu: FakeGpu) -> Any:
        return SimpleNamespace(multiprocessorCount=14)

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str:
        return self._answer(gpu, "Name", gpu.name)

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        return self._answer(gpu, "UUID", gpu.uuid)

    def nvmlDeviceGetPciInfo(self, gpu: FakeGpu) -> Any:
        return self._answer(gpu, "PciInfo", SimpleNamespace(busId=b"00000000:31:00.0"))

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:
        total = 10 * 2**30 if gpu.parent else 80 * 2**30
        return self._answer(gpu, "MemoryInfo", SimpleNamespace(total=total, free=total // 2))

    def nvmlDeviceGetCudaComputeCapability(self, gpu: FakeGpu) -> tuple[int, int]:
        return self._answer(gpu, "Capability", (8, 0))

    def nvmlDeviceGetComputeMode(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "ComputeMode", gpu.compute_mode)

    def nvmlDeviceGetEnforcedPowerLimit(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "PowerLimit", 400_000)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "PowerUsage", 390_500)

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> Any:
        return self._answer(gpu, "Utilization", SimpleNamespace(gpu=87, memory=40))

    def nvmlDeviceGetCurrPcieLinkGeneration(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "Pcie", 1)

    def nvmlDeviceGetMaxPcieLinkGeneration(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "Pcie", 4)

    def nvmlDeviceGetCurrPcieLinkWidth(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "Pcie", 16)

    def nvmlDeviceGetMaxPcieLinkWidth(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "Pcie", 16)

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, sensor: int) -> int:
        return self._answer(gpu, "Temperature", 55)

    def nvmlDeviceGetMaxClockInfo(self, gpu: FakeGpu, clock: int) -> int:
        return self._answer(gpu, "MaxClockInfo", 1410)

    def nvmlDeviceGetClockInfo(self, gpu: FakeGpu, clock: int) -> int:
        return self._answer(gpu, "ClockInfo", 1275 if clock == pynvml.NVML_CLOCK_SM else 1593)

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "EventReasons", gpu.event_reasons)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu: FakeGpu) -> int:
        return self._answer(gpu, "ThrottleReasons", gpu.event_reasons)

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[Any]:
        return self._answer(gpu, "Processes", [SimpleNamespace(pid=pid) for pid in gpu.pids])


def make_machine(**changes: Any) -> Machine:
    """Return a plain machine without a GPU, changed as asked."""
    facts: dict[str, Any] = {
        "cpu": Cpu(model="AMD EPYC 7763", architecture="x86_64", logical_cpus=8, affinity_cpus=8, usable_threads=8),
        "memory": Memory(total_bytes=64 * 2**30, available_bytes=60 * 2**30),
        "platform": Platform(
            hostname="box",
            machine_id="0123456789abcdef",
            system="Debian",
            kernel="Linux 6.1",
            python="3.11.7",
        ),
        "torch_version": "2.13.0",
    }
    return Machine(**facts | changes)


def make_gpu(**changes: Any) -> Gpu:
    """Return an A100 as the driver reports it, changed as asked."""
    facts: dict[str, Any] = {
        "name": "NVIDIA A100-SXM4-80GB",
        "uuid": UUID,
        "compute_capability": "8.0",
        "memory_total_bytes": 80 * 2**30,
    }
    return Gpu(**facts | changes)


def make_device(**changes: Any) -> TorchDevice:
    """Return the same A100 as torch sees it, its kernel run, changed as asked."""
    facts: dict[str, Any] = {
        "device": "cuda:0",
        "name": "NVIDIA A100-SXM4-80GB",
        "uuid": UUID.removeprefix("GPU-"),
        "compute_capability": "8.0",
        "total_bytes": 80 * 2**30,
        "multiprocessors": 108,
        "kernel_ran": True,
        "bf16_native": True,
    }
    return TorchDevice(**facts | changes)


def make_probe(**changes: Any) -> TorchProbe:
    """Return what a CUDA build of torch says, without devices unless given."""
    facts: dict[str, Any] = {
        "version": "2.13.0",
        "cuda_build": "12.6",
        "arch_list": ("sm_75", "sm_80", "sm_86", "sm_90"),
        "threads": 8,
        "flush_denormals": True,
    }
    return TorchProbe(**facts | changes)
