"""Knee rules, each on a series that fails without it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analysis.batch_knee import find_batch_knee
from gpuexplain.findings import BatchKnee, Saturation


def knee(points: dict[int, float], **columns: list[float] | list[str]) -> BatchKnee:
    """Return the finding of ``{batch: throughput}``."""
    return find_batch_knee(pd.DataFrame({"batch": list(points), "throughput": list(points.values()), **columns}))


def test_seconds_per_step_are_samples_per_second() -> None:
    """A batch of 32 in 0.1 s is 320 samples per second."""
    found = find_batch_knee(pd.DataFrame({"batch": [16, 32], "seconds": [0.1, 0.1]}))
    assert found.best_throughput == pytest.approx(320.0)


@pytest.mark.parametrize(("rate", "batch"), [(900.0, 8), (899.0, 16)], ids=["at 90 %", "under 90 %"])
def test_knee_is_the_first_batch_with_at_least_90_percent(rate: float, batch: int) -> None:
    """90 % counts, 89.9 % does not."""
    assert knee({4: 500, 8: rate, 16: 1000, 32: 990}).knee_batch == batch


def test_small_gain_does_not_end_the_search() -> None:
    """A step that gains 5 % is followed by one that doubles."""
    assert knee({1: 100, 2: 105, 4: 400, 8: 410}).knee_batch == 4


def test_of_equal_bests_the_smaller_batch_is_named() -> None:
    """A tie goes to the batch that needs less memory, and the series is saturated."""
    found = knee({8: 1000, 16: 1000})
    assert (found.best_batch, found.saturated) == (8, True)


@pytest.mark.parametrize(("rate", "unstable"), [(799.0, True), (800.0, False)])
def test_dip_between_knee_and_best_makes_the_knee_unstable(rate: float, unstable: bool) -> None:
    """Under 80 % of the best is a dip."""
    assert knee({8: 950, 16: rate, 32: 1000}).knee_unstable is unstable


def test_dip_after_the_best_does_not_count() -> None:
    """Only what lies between knee and best matters."""
    assert knee({8: 950, 16: 1000, 32: 300}).knee_unstable is False


@pytest.mark.parametrize(
    ("points", "saturated"),
    [
        pytest.param({8: 500, 16: 1000}, False, id="the last doubling gained 100 %"),
        pytest.param({8: 960, 16: 1000}, True, id="it gained 4 %"),
        pytest.param({8: 1000, 16: 1050}, True, id="it gained exactly 5 %"),
        pytest.param({8: 500, 16: 1000, 32: 990}, True, id="the best is not the last"),
        pytest.param({32: 800, 48: 1000, 64: 900}, True, id="rising from the half, but past the best"),
        pytest.param({8: 500, 12: 800, 14: 810, 16: 820}, False, id="dense grid: half, not the neighbour"),
        pytest.param({1: 100, 7: 990, 13: 1000}, False, id="gap: 7 is more than half of 13"),
        pytest.param({8: 1000}, True, id="one batch: no last step"),
    ],
)
def test_saturated_unless_the_last_step_still_gains(points: dict[int, float], saturated: bool) -> None:
    """The last step compares the last batch with the largest of at most half of it."""
    assert knee(points).saturated is saturated


def test_failed_and_hollow_batches_are_bounds_only() -> None:
    """The best ran and was not throttled; the largest that ran and the first that failed are named."""
    found = knee(
        {8: 500, 16: 900, 32: 5000, 64: 1, 128: 1},
        status=["ok", "ok", "ok", "oom", "skipped"],
        flags=["", "", "throttled", "", ""],
    )
    assert (found.best_batch, found.largest_ran, found.first_failed) == (16, 32, 64)


def test_intervals_give_the_knee_as_a_range() -> None:
    """Wide intervals: 8 may reach 90 %, only 16 surely does."""
    found = knee(
        {4: 500, 8: 880, 16: 990, 32: 1000},
        throughput_lo=[490, 850, 985, 990],
        throughput_hi=[510, 910, 995, 1010],
    )
    assert (found.knee_low, found.knee_batch, found.knee_high) == (8, 16, 16)


def test_without_intervals_there_is_no_range() -> None:
    """A range of one point would look like certainty."""
    found = knee({8: 500, 16: 1000})
    assert (found.knee_low, found.knee_high) == (None, None)


def test_nothing_ran() -> None:
    """All out of memory: no knee, the first failure named."""
    found = knee({8: 1, 16: 1}, status=["oom", "oom"])
    assert (found.best_batch, found.knee_batch, found.saturated, found.first_failed) == (None, None, False, 8)


@given(st.dictionaries(st.integers(1, 4096), st.floats(1, 1e6), min_size=1, max_size=12))
def test_only_tested_batches_are_named(points: dict[int, float]) -> None:
    """Whatever the series, knee and best are in it, and the knee is not the larger."""
    found = knee(points)
    assert {found.best_batch, found.knee_batch} <= set(points)
    assert found.knee_batch is not None
    assert found.best_batch is not None
    assert found.knee_batch <= found.best_batch


SATURATION = {
    "rising beyond its bounds": ({8: 500, 16: 1000}, 0.02, Saturation.STILL_RISING),
    "level beyond its bounds": ({8: 1000, 16: 1001}, 0.01, Saturation.SATURATED),
    "3 % more, give or take 10 %": ({8: 1000, 16: 1030}, 0.05, Saturation.UNCERTAIN),
    "past the best": ({8: 1000, 16: 900}, 0.01, Saturation.SATURATED),
    "one batch only": ({8: 1000}, 0.01, None),
}


@pytest.mark.parametrize(("points", "half_width", "saturation"), SATURATION.values(), ids=list(SATURATION))
def test_saturation_asks_the_intervals(
    points: dict[int, float], half_width: float, saturation: Saturation | None
) -> None:
    """It holds, it does not, or the last step may be either."""
    rates = list(points.values())
    bounds = {
        "throughput_lo": [rate * (1 - half_width) for rate in rates],
        "throughput_hi": [rate * (1 + half_width) for rate in rates],
    }
    assert knee(points, **bounds).saturation is saturation


def test_the_last_step_is_told_with_its_gain() -> None:
    """From 800 to 1000 is a quarter more."""
    assert knee({8: 800, 16: 1000}).last_step_gain == pytest.approx(0.25)


def test_a_knee_too_noisy_to_place_is_a_wide_range() -> None:
    """Intervals of 40 % leave it anywhere from the smallest batch to the best."""
    rates = [700.0, 800.0, 900.0, 1000.0]
    bounds = {"throughput_lo": [0.6 * rate for rate in rates], "throughput_hi": [1.4 * rate for rate in rates]}
    found = knee({1: 700, 2: 800, 4: 900, 8: 1000}, **bounds)
    assert (found.knee_low, found.knee_high) == (1, 8)
