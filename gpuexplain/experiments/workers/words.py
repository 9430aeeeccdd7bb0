"""What the page of many workers says, from findings only."""

from gpuexplain.analysis.scaling import SerialShare, Speedup
from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.workers.conclude import (
    Divergence,
    Staircase,
    ValuesAtOnce,
    Verdict,
    WorkersFindings,
)
from gpuexplain.experiments.workers.series import SUM_NAMES
from gpuexplain.experiments.workers.spec import N_NUMBERS, SUM_LOOP
from gpuexplain.findings import NotFound
from gpuexplain.units import (
    format_count,
    format_factor,
    format_percent,
    format_rate_flops,
    format_significant,
    format_time,
)
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import join_words, say_n, say_number

NOTHING_YET = "Nothing is measured yet"
SOURCES = (
    "Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1 (vector registers); NVIDIA, CUDA "
    "C++ Programming Guide, Hardware Implementation (blocks, multiprocessors, paths that part)."
)


def tell(findings: WorkersFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if not findings.speedups and not findings.sums:
        return Explanation(
            answer="Nothing is measured yet. Press Run: one product is shared by one thread, two, and more.",
            see="",
            why=_why(),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join(text for text in _see(findings) if text),
        why=_why(),
        so_what=_so_what(findings),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: WorkersFindings) -> str:
    """Return the headline: the speed-up of all threads, and how many values the cores really work on."""
    where = say_here(findings.is_provisional) if findings.is_measured else f"In a {findings.source} run,"
    most, at_once = findings.most, findings.at_once
    parts = []
    # More than one thread was measured.
    if most is not None:
        parts.append(f"{_threads(most.workers)} do one product {format_factor(most.factor)} as fast as one")
    # The rate proves more than one value a core and clock.
    if isinstance(at_once, ValuesAtOnce) and at_once.verdict is Verdict.NOT_HELD:
        parts.append(f"each clock does at least {_at_least(at_once)} multiply-adds, not {format_count(at_once.cores)}")
    # One thread, and a rate that proves nothing.
    if not parts:
        return f"{where} there is one thread to work with; its page shows what one core does."
    return f"{where} {'; '.join(parts)}."


def _threads(count: int) -> str:
    return mark("cpu", f"{say_number(count)} threads")


def _at_least(at_once: ValuesAtOnce) -> str:
    return format_significant(at_once.at_least, 2)


def _see(findings: WorkersFindings) -> list[str]:
    return [
        _tell_speedup(findings),
        tell_serial(findings.serial),
        tell_at_once(findings.at_once),
        _tell_sums(findings),
        tell_staircase(findings.staircase) if findings.staircase else _tell_no_gpu(findings),
        tell_divergence(findings.divergence) if findings.divergence else "",
    ]


def _tell_speedup(findings: WorkersFindings) -> str:
    most = findings.most
    # One thread only.
    if most is None or findings.side is None:
        return ""
    return (
        f"At {say_n(findings.side)} {_threads(most.workers)} reach {format_factor(most.factor)}{_bounds(most)}, "
        f"{format_percent(most.efficiency)} of the ideal {format_count(most.workers)} ×."
    )


def _bounds(speedup: Speedup) -> str:
    if speedup.low is None or speedup.high is None:
        return ""
    return f" ({format_significant(speedup.low)} to {format_significant(speedup.high)})"


def tell_serial(serial: SerialShare | NotFound) -> str:
    """Return what limits more threads, or why that cannot be said."""
    # Amdahl's law fits four counts or more.
    if isinstance(serial, SerialShare):
        limit = f", so no number of threads gets beyond {format_factor(serial.limit)}" if serial.limit else ""
        return f"{format_percent(serial.share)} of the work stays serial ({term('Amdahl')}'s law){limit}."
    return f"How much of the work stays serial cannot be said: {serial.reason}."


def tell_at_once(at_once: ValuesAtOnce | NotFound) -> str:
    """Return whether a core does one value at a time."""
    # No product was timed.
    if isinstance(at_once, NotFound):
        return ""
    cores = "one core" if at_once.cores == 1 else f"{format_count(at_once.cores)} cores"
    claim = f"“A CPU with {cores} computes at most {format_count(at_once.cores)} values at once”"
    # The rate needs more values a clock than there are cores, even at a clock that few CPUs reach.
    if at_once.verdict is Verdict.NOT_HELD:
        each = f", {format_significant(at_once.at_least / at_once.cores, 2)} a core" if at_once.cores > 1 else ""
        return (
            f"{claim} does not hold here: {format_rate_flops(at_once.rate_flops)} are at least "
            f"**{_at_least(at_once)} multiply-adds a clock**{each}, even at {at_once.clock_source}. "
            f"{capitalise(term('vector unit', 'vector units'))} do many at a time: their width times the cores counts."
        )
    # Even at a clock below that of any CPU at work, the rate needs no more than one value a core.
    if at_once.verdict is Verdict.HELD:
        return (
            f"{claim} holds here: {format_rate_flops(at_once.rate_flops)} need at most "
            f"{format_significant(at_once.at_most, 2)} multiply-adds a clock, even at "
            f"{format_significant(at_once.slowest_clock_hz / 1e6)} MHz: these cores use no vector units."
        )
    # The rate would fit one value a core and clock.
    return f"{claim} cannot be refuted here: the product was too slow to tell."


def _tell_sums(findings: WorkersFindings) -> str:
    others = [way for way in findings.sums if way.series != SUM_LOOP]
    loop = next((way for way in findings.sums if way.series == SUM_LOOP), None)
    # Only some of the ways were timed.
    if loop is None or not others:
        return ""
    told = [f"{SUM_NAMES[way.series]} {format_factor(way.factor)}" for way in others]
    return (
        f"Adding {format_count(N_NUMBERS)} numbers takes a Python loop {format_time(loop.time_s)}; as fast as that are "
        f"{join_words(told)}. Against a loop anything looks fast: the share of the core's own speed is what counts."
    )


def _tell_no_gpu(findings: WorkersFindings) -> str:
    # The run had no GPU, or was asked to stay on the CPU.
    if findings.divergence is not None:
        return ""
    return (
        f"The rounds of a GPU's {term('multiprocessor', 'multiprocessors')} and the cost of {term('divergence')} were "
        "not part of this run: they need a GPU."
    )


def tell_staircase(staircase: Staircase) -> str:
    """Return whether blocks are handed to the multiprocessors in rounds."""
    multi = term("multiprocessor", "multiprocessors")
    match staircase.verdict:
        # Flat inside a round, higher in the next.
        case Verdict.HELD:
            times = join_words([format_time(time_s) for time_s in staircase.round_s])
            return (
                f"Equal blocks take {times} for one round of {format_count(staircase.multiprocessors)} {multi} after "
                "the other: one block too many costs a whole round."
            )
        # No steps where the claim wants them.
        case Verdict.NOT_HELD:
            return (
                f"No staircase at multiples of {format_count(staircase.multiprocessors)} {multi}: {staircase.reason}."
            )
        # Not measured, or too little of it.
        case _:
            return f"Whether blocks are done in rounds of the {multi} cannot be said: {staircase.reason}"


def tell_divergence(divergence: Divergence) -> str:
    """Return what it costs when neighbouring GPU threads take different paths."""
    paths = term("divergence", "paths that part")
    match divergence.verdict:
        # Parted paths are slower for the same work.
        case Verdict.HELD if divergence.factor:
            return f"The same work takes {format_factor(divergence.factor)} as long with {paths} between neighbours."
        # They are not.
        case Verdict.NOT_HELD:
            return f"On this GPU {paths} between neighbours cost nothing that can be measured."
        # Not measured, or too wide.
        case _:
            return f"What {paths} cost cannot be said: {divergence.reason}"


def _why() -> str:
    return (
        "A product is many multiply-adds that do not wait for each other, so they can be shared out: to the lanes of a "
        f"{term('vector unit')}, to the cores of a CPU, to the {term('multiprocessor', 'multiprocessors')} of a GPU. "
        "Each level multiplies the workers. What cannot be shared out (starting, waiting for each other, one memory "
        "for all) is done once however many there are, and limits them all."
        f"\n\n{SOURCES}"
    )


def _so_what(findings: WorkersFindings) -> str:
    # The threads reach most of the ideal.
    if findings.most is not None and findings.most.efficiency >= 0.75:
        return "Give large products all threads; and let a library do the loop, never Python."
    # They do not.
    if findings.most is not None:
        return (
            "More threads are not free: below this size, or beside other work, fewer of them may do more. "
            "Let a library do the loop, never Python."
        )
    return "Let a library do the loop, never Python."


def _caveats(findings: WorkersFindings) -> list[str]:
    found = [tell_flag("these workers", flag, count) for flag, count in findings.flagged]
    for series, status, reason in findings.failed:
        found.append(tell_failed(series.replace("_", " "), "its size", [(0.0, status, reason)]))
    return [text for text in dict.fromkeys(found) if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: WorkersFindings) -> str:
    """Return the finding of the chart of speed-ups."""
    most = findings.most
    # One thread, or nothing.
    if most is None:
        return "One thread is all there is" if findings.speedups else NOTHING_YET
    return f"{capitalise(_threads(most.workers))} reach {format_percent(most.efficiency)} of the ideal speed-up"


def claim_second(findings: WorkersFindings) -> str:
    """Return the finding of the second chart: the GPU's staircase, else the sum in four ways."""
    # A GPU's blocks were timed.
    if findings.staircase is not None and findings.staircase.verdict is Verdict.HELD:
        return "One block too many costs a whole round"
    if findings.staircase is not None and findings.staircase.round_s:
        return "No staircase shows at multiples of the multiprocessors"
    best = max(findings.sums, key=lambda way: way.factor, default=None)
    # The loop is not the fastest.
    if best is not None and best.series != SUM_LOOP:
        return f"{SUM_NAMES[best.series]} adds {format_factor(best.factor)} as fast as a Python loop"
    return NOTHING_YET


def describe_main(findings: WorkersFindings) -> str:
    """Return the text alternative of the chart of speed-ups."""
    told = [f"{s.workers} {format_factor(s.factor)}" for s in findings.speedups]
    return f"Speed-up over one thread by number of threads: {join_words(told) or NOTHING_YET.lower()}."


def describe_second(findings: WorkersFindings) -> str:
    """Return the text alternative of the second chart."""
    if findings.staircase is not None and findings.staircase.round_s:
        told = [format_time(time_s) for time_s in findings.staircase.round_s]
        return f"Time of equal blocks on the GPU, by round of its multiprocessors: {join_words(told)}."
    told = [f"{SUM_NAMES[way.series]} {format_time(way.time_s)}" for way in findings.sums]
    return f"Time to add {format_count(N_NUMBERS)} numbers: {join_words(told) or NOTHING_YET.lower()}."


def find_headline(findings: WorkersFindings) -> Headline | None:
    """Return the speed-up of all threads; None with one thread."""
    most = findings.most
    if most is None:
        return None
    bounds = _bounds(most).strip(" ()")
    return Headline("All threads over one", format_factor(most.factor), bounds, f"{most.workers} threads")
