"""Which system is this, and what surrounds it: a container, a virtual machine, WSL?"""

import hashlib
import os
import platform
import socket
import uuid
from collections.abc import Mapping
from pathlib import Path

from gpuexplain.hardware.cpu import parse_cpuinfo
from gpuexplain.hardware.files import ROOT, read_text
from gpuexplain.hardware.machine import Platform

_CGROUP_HINTS = {
    "kubepods": "kubernetes",
    "libpod": "podman",
    "docker": "docker",
    "lxc": "lxc",
    "containerd": "containerd",
}
# Words of the firmware's vendor and product -> what a person calls it.
_DMI_HINTS = {
    "vmware": "VMware",
    "virtualbox": "VirtualBox",
    "amazon ec2": "Amazon EC2",
    "google compute engine": "Google Compute Engine",
    "microsoft corporation virtual machine": "Hyper-V",
    "qemu": "QEMU",
    "kvm": "KVM",
    "xen": "Xen",
}


def inspect_host(root: Path = ROOT, environment: Mapping[str, str] = os.environ) -> Platform:
    """Return the operating system and its surroundings; the machine's id is hashed."""
    container = find_container(root, environment)
    kernel = platform.release()
    return Platform(
        hostname=socket.gethostname(),
        machine_id=hash_machine_id(root, in_container=container is not None),
        system=_name_system(root),
        kernel=f"{platform.system()} {kernel}",
        python=platform.python_version(),
        container=container,
        virtual_machine=find_virtual_machine(root),
        wsl="microsoft" in kernel.lower(),
    )


def _name_system(root: Path) -> str:
    for line in (read_text(root / "etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip("\"'")
    if mac := platform.mac_ver()[0]:
        return f"macOS {mac}"
    return f"{platform.system()} {platform.version()}".strip()


def find_container(root: Path = ROOT, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the kind of container this process seems to run in, or None."""
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    if (root / "run/.containerenv").exists():
        return "podman"
    groups = (read_text(root / "proc/self/cgroup") or "") + (read_text(root / "proc/1/cgroup") or "")
    hinted = next((kind for hint, kind in _CGROUP_HINTS.items() if hint in groups), None)
    if hinted or (root / ".dockerenv").exists():
        return hinted or "docker"
    return environment.get("container") or read_text(root / "run/systemd/container") or None


def find_virtual_machine(root: Path = ROOT) -> str | None:
    """Return the hypervisor under this system, or None where none shows itself."""
    hypervisor = read_text(root / "sys/hypervisor/type")
    if hypervisor:
        return hypervisor.capitalize()
    dmi = root / "sys/class/dmi/id"
    words = f"{read_text(dmi / 'sys_vendor') or ''} {read_text(dmi / 'product_name') or ''}".lower()
    cpuinfo = parse_cpuinfo(read_text(root / "proc/cpuinfo") or "")
    flags = cpuinfo.get("flags", "").split()
    # Clouds print their name on bare metal too, so on x86 the CPU's own flag decides.
    if "flags" in cpuinfo and "hypervisor" not in flags:
        return None
    named = next((name for hint, name in _DMI_HINTS.items() if hint in words), None)
    return named or ("unnamed hypervisor" if "hypervisor" in flags else None)


def hash_machine_id(root: Path = ROOT, in_container: bool = False) -> str:
    """Return a stable id of this machine from which the real one cannot be read (16 hex digits).

    Container images often carry one baked-in machine id, so there the host name is added.
    """
    raw = read_text(root / "etc/machine-id") or read_text(root / "var/lib/dbus/machine-id")
    if not raw:
        node = uuid.getnode()
        is_random = bool(node >> 40 & 1)  # RFC 4122: the multicast bit marks an invented address
        raw = socket.gethostname() if is_random else f"{node:012x}"
    if in_container:
        raw += socket.gethostname()
    return hashlib.sha256(f"gpuexplain:{raw}".encode()).hexdigest()[:16]
