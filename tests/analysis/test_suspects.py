"""Suspect sizes: the smallest set, the smaller sizes."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analysis.suspects import SUSPECT_RATIO, find_suspects
from gpuexplain.analysis.thresholds import exceeds

TIMES = st.lists(st.sampled_from([1.0, 1.5, 1.6, 2.25, 3.0, 4.0, 6.0, 10.0]), max_size=8)


def first_valid_subset(times: list[float]) -> list[int]:
    """Return by trial what the rule says: fewest first, smaller sizes first."""
    for count in range(len(times) + 1):
        for dropped in combinations(range(len(times)), count):
            kept = [t for i, t in enumerate(times) if i not in dropped]
            if not any(exceeds(a, SUSPECT_RATIO * b) for a, b in combinations(kept, 2)):
                return list(dropped)
    raise AssertionError("dropping everything is always valid")


@given(TIMES)
def test_suspects_are_what_trying_every_subset_finds(times: list[float]) -> None:
    """The fast search agrees with brute force, ties included."""
    assert find_suspects(times) == first_valid_subset(times)


@pytest.mark.parametrize(
    ("times", "suspects"),
    [
        pytest.param([], [], id="no points"),
        pytest.param([1.5, 1.0], [], id="exactly one and a half times is allowed"),
        pytest.param([1.51, 1.0], [0], id="of two that contradict, the smaller size"),
        pytest.param([1.0, 2.0, 3.0, 0.1], [3], id="one impossible last size, not three before it"),
        pytest.param([9.0, 9.0, 1.0, 2.0, 3.0], [0, 1], id="two cold calls at the start"),
        pytest.param([4.0, 1.0, 8.0, 2.0], [0, 2], id="two separate pairs"),
    ],
)
def test_suspects_by_eye(times: list[float], suspects: list[int]) -> None:
    """Series whose culprit anybody would name."""
    assert find_suspects(times) == suspects


def test_hundred_thousand_sizes_are_decided_in_seconds() -> None:
    """The search is not exponential and not even quadratic."""
    times = [float((i * 7919) % 100_003 + 1) for i in range(100_000)]
    assert len(find_suspects(times)) > 0
