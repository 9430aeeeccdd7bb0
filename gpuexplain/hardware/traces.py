"""Which GPUs show themselves to the operating system, driver or not?"""

import platform
import re
import sys
from pathlib import Path

from gpuexplain.hardware.files import ROOT, read_text
from gpuexplain.hardware.machine import GpuTraces

# PCI vendor numbers (pcisig.com).
_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_DISPLAY_CLASS = "0x03"  # PCI base class 3: display controller


def find_gpu_traces(root: Path = ROOT) -> GpuTraces:
    """Return what ``/proc``, ``/dev`` and ``/sys`` show of GPUs; nothing of it needs a driver."""
    module = re.search(
        r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s", read_text(root / "proc/driver/nvidia/version") or ""
    )
    device_files = [*(root / "dev").glob("nvidia[0-9]*"), *(root / "dev").glob("dxg")]
    return GpuTraces(
        driver_module=module.group(1) if module else None,
        device_files=bool(device_files),
        vendors=_find_vendors(root),
    )


def _find_vendors(root: Path) -> tuple[str, ...]:
    ids: set[str] = set()
    for card in (root / "sys/class/drm").glob("card[0-9]*"):
        ids.add(read_text(card / "device/vendor") or "")
    for device in (root / "sys/bus/pci/devices").glob("*"):
        if (read_text(device / "class") or "").startswith(_DISPLAY_CLASS):
            ids.add(read_text(device / "vendor") or "")
    found = [name for number, name in _VENDORS.items() if number in ids]
    if sys.platform == "darwin" and platform.machine() == "arm64":
        found.append("Apple")
    return tuple(found)
