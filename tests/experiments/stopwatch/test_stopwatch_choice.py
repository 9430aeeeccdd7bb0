"""What the clock shows with the mistakes that are switched on."""

import pytest
from stopwatch_made import cpu_points, gpu_points

from gpuexplain.experiments.stopwatch.choice import (
    Shown,
    mistakes_on,
    show_mistakes,
    tell_absent,
    tell_choice,
    tell_together,
)
from gpuexplain.experiments.stopwatch.conclude import find_stopwatch_findings
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way
from gpuexplain.units import NBSP

SLOW_THREAD = {Way.ONE_THREAD: {"median_s": 2e-3}}
CPU = find_stopwatch_findings(cpu_points(**SLOW_THREAD, **{Way.RIGHT: {"first_call_s": 9e-3}}))
GPU = find_stopwatch_findings(gpu_points())
WIDE = find_stopwatch_findings(cpu_points(**{Way.ITEM: {"ci_low_s": 0.5e-3, "ci_high_s": 2e-3}}))
NOTHING = find_stopwatch_findings([])


def bare(text: str) -> str:
    return text.replace(NBSP, " ")


def test_only_the_mistakes_of_the_device_have_a_switch() -> None:
    """A CPU has no queue and no copies; a GPU no threads; one CPU thread cannot be too few."""
    assert set(MISTAKES) - set(mistakes_on("cpu", 2)) == {Way.NO_SYNC, Way.COPIES}
    assert set(MISTAKES) - set(mistakes_on("cpu", 1)) == {Way.NO_SYNC, Way.COPIES, Way.ONE_THREAD}
    assert set(MISTAKES) - set(mistakes_on("cuda:0", 2)) == {Way.ONE_THREAD}


def test_each_switch_shows_its_figure_the_right_one_and_the_factor() -> None:
    """The worst first."""
    first, second = show_mistakes(CPU, [Way.ONE_THREAD, COLD])
    assert (first.name, bare(first.wrong), bare(first.right), bare(first.factor), first.is_off) == (
        "No warm-up", "9.00 ms", "1.00 ms", "9.00 × as much", True,
    )  # fmt: skip
    assert (second.name, bare(second.wrong), bare(second.factor)) == ("One CPU thread", "2.00 ms", "2.00 × as much")
    assert first.why == "The first call also loads libraries, picks a kernel and touches fresh memory."


def test_a_figure_that_is_too_small_is_called_so() -> None:
    """Without a wait the clock shows the queueing."""
    (found,) = show_mistakes(GPU, [Way.NO_SYNC])
    assert (bare(found.wrong), bare(found.factor)) == ("10.0 µs", "100 × too little")


def test_too_small_a_figure_has_a_reason_of_its_own() -> None:
    """A first call that is fast has not loaded libraries; fewer threads that are faster were not short of cores."""
    found = find_stopwatch_findings(
        cpu_points(**{Way.RIGHT: {"first_call_s": 0.5e-3}, Way.ONE_THREAD: {"median_s": 0.5e-3}})
    )
    cold, threads = show_mistakes(found, [COLD, Way.ONE_THREAD])
    assert cold.why == "One call says little, whichever it is: this first one met a quieter moment than most."
    assert threads.why.startswith("Here the threads were in each other's way")


@pytest.mark.parametrize(
    ("changes", "mistake", "why"),
    [
        ({}, Way.ITEM, "Harmless here: within 5 % of the right figure."),
        ({}, Way.SINGLE, "Harmless here: hardly any single call is more than 10 % off."),
        (
            {Way.ITEM: {"ci_low_s": 0.5e-3, "ci_high_s": 2e-3}},
            Way.ITEM,
            "Cannot tell: the intervals are too wide.",
        ),
    ],
    ids=["harmless", "single", "uncertain"],
)
def test_what_does_not_mislead_is_not_called_wrong(changes: dict, mistake: str, why: str) -> None:
    """It says why."""
    (found,) = show_mistakes(find_stopwatch_findings(cpu_points(**changes)), [mistake])
    assert isinstance(found, Shown)
    assert (found.is_off, bare(found.factor), bare(found.why)) == (False, "1.00 × the right one", why)


@pytest.mark.parametrize(
    ("findings", "chosen", "said"),
    [
        (
            NOTHING,
            [COLD],
            "Press Run once: it times the product right and in every wrong way. Then switch mistakes on and off.",
        ),
        (CPU, [], "The clock is held right: it shows 1.00 ms. Switch a mistake on."),
        (CPU, [Way.ITEM], "With this the clock is as good as right: 1.00 ms."),
        (CPU, [Way.ITEM, Way.CONSTANTS], "With any of these the clock is as good as right: 1.00 ms."),
        (WIDE, [Way.ITEM], "Whether this makes the clock wrong cannot be told from this run; right is 1.00 ms."),
        (CPU, [Way.ITEM, COLD], "With no warm-up the clock shows 9.00 ms instead of 1.00 ms: 9.00 × as much."),
    ],
    ids=["no run", "all off", "harmless", "two harmless", "uncertain", "wrong"],
)
def test_the_sentence_above_the_figures(findings: object, chosen: list[str], said: str) -> None:
    """The wrong figure, the right one, the factor, the name."""
    assert bare(tell_choice(findings, chosen)) == said  # type: ignore[arg-type]


def test_two_mistakes_are_not_added_up() -> None:
    """Nobody measured them together."""
    assert tell_together([COLD]) == ""
    assert tell_together([COLD, Way.ITEM]).endswith("Together they would show yet another figure.")


def test_what_a_device_cannot_do_wrong_is_said() -> None:
    """With the reason."""
    assert tell_absent(CPU) == (
        "Not possible here: no synchronise (a call on a CPU returns when its work is done); copies included (the "
        "operands are in the CPU's memory already)."
    )
    assert tell_absent(NOTHING) == ""
