"""What does the clock show with the mistakes that a visitor has switched on?"""

from collections.abc import Collection
from dataclasses import dataclass

from gpuexplain.experiments.stopwatch.conclude import StopwatchFindings, Trap, Verdict
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way, ways_on
from gpuexplain.experiments.stopwatch.words import say_why
from gpuexplain.units import format_factor, format_percent, format_time
from gpuexplain.wording.markup import capitalise

# What is switched on when the page opens: every device has it.
AT_FIRST = COLD


@dataclass(frozen=True, slots=True)
class Shown:
    """One mistake that is switched on, in words: the wrong figure, the right one, the factor, the name."""

    mistake: str
    name: str
    wrong: str  # "9.00 ms"; empty where it was not measured
    right: str
    factor: str  # "9.00 × as much"
    is_off: bool  # whether the wrong figure is wrong beyond chance
    is_known: bool  # whether it can be told at all
    why: str


def mistakes_on(device: str, threads: int) -> tuple[str, ...]:
    """Return the mistakes that can be made on a device, in the order of the page."""
    possible = {COLD, *ways_on(device, threads)}
    return tuple(mistake for mistake in MISTAKES if mistake in possible)


def show_mistakes(findings: StopwatchFindings, chosen: Collection[str]) -> tuple[Shown, ...]:
    """Return the mistakes that are switched on, those that change the figure most first; () before a run."""
    if findings.right_s is None:
        return ()
    traps = [trap for trap in findings.traps if trap.id in chosen and trap.verdict is not Verdict.ABSENT]
    ordered = sorted(traps, key=lambda t: -max(t.factor or 1.0, 1 / (t.factor or 1.0)))
    return tuple(_shown(trap, findings.right_s) for trap in ordered)


def _shown(trap: Trap, right_s: float) -> Shown:
    mistake = MISTAKES[trap.id]
    wrong = format_time(trap.wrong_s) if trap.wrong_s else ""
    # A single call may show anything between its extremes.
    if trap.id == Way.SINGLE and wrong:
        wrong = f"{wrong} at worst"
    is_off = trap.verdict is Verdict.MISLEADS
    return Shown(
        trap.id, capitalise(mistake.name).replace("`", ""), wrong, format_time(right_s), _say_factor(trap), is_off,
        trap.verdict is not Verdict.CANNOT_TELL, _say_why(trap),
    )  # fmt: skip


def _say_factor(trap: Trap) -> str:
    # Nothing to compare.
    if trap.factor is None:
        return "no figure"
    # Beyond chance, too large.
    if trap.verdict is Verdict.MISLEADS and trap.factor >= 1:
        return f"{format_factor(trap.factor)} as much"
    # Beyond chance, too small.
    if trap.verdict is Verdict.MISLEADS:
        return f"{format_factor(1 / trap.factor)} too little"
    # Harmless, or too uncertain to call wrong.
    return f"{format_factor(trap.factor)} the right one"


def _say_why(trap: Trap) -> str:
    match trap.verdict:
        case Verdict.MISLEADS:
            return f"{capitalise(say_why(trap))}."
        # Within the bounds of a tie.
        case Verdict.HARMLESS if trap.id != Way.SINGLE:
            return f"Harmless here: within {format_percent(0.05, 1)} of the right figure."
        # Few single calls are far off.
        case Verdict.HARMLESS:
            return "Harmless here: hardly any single call is more than 10 % off."
        case _:
            return f"Cannot tell: {trap.reason}."


def tell_choice(findings: StopwatchFindings, chosen: Collection[str]) -> str:
    """Return the one sentence above the figures."""
    # No run yet.
    if findings.right_s is None:
        return "Press Run once: it times the product right and in every wrong way. Then switch mistakes on and off."
    shown = show_mistakes(findings, chosen)
    # Every switch is off.
    if not shown:
        return f"The clock is held right: it shows {format_time(findings.right_s)}. Switch a mistake on."
    off = [one for one in shown if one.is_off]
    right = format_time(findings.right_s)
    # What is on changes nothing, or nobody can tell.
    if not off and all(one.is_known for one in shown):
        return f"With {_name(shown)} the clock is as good as right: {right}."
    if not off:
        return f"Whether {_name(shown)} makes the clock wrong cannot be told from this run; right is {right}."
    worst = off[0]
    return (
        f"With {worst.name[0].lower()}{worst.name[1:]} the clock shows {worst.wrong} instead of {worst.right}: "
        f"{worst.factor}."
    )


def _name(shown: tuple[Shown, ...]) -> str:
    return "this" if len(shown) == 1 else "any of these"


def tell_together(chosen: Collection[str]) -> str:
    """Return what to know when more than one mistake is switched on; "" otherwise."""
    if len(chosen) < 2:
        return ""
    return "Each was measured by itself, in turns with the right way. Together they would show yet another figure."


def tell_absent(findings: StopwatchFindings) -> str:
    """Return which mistakes this device cannot make, and why; "" before a run."""
    absent = [t for t in findings.traps if t.verdict is Verdict.ABSENT]
    # A GPU lacks one, a CPU two or three.
    told = "; ".join(f"{MISTAKES[t.id].name} ({t.reason})" for t in absent)
    return f"Not possible here: {told}." if told and findings.right_s is not None else ""
