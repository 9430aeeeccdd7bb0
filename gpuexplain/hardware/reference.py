"""What should this GPU reach: data-sheet peaks of known parts, each with its source.

The table is ``gpuexplain/reference/gpus.csv``: dense rates, per SKU. A cell that its compiler did not
find in a source is listed in ``memory_cells`` and comes out as unverified.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gpuexplain.hardware.gpu_names import GpuName, find_named, parse_gpu_name
from gpuexplain.model import Dtype

_TABLE = "gpus.csv"
# fp64: libraries use the tensor cores where there are any (A100, H100), so theirs comes first.
_PEAK_COLUMNS: dict[Dtype, tuple[str, ...]] = {
    Dtype.FP64: ("fp64_tensor_tflops", "fp64_tflops"),
    Dtype.FP32: ("fp32_tflops",),
    Dtype.TF32: ("tf32_tflops",),
    Dtype.BF16: ("bf16_tflops",),
    Dtype.FP16: ("fp16_tflops",),
    Dtype.FP8: ("fp8_tflops",),
    Dtype.FP8_E5M2: ("fp8_tflops",),
    Dtype.INT8: ("int8_tops",),
}
_NUMBER_COLUMNS = sorted(
    {column for columns in _PEAK_COLUMNS.values() for column in columns}
    | {"memory_gb", "memory_bandwidth_gbs", "l2_mb", "boost_clock_mhz", "tdp_w", "pcie_gen", "pcie_lanes"}
)
# The table's fp32 column holds AMD's vector rate for these; a product runs on the matrix units.
# AMD product-page table for MI100 and MI210, matrix-core documentation for MI250X (one die).
_FP32_MATRIX_TFLOPS = {
    "AMD Instinct MI100": 46.1,
    "AMD Instinct MI210": 45.3,
    "AMD Instinct MI250X": 47.9,
}
# Pascal parts without a usable 16-bit rate (1/64): cuBLAS computes in fp32 there.
_FP16_RUNS_AS_FP32 = "Pascal"


@dataclass(frozen=True, slots=True)
class ReferenceGpu:
    """One row of the table; an empty cell is missing from ``figures``.

    ``figures`` holds the numeric columns by their names there (TFLOP/s, GB, GB/s, MB, MHz, W, lanes);
    ``unverified`` names the cells that no source was found for.
    """

    name: str
    aliases: tuple[str, ...]
    vendor: str
    architecture: str
    compute_capability: str
    figures: dict[str, float]
    source: str
    confidence: str
    notes: str
    sparse_trap: str
    unverified: frozenset[str]

    @property
    def capability(self) -> float | None:
        """CUDA compute capability as a number; None for parts that have none."""
        try:
            return float(self.compute_capability)
        except ValueError:
            return None

    @property
    def memory_bandwidth_bytes_s(self) -> float | None:
        """Data-sheet memory bandwidth in bytes per second, if known."""
        rate_gbs = self.figures.get("memory_bandwidth_gbs")
        return None if rate_gbs is None else rate_gbs * 1e9


@dataclass(frozen=True, slots=True)
class ReferencePeak:
    """The rate to divide by (FLOP/s), and how far to trust it."""

    rate_flops: float
    source: str
    verified: bool
    note: str = ""  # why another column than the dtype's own was taken


@cache
def load_reference_gpus() -> tuple[ReferenceGpu, ...]:
    """Return every part of the table, in its order."""
    text = files("gpuexplain.reference").joinpath(_TABLE).read_text(encoding="utf-8")
    return tuple(_read_row(row) for row in csv.DictReader(text.splitlines()))


def _read_row(row: dict[str, str]) -> ReferenceGpu:
    return ReferenceGpu(
        name=row["name"],
        aliases=tuple(alias for alias in row["aliases"].split(";") if alias),
        vendor=row["vendor"],
        architecture=row["architecture"],
        compute_capability=row["compute_capability"],
        figures={column: float(row[column]) for column in _NUMBER_COLUMNS if row[column]},
        source=row["source"],
        confidence=row["confidence"],
        notes=row["notes"],
        sparse_trap=row["sparse_trap"],
        unverified=frozenset(cell for cell in row["memory_cells"].split(";") if cell),
    )


@cache
def _known_names() -> tuple[tuple[GpuName, str], ...]:
    return tuple(
        (parse_gpu_name(text), gpu.name)
        for gpu in load_reference_gpus()
        for text in dict.fromkeys((gpu.name, *gpu.aliases))
    )


@cache
def match_reference_gpu(name: str) -> ReferenceGpu | None:
    """Return the part that ``name`` means, or None where it could be another part.

    The name as the driver prints it comes first, then the longest alias within it; see
    ``gpuexplain.hardware.gpu_names`` for what is ignored and what is refused.
    """
    by_name = {gpu.name: gpu for gpu in load_reference_gpus()}
    if name.strip() in by_name:
        return by_name[name.strip()]
    found = find_named(parse_gpu_name(name), _known_names())
    return None if found is None else by_name[found]


def reference_peak(gpu: ReferenceGpu, dtype: Dtype) -> ReferencePeak | None:
    """Return the dense peak of a matrix product in ``dtype``; None where no figure is known."""
    if dtype is Dtype.FP32 and gpu.name in _FP32_MATRIX_TFLOPS:
        note = "matrix rate; the data sheet's fp32 line is the vector rate"
        return ReferencePeak(_FP32_MATRIX_TFLOPS[gpu.name] * 1e12, gpu.source, True, note)
    for column in _PEAK_COLUMNS[dtype]:
        if column in gpu.figures:
            verified = column not in gpu.unverified
            return ReferencePeak(gpu.figures[column] * 1e12, gpu.source, verified)
    if dtype is Dtype.FP16 and _FP16_RUNS_AS_FP32 in gpu.architecture:
        verified = "fp32_tflops" not in gpu.unverified
        note = "libraries compute fp16 in fp32 on this part"
        return ReferencePeak(gpu.figures["fp32_tflops"] * 1e12, gpu.source, verified, note)
    return None


def peak_flops(gpu: ReferenceGpu, dtype: Dtype) -> float | None:
    """Return the dense peak in FLOP/s, verified or not; None where no figure is known."""
    peak = reference_peak(gpu, dtype)
    return None if peak is None else peak.rate_flops
