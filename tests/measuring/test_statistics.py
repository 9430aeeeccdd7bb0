"""What samples say."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.measuring.statistics import interval_rank, is_drifting, summarise


@pytest.mark.parametrize(("n_samples", "rank"), [(5, None), (6, 1), (8, 1), (9, 2), (20, 6), (100, 40)], ids=str)
def test_interval_ranks_are_those_of_the_binomial_table(n_samples: int, rank: int | None) -> None:
    """The ranks of a distribution-free 95 % interval of the median are tabulated in textbooks."""
    assert interval_rank(n_samples) == rank


def test_interval_covers_the_median_as_often_as_it_claims() -> None:
    """Of 2,000 skewed data sets of 14 samples, at least 95 % enclose the true median."""
    draw = random.Random(7)
    hits = 0
    for _ in range(2000):
        stats = summarise([draw.expovariate(1.0) for _ in range(14)])
        assert stats.ci_low_s is not None
        assert stats.ci_high_s is not None
        hits += stats.ci_low_s <= 0.6931 <= stats.ci_high_s
    assert 0.945 <= hits / 2000 <= 0.995


def test_under_six_samples_there_is_no_interval() -> None:
    """Five samples give median and range only."""
    stats = summarise([1.0, 5.0, 2.0, 4.0, 3.0])
    assert (stats.median_s, stats.min_s, stats.max_s, stats.ci_low_s, stats.half_width) == (
        3,
        1,
        5,
        None,
        None,
    )


def test_one_sample_is_its_own_quartiles() -> None:
    """A single sample does not break the summary."""
    stats = summarise([2.0])
    assert (stats.q1_s, stats.median_s, stats.q3_s, stats.n_samples) == (2, 2, 2, 1)


@given(st.lists(st.floats(1e-7, 10), min_size=1, max_size=200))
def test_statistics_are_ordered(samples_s: list[float]) -> None:
    """Minimum, quartiles, median, maximum and the interval keep their order."""
    s = summarise(samples_s)
    assert s.min_s <= s.q1_s * (1 + 1e-12) <= s.median_s * (1 + 2e-12) <= s.q3_s * (1 + 3e-12)
    assert s.q3_s <= s.max_s * (1 + 1e-12)
    if s.ci_low_s is not None and s.ci_high_s is not None:
        assert s.min_s <= s.ci_low_s <= s.median_s <= s.ci_high_s <= s.max_s


@pytest.mark.parametrize(
    ("samples_s", "drifts"),
    [
        ([1.0 + 0.001 * (i % 5) for i in range(30)], False),
        ([1.0 + 0.02 * i for i in range(30)], True),
        ([2.0 - 0.02 * i for i in range(30)], True),
        ([1.0 + 0.1 * i for i in range(17)], False),
    ],
    ids=["steady", "slower and slower", "faster and faster", "too few to tell"],
)
def test_drift_is_a_difference_of_first_and_last_third(samples_s: list[float], drifts: bool) -> None:
    """A drift shows when the intervals of the outer thirds do not meet."""
    assert is_drifting(samples_s) is drifts


def test_thousands_of_samples_have_an_interval_too() -> None:
    """The rank goes on where it was: no jump at the change of the formula, no overflow beyond it."""
    exact, normal = interval_rank(1000), interval_rank(1001)
    assert exact is not None
    assert normal is not None
    assert abs(normal - exact) <= 1
    stats = summarise([float(i) for i in range(50_000)])
    assert stats.ci_low_s is not None
    assert stats.ci_low_s < stats.median_s < (stats.ci_high_s or 0)
