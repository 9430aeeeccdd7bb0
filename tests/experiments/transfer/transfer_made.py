"""Hand-made points and machines whose answers are obvious by eye."""

from collections.abc import Sequence

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.published import published_results
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.findings import (
    BreakEven,
    BreakEvenVerdict,
    CopyRatio,
    FitStatus,
    LinkShare,
    NHalfStatus,
    NotFound,
    Overlap,
    PiecesCost,
    TransferFit,
)
from gpuexplain.hardware.machine import Cpu, Gpu, GpuProblem, Machine, Memory, Platform
from gpuexplain.model import Clock, Conditions, Dtype, Point, Source

KIB, MIB, GIB = 2**10, 2**20, 2**30
SIZES = tuple(2**power for power in range(10, 29, 2))  # 1 KiB to 256 MiB
CACHE_BYTES = 32 * MIB
GPU_NAME = "NVIDIA A100-SXM4-80GB"
ON_CPU = (*spec.MEMORY_COPIES, spec.MEMORY_COPY_PIECES, spec.CPU_PRODUCT)
LINK_4 = Conditions(pcie_generation=4, pcie_width=16)
PUBLISHED_NAME = "Quadro RTX 6000 (PCIe 3.0 x16)"


def make_point(series: str, x: float, median_s: float | None, noise: float = 0.01, **changes: object) -> Point:
    """Return a measured point with an interval of ``noise`` either side."""
    is_cpu = series in ON_CPU
    is_memory = series in spec.MEMORY_COPIES
    n_places = max(1, min(4096, CACHE_BYTES // int(x)))
    fields: dict[str, object] = {
        "experiment": "transfer",
        "series": series,
        "x": float(x),
        "shape": (int(x), n_places),
        "dtype": Dtype.FP32,
        "device": "cpu" if is_cpu else "cuda:0",
        "device_name": "Fake CPU" if is_cpu else GPU_NAME,
        "clock": Clock.DEVICE if series == spec.H2D_PINNED_DEVICE else Clock.CALL,
        "threads": (1 if series == spec.MEMORY_COPY_ONE_THREAD else 2) if is_cpu else None,
        "n_samples": 20 if median_s else 0,
        "median_s": median_s,
        "bytes": float(x),
        "cache_ratio": 2 * x * n_places / CACHE_BYTES if is_memory else None,
        "conditions": None if is_cpu else LINK_4,
    }
    if median_s:
        fields |= {"ci_low_s": (1 - noise) * median_s, "ci_high_s": (1 + noise) * median_s}
        fields |= {"min_s": 0.9 * median_s, "max_s": 1.5 * median_s, "first_call_s": 3 * median_s}
    return Point.model_validate({**fields, **changes})


def copies(
    series: str, latency_s: float, rate_bytes_s: float, sizes: Sequence[int] = SIZES, **changes: object
) -> list[Point]:
    """Return copies that take latency + bytes / rate exactly."""
    return [make_point(series, size, latency_s + size / rate_bytes_s, **changes) for size in sizes]


def pieces(series: str, latency_s: float, rate_bytes_s: float, total: int = 64 * MIB, **changes: object) -> list[Point]:
    """Return one total in pieces: each piece pays the latency."""
    return [
        make_point(
            series, piece, total // piece * latency_s + total / rate_bytes_s,
            bytes=float(total), shape=(piece, total, 1), **changes,
        )
        for piece in spec.plan_pieces(total)
    ]  # fmt: skip


def product(series: str, median_s: float, side: int = 1024, **changes: object) -> Point:
    """Return one product, or the copies of one."""
    return make_point(series, spec.product_bytes(side), median_s, shape=(side, side, side), **changes)


def memory_points() -> list[Point]:
    """Return a machine without a GPU: two threads copy at 14 GB/s, one at 8; new memory takes three times as long."""
    return [
        *copies(spec.MEMORY_COPY, 2e-6, 14e9),
        *copies(spec.MEMORY_COPY_ONE_THREAD, 2e-6, 8e9),
        *copies(spec.MEMORY_COPY_FRESH, 6e-6, 14e9 / 3),
        *pieces(spec.MEMORY_COPY_PIECES, 1e-6, 14e9),
        product(spec.CPU_PRODUCT, 15e-3),
    ]


def link_points() -> list[Point]:
    """Return a machine with a GPU on PCIe 4.0 x16: pinned at 25 GB/s, pageable at 10, pinning first at 5."""
    return [
        *copies(spec.H2D_PAGEABLE, 10e-6, 10e9),
        *copies(spec.D2H_PAGEABLE, 12e-6, 9e9),
        *copies(spec.H2D_PINNED, 8e-6, 25e9),
        *copies(spec.D2H_PINNED, 8e-6, 26e9),
        *copies(spec.H2D_PINNED_DEVICE, 2e-6, 25e9),
        *copies(spec.H2D_PIN_THEN_COPY, 60e-6, 5e9),
        *pieces(spec.H2D_PIECES, 9e-6, 10e9),
        *pieces(spec.H2D_PINNED_PIECES, 3e-6, 25e9),
        make_point(spec.OVERLAP_COMPUTE, 256 * MIB, 12e-3, shape=(256 * MIB, 2048)),
        make_point(spec.OVERLAP_BOTH, 256 * MIB, 12.2e-3, shape=(256 * MIB, 2048)),
        product(spec.CPU_PRODUCT, 15e-3),
        product(spec.GPU_PRODUCT, 0.2e-3),
        product(spec.PRODUCT_COPIES, 1.3e-3),
    ]


def published_points() -> list[Point]:
    """Return the copies that ship with the product."""
    return list(published_results()[0].points)


def recorded(points: Sequence[Point], note: str = "box, 1 May") -> list[Point]:
    """Return points as those of another machine."""
    return [p.model_copy(update={"source": Source.RECORDED, "source_note": note}) for p in points]


def make_machine(
    *,
    threads: int = 2,
    memory_bytes: int = 24 * GIB,
    gpu_free_bytes: int | None = None,
    cache_bytes: int | None = CACHE_BYTES,
    cpu_offered: bool = True,
) -> Machine:
    """Return a machine with this many usable threads; with a GPU where its free memory is given."""
    gpu = Gpu(name=GPU_NAME, uuid="GPU-1", memory_free_bytes=gpu_free_bytes, torch_device="cuda:0")
    problem = GpuProblem(rung="no_driver", explanation="No NVIDIA driver was found.", remedy="Install it.")
    return Machine(
        cpu=Cpu(
            model="Fake CPU",
            architecture="x86_64",
            logical_cpus=threads,
            affinity_cpus=threads,
            usable_threads=threads,
            last_level_cache_bytes=cache_bytes,
        ),
        memory=Memory(total_bytes=memory_bytes, available_bytes=memory_bytes),
        platform=Platform(hostname="box", machine_id="0", system="Debian 12", kernel="Linux 6.1", python="3.12"),
        gpus=(gpu,) if gpu_free_bytes is not None else (),
        gpu_problem=None if gpu_free_bytes is not None else problem,
        cpu_offered=cpu_offered,
    )


NOT_FOUND = NotFound("anything", "it was not asked for")


def make_fit(**changes: object) -> TransferFit:
    """Return a fit of 8 µs and 20.5 GB/s; the plateau is 20 GB/s."""
    fields: dict[str, object] = {
        "plateau_gbps": 20.0, "fit_status": FitStatus.OK, "latency_us": 8.0, "fit_gbps": 20.5, "n_half_bytes": 160 * KIB,
        "first_at_half_bytes": 256.0 * KIB, "saturated": True, "n_half_status": NHalfStatus.LOCATED,
    }  # fmt: skip
    return TransferFit(**{**fields, **changes})  # type: ignore[arg-type]


NO_LINE = {"fit_status": FitStatus.NOT_AFFINE, "latency_us": None, "fit_gbps": None, "n_half_bytes": None}


def make_series(series: str, fit: TransferFit | None = None, **changes: object) -> SeriesFinding:
    """Return what one measured series says: the fit of ``make_fit``, without intervals."""
    is_cpu = series in ON_CPU
    fields: dict[str, object] = {
        "series": series, "device": "cpu" if is_cpu else "cuda:0", "device_name": "Fake CPU" if is_cpu else GPU_NAME,
        "source": Source.MEASURED, "source_note": "", "threads": 2 if is_cpu else None, "fit": fit or make_fit(),
        "interval": NOT_FOUND, "plateau_low_gbps": None, "plateau_high_gbps": None, "smallest_bytes": 1024.0,
        "largest_bytes": 256.0 * MIB, "smallest_s": 2e-6, "cache_ratio": None, "flagged": (), "failed": (),
    }  # fmt: skip
    return SeriesFinding(**{**fields, **changes})  # type: ignore[arg-type]


def make_findings(*series: SeriesFinding, **changes: object) -> TransferFindings:
    """Return findings of these series, nothing else found."""
    fields: dict[str, object] = dict.fromkeys(
        ("link", "link_back", "pinned", "pin_then_copy", "threads", "fresh", "pieces", "pinned_pieces", "overlap",
         "break_even", "borrowed", "noise"), NOT_FOUND,
    )  # fmt: skip
    fields |= {"device_memory_gbps": None, "crosses_nodes": False}
    return TransferFindings(series=series, **{**fields, **changes})  # type: ignore[arg-type]


def make_link(**changes: object) -> LinkShare:
    """Return 20 GB/s over PCIe 4.0 x16."""
    fields: dict[str, object] = {
        "link": "PCIe 4.0 x16", "rate_gbps": 20.0, "theoretical_gbps": 31.51, "typical_gbps": 26.0,
        "of_theoretical": 20 / 31.51, "of_typical": 20 / 26, "is_fact": True, "source": "a table",
        "above_theoretical": 1.01,
    }  # fmt: skip
    return LinkShare(**{**fields, **changes})  # type: ignore[arg-type]


def make_break_even(verdict: BreakEvenVerdict, reuses: float | None = None, **changes: object) -> BreakEven:
    """Return a break-even of n = 1,024 with bounds at its number."""
    fields: dict[str, object] = {
        "verdict": verdict, "side": 1024, "copy_s": 1.3e-3, "cpu_s": 15e-3, "gpu_s": 0.2e-3, "reuses": reuses,
        "reuses_low": reuses, "reuses_high": reuses,
    }  # fmt: skip
    return BreakEven(**{**fields, **changes})  # type: ignore[arg-type]


def make_pieces(factor: float, **changes: object) -> PiecesCost:
    """Return 64 MiB in pieces of 64 KiB to the GPU; bounds of 1 %."""
    fields: dict[str, object] = {
        "series": spec.H2D_PIECES, "total_bytes": 64.0 * MIB, "piece_bytes": 64.0 * KIB, "whole_s": 5e-3,
        "factor": factor, "low": 0.99 * factor, "high": 1.01 * factor, "enough_bytes": 4.0 * MIB, "within": 1.1,
    }  # fmt: skip
    return PiecesCost(**{**fields, **changes})  # type: ignore[arg-type]


def make_ratio(factor: float, series: str = spec.H2D_PIN_THEN_COPY) -> CopyRatio:
    """Return a ratio at 64 MiB with bounds of 1 %."""
    return CopyRatio(series, spec.H2D_PAGEABLE, 64.0 * MIB, factor, 0.99 * factor, 1.01 * factor)


def make_overlap(share: float, width: float = 0.02) -> Overlap:
    """Return how much of a copy of 256 MiB hides."""
    low, high = max(0.0, share - width), min(1.0, share + width)
    return Overlap(256.0 * MIB, 10e-3, 12e-3, 12e-3, share, low, high)
