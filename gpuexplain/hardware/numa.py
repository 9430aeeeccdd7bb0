"""On which NUMA node does a GPU hang, and on which one does a buffer lie?

On a computer with several sockets the copy to a GPU of the other socket crosses the link between
them. Linux tells both; None means that it does not, or that there is only one node.
"""

from collections.abc import Iterable
from pathlib import Path

from gpuexplain.hardware.files import ROOT, read_int, read_text


def count_numa_nodes(root: Path = ROOT) -> int:
    """Return how many NUMA nodes this computer has, at least 1."""
    found = list((root / "sys/devices/system/node").glob("node[0-9]*"))
    return max(1, len(found))


def gpu_numa_node(pci_bus_id: str | None, root: Path = ROOT) -> int | None:
    """Return the node that the GPU at ``pci_bus_id`` hangs on, as the driver prints it.

    NVML writes the domain in eight digits (``00000000:3B:00.0``), the kernel in four and small letters.
    """
    if not pci_bus_id or count_numa_nodes(root) < 2:
        return None
    domain, _, rest = pci_bus_id.lower().partition(":")
    node = read_int(root / f"sys/bus/pci/devices/{domain[-4:].rjust(4, '0')}:{rest}/numa_node")
    return node if node is not None and node >= 0 else None


def buffer_numa_node(address: int, root: Path = ROOT) -> int | None:
    """Return the node that holds most pages of the mapping of this process around ``address``."""
    if count_numa_nodes(root) < 2:
        return None
    text = read_text(root / "proc/self/numa_maps") or ""
    pages = _pages_by_node(_mapping(text.splitlines(), address))
    return max(pages, key=lambda node: pages[node]) if pages else None


def _mapping(lines: Iterable[str], address: int) -> list[str]:
    """Return the words of the last mapping that begins at or below ``address``."""
    best_start, words = -1, [""]
    for line in lines:
        start_text, *rest = line.split()
        start = int(start_text, 16)
        if best_start < start <= address:
            best_start, words = start, rest
    return words


def _pages_by_node(words: Iterable[str]) -> dict[int, int]:
    """Return ``{0: 512}`` for the word ``N0=512``."""
    pairs = (word[1:].split("=") for word in words if word.startswith("N") and "=" in word)
    return {int(node): int(count) for node, count in pairs if node.isdigit() and count.isdigit()}
