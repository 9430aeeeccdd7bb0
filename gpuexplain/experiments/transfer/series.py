"""How this experiment's series look and what they are called."""

from gpuexplain.charts.theme import Entity, SeriesLook
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.model import Point
from gpuexplain.units import format_bandwidth, format_rate_flops


def say_copy(point: Point) -> str:
    """Return the size of a point for its hover, with what was done to keep caches out of it."""
    text = f"{say_bytes(point.x)} a copy"
    if point.cache_ratio is not None:
        state = "cache-cold" if point.cache_ratio >= 1 else "cache-warm"
        text += f", {state}: {point.cache_ratio:.2g} caches between two uses"
    return text


def say_pieces(point: Point) -> str:
    """Return the size of a piece for the hover, and the total."""
    return f"{say_bytes(point.bytes or 0)} in pieces of {say_bytes(point.x)}"


# In the order in which they are drawn: the last one lies on top. Memory copies never have the hue of a transfer.
LOOKS: dict[str, SeriesLook] = {
    spec.MEMORY_COPY_ONE_THREAD: SeriesLook(
        Entity.CPU, "1 thread", "memory copy", "dashdot", "triangle-down", width=1.4, marker_size=7, say_size=say_copy
    ),
    spec.MEMORY_COPY_FRESH: SeriesLook(
        Entity.OVERHEAD, "new<br>memory", "memory copy to new memory", say_size=say_copy
    ),
    spec.MEMORY_COPY: SeriesLook(Entity.CPU, "memory<br>copy", "memory copy", say_size=say_copy),
    spec.H2D_PINNED_DEVICE: SeriesLook(
        Entity.TRANSFER, "device<br>time", "pinned, to the GPU, device time", "dashdot", "pentagon",
        width=1.4, marker_size=7, say_size=say_copy,
    ),
    spec.D2H_PAGEABLE: SeriesLook(
        Entity.TRANSFER, "pageable<br>from GPU", "pageable, from the GPU", "dot", "triangle-down",
        width=1.4, marker_size=7, say_size=say_copy,
    ),
    spec.H2D_PAGEABLE: SeriesLook(
        Entity.TRANSFER, "pageable<br>to GPU", "pageable, to the GPU", "dashdot", "triangle-up",
        width=1.4, marker_size=7, say_size=say_copy,
    ),
    spec.H2D_PIN_THEN_COPY: SeriesLook(
        Entity.OVERHEAD, "pin, then<br>copy", "pinned first, then to the GPU", say_size=say_copy
    ),
    spec.D2H_PINNED: SeriesLook(
        Entity.TRANSFER, "pinned<br>from GPU", "pinned, from the GPU", "dash", "hexagon", say_size=say_copy
    ),
    spec.H2D_PINNED: SeriesLook(
        Entity.TRANSFER, "pinned<br>to GPU", "pinned, to the GPU", "solid", "diamond", say_size=say_copy
    ),
    spec.FILE_COPY: SeriesLook(Entity.TRANSFER, "file", "copies in a file", "solid", "diamond", say_size=say_copy),
}  # fmt: skip

# One total in pieces: on a chart of their own, because x is the size of a piece.
PIECES_LOOKS: dict[str, SeriesLook] = {
    spec.MEMORY_COPY_PIECES: SeriesLook(Entity.CPU, "memory<br>copy", "memory copy in pieces", say_size=say_pieces),
    spec.H2D_PINNED_PIECES: SeriesLook(
        Entity.TRANSFER, "pinned", "pinned, in pieces", "solid", "diamond", say_size=say_pieces
    ),
    spec.H2D_PIECES: SeriesLook(
        Entity.TRANSFER, "pageable", "pageable, in pieces", "dashdot", "triangle-up", say_size=say_pieces
    ),
}


def say_rate(point: Point) -> str:
    """Return the speed of a point: operations of a product, copied bytes of all else; "" without a time."""
    if not point.median_s:
        return ""
    if point.series in (spec.CPU_PRODUCT, spec.GPU_PRODUCT):
        return format_rate_flops(2.0 * point.shape[0] ** 3 / point.median_s)
    return format_bandwidth(point.rate_bytes) if point.rate_bytes else ""
