"""The one number of this page for Home: how fast a copy is, and what it costs at once."""

from gpuexplain.experiments.contract import Headline
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.claims import is_withheld, plateau_bytes_s, say_latency
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.units import format_bandwidth, format_significant

_LABELS = {
    spec.H2D_PINNED: "Copy to the GPU (pinned)",
    spec.H2D_PAGEABLE: "Copy to the GPU (pageable)",
    spec.D2H_PINNED: "Copy from the GPU (pinned)",
    spec.D2H_PAGEABLE: "Copy from the GPU (pageable)",
    spec.MEMORY_COPY: "Memory copy (no transfer to a GPU)",
    spec.FILE_COPY: "Copy",
}


def find_headline(findings: TransferFindings) -> Headline | None:
    """Return the rate of the leading series with its interval, and what a copy costs at once; None without a rate."""
    leader = findings.headline
    rate = plateau_bytes_s(leader)
    if leader is None or rate is None or is_withheld(findings, leader):
        return None
    return Headline(_LABELS[leader.series], format_bandwidth(rate), _interval(leader), say_latency(leader))


def _interval(leader: SeriesFinding) -> str:
    if leader.plateau_low_gbps is None or leader.plateau_high_gbps is None:
        return ""
    low, high = format_significant(leader.plateau_low_gbps, 3), format_significant(leader.plateau_high_gbps, 3)
    return f"{low} to {high}" if low != high else ""  # narrower than what is shown
