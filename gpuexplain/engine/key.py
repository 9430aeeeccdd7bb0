"""When do two requests ask for the same measurement?"""

import hashlib
import json
from typing import Any

from gpuexplain.hardware.identity import measuring_identity
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params


def resolve_device(device: str, machine: Machine) -> str:
    """Return the device that ``auto`` means here: the first GPU that works, else the first device."""
    if device != "auto":
        return device
    gpus = [name for name in machine.devices if name != "cpu"]
    return (*gpus, *machine.devices, "cpu")[0]


def compute_key(experiment: str, measuring_version: int, params: Params, machine: Machine) -> str:
    """Return the SHA-256 (hexadecimal) of everything that a result depends on.

    Equal keys share one flight, and a finished run may answer for a later request. ``auto`` and the
    device that it means here are the same request, once torch has been asked what it means.
    """
    device = resolve_device(params.device, machine)
    is_known = machine.torch is not None or not machine.gpus
    asked: dict[str, Any] = {
        "experiment": experiment,
        "measuring_version": measuring_version,
        "params": params.model_dump(mode="json") | {"device": device if is_known else params.device},
        "identity": measuring_identity(machine, device),
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
