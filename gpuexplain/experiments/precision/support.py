"""Has this device hardware for a number format? Told by its own facts, never by its speed (no torch)."""

from gpuexplain.analysis.precision_ranking import FIRST_CAPABILITY
from gpuexplain.experiments.devices import CPU
from gpuexplain.hardware.machine import Machine, TorchDevice
from gpuexplain.model import Dtype

# What the names of a CPU's units say where it can multiply a format.
_UNIT_NAMES = {Dtype.BF16: "BF16", Dtype.FP16: "FP16", Dtype.FP8: "FP8", Dtype.FP8_E5M2: "FP8"}
_FP8 = (Dtype.FP8, Dtype.FP8_E5M2)


def find_refusal(dtype: Dtype, device: str, machine: Machine) -> str:
    """Return why the device cannot run a product in ``dtype`` at all, "" where it can or that is not known."""
    probe = _probe_of(device, machine)
    if probe is None or dtype not in _FP8 or (machine.torch and machine.torch.rocm_build):
        return ""
    needed, capability = FIRST_CAPABILITY[dtype.value], _read_capability(probe)
    if capability is None or capability >= needed:
        return ""
    return (
        f"fp8 products need a GPU of compute capability {needed} or newer (Ada, Hopper); this one has {capability}. "
        "Use bf16 or fp16 here."
    )


def find_emulation(dtype: Dtype, device: str, machine: Machine) -> str:
    """Return why a product in ``dtype`` is emulated on the device, "" where it is not or that is not known."""
    if device == CPU:
        return _find_cpu_emulation(dtype, machine)
    probe = _probe_of(device, machine)
    if probe is not None and dtype is Dtype.BF16 and probe.bf16_native is False:
        return f"this GPU (compute capability {probe.compute_capability}) has no bf16 units: each value is converted"
    return ""


def _find_cpu_emulation(dtype: Dtype, machine: Machine) -> str:
    # Only Linux lists a CPU's units in full.
    if dtype not in _UNIT_NAMES or not machine.cpu.units or not machine.platform.kernel.startswith("Linux"):
        return ""
    if any(_UNIT_NAMES[dtype] in unit for unit in machine.cpu.units):
        return ""
    return f"this CPU has no units for {dtype} (it has {', '.join(machine.cpu.units)}): each value is converted"


def _probe_of(device: str, machine: Machine) -> TorchDevice | None:
    return next((found for found in machine.torch.devices if found.device == device), None) if machine.torch else None


def _read_capability(probe: TorchDevice) -> float | None:
    try:
        return float(probe.compute_capability)
    except ValueError:
        return None
