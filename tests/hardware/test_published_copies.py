"""Published copies: typed, in seconds, with their source."""

from importlib.resources import files

import pytest

from gpuexplain.hardware.published_copies import load_published_copies


def test_both_kinds_of_memory_are_there_with_their_source() -> None:
    """Nothing is shown of which nobody knows where it is from."""
    found = load_published_copies()
    assert [(series.direction, series.memory) for series in found] == [("h2d", "pinned"), ("h2d", "pageable")]
    assert all(series.source and series.gpu_name for series in found)
    assert {series.link for series in found} == {"PCIe 3.0 x16"}


def test_times_are_bytes_over_the_published_rate() -> None:
    """1 MiB at 11.0621 GB/s takes 94.8 µs."""
    pinned = load_published_copies()[0]
    assert pinned.sizes[-1] == 2**20
    assert pinned.seconds[-1] == pytest.approx(2**20 / 11.0621e9)
    assert list(pinned.sizes) == sorted(pinned.sizes)


def test_no_file_lies_unused() -> None:
    """Every series of the folder is in its index."""
    folder = files("gpuexplain.reference").joinpath("published_copies")
    names = {entry.name for entry in folder.iterdir() if entry.name.endswith(".csv")}
    assert len(names) == len(load_published_copies()) + 1
