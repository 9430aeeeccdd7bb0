"""On which device does a run measure, and how much of its memory may one case take?"""

from gpuexplain.errors import InputError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Dtype, Params
from gpuexplain.settings import load_settings

CPU = "cpu"
# Share of the memory that is free at start which one case may fill (inputs, output and the copies
# that the check against float64 makes).
CPU_MEMORY_SHARE = 0.5


def resolve_device(params: Params, machine: Machine) -> str:
    """Return the device a run is about: the one named, else the first GPU that works, else the CPU.

    Raises:
        InputError: If the named device cannot be used here.
    """
    if params.device == "auto":
        return next((device for device in machine.devices if device != CPU), CPU)
    if params.device not in machine.devices:
        why = machine.gpu_problem.explanation if machine.gpu_problem else "torch does not list it."
        raise InputError(
            f"device={params.device!r} cannot be used: {why} Allowed here: auto, {', '.join(machine.devices)}."
        )
    return params.device


def half_dtype(device: str, machine: Machine) -> Dtype:
    """Return what autocast computes in: bf16, or fp16 on a GPU that would only emulate bf16."""
    known = {found.device: found.bf16_native for found in machine.torch.devices} if machine.torch else {}
    return Dtype.FP16 if known.get(device) is False else Dtype.BF16


def memory_limits(machine: Machine) -> dict[str, int]:
    """Return the bytes that one case may need, by device, where known."""
    limits = {CPU: int(machine.memory.usable_bytes * CPU_MEMORY_SHARE)}
    for gpu in machine.gpus:
        if gpu.torch_device and gpu.memory_free_bytes is not None:
            limits[gpu.torch_device] = int(gpu.memory_free_bytes * load_settings().max_device_memory)
    return limits
