"""Containers, hypervisors and an id that gives nothing away."""

import pytest

from gpuexplain.hardware.host import find_container, find_virtual_machine, hash_machine_id

GUEST = {"proc/cpuinfo": "flags : fpu hypervisor\n"}
DMI = "sys/class/dmi/id/"


@pytest.mark.parametrize(
    ("tree", "environment", "container"),
    [
        ({}, {}, None),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": "engine=podman"}, {}, "podman"),
        ({"proc/self/cgroup": "0::/kubepods/burstable/x"}, {}, "kubernetes"),
        ({"proc/1/cgroup": "4:cpu:/docker/abc"}, {}, "docker"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"container": "lxc"}, "lxc"),
        ({"run/systemd/container": "systemd-nspawn\n"}, {}, "systemd-nspawn"),
    ],
)
def test_the_kind_of_container_is_told(write_tree, tree, environment, container):
    """Each kind leaves its own hint."""
    assert find_container(write_tree(tree), environment) == container


@pytest.mark.parametrize(
    ("tree", "name"),
    [
        ({"proc/cpuinfo": "flags : fpu\n"}, None),
        (GUEST, "unnamed hypervisor"),
        (GUEST | {DMI + "sys_vendor": "QEMU"}, "QEMU"),
        (GUEST | {DMI + "sys_vendor": "Amazon EC2", DMI + "product_name": "p5.48xlarge"}, "Amazon EC2"),
        ({"proc/cpuinfo": "flags : fpu\n", DMI + "sys_vendor": "Amazon EC2"}, None),
        ({"sys/hypervisor/type": "xen"}, "Xen"),
    ],
    ids=["bare metal", "flag only", "qemu", "ec2", "ec2 bare metal", "xen"],
)
def test_the_hypervisor_is_named_where_it_shows_itself(write_tree, tree, name):
    """A cloud's name on bare metal is no virtual machine."""
    assert find_virtual_machine(write_tree(tree)) == name


def test_the_machine_id_is_stable_and_anonymous(write_tree):
    """Same machine, same id; the real id cannot be read from it; a container adds its name."""
    root = write_tree({"etc/machine-id": "3d1219c7c4c5404aaa1f6d2a48adfda4\n"})
    first = hash_machine_id(root)
    assert first == hash_machine_id(root)
    assert len(first) == 16
    assert first not in "3d1219c7c4c5404aaa1f6d2a48adfda4"
    assert hash_machine_id(root, in_container=True) != first
