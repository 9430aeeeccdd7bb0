"""What to know before trusting a transfer result: what was measured, withheld rates, nodes, caches, flags."""

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.claims import is_memory_copy, name_series, say_threads
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.experiments.transfer.sizes import say_bytes, say_bytes_list
from gpuexplain.findings import LinkShare, NotFound
from gpuexplain.model import Flag
from gpuexplain.units import format_bandwidth, format_percent, format_significant
from gpuexplain.wording.caveats import tell_failed, tell_flag, tell_noise

# Below this ratio of touched bytes to cache a copy may find its data in the cache.
CACHE_COLD = 1.0


def list_caveats(findings: TransferFindings) -> tuple[str, ...]:
    """Return the caveats, each a sentence or two, without repeats."""
    found = [tell_memory_copy(findings), tell_nodes(findings)]
    found += [tell_withheld(findings.link, "to"), tell_withheld(findings.link_back, "from")]
    found += [tell_cache(findings.headline)]
    for series in findings.series:
        sizes = say_bytes_list([x for x, _, _ in series.failed])
        found.append(tell_failed(who(series), sizes, series.failed))
    found += [tell_flag("this run", flag, count) for flag, count in _count_flags(findings)]
    found.append(tell_noise(findings.noise))
    return tuple(text for text in dict.fromkeys(found) if text)


def _count_flags(findings: TransferFindings) -> list[tuple[Flag, int]]:
    """Return how many points measured here carry each flag: one sentence a flag, not one a series."""
    flagged = [pair for series in findings.series if series.is_measured for pair in series.flagged]
    return [(flag, count) for flag in Flag if (count := sum(c for f, c in flagged if f is flag))]


def tell_memory_copy(findings: TransferFindings) -> str:
    """Return that no transfer was measured, where only main memory was copied."""
    # A machine without a GPU, or a run on its CPU.
    if is_memory_copy(findings):
        return (
            "No copy over a link was measured here: these are copies within main memory. Nothing on this page says how "
            "fast this machine would copy to a GPU."
        )
    return ""


def tell_nodes(findings: TransferFindings) -> str:
    """Return that the copies cross sockets."""
    # The kernel tells both nodes, and they differ.
    if findings.crosses_nodes:
        return (
            "Memory and GPU lie on different NUMA nodes, so every copy crosses the link between them. Bind the program "
            "to the GPU's node (numactl --cpunodebind) to copy without it."
        )
    return ""


def tell_withheld(link: LinkShare | NotFound, way: str) -> str:
    """Return that a rate is more than the link carries; "" when it is not."""
    # Above the rate on paper: bytes, time or link are wrong.
    if isinstance(link, LinkShare) and not link.is_fact:
        return (
            f"The rate {way} the GPU is withheld: {format_bandwidth(link.rate_gbps * 1e9)} is "
            f"{format_percent(link.of_theoretical, 3)} of what {link.link} can carry. Check the link that the driver "
            "reports."
        )
    return ""


def tell_cache(series: SeriesFinding | None) -> str:
    """Return that the smallest copies may have found their data in a cache."""
    # The places of the smallest copies fit into the last-level cache.
    if series is not None and series.cache_ratio is not None and series.cache_ratio < CACHE_COLD:
        return (
            f"The smallest copies may find their data in a cache: between two uses of a place, copies of "
            f"{say_bytes(series.smallest_bytes)} touched {format_significant(series.cache_ratio, 2)} times the "
            "last-level cache. Larger ones were kept out of it."
        )
    return ""


def who(series: SeriesFinding) -> str:
    """Return a series in words, with its threads where they matter."""
    threads = series.threads if series.series == spec.MEMORY_COPY else None
    return f"{name_series(series.series)}{say_threads(threads)}"
