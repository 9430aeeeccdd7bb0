"""When is a stored measurement still one of this machine, in this state?"""

from gpuexplain.hardware.environment import PRECISION_VARIABLES
from gpuexplain.hardware.machine import Machine

_UNKNOWN = "not reported"


def measuring_identity(machine: Machine, device: str) -> dict[str, str]:
    """Return what must be equal before an earlier result may answer for a new one, as text.

    A CPU result depends on the machine and its CPU; a GPU result on the card (or MIG instance), its
    driver and its power limit, and on the CPU too, which feeds it and is its baseline.
    """
    gpu = machine.gpu(device)
    limit_w = gpu.power_limit_w if gpu else None
    return {
        "device": device,
        "hardware": (gpu.mig_uuid or gpu.uuid or gpu.name) if gpu else _host(machine),
        "host": _host(machine),
        "driver": (machine.driver_version or _UNKNOWN) if gpu else "",
        "torch": machine.torch_version or _UNKNOWN,
        "threads": str(machine.cpu.usable_threads),
        "power_limit_w": (f"{limit_w:g}" if limit_w is not None else _UNKNOWN) if gpu else "",
        "precision_mode": _precision_mode(machine),
        "environment": _join(machine.environment_overrides),
    }


def _host(machine: Machine) -> str:
    return f"{machine.platform.machine_id} {machine.cpu.model or machine.cpu.architecture}"


def _precision_mode(machine: Machine) -> str:
    """Return how the environment bends precision; without that each point sets its own mode."""
    bent = {k: v for k, v in machine.environment_overrides.items() if k in PRECISION_VARIABLES}
    return _join(bent) or "as each point asks"


def _join(variables: dict[str, str]) -> str:
    return " ".join(f"{name}={setting}" for name, setting in sorted(variables.items()))
