"""Published training on more GPUs: typed, with its source."""

from importlib.resources import files

import pytest

from gpuexplain.hardware.published_scaling import load_published_scaling
from gpuexplain.model import Dtype


def test_every_run_names_network_part_and_source() -> None:
    """Nothing is shown of which nobody knows where it is from."""
    found = load_published_scaling()
    assert [(s.network, s.gpu_name, s.dtype) for s in found] == [
        ("ResNet-50", "V100", Dtype.FP32),
        ("ResNet-50", "V100", Dtype.FP16),
        ("GNMT", "V100", Dtype.FP16),
    ]
    assert all(s.source and s.counts[0] == 1 for s in found)


def test_rates_are_those_of_the_source() -> None:
    """6,338 images a second on 16 GPUs, 417 on one: the source says 15.19 times as many."""
    fp32 = load_published_scaling()[0]
    assert (fp32.counts, fp32.rates[0], fp32.rates[-1]) == ((1, 2, 4, 8, 16), 417, 6338)
    assert fp32.rates[-1] / fp32.rates[0] == pytest.approx(15.19, abs=0.02)


def test_no_file_lies_unused() -> None:
    """Every run of the folder is in its index."""
    folder = files("gpuexplain.reference").joinpath("published_scaling")
    names = {entry.name for entry in folder.iterdir() if entry.name.endswith(".csv")}
    assert len(names) == len(load_published_scaling()) + 1
