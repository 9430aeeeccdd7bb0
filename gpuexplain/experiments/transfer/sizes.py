"""How a size of bytes is written: powers of two without needless decimals."""

from gpuexplain.units import NBSP, format_size

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def say_bytes(size_bytes: float) -> str:
    """Return ``64 KiB``, ``1 GiB``; a size between as ``75.3 KiB``."""
    for factor, unit in _UNITS:
        if size_bytes >= factor:
            count = size_bytes / factor
            return f"{count:.0f}{NBSP}{unit}" if count.is_integer() else format_size(size_bytes)
    return format_size(size_bytes)


def say_bytes_list(sizes: list[float]) -> str:
    """Return ``64 KiB``, ``64 KiB and 1 MiB``, or the first and the last of more than three."""
    if len(sizes) > 3:
        return f"{len(sizes)} sizes from {say_bytes(sizes[0])} to {say_bytes(sizes[-1])}"
    return " and ".join(say_bytes(size) for size in sizes) if len(sizes) < 3 else _three(sizes)


def _three(sizes: list[float]) -> str:
    first, second, third = (say_bytes(size) for size in sizes)
    return f"{first}, {second} and {third}"
