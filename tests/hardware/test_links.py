"""Reference links: what a generation and a width can carry."""

import pytest

from gpuexplain.hardware.links import find_pcie_link, load_pcie_links


def test_every_row_has_a_source_or_says_that_it_is_arithmetic() -> None:
    """A figure without a source is not shown."""
    links = load_pcie_links()
    assert len(links) == 10
    assert all(link.source or link.typical_to_device_bytes_s for link in links)
    assert len({(link.generation, link.width) for link in links}) == len(links)


@pytest.mark.parametrize("link", load_pcie_links(), ids=lambda link: link.label)
def test_nobody_measured_more_than_the_link_carries(link) -> None:
    """A typical rate lies between half of the theoretical one and all of it."""
    for typical in (link.typical_to_device_bytes_s, link.typical_from_device_bytes_s):
        assert typical is None or 0.5 * link.theoretical_bytes_s < typical < link.theoretical_bytes_s


@pytest.mark.parametrize(
    ("generation", "width", "theoretical_gbps", "typical_gbps"),
    [(3, 16, 15.75, 12.3), (4, 16, 31.51, 26.0), (5, 16, 63.02, 55.4), (4, 8, 15.75, 13.9)],
)
def test_known_links_have_both_rates(generation: int, width: int, theoretical_gbps: float, typical_gbps: float) -> None:
    """As the table has them, in bytes per second."""
    link = find_pcie_link(generation, width)
    assert link is not None
    assert link.theoretical_bytes_s == pytest.approx(theoretical_gbps * 1e9)
    assert link.typical_to_device_bytes_s == pytest.approx(typical_gbps * 1e9)
    assert link.label == f"PCIe {generation}.0 x{width}"


def test_a_width_that_the_table_lacks_is_computed_and_has_no_typical_rate() -> None:
    """A quarter of the lanes carry a quarter on paper; nobody's measurement is scaled."""
    link = find_pcie_link(5, 4)
    assert link is not None
    assert link.theoretical_bytes_s == pytest.approx(63.02e9 / 4)
    assert link.typical_to_device_bytes_s is None
    assert link.conditions == "computed: 4 of 16 lanes"


@pytest.mark.parametrize(
    ("generation", "width"),
    [(None, 16), (4, None), (None, None), (9, 16), (4, 0), (4, 3), (4, 32)],
    ids=["no generation", "no width", "neither", "future", "no lanes", "odd lanes", "too many lanes"],
)
def test_an_unknown_link_is_not_guessed(generation: int | None, width: int | None) -> None:
    """The answer is "cannot judge"."""
    assert find_pcie_link(generation, width) is None
