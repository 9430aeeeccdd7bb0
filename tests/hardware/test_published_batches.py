"""Published batch sweeps: typed, in seconds, with their source."""

from importlib.resources import files

import pytest

from gpuexplain.hardware.published_batches import load_published_batches
from gpuexplain.model import Dtype


def test_every_sweep_names_part_network_and_source() -> None:
    """Nothing is shown of which nobody knows where it is from."""
    found = load_published_batches()
    assert [(s.gpu_name, s.network, s.mode, s.dtype) for s in found] == [
        ("V100", "resnet50", "inference", Dtype.FP32),
        ("V100", "resnet50", "inference", Dtype.FP16),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "loaded", "inference", Dtype.FP32),
    ]
    assert all(s.source for s in found)


def test_times_are_the_batch_over_the_published_rate() -> None:
    """256 images at 1,261 a second take 203 ms."""
    fp32 = load_published_batches()[0]
    assert (fp32.batches[0], fp32.batches[-1]) == (1, 256)
    assert fp32.seconds[-1] == pytest.approx(256 / 1261)
    assert list(fp32.batches) == sorted(fp32.batches)


def test_no_file_lies_unused() -> None:
    """Every sweep of the folder is in its index."""
    folder = files("gpuexplain.reference").joinpath("published_batches")
    names = {entry.name for entry in folder.iterdir() if entry.name.endswith(".csv")}
    assert len(names) == len(load_published_batches()) + 1
