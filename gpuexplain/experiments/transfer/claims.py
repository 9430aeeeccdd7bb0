"""The finding of each chart as one clause: the chart's title and the words' headline are this text."""

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series import LOOKS
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.findings import BreakEven, BreakEvenVerdict, FitStatus, LinkShare, PiecesCost
from gpuexplain.units import (
    format_bandwidth,
    format_count,
    format_factor,
    format_percent,
    format_significant,
    format_time,
)
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import count_of, say_n

NOTHING_YET = "Nothing is measured yet"
NOTHING_RAN = "Nothing could be measured"
# A factor nearer to 1 than this is told as no difference.
NOTABLE_FACTOR = 1.05

_NAMES = {
    spec.H2D_PINNED: "pinned memory",
    spec.H2D_PAGEABLE: "pageable memory",
    spec.D2H_PINNED: "pinned memory, from the GPU,",
    spec.D2H_PAGEABLE: "pageable memory, from the GPU,",
    spec.H2D_PIN_THEN_COPY: "pinning first",
    spec.H2D_PINNED_DEVICE: "pinned memory (device time)",
    spec.FILE_COPY: "the copy",
    spec.MEMORY_COPY: "the memory copy",
    spec.MEMORY_COPY_ONE_THREAD: "the memory copy on one thread",
    spec.MEMORY_COPY_FRESH: "the memory copy to new memory",
    spec.MEMORY_COPY_PIECES: "the memory copy in pieces",
    spec.H2D_PIECES: "pageable memory in pieces",
    spec.H2D_PINNED_PIECES: "pinned memory in pieces",
    spec.OVERLAP_COMPUTE: "the computing beside a copy",
    spec.OVERLAP_BOTH: "a copy beside computing",
    spec.CPU_PRODUCT: "the product on the CPU",
    spec.GPU_PRODUCT: "the product on the GPU",
    spec.PRODUCT_COPIES: "the copies of a product",
}
_ENTITIES = {spec.CPU_PRODUCT: "cpu", spec.MEMORY_COPY_PIECES: "cpu", spec.GPU_PRODUCT: "gpu"}


def name_series(series: str) -> str:
    """Return what a sentence calls a series, in its colour."""
    entity = LOOKS[series].entity if series in LOOKS else _ENTITIES.get(series, "transfer")
    # A run from elsewhere may hold series of another release.
    return mark(entity, _NAMES.get(series, series.replace("_", " ")))


def name_part(series: SeriesFinding) -> str:
    """Return the name of the device of a series, in its colour: for what is not in this machine."""
    return mark("transfer", series.device_name or "GPU")


def is_memory_copy(findings: TransferFindings) -> bool:
    """Return whether the page is about a copy within main memory: no transfer was measured."""
    leader = findings.headline
    return leader is not None and leader.series in spec.MEMORY_COPIES


def plateau_bytes_s(series: SeriesFinding | None) -> float | None:
    """Return the rate of the plateau (bytes/s), None where there is none."""
    if series is None or series.fit is None or series.fit.plateau_gbps is None:
        return None
    return series.fit.plateau_gbps * 1e9


def link_of(findings: TransferFindings, series: SeriesFinding) -> LinkShare | None:
    """Return the link share that stands for a series, where it may be shown."""
    shares = {spec.H2D_PINNED: findings.link, spec.D2H_PINNED: findings.link_back}
    found = shares.get(series.series)
    return found if isinstance(found, LinkShare) and series.is_measured else None


def is_withheld(findings: TransferFindings, series: SeriesFinding) -> bool:
    """Return whether the rate of a series lies above what its link can carry."""
    share = link_of(findings, series)
    return share is not None and not share.is_fact


def say_threads(threads: int | None) -> str:
    """Return `` on two threads`` with its space in front; "" where threads do not matter."""
    return f" on {count_of(threads, 'thread')}" if threads else ""


def claim_rate(findings: TransferFindings, series: SeriesFinding) -> str:
    """Return how fast a series copies, as a clause."""
    rate = plateau_bytes_s(series)
    # No point may be trusted, or the rate is more than the link can carry.
    if rate is None or is_withheld(findings, series):
        return f"{name_series(series.series)} has no rate to show"
    # A copy within main memory: said each time, so that nobody takes it for a transfer.
    if series.series in spec.MEMORY_COPIES:
        where = mark("cpu", "a copy within main memory")
        return f"{where}, which is no transfer to a GPU, runs at {format_bandwidth(rate)}{say_threads(series.threads)}"
    # A copy in a file.
    if series.series == spec.FILE_COPY:
        return f"{name_series(series.series)} reaches {format_bandwidth(rate)}"
    # Over the link, from another machine.
    if not series.is_measured:
        memory = "pinned" if series.series in (spec.H2D_PINNED, spec.D2H_PINNED) else "pageable"
        host, part = f"{memory} memory", f"the {name_part(series)}"
        ends = (part, host) if series.series in spec.FROM_DEVICE else (host, part)
        return f"a {series.source} copy from {ends[0]} to {ends[1]} reaches {format_bandwidth(rate)}"
    # Over the link of this machine.
    return f"{name_series(series.series)} reaches {format_bandwidth(rate)}{_say_link(findings, series)}"


def _say_link(findings: TransferFindings, series: SeriesFinding) -> str:
    way = "" if series.series in spec.FROM_DEVICE else " to the GPU"
    share = link_of(findings, series)
    return f"{way}, {format_percent(share.of_theoretical)} of {share.link}" if share else way


def say_latency(series: SeriesFinding) -> str:
    """Return what a copy costs before its first byte, as a clause; "" where nothing tells."""
    fit = series.fit
    # Time = latency + bytes / rate holds.
    if fit is not None and fit.fit_status is FitStatus.OK and fit.latency_us is not None:
        return f"each copy costs {format_time(fit.latency_us / 1e6)} before its first byte"
    # It does not hold: the smallest copy is all that can be said.
    if series.smallest_s is not None:
        return f"a copy of {say_bytes(series.smallest_bytes)} takes {format_time(series.smallest_s)}"
    return ""


def claim_main(findings: TransferFindings) -> str:
    """Return the finding of the rate chart: how fast, and over what."""
    if not findings.series:
        return NOTHING_YET
    leader = findings.headline
    if leader is None:
        return NOTHING_RAN
    return capitalise(claim_rate(findings, leader))


def claim_second(findings: TransferFindings) -> str:
    """Return the finding of the second chart: the break-even, else what small copies cost."""
    if not findings.series:
        return NOTHING_YET
    if isinstance(findings.break_even, BreakEven):
        return capitalise(claim_break_even(findings.break_even))
    for cost in (findings.pieces, findings.pinned_pieces):
        if isinstance(cost, PiecesCost):
            return capitalise(claim_pieces(cost))
    return claim_fixed_price(findings)


def claim_fixed_price(findings: TransferFindings) -> str:
    """Return up to which size a copy mostly pays its fixed price: the finding of the chart of times."""
    leader = findings.headline
    if leader is None or leader.fit is None:
        return NOTHING_RAN
    latency_us, n_half = leader.fit.latency_us, leader.fit.n_half_bytes
    # Time = latency + bytes / rate holds.
    if latency_us is not None and n_half is not None:
        return f"Below {say_bytes(n_half)} a copy mostly pays its fixed price of {format_time(latency_us / 1e6)}"
    # It does not, or there are too few sizes.
    return "No fixed price of a copy can be told from these points"


def claim_break_even(found: BreakEven) -> str:
    """Return after how many products the copies are paid for, as a clause."""
    gpu, pays = mark("gpu", "the GPU"), term("break-even", "pays for its copies")
    match found.verdict:
        # One product saves more than its copies cost, whatever the bounds.
        case BreakEvenVerdict.AT_ONCE:
            return f"at {say_n(found.side)} {gpu} {pays} with the first product"
        # Several do.
        case BreakEvenVerdict.AFTER:
            return f"at {say_n(found.side)} {gpu} {pays} after {say_reuses(found)}"
        # The GPU is not the faster one.
        case _:
            return f"at {say_n(found.side)} {gpu} never {pays}, because its product is not the faster one"


def say_reuses(found: BreakEven) -> str:
    """Return the number of products as a whole one, with its bounds where they say another."""
    if found.reuses is None:
        return ""
    low, high = (_whole(bound) for bound in (found.reuses_low, found.reuses_high))
    wanted = _whole(found.reuses)
    bounds = "" if low == high else f" ({format_count(low)} to {format_count(high)})"
    return f"{count_of(wanted, 'product')}{bounds}"


def _whole(reuses: float | None) -> int:
    whole = int(reuses or 0)
    return max(1, whole if whole == reuses else whole + 1)


def claim_pieces(cost: PiecesCost) -> str:
    """Return what a total costs in small copies, as a clause."""
    kind = "within main memory" if cost.series == spec.MEMORY_COPY_PIECES else "to the GPU"
    what = f"{say_bytes(cost.total_bytes)} {kind} in pieces of {say_bytes(cost.piece_bytes)}"
    # The bounds leave no doubt that pieces take longer.
    if cost.low > NOTABLE_FACTOR:
        return f"{what} take {format_factor(cost.factor)} as long as at once"
    # Or that they take less.
    if cost.high < 1 / NOTABLE_FACTOR:
        return f"{what} take {format_significant(cost.factor, 2)} of the time that they take at once"
    # Neither.
    return f"{what} take as long as at once, as far as this run can tell"
