"""What the stopwatch page says, from findings only."""

from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.stopwatch.conclude import StopwatchFindings, Trap, Verdict
from gpuexplain.experiments.stopwatch.series import entity_of
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way
from gpuexplain.units import format_factor, format_percent, format_significant, format_time
from gpuexplain.wording.caveats import say_here, tell_flag
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import join_words, say_interval, say_n

NOTHING_YET = "Nothing is measured yet"
SOURCES = (
    "Sources: PyTorch documentation, CUDA semantics (asynchronous execution) and torch.utils.benchmark (one thread "
    "unless told otherwise); Horace He, “Strangely, Matrix Multiplications on GPUs Run Faster When Given ‘Predictable’ "
    "Data”, thonking.ai, 2024 (constants as input)."
)


def tell(findings: StopwatchFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if findings.n is None:
        return Explanation(
            answer="Nothing is measured yet. Press Run: the same product is timed right, and in every wrong way.",
            see="",
            why=_why(findings),
            so_what="",
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join(text for text in (_tell_right(findings), *map(tell_trap, _in_order(findings))) if text),
        why=_why(findings),
        so_what=_so_what(),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: StopwatchFindings) -> str:
    """Return the headline."""
    where = _where(findings)
    # Every call failed, or all points were suspect.
    if findings.right_s is None or findings.n is None:
        return f"{where} the right figure could not be measured; the points say why."
    worst = findings.worst
    # Every mistake is uncertain: too few samples, or too busy a machine.
    if worst is None and _is_undecided(findings):
        return f"{where} it cannot be told yet which mistake moves the figure at {say_n(findings.n)}."
    # No mistake moves the figure beyond chance.
    if worst is None or worst.factor is None or worst.wrong_s is None:
        return f"{where} no mistake moves the figure beyond chance at {say_n(findings.n)}."
    return (
        f"{where} the worst trap at {say_n(findings.n)} is {MISTAKES[worst.id].name}: the clock then shows "
        f"{format_time(worst.wrong_s)} where the product takes {format_time(findings.right_s)}, {_say_off(worst)}."
    )


def _is_undecided(findings: StopwatchFindings) -> bool:
    return not any(t.verdict in (Verdict.MISLEADS, Verdict.HARMLESS) for t in findings.traps)


def _where(findings: StopwatchFindings) -> str:
    # Recorded elsewhere, or from a file.
    if not findings.is_measured:
        return f"In a {findings.source} run of {findings.device_name or 'another machine'},"
    return say_here(findings.is_provisional)


def _say_off(trap: Trap) -> str:
    factor = trap.factor or 1.0
    # The wrong figure is larger than the right one.
    if factor >= 1:
        return f"{format_factor(factor)} as much"
    # The wrong figure is smaller: the computer looks faster than it is.
    return f"{format_factor(1 / factor)} too little"


def _tell_right(findings: StopwatchFindings) -> str:
    if findings.right_s is None or findings.n is None:
        return ""
    name = mark(entity_of(findings.device), "the CPU" if findings.device == CPU else "the GPU")
    interval = say_interval(findings.right_s, findings.right_low_s, findings.right_high_s)
    return f"Held right, the clock shows **{format_time(findings.right_s)}**{interval} for one product on {name}."


def _in_order(findings: StopwatchFindings) -> list[Trap]:
    order = list(Verdict)
    return sorted(findings.traps, key=lambda trap: order.index(trap.verdict))


def tell_trap(trap: Trap) -> str:
    """Return what one mistake does here."""
    mistake = MISTAKES[trap.id]
    name = capitalise(mistake.name)
    match trap.verdict:
        # Single calls: what one of them may show.
        case Verdict.MISLEADS | Verdict.HARMLESS if trap.id == Way.SINGLE and trap.factor_low and trap.factor_high:
            spread = f"{format_significant(trap.factor_low, 2)} to {format_factor(trap.factor_high)}"
            return f"**{name}**: nine in ten single calls show {spread} the right figure; {mistake.why}."
        # The figure is off by more than chance.
        case Verdict.MISLEADS if trap.wrong_s is not None:
            return f"**{name}**: {format_time(trap.wrong_s)}, {_say_off(trap)}; {say_why(trap)}."
        # The figure is the same within the bounds of a tie.
        case Verdict.HARMLESS:
            return f"**{name}**: harmless here, within {format_percent(0.05, 1)} of the right figure."
        # The device has no such mistake to make.
        case Verdict.ABSENT:
            return f"**{name}**: does not exist here, {trap.reason}."
        # Too few samples, too wide intervals, or the case failed.
        case _:
            return f"**{name}**: cannot tell, {trap.reason}."


def say_why(trap: Trap) -> str:
    """Return why a figure is wrong, by the side on which it is."""
    mistake = MISTAKES[trap.id]
    return mistake.why_less if mistake.why_less and (trap.factor or 1.0) < 1 else mistake.why


def _why(findings: StopwatchFindings) -> str:
    text = (
        f"A clock around a call measures what the program waits for. On a GPU a call returns as soon as the work is "
        f"queued, so without waiting for the device ({term('synchronise')}) it measures the queueing. The first call "
        f"({term('cold call')}) pays for things that no later call pays for, and any single call may meet whatever "
        "else the computer does."
    )
    # A CPU has no queue to be fooled by.
    if findings.device == CPU:
        text += (
            " On a CPU the call returns when the work is done; what is left are warm-up, chance, caches and threads."
        )
    return f"{text}\n\n{SOURCES}"


def _so_what() -> str:
    return (
        "Warm up, wait for the device before both readings, take many samples, report the median with its interval, "
        "and say what was inside the clock: copies, threads, caches. Every page here measures so."
    )


def _caveats(findings: StopwatchFindings) -> list[str]:
    who = "the ways to hold the clock"
    found = [tell_flag(who, flag, count) for flag, count in findings.flagged]
    # The lanes come from a profiler, which takes time itself.
    if findings.lanes:
        found.append(
            "The lanes come from torch's profiler, which slows short calls: read their order, not their length."
        )
    return [text for text in found if text]


# -- the charts' titles and text alternatives -----------------------------------------------------


def claim_main(findings: StopwatchFindings) -> str:
    """Return the finding of the main chart."""
    if findings.n is None:
        return NOTHING_YET
    # On a GPU the lanes show the host ahead of the device.
    if any(not event.waits for event in findings.lanes):
        return "Without a wait the clock stops long before the work is done"
    # On a CPU the call holds the work, and the mistakes are in the lower part.
    worst = findings.worst
    if worst is None and _is_undecided(findings):
        return "Which mistake misleads cannot be told yet"
    return f"{capitalise(MISTAKES[worst.id].name)} misleads most" if worst else "No mistake misleads beyond chance here"


def claim_second(findings: StopwatchFindings) -> str:
    """Return the finding of the chart of samples."""
    cold = findings.of(COLD)
    if findings.n is None or cold is None:
        return NOTHING_YET
    # The first call stands out.
    if cold.verdict is Verdict.MISLEADS and cold.factor and cold.factor > 1:
        return f"The first call takes {format_factor(cold.factor)} as long as a warm one"
    # Its distance from the others is within their spread.
    if cold.verdict is Verdict.CANNOT_TELL:
        return "Whether the first call stands out cannot be told yet"
    return "The first call does not stand out here"


def describe_main(findings: StopwatchFindings) -> str:
    """Return the text alternative of the main chart."""
    if findings.right_s is None:
        return f"{claim_main(findings)}: no figure can be drawn."
    shown = [
        f"{MISTAKES[t.id].name.replace('`', '')} {format_factor(t.factor)}"
        for t in findings.traps
        if t.factor and t.verdict in (Verdict.MISLEADS, Verdict.HARMLESS, Verdict.CANNOT_TELL)
    ]
    return f"What each mistake shows, as a multiple of the right figure: {join_words(shown) or 'nothing yet'}."


def describe_second(findings: StopwatchFindings) -> str:
    """Return the text alternative of the chart of samples."""
    return f"Every call of the right way in order: cold call, warm-up, samples. {claim_second(findings)}."


def find_headline(findings: StopwatchFindings) -> Headline | None:
    """Return the worst trap's factor; None while there is none."""
    worst = findings.worst
    if worst is None or not worst.factor:
        return None
    off = max(worst.factor, 1 / worst.factor)
    return Headline("Worst wrong figure", f"{format_factor(off)} off", detail=MISTAKES[worst.id].name.replace("`", ""))
