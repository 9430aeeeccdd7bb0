"""What shows of a GPU without a driver, and how much memory is ours."""

from types import SimpleNamespace

import pytest

from gpuexplain.hardware import memory as memory_module
from gpuexplain.hardware.machine import GpuTraces
from gpuexplain.hardware.memory import inspect_memory
from gpuexplain.hardware.traces import find_gpu_traces

DRIVER_TEXT = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs-builder)\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)
GIB = 2**30


@pytest.mark.parametrize(
    ("tree", "traces"),
    [
        ({}, GpuTraces()),
        ({"proc/driver/nvidia/version": DRIVER_TEXT}, GpuTraces(driver_module="550.54.15")),
        ({"dev/nvidia0": ""}, GpuTraces(device_files=True)),
        ({"dev/nvidiactl": ""}, GpuTraces()),
        ({"dev/dxg": ""}, GpuTraces(device_files=True)),
        ({"sys/class/drm/card0/device/vendor": "0x1002"}, GpuTraces(vendors=("AMD",))),
        (
            {"sys/bus/pci/devices/a/class": "0x030200", "sys/bus/pci/devices/a/vendor": "0x10de"},
            GpuTraces(vendors=("NVIDIA",)),
        ),
        ({"sys/bus/pci/devices/a/class": "0x020000", "sys/bus/pci/devices/a/vendor": "0x8086"}, GpuTraces()),
    ],
    ids=[
        "nothing",
        "module",
        "device file",
        "control file only",
        "wsl",
        "amd",
        "nvidia on the bus",
        "network",
    ],
)
def test_a_gpu_leaves_traces_without_a_driver(write_tree, monkeypatch, tree, traces):
    """The bus, the device files and the loaded module are three separate hints."""
    monkeypatch.setattr("gpuexplain.hardware.traces.sys.platform", "linux")
    assert find_gpu_traces(write_tree(tree)) == traces


@pytest.mark.parametrize(
    ("limit", "reported", "usable"),
    [("max", None, 48 * GIB), (str(4 * GIB), 4 * GIB, 3 * GIB), (str(64 * GIB), None, 48 * GIB)],
    ids=["no limit", "limit", "limit as large as the machine"],
)
def test_only_a_limit_below_the_machines_memory_is_one(write_tree, monkeypatch, limit, reported, usable):
    """What is usable is what is left under it."""
    memory = SimpleNamespace(total=64 * GIB, available=48 * GIB)
    monkeypatch.setattr(memory_module.psutil, "virtual_memory", lambda: memory)
    root = write_tree(
        {
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/memory.max": limit,
            "sys/fs/cgroup/memory.current": str(GIB),
        }
    )
    found = inspect_memory(root)
    assert (found.cgroup_limit_bytes, found.usable_bytes) == (reported, usable)
