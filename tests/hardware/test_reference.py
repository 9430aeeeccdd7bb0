"""Reference peaks: which part a name means, and what may be divided by."""

import csv
from importlib.resources import files

import pytest

from gpuexplain.hardware.published import load_published_series
from gpuexplain.hardware.reference import (
    load_reference_gpus,
    match_reference_gpu,
    peak_flops,
    reference_peak,
)
from gpuexplain.model import Dtype

PARTS = load_reference_gpus()


def matched(name: str) -> str | None:
    """Return the table's name for ``name``."""
    gpu = match_reference_gpu(name)
    return gpu.name if gpu else None


def test_every_row_has_a_source() -> None:
    """A figure without a source is not shown."""
    assert len(PARTS) > 100
    assert all(part.source for part in PARTS)


@pytest.mark.parametrize("part", [part.name for part in PARTS])
def test_every_printed_name_and_alias_means_its_own_part(part: str) -> None:
    """In any case, with or without spaces, and with a note in parentheses."""
    gpu = next(p for p in PARTS if p.name == part)
    for text in (gpu.name, *gpu.aliases):
        for written in (text, text.lower(), text.upper(), text.replace(" ", ""), f"{text} (PCIe3 x16)"):
            assert matched(written) == part, written


@pytest.mark.parametrize(
    ("name", "part"),
    [
        pytest.param("RTX4090", "NVIDIA GeForce RTX 4090", id="no spaces"),
        pytest.param("nvidia geforce rtx 4090", "NVIDIA GeForce RTX 4090", id="case"),
        pytest.param("M4Max", "Apple M4 Max", id="no vendor word"),
        pytest.param("NVIDIA RTX A6000", "NVIDIA RTX A6000", id="A6000 is no A60"),
        pytest.param("Quadro RTX 6000 (PCIe3 x16)", "Quadro RTX 6000", id="a note"),
        pytest.param("RTX 4070 Ti SUPER", "NVIDIA GeForce RTX 4070 Ti SUPER", id="longest wins"),
        pytest.param("RTX3080 12GB", "NVIDIA GeForce RTX 3080", id="two memory sizes under one name"),
        pytest.param("RTX 4060 Ti 16GB", "NVIDIA GeForce RTX 4060 Ti", id="memory size behind it"),
        pytest.param("NVIDIA L40S", "NVIDIA L40S", id="L40S is no L40"),
        pytest.param("H100 SXM5 80GB HBM3", "NVIDIA H100 80GB HBM3", id="alias within the name"),
        pytest.param("RTX 4090 D", "NVIDIA GeForce RTX 4090 D", id="the table has this D"),
        pytest.param(
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            id="the table has this Max-Q",
        ),
        pytest.param("ASUS RTX 3090 OC 24GB", "NVIDIA GeForce RTX 3090", id="a board maker's words"),
        pytest.param("AMD Instinct MI250X/MI250", "AMD Instinct MI250X", id="as ROCm prints it"),
    ],
)
def test_names_that_mean_a_known_part(name: str, part: str) -> None:
    """Spaces, case, vendor words and notes do not count."""
    assert matched(name) == part


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100-SXM4-40GB (MIG 1g.5gb)", "NVIDIA H200 MIG 1g.18gb",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "RTX4090LaptopGPU", "RTX 4090 (Laptop)", "RTX 4090M",
        "GeForce RTX 2080 with Max-Q Design", "RTX 2080 MaxQ", "NVIDIA GeForce RTX 5090 D", "RTX 5090 D v2",
        "RTX 2070 SUPER", "RTX2070SUPER", "RTX A400", "A100X", "NVIDIA A10-24Q",
        "RTX PRO 4000 Blackwell SFF Edition",
        "GTX TITAN Black (888 of 1202 MHz)", "V100", "A100", "RTX 6000", "Orin", "", "()", "GPU",
    ],
)  # fmt: skip
def test_names_that_could_be_another_part_are_refused(name: str) -> None:
    """A slice, a mobile part, a variant or a name too short to tell."""
    assert matched(name) is None


@pytest.mark.parametrize(
    ("name", "dtype", "tflops"),
    [
        pytest.param("A100 80GB PCIe", Dtype.TF32, 156, id="dense, not sparse"),
        pytest.param("A100 80GB PCIe", Dtype.FP64, 19.5, id="fp64 runs on tensor cores"),
        pytest.param("RTX 3090", Dtype.FP64, 0.556, id="fp64 without tensor cores"),
        pytest.param("RTX 4090", Dtype.FP16, 165.2, id="fp32 accumulate"),
        pytest.param("Tesla P40", Dtype.FP16, 11.76, id="Pascal computes fp16 in fp32"),
        pytest.param("GTX 1080", Dtype.FP16, 8.87, id="Pascal, GeForce"),
        pytest.param("P100 SXM2", Dtype.FP16, 21.2, id="Pascal with its own rate"),
        pytest.param("MI210", Dtype.FP32, 45.3, id="matrix rate, not vector rate"),
        pytest.param("A10", Dtype.INT8, 250, id="int8"),
        pytest.param("Tesla V100-SXM2-16GB", Dtype.TF32, None, id="no such unit"),
        pytest.param("Tesla T4", Dtype.BF16, None, id="no bf16"),
        pytest.param("Tesla M40", Dtype.FP16, None, id="no figure"),
    ],
)
def test_peak_of_a_product(name: str, dtype: Dtype, tflops: float | None) -> None:
    """The rate that a matrix product of that dtype can reach on the part."""
    gpu = match_reference_gpu(name)
    assert gpu is not None
    assert peak_flops(gpu, dtype) == (None if tflops is None else pytest.approx(tflops * 1e12))


@pytest.mark.parametrize(("dtype", "verified"), [(Dtype.FP64, False), (Dtype.FP32, True)])
def test_cells_without_a_source_are_unverified(dtype: Dtype, verified: bool) -> None:
    """The A30's fp64 tensor rate was found in no source."""
    gpu = match_reference_gpu("A30")
    assert gpu is not None
    peak = reference_peak(gpu, dtype)
    assert peak is not None
    assert peak.verified is verified


def test_published_times_are_those_of_the_published_rates() -> None:
    """2 n^3 / rate: 53.84 TFLOP/s at 2048."""
    series = next(s for s in load_published_series("matmul") if s.gpu_name == "RTX4090" and s.dtype == "fp32")
    assert series.sides == (1024, 2048, 4096, 8192, 10240)
    assert series.seconds[1] == pytest.approx(2 * 2048**3 / 53.84e12)
    assert series.rates_flops[1] == pytest.approx(53.84e12)
    assert series.source == "zzc0721/torch-performance-test-data#78"


def test_published_seconds_are_taken_as_they_stand() -> None:
    """The TITAN Black's file gives times."""
    series = next(s for s in load_published_series() if "TITAN" in s.gpu_name)
    assert series.seconds[-1] == 2.34659


def test_every_published_file_is_indexed_with_a_source() -> None:
    """No series without a citation, no file without a series."""
    folder = files("gpuexplain.reference").joinpath("published")
    rows = list(csv.DictReader(folder.joinpath("published.csv").read_text(encoding="utf-8").splitlines()))
    assert all(row["source"] and row["gpu_name"] for row in rows)
    present = {entry.name for entry in folder.iterdir()} - {"published.csv"}
    assert {row["file"] for row in rows} == present


def test_precision_sets_are_split_by_dtype() -> None:
    """One series per format."""
    ours = [s for s in load_published_series("precision") if s.gpu_name == "Apple M4 Max"]
    assert [s.dtype for s in ours] == [Dtype.FP32, Dtype.TF32, Dtype.FP16]
