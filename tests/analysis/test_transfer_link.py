"""How much of its link a copy reaches."""

import pytest

from gpuexplain.analysis.transfer_link import find_link_share
from gpuexplain.findings import LinkShare, NotFound


def test_a_known_link_is_compared_with_paper_and_with_others() -> None:
    """24 GB/s over PCIe 4.0 x16: 76 % of 31.51, 92 % of 26.0."""
    found = find_link_share(24.0, 4, 16, to_device=True)
    assert isinstance(found, LinkShare)
    assert (found.link, found.theoretical_gbps, found.typical_gbps) == ("PCIe 4.0 x16", 31.51, 26.0)
    assert found.of_theoretical == pytest.approx(24 / 31.51)
    assert found.of_typical == pytest.approx(24 / 26)
    assert found.is_fact
    assert "nvbandwidth" in found.source


def test_each_direction_has_its_typical_rate() -> None:
    """26.6 GB/s from the device."""
    found = find_link_share(24.0, 4, 16, to_device=False)
    assert isinstance(found, LinkShare)
    assert found.typical_gbps == 26.6


def test_a_computed_width_has_no_typical_rate() -> None:
    """Nobody's measurement stands behind it."""
    found = find_link_share(3.0, 3, 4, to_device=True)
    assert isinstance(found, LinkShare)
    assert (found.typical_gbps, found.of_typical) == (None, None)
    assert found.of_theoretical == pytest.approx(3 / 3.9375)


@pytest.mark.parametrize(("rate_gbps", "is_fact"), [(31.5, True), (31.6, True), (32.0, False), (60.0, False)])
def test_more_than_the_link_carries_is_no_fact(rate_gbps: float, is_fact: bool) -> None:
    """Bytes, time or link are wrong; a hundredth is the rounding of the table."""
    found = find_link_share(rate_gbps, 4, 16, to_device=True)
    assert isinstance(found, LinkShare)
    assert found.is_fact is is_fact


@pytest.mark.parametrize(
    ("rate_gbps", "generation", "width", "reason"),
    [
        (None, 4, 16, "no copy from or to pinned memory has a rate"),
        (24.0, None, 16, "the driver does not report generation and width of the link"),
        (24.0, 4, None, "the driver does not report generation and width of the link"),
        (24.0, 7, 16, "no reference rate is known of PCIe generation 7 with 16 lanes"),
        (24.0, 4, 3, "no reference rate is known of PCIe generation 4 with 3 lanes"),
    ],
    ids=["no rate", "no generation", "no width", "new generation", "odd width"],
)
def test_an_unknown_link_is_not_judged(
    rate_gbps: float | None, generation: int | None, width: int | None, reason: str
) -> None:
    """The reason says what is missing."""
    assert find_link_share(rate_gbps, generation, width, to_device=True) == NotFound("link ceiling", reason)
