"""Exactly what the stopwatch page says."""

import pytest
from stopwatch_made import cpu_points, gpu_points

from gpuexplain.experiments.stopwatch.conclude import Trap, Verdict, find_stopwatch_findings
from gpuexplain.experiments.stopwatch.spec import COLD, Way
from gpuexplain.experiments.stopwatch.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_answer,
    tell_trap,
)
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


COLD_CPU = cpu_points(**{Way.RIGHT: {"first_call_s": 9e-3}})
RECORDED = [p.model_copy(update={"source": Source.RECORDED}) for p in gpu_points()]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "Nothing is measured yet. Press Run: the same product is timed right, and in every wrong way."),
        (
            COLD_CPU,
            "On this machine the worst trap at n = 512 is no warm-up: the clock then shows 9.00 ms where the product "
            "takes 1.00 ms, 9.00 × as much.",
        ),
        (cpu_points(), "On this machine no mistake moves the figure beyond chance at n = 512."),
        (
            cpu_points(**{Way.RIGHT: {"median_s": None, "status": Status.FAILED}}),
            "On this machine the right figure could not be measured; the points say why.",
        ),
        (
            cpu_points(**{Way.RIGHT: {"flags": (Flag.UNDER_LOAD,)}}),
            "On this machine, busy with other work meanwhile, no mistake moves the figure beyond chance at n = 512.",
        ),
        (
            RECORDED,
            "In a recorded run of NVIDIA A100-SXM4-80GB, the worst trap at n = 512 is no warm-up: the clock then "
            "shows 200 ms where the product takes 1.00 ms, 200 × as much.",
        ),
    ],
    ids=["nothing", "cold", "harmless", "failed", "busy", "recorded"],
)
def test_the_answer(points: list[Point], said: str) -> None:
    """One sentence with its number."""
    assert bare(tell(find_stopwatch_findings(points)).answer) == said


@pytest.mark.parametrize(
    ("trap", "said"),
    [
        (
            Trap(Way.NO_SYNC, Verdict.MISLEADS, 10e-6, 0.01, 0.009, 0.011),
            "No synchronise: 10.0 µs, 100 × too little; the clock stopped when the call was queued, not when the work "
            "was done.",
        ),
        (
            Trap(COLD, Verdict.MISLEADS, 9e-3, 9.0, 8.0, 10.0),
            "No warm-up: 9.00 ms, 9.00 × as much; the first call also loads libraries, picks a kernel and touches "
            "fresh memory.",
        ),
        (
            Trap(Way.SINGLE, Verdict.MISLEADS, 3e-3, 3.0, 0.98, 2.5),
            "One sample: nine in ten single calls show 0.98 to 2.50 × the right figure; a single call may meet cold "
            "caches or another program; the median does not.",
        ),
        (
            Trap(Way.CONSTANTS, Verdict.HARMLESS, 1e-3, 1.0, 0.99, 1.01),
            "Constants as input: harmless here, within 5 % of the right figure.",
        ),
        (
            Trap(Way.NO_SYNC, Verdict.ABSENT, reason="a call on a CPU returns when its work is done"),
            "No synchronise: does not exist here, a call on a CPU returns when its work is done.",
        ),
        (
            Trap(Way.ITEM, Verdict.CANNOT_TELL, 1e-3, 1.0, 0.5, 2.0, "the intervals are too wide"),
            "`.item()` in the loop: cannot tell, the intervals are too wide.",
        ),
    ],
    ids=["too little", "too much", "single", "harmless", "absent", "cannot tell"],
)
def test_each_mistake(trap: Trap, said: str) -> None:
    """Its figure, its factor, its reason."""
    assert bare(tell_trap(trap)) == said


def test_a_cpu_is_told_that_it_has_no_queue() -> None:
    """A GPU is not."""
    here = "On a CPU the call returns when the work is done"
    assert here in tell(find_stopwatch_findings(cpu_points())).why
    assert here not in tell(find_stopwatch_findings(gpu_points())).why


def test_the_titles_and_their_text_alternatives() -> None:
    """The chart's title is its finding."""
    cpu, gpu = find_stopwatch_findings(COLD_CPU), find_stopwatch_findings(gpu_points())
    assert bare(claim_main(cpu)) == "No warm-up misleads most"
    assert bare(claim_main(gpu)) == "Without a wait the clock stops long before the work is done"
    assert bare(claim_second(cpu)) == "The first call takes 9.00 × as long as a warm one"
    assert bare(claim_second(find_stopwatch_findings(cpu_points()))) == "The first call does not stand out here"
    assert bare(describe_main(cpu)).startswith(
        "What each mistake shows, as a multiple of the right figure: no warm-up 9"
    )
    assert bare(describe_second(cpu)).startswith("Every call of the right way in order")


def test_where_nothing_can_be_told_nothing_is_called_harmless() -> None:
    """Under six samples in every way."""
    early = [p.model_copy(update={"ci_low_s": None, "ci_high_s": None, "samples_s": ()}) for p in cpu_points()]
    early[0] = early[0].model_copy(update={"min_s": 0.5e-3, "max_s": 2e-3})
    findings = find_stopwatch_findings(early)
    assert bare(tell_answer(findings)) == (
        "On this machine it cannot be told yet which mistake moves the figure at n = 512."
    )
    assert claim_main(findings) == "Which mistake misleads cannot be told yet"
    assert claim_second(findings) == "Whether the first call stands out cannot be told yet"


def test_home_names_the_worst_figure() -> None:
    """By its factor; nothing where nothing misleads."""
    found = find_headline(find_stopwatch_findings(COLD_CPU))
    assert found is not None
    assert (found.number.replace(NBSP, " "), found.detail) == ("9.00 × off", "no warm-up")
    assert find_headline(find_stopwatch_findings(cpu_points())) is None


def test_flags_and_the_profiler_are_told() -> None:
    """Caveats come from the points of this page."""
    points = [*gpu_points(), *cpu_points()]
    caveats = tell(
        find_stopwatch_findings([p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in points])
    ).caveats
    assert any("had to share the machine" in text for text in caveats)
    assert any("torch's profiler" in text for text in caveats)


@pytest.mark.parametrize("points", [[], COLD_CPU, gpu_points()], ids=["nothing", "cpu", "gpu"])
def test_every_term_has_its_definition(points: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_stopwatch_findings(points))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)
    assert tell_answer(find_stopwatch_findings(COLD_CPU)).endswith(".")
