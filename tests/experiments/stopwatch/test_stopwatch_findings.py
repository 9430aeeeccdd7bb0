"""Does a mistake mislead, is it harmless, or can nobody tell?"""

import pytest
from stopwatch_made import cpu_points, gpu_points, make_point

from gpuexplain.experiments.stopwatch.conclude import Trap, Verdict, find_stopwatch_findings
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way
from gpuexplain.model import Flag, Source, Status


def trap(mistake: str, **changes: dict[str, object]) -> Trap:
    found = find_stopwatch_findings(cpu_points(**changes)).of(mistake)
    assert found is not None
    return found


WIDE = {"ci_low_s": 0.5e-3, "ci_high_s": 2e-3}


@pytest.mark.parametrize("way", [Way.ITEM, Way.CONSTANTS, Way.ONE_THREAD, Way.DISTURBED])
def test_a_ratio_misleads_is_harmless_or_undecided(way: Way) -> None:
    """Twice the time; the same time; the same time with an interval from half to double."""
    assert trap(way, **{way: {"median_s": 2e-3}}).verdict is Verdict.MISLEADS
    assert trap(way).verdict is Verdict.HARMLESS
    assert trap(way, **{way: WIDE}).verdict is Verdict.CANNOT_TELL


def test_the_factor_is_bounded_by_both_intervals() -> None:
    """Wrong 2 ms +- 1 %, right 1 ms +- 1 %."""
    found = trap(Way.ITEM, **{Way.ITEM: {"median_s": 2e-3}})
    assert found.factor == pytest.approx(2)
    assert (found.factor_low, found.factor_high) == (pytest.approx(1.98 / 1.01), pytest.approx(2.02 / 0.99))


def test_a_figure_that_is_too_small_misleads_too() -> None:
    """Faster than the truth is as wrong as slower."""
    assert trap(Way.CONSTANTS, **{Way.CONSTANTS: {"median_s": 0.87e-3}}).verdict is Verdict.MISLEADS


def test_the_first_call_is_compared_with_the_median() -> None:
    """A cold call of 9 ms; none that stands out; one beside a right figure nobody knows."""
    assert trap(COLD, **{Way.RIGHT: {"first_call_s": 9e-3}}).factor == pytest.approx(9)
    assert trap(COLD).verdict is Verdict.HARMLESS
    assert trap(COLD, **{Way.RIGHT: WIDE}).verdict is Verdict.CANNOT_TELL
    assert trap(COLD, **{Way.RIGHT: {"first_call_s": None}}).reason == "the first call was not recorded"


def test_one_sample_is_judged_by_how_often_it_is_off() -> None:
    """Four of forty calls three times as long mislead; one does not; ten calls are too few."""
    often = {"samples_s": (1e-3,) * 36 + (3e-3,) * 4}
    found = trap(Way.SINGLE, **{Way.SINGLE: often})
    assert (found.verdict, found.factor) == (Verdict.MISLEADS, pytest.approx(3))
    assert trap(Way.SINGLE, **{Way.SINGLE: {"samples_s": (1e-3,) * 39 + (3e-3,)}}).verdict is Verdict.HARMLESS
    few = trap(Way.SINGLE, **{Way.SINGLE: {"samples_s": (1e-3,) * 10}})
    assert (few.verdict, few.reason) == (Verdict.CANNOT_TELL, "only 10 calls were taken")


def test_a_mistake_that_a_device_cannot_make_is_absent() -> None:
    """A CPU has no queue; a GPU has no CPU threads."""
    cpu, gpu = find_stopwatch_findings(cpu_points()), find_stopwatch_findings(gpu_points())
    assert [t.id for t in cpu.traps if t.verdict is Verdict.ABSENT] == [Way.NO_SYNC, Way.COPIES]
    assert [t.id for t in gpu.traps if t.verdict is Verdict.ABSENT] == [Way.ONE_THREAD]


def test_on_a_gpu_the_missing_wait_makes_the_product_look_a_hundred_times_faster() -> None:
    """10 us of queueing for 1 ms of work; and the cold call is worse still."""
    found = find_stopwatch_findings(gpu_points())
    no_sync = found.of(Way.NO_SYNC)
    assert no_sync is not None
    assert (no_sync.verdict, no_sync.factor) == (Verdict.MISLEADS, pytest.approx(0.01))
    assert found.worst is not None
    assert found.worst.id == COLD
    assert len(found.lanes) == 4


def test_a_failed_case_cannot_tell_and_says_why() -> None:
    """Its reason is the case's own."""
    failed = {"median_s": None, "status": Status.OOM, "reason": "Out of memory."}
    assert trap(Way.DISTURBED, **{Way.DISTURBED: failed}).reason == "Out of memory."


def test_without_the_right_figure_nothing_is_judged() -> None:
    """Suspect points are never the truth."""
    found = find_stopwatch_findings(cpu_points(**{Way.RIGHT: {"flags": (Flag.SUSPECT,)}}))
    assert {t.verdict for t in found.traps} == {Verdict.CANNOT_TELL}
    assert found.worst is None


def test_a_busy_machine_gives_a_provisional_answer() -> None:
    """Better one that says so than none."""
    found = find_stopwatch_findings(cpu_points(**{Way.RIGHT: {"flags": (Flag.UNDER_LOAD,)}}))
    assert (found.is_provisional, found.right_s) == (True, 1e-3)


def test_what_was_measured_here_comes_before_a_recorded_run() -> None:
    """The recorded one is only drawn."""
    recorded = make_point(Way.RIGHT, 5.0, source=Source.RECORDED, device="cuda:0")
    found = find_stopwatch_findings([recorded, *cpu_points()])
    assert (found.device, found.right_s) == ("cpu", 1e-3)


def test_no_points_no_findings() -> None:
    """And every mistake has its name and its reason."""
    assert find_stopwatch_findings([]).n is None
    assert all(m.name and m.why for m in MISTAKES.values())
