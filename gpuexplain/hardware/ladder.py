"""Why can no GPU be used, and what can a person do about it?

The rungs are tried from the ground up: is there a GPU, a driver, a device file, a torch that talks
to this driver, code for this architecture, and at last a device that lets us in.
"""

from collections.abc import Callable
from enum import StrEnum

from gpuexplain.hardware.architectures import covers_capability
from gpuexplain.hardware.machine import Gpu, GpuProblem, Machine, TorchDevice, TorchProbe
from gpuexplain.hardware.remedies import REMEDIES


class Rung(StrEnum):
    """Where the way to a working GPU ends."""

    NO_DRIVER = "no_driver"
    NO_DEVICE = "no_device"
    OTHER_VENDOR = "other_vendor"
    CONTAINER_WITHOUT_DEVICE = "container_without_device"
    DRIVER_BROKEN = "driver_broken"
    NO_TORCH = "no_torch"
    CPU_BUILD = "cpu_build"
    DRIVER_TOO_OLD = "driver_too_old"
    HIDDEN = "hidden"
    ARCH_NOT_IN_WHEEL = "arch_not_in_wheel"
    BUSY_EXCLUSIVE = "busy_exclusive"
    MIG = "mig"
    OUT_OF_MEMORY = "out_of_memory"
    FABRIC_NOT_READY = "fabric_not_ready"
    KERNEL_FAILED = "kernel_failed"


# What torch or the CUDA runtime writes -> the rung. The first match counts.
# Source: the error strings of cudaGetErrorString and torch/csrc/cuda/Module.cpp.
_RUNG_BY_TEXT = (
    ("no kernel image is available", Rung.ARCH_NOT_IN_WHEEL),
    ("driver on your system is too old", Rung.DRIVER_TOO_OLD),
    ("driver version is insufficient", Rung.DRIVER_TOO_OLD),
    ("forward compatibility was attempted", Rung.DRIVER_TOO_OLD),
    ("not compiled with cuda", Rung.CPU_BUILD),
    ("found no nvidia driver", Rung.NO_DRIVER),
    ("busy or unavailable", Rung.BUSY_EXCLUSIVE),
    ("out of memory", Rung.OUT_OF_MEMORY),
    ("system not yet initialized", Rung.FABRIC_NOT_READY),
    ("no cuda gpus are available", Rung.HIDDEN),
    ("no cuda-capable device", Rung.HIDDEN),
)


def explain_no_gpu(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    """Return why no GPU of this machine can be used, or None if one works (or nothing speaks against it).

    Without a probe only what the driver says is known: a GPU that it reports in order gives None.
    """
    if probe and any(device.kernel_ran for device in probe.devices):
        return None
    checks: tuple[Callable[[Machine, TorchProbe | None], GpuProblem | None], ...] = (
        _check_driver,
        _check_presence,
        _check_torch,
        _check_driver_age,
        _check_devices,
    )
    return next((problem for check in checks if (problem := check(machine, probe))), None)


def explain_gpu(gpu: Gpu, machine: Machine, probe: TorchProbe) -> GpuProblem | None:
    """Return why torch cannot use this one GPU, or None if it can."""
    if gpu.torch_device:
        return None
    device = next((d for d in probe.devices if d.uuid and _same(d, gpu)), None)
    error = gpu.not_reported.get("torch_device") or (device.kernel_error if device else "")
    if gpu.mig_enabled and gpu.mig_uuid is None:
        return _problem(Rung.MIG, f"{gpu.name} is split by MIG, and no instance is given to this process.")
    known = probe.cuda_build and probe.arch_list and gpu.compute_capability
    if known and not covers_capability(probe.arch_list, gpu.compute_capability or ""):
        return _arch_problem(gpu.name, gpu.compute_capability or "", probe)
    if error:
        return _from_text(error, gpu.name, gpu)
    if gpu.exclusive_mode and gpu.compute_processes:
        return _busy(gpu, "")
    if not probe.devices:
        return None  # torch sees none at all: the machine's problem says why
    return _hidden(machine, f"torch does not list {gpu.name}.")


def _same(device: TorchDevice, gpu: Gpu) -> bool:
    known = [uuid.lower() for uuid in (gpu.uuid, gpu.mig_uuid) if uuid]
    return any(uuid.endswith(device.uuid.lower().removeprefix("gpu-").removeprefix("mig-")) for uuid in known)


def _check_driver(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    """Tell an NVML that does not answer from a torch that works without it (ROCm, Jetson)."""
    if not machine.nvml_error or (probe and (probe.devices or probe.rocm_build)):
        return None
    traces, error = machine.traces, machine.nvml_error
    if "not found" not in error.lower() and "not loaded" not in error.lower():
        return _problem(Rung.DRIVER_BROKEN, f"The NVIDIA driver does not answer: {error.rstrip('.')}.")
    if traces.driver_module and (machine.platform.container or not traces.device_files):
        text = f"The host runs NVIDIA driver {traces.driver_module}, but this process is not given the GPU."
        return _problem(Rung.CONTAINER_WITHOUT_DEVICE, text)
    if "NVIDIA" in traces.vendors:
        return _problem(Rung.NO_DRIVER, f"An NVIDIA card is in this machine, but its driver is not ({error}).")
    others = [vendor for vendor in traces.vendors if vendor != "NVIDIA"]
    if others:
        text = f"The GPU here is from {' and '.join(others)}; the installed torch only uses NVIDIA's."
        return _problem(Rung.OTHER_VENDOR, text)
    where = f" inside this container ({machine.platform.container})" if machine.platform.container else ""
    return _problem(Rung.NO_DRIVER, f"No NVIDIA driver and no NVIDIA card was found{where} ({error}).")


def _check_presence(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    if machine.gpus or machine.nvml_error or (probe and probe.devices):
        return None
    if machine.platform.container and not machine.traces.device_files:
        text = f"The driver {machine.driver_version or ''} answers, but this container is given no GPU."
        return _problem(Rung.CONTAINER_WITHOUT_DEVICE, " ".join(text.split()))
    return _problem(Rung.NO_DEVICE, "The NVIDIA driver answers, but it reports no GPU.")


def _check_torch(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    if probe and probe.version == "not importable":
        return _problem(Rung.NO_TORCH, f"torch cannot be loaded: {probe.error}.")
    if machine.torch_version is None and probe is None:
        return _problem(Rung.NO_TORCH, "torch is not installed in this Python environment.")
    version = probe.version if probe else (machine.torch_version or "")
    is_cpu_build = not (probe.cuda_build or probe.rocm_build) if probe else version.endswith("+cpu")
    if is_cpu_build:
        names = ", ".join(dict.fromkeys(gpu.name for gpu in machine.gpus)) or "a GPU"
        return _problem(Rung.CPU_BUILD, f"The driver reports {names}, but torch {version} is a CPU-only build.")
    return None


def _check_driver_age(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    """CUDA promises that a driver serves every toolkit of its own major version (since CUDA 11)."""
    if not probe or not probe.cuda_build or not machine.cuda_driver_version:
        return None
    if _major(machine.cuda_driver_version) >= _major(probe.cuda_build):
        return None
    text = (
        f"The driver {machine.driver_version or ''} serves CUDA up to {machine.cuda_driver_version}, "
        f"but torch {probe.version} was built for CUDA {probe.cuda_build}."
    )
    return _problem(Rung.DRIVER_TOO_OLD, text)


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 0


def _check_devices(machine: Machine, probe: TorchProbe | None) -> GpuProblem | None:
    """Take the first GPU's own problem, then what torch said about all of them."""
    if probe is None:
        split = [gpu for gpu in machine.gpus if gpu.mig_enabled]
        if split and len(split) == len(machine.gpus) and not any(gpu.mig_uuid for gpu in split):
            return _problem(Rung.MIG, f"{split[0].name} is split by MIG, and no instance is given to this process.")
        return None
    own = next((problem for gpu in machine.gpus if (problem := explain_gpu(gpu, machine, probe))), None)
    if own or not probe.error:
        return own or _hidden(machine, "torch sees no GPU, although the driver reports one.")
    problem = _from_text(probe.error, "The GPU", machine.gpus[0] if machine.gpus else None)
    return _hidden(machine, "torch sees no GPU.") if problem.rung == Rung.HIDDEN else problem


def _from_text(error: str, name: str, gpu: Gpu | None) -> GpuProblem:
    """Return the rung that an error text of torch stands for."""
    lowered = error.lower()
    rung = next((rung for text, rung in _RUNG_BY_TEXT if text in lowered), Rung.KERNEL_FAILED)
    if rung == Rung.BUSY_EXCLUSIVE and gpu:
        return _busy(gpu, error)
    return _problem(rung, f"{name} cannot be used: {error.rstrip('.')}.")


def _busy(gpu: Gpu, error: str) -> GpuProblem:
    mode = " It is in exclusive mode: one process at a time." if gpu.exclusive_mode else ""
    said = f" torch says: {error.rstrip('.')}." if error else ""
    return _problem(Rung.BUSY_EXCLUSIVE, f"{gpu.name} is held by another process.{mode}{said}")


def _hidden(machine: Machine, text: str) -> GpuProblem:
    hiding = machine.environment_overrides.get("CUDA_VISIBLE_DEVICES")
    told = f" CUDA_VISIBLE_DEVICES is set to {hiding!r}." if hiding is not None else ""
    return _problem(Rung.HIDDEN, text + told)


def _arch_problem(name: str, capability: str, probe: TorchProbe) -> GpuProblem:
    built = ", ".join(probe.arch_list)
    text = f"{name} has compute capability {capability}; torch {probe.version} carries code for {built} only."
    return _problem(Rung.ARCH_NOT_IN_WHEEL, text)


def _problem(rung: Rung, explanation: str) -> GpuProblem:
    return GpuProblem(rung=rung.value, explanation=explanation, remedy=REMEDIES[rung.value])
