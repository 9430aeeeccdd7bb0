"""Crossover rules, each on a series that fails without it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analysis.crossover import find_crossover
from gpuexplain.errors import PointsError
from gpuexplain.findings import Crossover, CrossoverVerdict


def by_ratio(*ratios: float, **columns: list[float]) -> Crossover:
    """Return the finding of cpu / gpu ratios at 64, 128, 256, ..."""
    sizes = [64 * 2**i for i in range(len(ratios))]
    frame = pd.DataFrame({"n": sizes, "cpu_seconds": list(ratios), "gpu_seconds": 1.0, **columns})
    return find_crossover(frame)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        pytest.param([], "too_few_points", id="none"),
        pytest.param([3.0], "too_few_points", id="one"),
        pytest.param([2.0, 3.0], "gpu_always", id="GPU everywhere"),
        pytest.param([0.5, 0.9], "cpu_always", id="CPU everywhere"),
        pytest.param([1.0, 0.5], "cpu_always", id="a tie, then CPU"),
        pytest.param([1.0, 0.96], "tie", id="ties"),
        pytest.param([0.5, 1.0], "tie_at_end", id="CPU, then a tie"),
        pytest.param([0.5, 2.0], "crossed", id="CPU, then GPU"),
        pytest.param([1.0, 2.0], "crossed", id="a tie, then GPU"),
        pytest.param([0.5, 2.0, 0.5, 2.0], "inconclusive", id="a GPU win before a loss"),
        pytest.param([0.5, 2.0, 1.0], "inconclusive", id="a GPU win that does not last"),
        pytest.param([2.0, 0.5], "inconclusive", id="GPU first"),
        pytest.param([2.0, 1.0, 2.0], "inconclusive", id="a tie between wins"),
        pytest.param([1.05, 1.05], "tie", id="exactly 1.05 is no win"),
        pytest.param([0.95, 0.95], "tie", id="exactly 0.95 is no loss"),
        pytest.param([1.06, 1.06], "gpu_always", id="1.06 is a win"),
        pytest.param([0.94, 0.94], "cpu_always", id="0.94 is a loss"),
    ],
)
def test_verdict_by_the_wins_in_order(ratios: list[float], verdict: str) -> None:
    """Who wins is decided by the longest unbroken run of GPU wins at the end."""
    assert by_ratio(*ratios).verdict == verdict


def test_low_is_the_largest_cpu_win_and_high_the_first_lasting_gpu_win() -> None:
    """Ties between them lie inside the bracket."""
    found = by_ratio(0.5, 0.9, 1.0, 1.02, 2.0, 3.0)
    assert (found.low, found.high, found.low_is_tie) == (128, 1024, False)


def test_estimate_is_the_last_passage_on_log_log_axes() -> None:
    """Ratios 0.5, 1.02, 0.98, 2: the passage after 0.98 counts."""
    found = by_ratio(0.5, 1.02, 0.98, 2.0)
    assert found.estimate is not None
    assert 256 < found.estimate < 512


def test_estimate_halfway_between_two_octaves() -> None:
    """From 1/2 to 2 the ratio passes 1 in the geometric middle."""
    assert by_ratio(0.5, 2.0).estimate == pytest.approx(64 * 2**0.5)


def test_estimate_stands_on_a_ratio_of_exactly_one() -> None:
    """A point on the line is the passage."""
    assert by_ratio(0.5, 1.0, 2.0).estimate == pytest.approx(128)


def test_without_a_cpu_win_low_is_a_tie_and_nothing_is_estimated() -> None:
    """The size before the first GPU win is named as a tie."""
    found = by_ratio(1.0, 1.01, 2.0)
    assert (found.low, found.high, found.low_is_tie, found.estimate) == (128, 256, True, None)


def test_intervals_turn_a_win_into_a_tie() -> None:
    """A win needs its lower bound above 1.05."""
    found = by_ratio(0.5, 1.1, 2.0, gpu_seconds_hi=[1.0, 1.1, 1.0], gpu_seconds_lo=[1.0, 0.9, 1.0])
    assert (found.low, found.high) == (64, 256)


def test_intervals_turn_a_loss_into_a_tie() -> None:
    """A loss needs its upper bound below 0.95."""
    found = by_ratio(0.5, 0.9, 2.0, cpu_seconds_hi=[0.5, 0.97, 2.0], cpu_seconds_lo=[0.5, 0.85, 2.0])
    assert (found.low, found.high) == (64, 256)


def test_sizes_that_one_side_lacks_do_not_count() -> None:
    """Only common sizes have a ratio."""
    frame = pd.DataFrame({"n": [1, 2, 4], "cpu_seconds": [1.0, 1, None], "gpu_seconds": [2.0, 0.5, 0.1]})
    found = find_crossover(frame)
    assert (found.n_sizes, found.speedup_n, found.speedup) == (2, 2, 2.0)


def test_rows_are_read_in_order_of_size() -> None:
    """The order of rows means nothing."""
    frame = pd.DataFrame({"n": [4, 1, 2], "cpu_seconds": [4.0, 0.5, 0.6], "gpu_seconds": 1.0})
    assert find_crossover(frame).verdict is CrossoverVerdict.CROSSED


def test_flagged_size_is_never_an_end_of_the_bracket() -> None:
    """A throttled point does not carry the verdict."""
    frame = pd.DataFrame(
        {"n": [1, 2, 4], "cpu_seconds": [0.5, 0.5, 9.0], "gpu_seconds": 1.0, "flags": ["", "", "throttled"]}
    )
    assert find_crossover(frame).verdict is CrossoverVerdict.CPU_ALWAYS


def test_transfer_gives_a_second_crossover() -> None:
    """The total with copies is decided by the same rules."""
    found = by_ratio(0.5, 2.0, 4.0, gpu_with_transfer_seconds=[3.0, 3.0, 2.0])
    assert found.with_transfer is not None
    assert (found.high, found.with_transfer.high) == (128, 256)
    assert found.with_transfer.low == 128


def test_without_transfer_column_there_is_no_second_crossover() -> None:
    """Nothing is made up."""
    assert by_ratio(0.5, 2.0).with_transfer is None


def test_missing_column_is_an_error() -> None:
    """The text names the column."""
    with pytest.raises(PointsError, match="no column gpu_seconds"):
        find_crossover(pd.DataFrame({"n": [1], "cpu_seconds": [1.0]}))


@given(st.lists(st.sampled_from([0.5, 0.9, 1.0, 1.04, 1.2, 3.0]), min_size=2, max_size=8))
def test_crossed_means_cpu_or_tie_before_and_gpu_from_high_on(ratios: list[float]) -> None:
    """The bracket holds for any order of wins, ties and losses, and encloses the estimate."""
    found = by_ratio(*ratios)
    if found.verdict is CrossoverVerdict.CROSSED:
        assert found.low is not None
        assert found.high is not None
        first = [64 * 2**i for i in range(len(ratios))].index(int(found.high))
        assert all(r > 1.05 for r in ratios[first:])
        assert all(r <= 1.05 for r in ratios[:first])
        assert found.low_is_tie == (not any(r < 0.95 for r in ratios[:first]))
        assert (found.estimate is None) == found.low_is_tie
        assert found.estimate is None or found.low <= found.estimate <= found.high
