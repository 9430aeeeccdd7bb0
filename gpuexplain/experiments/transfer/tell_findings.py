"""One sentence or two for each finding of the transfer page; "" where there is nothing to say."""

from gpuexplain.experiments.transfer.borrowed import BorrowedCopy
from gpuexplain.experiments.transfer.claims import (
    NOTABLE_FACTOR,
    claim_break_even,
    claim_pieces,
    name_series,
)
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.findings import (
    BreakEven,
    CopyRatio,
    Crossover,
    CrossoverVerdict,
    FitInterval,
    FitStatus,
    LinkShare,
    NHalfStatus,
    NotFound,
    Overlap,
    PiecesCost,
    TransferFit,
)
from gpuexplain.units import format_bandwidth, format_factor, format_percent, format_plus_minus, format_time
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import say_interval, say_n

# Shares of a copy that are told as "nearly all" and "hardly any of it".
NEARLY_ALL = 0.8
HARDLY_ANY = 0.2


def tell_fit(series: SeriesFinding) -> str:
    """Return the fit of a series: rate, latency and n-half, each with how sure it is."""
    fit = series.fit
    if fit is None or fit.plateau_gbps is None:
        return ""
    return " ".join(part for part in (_say_plateau(series, fit), _say_line(series, fit), _say_saturation(fit)) if part)


def _say_plateau(series: SeriesFinding, fit: TransferFit) -> str:
    rate = (fit.plateau_gbps or 0.0) * 1e9
    sure = say_interval(fit.plateau_gbps, series.plateau_low_gbps, series.plateau_high_gbps)
    opening = f"{capitalise(name_series(series.series))} reaches **{format_bandwidth(rate)}**{sure}"
    half = f"{say_bytes(fit.first_at_half_bytes)}" if fit.first_at_half_bytes is not None else ""
    match fit.n_half_status:
        # The first size with half of the rate lies inside the measured range.
        case NHalfStatus.LOCATED:
            return f"{opening}, and half of that from {half} a copy on."
        # Even the smallest copy reaches half.
        case NHalfStatus.BELOW_RANGE:
            return f"{opening}; the smallest copy, {half}, already reaches half of that."
        # One size or two.
        case _:
            return f"{opening}. Too few sizes to show a curve."


def _say_line(series: SeriesFinding, fit: TransferFit) -> str:
    match fit.fit_status:
        # Latency and rate describe every size.
        case FitStatus.OK if fit.latency_us is not None and fit.n_half_bytes is not None:
            return (
                f"The times follow a line: {format_time(fit.latency_us / 1e6)} at once{_say_latency_bounds(series)}, "
                f"then {format_bandwidth((fit.fit_gbps or 0.0) * 1e9)}; both cost the same at "
                f"{say_bytes(fit.n_half_bytes)} ({term('n-half')})."
            )
        # Caches, threads that join in, or two regimes.
        case FitStatus.NOT_AFFINE:
            return (
                f"No single {term('latency')} and rate describe every size: caches, threads that join in or a change "
                "of method bend the curve, so no line is drawn."
            )
        # Under three sizes.
        case _:
            return ""


def _say_latency_bounds(series: SeriesFinding) -> str:
    found = series.interval
    # Too few sizes, or sizes that do not tell.
    if not isinstance(found, FitInterval):
        return ""
    low, high = format_time(found.latency_low_us / 1e6), format_time(found.latency_high_us / 1e6)
    return f" ({low} to {high})" if low != high else ""


def _say_saturation(fit: TransferFit) -> str:
    # The last doubling still gained more than 5 %.
    if not fit.saturated and fit.n_half_status is not NHalfStatus.TOO_FEW_POINTS:
        return "The largest copy was still gaining, so take rate and half as lower bounds."
    return ""


def tell_link(link: LinkShare | NotFound) -> str:
    """Return how much of the link the copies reach."""
    # Generation or width unknown, or nothing pinned.
    if isinstance(link, NotFound):
        return f"How much of its link that is cannot be judged: {link.reason}."
    on_paper = f"{link.link} carries {format_bandwidth(link.theoretical_gbps * 1e9)} each way on paper"
    # More than the link can carry: a caveat says so.
    if not link.is_fact:
        return ""
    # Others measured this link.
    if link.of_typical is not None and link.typical_gbps is not None:
        return (
            f"{on_paper}, of which this is {format_percent(link.of_theoretical)}; others typically measure "
            f"{format_bandwidth(link.typical_gbps * 1e9)}, of which it is {format_percent(link.of_typical, 3)}."
        )
    # Nobody's measurement is known.
    return f"{on_paper}, of which this is {format_percent(link.of_theoretical)}."


def tell_pinned(found: Crossover | NotFound) -> str:
    """Return from which size on pinned memory is faster than pageable memory."""
    if isinstance(found, NotFound):
        return ""
    pinned, pageable = mark("transfer", "pinned memory"), mark("transfer", "pageable memory")
    match found.verdict:
        # Both a pageable win and a pinned win were measured, one after the other.
        case CrossoverVerdict.CROSSED if found.low is not None and found.high is not None and not found.low_is_tie:
            between = f"{say_bytes(found.low)} and {say_bytes(found.high)}"
            claim = f"Between {between} {pinned} overtakes {pageable} and stays ahead at every larger size measured"
        # Below the change no difference could be shown.
        case CrossoverVerdict.CROSSED if found.high is not None:
            claim = f"From {say_bytes(found.high)} on {pinned} beats {pageable}"
        # Pinned wins everywhere.
        case CrossoverVerdict.GPU_ALWAYS:
            claim = f"{capitalise(pinned)} beats {pageable} at every size measured"
        # Pageable wins everywhere.
        case CrossoverVerdict.CPU_ALWAYS:
            return f"{capitalise(pinned)} beats {pageable} at no size measured."
        # No difference, or none at the end.
        case CrossoverVerdict.TIE | CrossoverVerdict.TIE_AT_END:
            return f"No lead of {pinned} over {pageable} is shown."
        # One common size.
        case CrossoverVerdict.TOO_FEW_POINTS:
            return f"Too few sizes were copied from both {pinned} and {pageable} to compare them."
        # Wins that come and go.
        case _:
            return f"{capitalise(pinned)} beats {pageable} at some sizes, with no clear change-over."
    return f"{claim}{_say_lead(found)}."


def _say_lead(found: Crossover) -> str:
    # How much faster at the largest common size.
    if found.speedup is not None and found.speedup_n is not None and found.speedup > found.win_above:
        return f": {format_factor(found.speedup)} as fast at {say_bytes(found.speedup_n)}"
    return ""


def tell_pin_then_copy(ratio: CopyRatio | NotFound) -> str:
    """Return what pinning first costs beside copying from pageable memory."""
    if isinstance(ratio, NotFound):
        return ""
    first = mark("overhead", "Pinning first")
    size, pageable = say_bytes(ratio.bytes), mark("transfer", "pageable memory")
    # The bounds leave no doubt that it takes longer.
    if ratio.low > NOTABLE_FACTOR:
        return f"{first}, then copying, takes {format_factor(ratio.factor)} as long as {pageable} at {size}."
    # Or that it is faster.
    if ratio.high < 1 / NOTABLE_FACTOR:
        return f"{first}, then copying, is {format_factor(1 / ratio.factor)} as fast as {pageable} at {size}."
    # Neither.
    return f"{first}, then copying, takes as long as {pageable} at {size}, as far as this run can tell."


def tell_overlap(found: Overlap | NotFound) -> str:
    """Return how much of a copy hides behind computing on another stream."""
    # Not measured, or too noisy.
    if isinstance(found, NotFound):
        return f"Whether a copy hides behind computing cannot be told: {found.reason}."
    size = say_bytes(found.bytes)
    share = f"{format_percent(found.hidden_share)}{_say_share_bounds(found)}"
    # Nearly the whole copy hides.
    if found.hidden_low >= NEARLY_ALL:
        return f"Beside products on another stream nearly all of a copy of {size} hides: {share}."
    # Next to nothing hides.
    if found.hidden_high <= HARDLY_ANY:
        return f"Beside products on another stream hardly any of a copy of {size} hides: {share}."
    # Something between.
    return f"Beside products on another stream {share} of a copy of {size} hides."


def _say_share_bounds(found: Overlap) -> str:
    low, high = format_percent(found.hidden_low), format_percent(found.hidden_high)
    return f" ({low} to {high})" if low != high else ""


def tell_pieces(cost: PiecesCost | NotFound) -> str:
    """Return what a total costs in many small copies."""
    # Not measured, or too noisy.
    if isinstance(cost, NotFound):
        return f"What many small copies cost cannot be told: {cost.reason}."
    enough = ""
    # Larger pieces get near to one copy.
    if cost.enough_bytes < cost.total_bytes and cost.low > NOTABLE_FACTOR:
        enough = f"; from {say_bytes(cost.enough_bytes)} a piece on they cost at most a tenth more"
    return f"{capitalise(claim_pieces(cost))}{_say_factor_bounds(cost)}{enough}."


def _say_factor_bounds(cost: PiecesCost) -> str:
    return f" ({format_plus_minus((cost.high - cost.low) / 2 / cost.factor)})" if cost.low > NOTABLE_FACTOR else ""


def tell_break_even(found: BreakEven | NotFound) -> str:
    """Return after how many products on the GPU the copies are paid for, with the three times."""
    # A time is missing, or the products cannot be told apart.
    if isinstance(found, NotFound):
        return f"After how many uses the copies are paid for cannot be told: {found.reason}."
    times = (
        f"copying takes {format_time(found.copy_s)}, a product {format_time(found.cpu_s)} on "
        f"{mark('cpu', 'the CPU')} and {format_time(found.gpu_s)} on {mark('gpu', 'the GPU')}"
    )
    return f"{capitalise(claim_break_even(found))}: {times}."


def tell_threads(found: Crossover | NotFound) -> str:
    """Return from which size on all threads copy faster within main memory than one."""
    if isinstance(found, NotFound):
        return ""
    cpu = mark("cpu", "all threads")
    match found.verdict:
        # The change lies between two sizes that were measured.
        case CrossoverVerdict.CROSSED if found.high is not None:
            return f"From {say_bytes(found.high)} on {cpu} copy faster than one{_say_lead(found)}."
        # All threads are faster everywhere.
        case CrossoverVerdict.GPU_ALWAYS:
            return f"{capitalise(cpu)} copy faster than one at every size measured{_say_lead(found)}."
        # Nowhere.
        case CrossoverVerdict.CPU_ALWAYS | CrossoverVerdict.TIE | CrossoverVerdict.TIE_AT_END:
            return f"{capitalise(cpu)} show no lead over one: one thread already takes what main memory gives."
        # Too few sizes, or wins that come and go.
        case _:
            return f"Whether {cpu} copy faster than one cannot be told from these sizes."


def tell_fresh(ratio: CopyRatio | NotFound) -> str:
    """Return what copying into new memory costs: the counterpart of pinning, without a GPU."""
    # Not measured, or too noisy.
    if isinstance(ratio, NotFound):
        return f"What new memory costs cannot be told: {ratio.reason}."
    new, size = mark("overhead", "memory that no program has touched yet"), say_bytes(ratio.bytes)
    # The bounds leave no doubt that it takes longer.
    if ratio.low > NOTABLE_FACTOR:
        return (
            f"Into {new} a copy of {size} takes {format_factor(ratio.factor)} as long: the kernel hands out every page "
            f"at its first touch ({term('page fault')})."
        )
    # No difference.
    return f"Into {new} a copy of {size} takes as long as into used memory, as far as this run can tell."


def tell_borrowed(found: BorrowedCopy | NotFound) -> str:
    """Return what the copies of this CPU's product would cost over a published link: computed, not measured."""
    # No published series stands beside the result, or no product was measured.
    if isinstance(found, NotFound):
        return ""
    beyond = ""
    # The operands are larger than any copy of the published series.
    if found.beyond_bytes is not None:
        beyond = f" The published sizes end at {say_bytes(found.beyond_bytes)}: this is their line, drawn on."
    link = mark("transfer", f"a published {found.part}")
    return (
        f"Computed, not measured: over the link of {link}, from {found.memory} memory, the copies of a product of "
        f"{say_n(found.side)} ({say_bytes(found.bytes)}) would take {format_time(found.copy_s)}, "
        f"{format_percent(found.share)} of the {format_time(found.cpu_s)} that {mark('cpu', 'this CPU')} takes for the "
        f"product: {_say_borrowed_break_even(found)}.{beyond}"
    )


def _say_borrowed_break_even(found: BorrowedCopy) -> str:
    # A GPU that multiplies in no time still has to be sent the data.
    if found.share >= 1:
        return f"even a GPU that multiplied in no time would need {int(found.share) + 1} of them to pay for one trip"
    return "a GPU that saves more than that pays for the trip with the first product"
