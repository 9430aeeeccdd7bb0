"""Does a build of torch carry code that a GPU can run?

Machine code (``sm_86``) runs on its own minor version and newer ones of the same major (8.6 on 8.9,
never on 8.0 or 9.0); an ``a`` or ``f`` suffix ties it to one architecture or family. PTX
(``compute_90``) is compiled by the driver for anything as new or newer.
Source: CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility".
"""

import re
from collections.abc import Iterable

_ARCH = re.compile(r"^(sm|compute)_(\d+)(\d)([af]?)$")


def covers_capability(arch_list: Iterable[str], capability: str) -> bool:
    """Return whether any of ``arch_list`` (``sm_86``, ``compute_90``) runs on ``capability`` ("8.9")."""
    major_text, _, minor_text = capability.partition(".")
    if not (major_text.isdigit() and minor_text.isdigit()):
        return False
    device = (int(major_text), int(minor_text))
    return any(_runs_on(arch, device) for arch in arch_list)


def _runs_on(arch: str, device: tuple[int, int]) -> bool:
    match = _ARCH.match(arch)
    if not match:
        return False
    kind, major, minor, suffix = match.groups()
    built = (int(major), int(minor))
    if suffix == "a":
        return built == device
    if kind == "compute" and not suffix:
        return built <= device
    return built[0] == device[0] and built[1] <= device[1]
