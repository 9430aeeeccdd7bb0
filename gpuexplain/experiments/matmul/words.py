"""What the matmul page says, from findings only: the answer, and why it is so."""

from gpuexplain.experiments.contract import Explanation
from gpuexplain.experiments.matmul.caveats import list_caveats
from gpuexplain.experiments.matmul.claims import (
    best_rate_flops,
    claim_pair,
    claim_speed,
    comparison_pair,
    fastest_elsewhere,
    headline_pair,
    headline_series,
    name_part,
    name_sides,
    say_share,
    speedup_of,
)
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding, SeriesFinding
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL
from gpuexplain.findings import (
    Crossover,
    CrossoverVerdict,
    LaunchFloor,
    MatmulPeak,
    NotFound,
    Plausibility,
)
from gpuexplain.model import Dtype, Source
from gpuexplain.units import format_factor, format_percent, format_rate_flops, format_time
from gpuexplain.wording.caveats import say_here
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import (
    say_about_n,
    say_between,
    say_interval,
    say_n,
)

# Under this a difference in rate is not worth a hint about the size.
NOTABLE_DECLINE_PCT = 10.0


def tell(findings: MatmulFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured here and nothing published is shown.
    if not findings.series:
        return Explanation(
            answer="Nothing is measured yet. Press Run: the first points appear within seconds.",
            see="",
            why=_why(findings),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(findings),
        see=_see(findings),
        why=_why(findings),
        so_what=_so_what(findings),
        caveats=list_caveats(findings),
    )


# -- the answer ---------------------------------------------------------------------------------


def tell_answer(findings: MatmulFindings) -> str:
    """Return the headline: one sentence with its number."""
    pair, fastest = headline_pair(findings), headline_series(findings)
    # Nothing was measured here: what is shown was measured by others, or elsewhere.
    if fastest is None and not any(s.is_measured for s in findings.series):
        return _answer_elsewhere(findings)
    # Every case failed, was skipped or had its speed withheld.
    if fastest is None:
        return "On this machine nothing could be measured that may be shown; the caveats say why."
    # CPU and GPU were both measured here: who wins, and from where.
    if pair is not None and pair.challenger.series not in (CPU, CPU_ONE_THREAD):
        cpu = findings.of(CPU)
        speed = f"; {claim_speed(cpu)}" if cpu is not None and best_rate_flops(cpu) else ""
        return f"{_here(findings)} {tell_crossover(pair)}{speed}."
    # A CPU alone, with one series or with two that can be compared.
    speed = claim_speed(fastest)
    if pair is not None and pair.crossover.verdict is not CrossoverVerdict.TOO_FEW_POINTS:
        return f"{_here(findings)} {speed}; {tell_crossover(pair)}."
    return f"{_here(findings)} {speed}."


def _here(findings: MatmulFindings) -> str:
    return say_here(any(series.is_provisional for series in findings.series if series.is_measured))


def _answer_elsewhere(findings: MatmulFindings) -> str:
    pair = headline_pair(findings)
    # A run of another machine that holds both sides of a comparison.
    if pair is not None and pair.crossover.verdict is not CrossoverVerdict.TOO_FEW_POINTS:
        return (
            f"In a {pair.baseline.source} run, not of this machine, {tell_crossover(pair)}; press Run to measure here."
        )
    series = fastest_elsewhere(findings) or findings.series[0]
    rate = best_rate_flops(series)
    # A published series whose speed is beyond the part's peak, or empty.
    if rate is None or series.peak.best_n is None:
        return f"A {_say_series(series)} of {name_part(series)}, not in this machine; press Run to measure here."
    return (
        f"A {series.source} {name_part(series)}, not in this machine, reaches {format_rate_flops(rate)} at "
        f"{say_n(series.peak.best_n)}; press Run to measure here."
    )


def _say_series(series: SeriesFinding) -> str:
    shown = f"{series.source} series"
    return term(shown) if series.source is Source.PUBLISHED else shown


def tell_crossover(pair: PairFinding) -> str:
    """Return who wins and from where, with the copies where they were measured."""
    crossover = pair.crossover
    clause = claim_pair(pair)
    # A change-over whose passage through 1 was located between the two sizes.
    if crossover.verdict is CrossoverVerdict.CROSSED and crossover.estimate:
        clause += f" ({say_about_n(crossover.estimate)}) and stay{_s(pair)} ahead at every larger size measured"
    # A change-over that is only known to lie below a size.
    elif crossover.verdict is CrossoverVerdict.CROSSED:
        clause += " among the sizes measured"
    including = crossover.with_transfer
    return clause if including is None else f"{clause}; {tell_with_transfer(including)}"


def _s(pair: PairFinding) -> str:
    return "" if pair.challenger.series == CPU and (pair.challenger.threads or 1) > 1 else "s"


def tell_with_transfer(crossover: Crossover) -> str:
    """Return how the answer changes when both copies count."""
    copies = mark("transfer", "with both copies")
    match crossover.verdict:
        # The GPU needs larger products to pay for the copies.
        case CrossoverVerdict.CROSSED if crossover.low and crossover.high and not crossover.low_is_tie:
            return f"{copies}, {say_between(crossover.low, crossover.high)}"
        # As above, but the size below was a tie.
        case CrossoverVerdict.CROSSED if crossover.high:
            return f"{copies}, from {say_n(crossover.high)} on"
        # Even the copies cost less than the CPU's time, everywhere.
        case CrossoverVerdict.GPU_ALWAYS:
            return f"{copies}, at every size measured too"
        # The copies cost more than the CPU needs, everywhere.
        case CrossoverVerdict.CPU_ALWAYS:
            return f"{copies}, at no size measured"
        # The copies eat the whole lead.
        case CrossoverVerdict.TIE | CrossoverVerdict.TIE_AT_END:
            return f"{copies} no lead is shown"
        # One common size or none.
        case CrossoverVerdict.TOO_FEW_POINTS:
            return f"{copies} too few sizes are measured"
        # Wins that come and go.
        case _:
            return f"{copies} no clear change-over"


# -- what you see -------------------------------------------------------------------------------


def _see(findings: MatmulFindings) -> str:
    parts = [_tell_best(series) for series in findings.series if series.is_measured and _leads(series, findings)]
    pair = headline_pair(findings)
    if pair is not None:
        parts.append(tell_speedup(pair))
    comparison = comparison_pair(findings)
    if comparison is not None:
        parts.append(tell_comparison(comparison))
    gpu = findings.of(GPU_CALL)
    if gpu is not None and gpu.is_measured:
        parts.append(tell_launch_floor(gpu.launch_floor))
    return "\n\n".join(part for part in parts if part)


def _leads(series: SeriesFinding, findings: MatmulFindings) -> bool:
    # One paragraph a device: its main series, or what there is without that.
    main = CPU if series.series in (CPU, CPU_ONE_THREAD) else GPU_CALL
    return series.series == main or findings.of(main) is None


def _tell_best(series: SeriesFinding) -> str:
    # Every series that has a trustworthy best.
    if best_rate_flops(series) is None:
        return ""
    reached = ""
    # The speed of nine tenths of the best is reached before the best.
    if series.peak.n_at_90pct is not None and series.peak.n_at_90pct != series.peak.best_n:
        reached = f", and nine tenths of that from {say_n(series.peak.n_at_90pct)}"
    # A series that stays below its best at the largest size.
    decline = ""
    if (series.peak.decline_pct or 0.0) >= NOTABLE_DECLINE_PCT:
        decline = f"; at {say_n(series.largest_n)} it is {series.peak.decline_pct:.0f} % below"
    return f"{capitalise(claim_speed(series))}{reached}{decline}.{tell_peak(series.peak)}"


def tell_peak(peak: MatmulPeak) -> str:
    """Return how the best rate compares with the reference, with a space in front; "" on a CPU."""
    share = say_share(peak.fraction_of_peak or 0)
    match peak.plausibility:
        # A known part within its data sheet.
        case Plausibility.OK:
            return f" That is {share} of the part's {term('peak')} on its data sheet."
        # A known part above the clock of its data sheet.
        case Plausibility.ABOVE_REFERENCE_CLOCK:
            return f" That is {share} of the data sheet's {term('peak')}: the card runs above its reference clock."
        # A part that the reference table does not hold.
        case Plausibility.UNKNOWN_GPU:
            return f" Its {term('peak')} is not in the reference table, so the share of it cannot be judged."
        # A CPU (no reference), or a withheld rate (a caveat says so).
        case _:
            return ""


def tell_speedup(pair: PairFinding) -> str:
    """Return the factor at the largest common size, the winner named."""
    found = speedup_of(pair.crossover)
    # No common size.
    if found is None:
        return ""
    factor, n = found
    crossover = pair.crossover
    loser, winner, is_plural = name_sides(pair)
    verb = "are" if is_plural else "is"
    interval = say_interval(factor, crossover.speedup_low, crossover.speedup_high)
    # The challenger leads at the largest size.
    if factor > crossover.win_above:
        return f"At {say_n(n)} {winner} {verb} **{format_factor(factor)} as fast** as {loser}{interval}."
    # The baseline leads there.
    if factor < crossover.lose_below:
        return f"At {say_n(n)} {loser} is **{format_factor(1 / factor)} as fast** as {winner}{interval}."
    # Neither leads.
    return f"At {say_n(n)} {winner} and {loser} take the same time within {format_percent(0.05)}."


def tell_comparison(pair: PairFinding) -> str:
    """Return the comparison with a part that is not in this machine."""
    opening = f"Compared with a {pair.challenger.source} {name_part(pair.challenger)}, not in this machine:"
    found = speedup_of(pair.crossover)
    # The two have no size in common.
    if found is None:
        return f"{opening} no size is in both series."
    factor, n = found
    rate = best_rate_flops(pair.challenger)
    speed = f", which reaches {format_rate_flops(rate)}" if rate else ""
    cpu = mark("cpu", "this CPU")
    # The published part leads at the largest common size.
    if factor > pair.crossover.win_above:
        return f"{opening} at {say_n(n)} {cpu} takes {format_factor(factor)} as long as that GPU{speed}."
    # This CPU leads there.
    if factor < pair.crossover.lose_below:
        return f"{opening} at {say_n(n)} that GPU takes {format_factor(1 / factor)} as long as {cpu}."
    # Neither leads.
    return f"{opening} at {say_n(n)} both take the same time within {format_percent(0.05)}."


def tell_launch_floor(floor: LaunchFloor | NotFound) -> str:
    """Return what a GPU call costs before it does anything."""
    # The small sizes take the same time although their work grows.
    if isinstance(floor, LaunchFloor):
        return (
            f"Up to {say_n(floor.up_to_x)} every GPU call takes about {format_time(floor.floor_s)}: the price of "
            f"sending work to it ({term('launch floor')}), not of doing it."
        )
    # No flat stretch was measured.
    return f"No {term('launch floor')} shows: {floor.reason}."


# -- why, and so what ---------------------------------------------------------------------------


def _why(findings: MatmulFindings) -> str:
    work = (
        f"A product of side n is n³ multiply-adds (2 n³ {term('FLOP/s', 'operations')}) that hardly depend on each "
        "other, so whoever does more of them at a time wins, once there is enough to do."
    )
    pair = headline_pair(findings)
    # A GPU is on the page, measured here or published.
    if findings.of(GPU_CALL) is not None:
        work += (
            f" A CPU does a few dozen at a time, a GPU thousands; but every GPU call has a fixed price "
            f"({term('launch overhead')}), and so has every copy over {term('PCIe')}."
        )
    # Two CPU series are on the page.
    if pair is not None and pair.challenger.series == CPU:
        work += (
            " Sharing one product among threads costs a little too: below the change-over, waking and waiting "
            "for the other threads takes longer than the work that they save."
        )
    return work + _why_dtype(findings.dtype)


def _why_dtype(dtype: Dtype | None) -> str:
    # 16-bit formats: whether they are faster depends on the units of the part.
    if dtype in (Dtype.BF16, Dtype.FP16):
        return (
            f" In {term(str(dtype))} a part is faster than in {term('fp32')} only where it has units for it "
            f"(such as {term('AMX')} on some CPUs); elsewhere the numbers are converted first."
        )
    # fp64: many parts are slow at it.
    if dtype is Dtype.FP64:
        return f" {term('fp64')} numbers are twice as wide as {term('fp32')}: half as many fit each unit."
    return ""


def _so_what(findings: MatmulFindings) -> str:
    pair = headline_pair(findings)
    # A GPU beside the CPU, both measured here.
    if pair is not None and pair.challenger.series not in (CPU, CPU_ONE_THREAD):
        return _so_what_gpu(pair.crossover)
    # Threads against one thread.
    if pair is not None and pair.crossover.verdict is CrossoverVerdict.CROSSED and pair.crossover.high:
        return (
            f"A product up to {say_n(pair.crossover.low or pair.crossover.high)} gains nothing from all threads: "
            "give it one, and the others other work. Put small matrices together into larger ones (a batch) where "
            "you can."
        )
    # Nothing to compare: the size at which this device is busy.
    fastest = headline_series(findings)
    if fastest is not None and fastest.peak.n_at_90pct is not None:
        return (
            f"Work in products of {say_n(fastest.peak.n_at_90pct)} or larger where you can: smaller ones did not "
            "reach nine tenths of the best speed."
        )
    return ""


def _so_what_gpu(crossover: Crossover) -> str:
    match crossover.verdict:
        # The GPU pays from a size on; keep the data there.
        case CrossoverVerdict.CROSSED if crossover.high:
            return (
                f"Leave products below {say_n(crossover.low or crossover.high)} on the CPU, or put many of them "
                "into one call. Keep data on the GPU between calls, so that the copies are paid once."
            )
        # The GPU pays everywhere.
        case CrossoverVerdict.GPU_ALWAYS:
            return "Use the GPU for every size measured, and keep data on it between calls."
        # The GPU pays nowhere.
        case CrossoverVerdict.CPU_ALWAYS:
            return "For one product at a time, in these sizes, the CPU is the right place."
        # No verdict.
        case _:
            return "Run Thorough, or larger sizes, before deciding: these points do not decide it."
