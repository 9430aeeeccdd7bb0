"""NUMA nodes of GPUs and buffers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuexplain.hardware.numa import buffer_numa_node, count_numa_nodes, gpu_numa_node

WriteTree = Callable[[dict[str, str]], Path]
TWO_NODES = {f"sys/devices/system/node/node{node}/cpulist": "0-3" for node in (0, 1)}
GPU = {"sys/bus/pci/devices/0000:3b:00.0/numa_node": "1\n"}
MAPS = """55d0c0000000 default file=/usr/bin/python mapped=4 N0=4 kernelpagesize_kB=4
7f0000000000 default anon=262144 dirty=262144 N0=1024 N1=261120 kernelpagesize_kB=4
7f9000000000 default anon=2 dirty=2 N0=2 kernelpagesize_kB=4
"""


def test_the_node_of_a_gpu_is_the_one_of_its_slot(write_tree: WriteTree) -> None:
    """NVML's eight digits and capital letters name the kernel's folder."""
    root = write_tree({**TWO_NODES, **GPU})
    assert count_numa_nodes(root) == 2
    assert gpu_numa_node("00000000:3B:00.0", root) == 1
    assert gpu_numa_node("0000:3b:00.0", root) == 1


@pytest.mark.parametrize(
    "files",
    [
        GPU,
        {**TWO_NODES, "sys/bus/pci/devices/0000:3b:00.0/numa_node": "-1"},
        TWO_NODES,
    ],
    ids=["one node only", "the kernel does not know", "no such device"],
)
def test_an_unknown_node_is_none(write_tree: WriteTree, files: dict[str, str]) -> None:
    """Never a guess of 0."""
    assert gpu_numa_node("00000000:3B:00.0", write_tree(files)) is None


def test_a_gpu_without_an_address_has_no_node(write_tree: WriteTree) -> None:
    """Nothing to look up."""
    assert gpu_numa_node(None, write_tree(TWO_NODES)) is None


@pytest.mark.parametrize(
    ("address", "node"),
    [(0x7F0000001000, 1), (0x7F0000000000, 1), (0x7F9000000000, 0), (0x1000, None)],
    ids=["inside", "at its start", "the next mapping", "below every mapping"],
)
def test_a_buffer_lies_where_most_of_its_pages_are(write_tree: WriteTree, address: int, node: int | None) -> None:
    """By the mapping that holds its address."""
    assert buffer_numa_node(address, write_tree({**TWO_NODES, "proc/self/numa_maps": MAPS})) == node


def test_on_one_node_there_is_nothing_to_tell(write_tree: WriteTree) -> None:
    """Even where the kernel lists pages."""
    root = write_tree({"proc/self/numa_maps": MAPS})
    assert count_numa_nodes(root) == 1
    assert buffer_numa_node(0x7F0000001000, root) is None
