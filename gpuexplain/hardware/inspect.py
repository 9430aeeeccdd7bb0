"""What is in this machine, put together from every source, in a fraction of a second and without torch."""

import os
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pynvml

from gpuexplain.hardware.cpu import inspect_cpu
from gpuexplain.hardware.environment import read_environment_overrides
from gpuexplain.hardware.files import ROOT, read_text
from gpuexplain.hardware.host import inspect_host
from gpuexplain.hardware.ladder import explain_gpu, explain_no_gpu
from gpuexplain.hardware.machine import Gpu, Machine, TorchDevice, TorchProbe
from gpuexplain.hardware.memory import inspect_memory
from gpuexplain.hardware.nvml import normalise_uuid, read_nvml
from gpuexplain.hardware.traces import find_gpu_traces
from gpuexplain.settings import load_settings


def inspect_machine(
    probe: TorchProbe | None = None,
    *,
    root: Path = ROOT,
    environment: Mapping[str, str] = os.environ,
    nvml: Any = pynvml,
) -> Machine:
    """Return everything known about this machine; unknown parts say why.

    Args:
        probe: What torch said from inside the worker; without it no GPU has a ``torch_device`` yet.
        root: Where ``/proc`` and ``/sys`` lie; another folder in tests.
        environment: The variables to look at.
        nvml: The ``pynvml`` module, or a stand-in in tests.

    Raises:
        InputError: If a ``GPUEXPLAIN_*`` variable has a bad value.
    """
    report = read_nvml(nvml)
    machine = Machine(
        cpu=inspect_cpu(root),
        memory=inspect_memory(root),
        platform=inspect_host(root, environment),
        gpus=match_torch_devices(report.gpus, probe.devices if probe else ()),
        driver_version=report.driver_version,
        cuda_driver_version=report.cuda_driver_version,
        nvml_error=report.error,
        traces=find_gpu_traces(root),
        torch_version=read_torch_version(),
        torch=probe,
        environment_overrides=read_environment_overrides(environment),
    )
    if probe is not None:
        gpus = tuple(g.model_copy(update={"problem": explain_gpu(g, machine, probe)}) for g in machine.gpus)
        machine = machine.model_copy(update={"gpus": gpus})
    machine = machine.model_copy(update={"gpu_problem": explain_no_gpu(machine, probe)})
    return offer_devices(machine, load_settings().devices)


def read_torch_version() -> str | None:
    """Return the version of the installed torch without importing it, None where there is none.

    The package's metadata leaves out the build ("+cu126", "+cpu") in wheels from PyPI; torch's own
    ``version.py`` has it, and equals ``torch.__version__``.
    """
    try:
        package = distribution("torch")
    except PackageNotFoundError:
        return None
    text = read_text(Path(str(package.locate_file("torch/version.py")))) or ""
    stated = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return stated.group(1) if stated else package.version


def match_torch_devices(gpus: tuple[Gpu, ...], devices: tuple[TorchDevice, ...]) -> tuple[Gpu, ...]:
    """Return the GPUs with torch's device on the one of the same UUID; those only torch sees are added.

    NVML's and torch's order differ (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER), so an index proves nothing.
    """
    matched = list(gpus)
    for device in devices:
        position = _find_match(matched, device)
        if position is None:
            matched.append(_with_device(Gpu(name=device.name, uuid=device.uuid), device))
        else:
            matched[position] = _with_device(matched[position], device)
    return tuple(matched)


def _find_match(gpus: list[Gpu], device: TorchDevice) -> int | None:
    wanted = normalise_uuid(device.uuid)
    if not wanted:
        return None
    for position, gpu in enumerate(gpus):
        if gpu.mig_uuid and normalise_uuid(gpu.mig_uuid) == wanted:
            return position
    # Some CUDA versions print the parent's UUID for a MIG instance: sure only if there is one instance.
    parents = [i for i, gpu in enumerate(gpus) if normalise_uuid(gpu.uuid) == wanted]
    return parents[0] if len(parents) == 1 else None


def _with_device(gpu: Gpu, device: TorchDevice) -> Gpu:
    """Return ``gpu`` with what torch knows filled in; torch_device only where a kernel ran."""
    known = {
        "torch_device": device.device if device.kernel_ran else None,
        "multiprocessors": gpu.multiprocessors or device.multiprocessors or None,
        "memory_total_bytes": gpu.memory_total_bytes or device.total_bytes or None,
        "compute_capability": gpu.compute_capability or device.compute_capability or None,
    }
    reasons = {field: why for field, why in gpu.not_reported.items() if known.get(field) is None}
    if not device.kernel_ran:
        reasons["torch_device"] = device.kernel_error
    return gpu.model_copy(update=known | {"not_reported": reasons})


def offer_devices(machine: Machine, wanted: str | None) -> Machine:
    """Return ``machine`` with only the devices the operator offers (``cpu,cuda:0``); all when None.

    Where none of the wanted devices works, the CPU stays: the pages need something to measure with.
    """
    if wanted is None:
        return machine
    names = set(wanted.split(","))
    gpus = tuple(_offer(gpu, names, wanted) for gpu in machine.gpus)
    nothing_left = not any(gpu.torch_device for gpu in gpus)
    return machine.model_copy(update={"gpus": gpus, "cpu_offered": "cpu" in names or nothing_left})


def _offer(gpu: Gpu, names: set[str], wanted: str) -> Gpu:
    if gpu.torch_device is None or gpu.torch_device in names:
        return gpu
    reason = f"not offered: GPUEXPLAIN_DEVICES={wanted}"
    return gpu.model_copy(update={"torch_device": None, "not_reported": gpu.not_reported | {"torch_device": reason}})
