"""How much of its link does a copy reach: of the rate on paper, and of what others typically measure?"""

from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.findings import LinkShare, NotFound
from gpuexplain.hardware.links import find_pcie_link

# The table's rates are rounded to three digits or more.
ABOVE_THEORETICAL = 1.01


def find_link_share(
    rate_gbps: float | None, generation: int | None, width: int | None, *, to_device: bool
) -> LinkShare | NotFound:
    """Return the share of a PCIe link that ``rate_gbps`` (one direction, pinned memory) is.

    ``generation`` and ``width`` (lanes) are those read while copying: an idle link reports less.
    """
    if rate_gbps is None:
        return NotFound("link ceiling", "no copy from or to pinned memory has a rate")
    if generation is None or width is None:
        return NotFound("link ceiling", "the driver does not report generation and width of the link")
    link = find_pcie_link(generation, width)
    if link is None:
        return NotFound(
            "link ceiling", f"no reference rate is known of PCIe generation {generation} with {width} lanes"
        )
    theoretical = link.theoretical_bytes_s / 1e9
    typical_bytes_s = link.typical_to_device_bytes_s if to_device else link.typical_from_device_bytes_s
    typical = None if typical_bytes_s is None else typical_bytes_s / 1e9
    return LinkShare(
        link=link.label,
        rate_gbps=rate_gbps,
        theoretical_gbps=theoretical,
        typical_gbps=typical,
        of_theoretical=rate_gbps / theoretical,
        of_typical=None if typical is None else rate_gbps / typical,
        is_fact=not exceeds(rate_gbps, ABOVE_THEORETICAL * theoretical),
        source=link.source or link.conditions,
        above_theoretical=ABOVE_THEORETICAL,
    )
