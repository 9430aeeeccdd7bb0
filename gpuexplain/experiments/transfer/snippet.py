"""A standalone script that measures one point the way the page did, with nothing but torch."""

from dataclasses import dataclass

from gpuexplain.experiments.script import ScriptClock, say_where, write_script
from gpuexplain.experiments.transfer import snippet_parts as parts
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.places import count_places
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.experiments.transfer.spec import BYTES_PER_VALUE, MIB, TransferParams, product_bytes
from gpuexplain.model import Point
from gpuexplain.units import NBSP

# Copied where no point was chosen: above every cache, and over in milliseconds.
USUAL_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class _Asked:
    """One case to reproduce."""

    series: str
    device: str
    threads: int | None
    size: int  # bytes of one copy
    n_places: int = 1
    total: int = 0  # bytes copied in pieces
    side: int = 0  # of a product


def write_snippet(params: TransferParams, point: Point | None) -> str:
    """Return the script for ``point``; without one for a usual copy, on the GPU that ``params`` name or the CPU."""
    asked = _of_point(point) if point is not None and _is_ours(point) else _of_params(params)
    is_on_gpu = asked.device.startswith("cuda")
    gpu_clock = ScriptClock.DEVICE if asked.series == spec.H2D_PINNED_DEVICE else ScriptClock.SYNCHRONISED
    return write_script(
        _title(asked),
        parts.GENERATOR + _work(asked),
        clock=gpu_clock if is_on_gpu else ScriptClock.HOST,
        data=parts.DATA,
        setup=_setup(asked),
        before_call="between()" if asked.series == spec.H2D_PIN_THEN_COPY else "",
        results=_rate(asked),
        imports=(
            "import itertools",
            "import random",
            *(["import mmap"] if asked.series == spec.MEMORY_COPY_FRESH else []),
        ),
    )


def _is_ours(point: Point) -> bool:
    """Return whether the shape of a point says how it was measured: not one of a file or a publication."""
    if point.series in spec.PRODUCTS:
        return len(point.shape) == 3
    return len(point.shape) == (3 if point.series in spec.PIECES else 2)


def _of_point(point: Point) -> _Asked:
    if point.series in spec.PRODUCTS:
        side = point.shape[0]
        return _Asked(point.series, point.device, point.threads, product_bytes(side), side=side)
    if point.series in spec.PIECES:
        piece, total, n_places = point.shape
        return _Asked(point.series, point.device, point.threads, piece, n_places, total)
    if point.series in (spec.OVERLAP_BOTH, spec.OVERLAP_COMPUTE):
        size, side = point.shape
        return _Asked(point.series, point.device, None, size, side=side)
    size, n_places = point.shape
    return _Asked(point.series, point.device, point.threads, size, n_places)


def _of_params(params: TransferParams) -> _Asked:
    size = min(USUAL_BYTES, (params.largest_mib or USUAL_BYTES // MIB) * MIB)
    n_places = count_places(size, None, touched=2, window_bytes=2 * USUAL_BYTES)
    if params.device.startswith("cuda"):
        return _Asked(spec.H2D_PINNED, params.device, None, size, n_places)
    return _Asked(spec.MEMORY_COPY, spec.CPU, None, size, n_places)


_WHAT = {
    spec.MEMORY_COPY_FRESH: "to memory never touched before",
    spec.H2D_PAGEABLE: "to the GPU from pageable memory",
    spec.D2H_PAGEABLE: "from the GPU to pageable memory",
    spec.H2D_PINNED: "to the GPU from pinned memory",
    spec.D2H_PINNED: "from the GPU to pinned memory",
    spec.H2D_PIN_THEN_COPY: "to the GPU, pinned first",
    spec.H2D_PINNED_DEVICE: "to the GPU from pinned memory, by the device's clock",
    spec.H2D_PIECES: "to the GPU from pageable memory",
    spec.H2D_PINNED_PIECES: "to the GPU from pinned memory",
    spec.OVERLAP_BOTH: "to the GPU beside products on another stream",
}


def _title(asked: _Asked) -> str:
    where = say_where(asked.device, asked.threads)
    size = say_bytes(asked.size).replace(NBSP, " ")
    if asked.series in (spec.CPU_PRODUCT, spec.GPU_PRODUCT):
        return f"Time of one fp32 product of side {asked.side} {where}."
    if asked.series == spec.PRODUCT_COPIES:
        return f"Time of the copies of one fp32 product of side {asked.side}: operands in, result out ({asked.device})."
    if asked.series == spec.OVERLAP_COMPUTE:
        return f"Time of the products that run beside a copy of {size} {where}."
    if asked.series in spec.PIECES:
        total = say_bytes(asked.total).replace(NBSP, " ")
        kind = _WHAT.get(asked.series, "within main memory, no transfer to a GPU")
        return f"Time of {total} in pieces of {size} {kind}, {where}."
    kind = _WHAT.get(asked.series, "within main memory, no transfer to a GPU")
    return f"Time of one copy of {size} {kind}, {where}."


def _setup(asked: _Asked) -> str:
    if asked.device.startswith("cuda"):
        exact = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32\n' if asked.side else ""
        return f'torch.cuda.set_device("{asked.device}")\n{exact}'
    return f"torch.set_num_threads({asked.threads})\n" if asked.threads else ""


def _work(asked: _Asked) -> str:
    sizes = {
        "length": (asked.total or asked.size) // BYTES_PER_VALUE,
        "piece": asked.size // BYTES_PER_VALUE,
        "n_places": asked.n_places,
        "device": asked.device,
        "side": asked.side,
    }
    template = parts.WORK.get(asked.series, parts.WORK[spec.MEMORY_COPY])
    return template.format(**sizes).rstrip()


def _rate(asked: _Asked) -> str:
    if asked.series in (spec.CPU_PRODUCT, spec.GPU_PRODUCT):
        return f'print(f"{{2 * {asked.side}**3 / median_s / 1e9:.2f}} GFLOP/s")'
    copied = asked.total or asked.size
    return f'print(f"{{{copied} / median_s / 1e9:.3f}} GB/s (copied bytes counted once)")'
