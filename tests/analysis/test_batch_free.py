"""Free examples: where they are, where they are not, and where nobody can tell."""

import pandas as pd
import pytest

from gpuexplain.analysis.batch_free import find_free_batch
from gpuexplain.errors import PointsError
from gpuexplain.findings import FreeBatch, NotFound


def free(seconds: dict[int, float], half_width: float | None = None) -> FreeBatch | NotFound:
    """Return the finding of ``{batch: seconds}`` with bounds of this share on either side."""
    times = list(seconds.values())
    frame = pd.DataFrame({"batch": list(seconds), "seconds": times})
    if half_width is not None:
        frame["seconds_lo"] = [t * (1 - half_width) for t in times]
        frame["seconds_hi"] = [t * (1 + half_width) for t in times]
    return find_free_batch(frame)


def test_a_step_that_takes_no_longer_is_free() -> None:
    """Flat up to 8, twice as long at 16; a later one does not count again."""
    found = free({1: 1.0, 2: 1.02, 4: 0.98, 8: 1.2, 16: 2.0, 32: 1.1}, half_width=0.01)
    assert isinstance(found, FreeBatch)
    assert (found.smallest, found.largest, found.surely_largest, found.perhaps_largest) == (1, 8, 8, 8)
    assert (found.step_s, found.within, found.is_bounded) == (1.0, 1.25, True)


def test_exactly_a_quarter_longer_is_still_free() -> None:
    """The bound belongs to the free stretch."""
    found = free({1: 1.0, 2: 1.25})
    assert isinstance(found, FreeBatch)
    assert (found.largest, found.is_bounded) == (2, False)


def test_bounds_say_how_far_it_surely_and_perhaps_reaches() -> None:
    """1.2 times, give or take 5 %, may be more than a quarter longer."""
    found = free({1: 1.0, 2: 1.0, 4: 1.2, 8: 1.3, 16: 3.0}, half_width=0.05)
    assert isinstance(found, FreeBatch)
    assert (found.largest, found.surely_largest, found.perhaps_largest) == (4, 2, 8)


def test_where_the_second_batch_takes_twice_as_long_nothing_is_free() -> None:
    """The reason names both and the factor."""
    found = free({1: 1.0, 2: 1.9, 4: 3.8}, half_width=0.01)
    assert found == NotFound("free batch", "a step of batch 2 already takes 1.90\u00a0× the time of batch 1")


def test_times_too_noisy_say_nothing() -> None:
    """1.2 times, give or take 20 %, is neither."""
    found = free({1: 1.0, 2: 1.2, 4: 3.0}, half_width=0.2)
    assert found == NotFound(
        "free batch", "the times of batch 1 and 2 are too uncertain to tell; run with a larger budget"
    )


def test_one_batch_is_no_stretch() -> None:
    """Two are needed."""
    assert free({1: 1.0}) == NotFound("free batch", "it takes at least 2 batches")


def test_throughput_tells_the_same() -> None:
    """Eight examples in the time of one."""
    found = find_free_batch(pd.DataFrame({"batch": [1, 8, 64], "throughput": [10.0, 80.0, 100.0]}))
    assert isinstance(found, FreeBatch)
    assert found.largest == 8


def test_flagged_and_failed_batches_are_left_out() -> None:
    """An unusable second batch does not end the stretch."""
    frame = pd.DataFrame(
        {"batch": [1, 2, 4], "seconds": [1.0, 9.0, 1.0], "status": ["ok"] * 3, "flags": ["", "under_load", ""]}
    )
    found = find_free_batch(frame)
    assert isinstance(found, FreeBatch)
    assert found.largest == 4


def test_missing_columns_are_named() -> None:
    """The error says what to add."""
    with pytest.raises(PointsError, match="no column throughput or seconds"):
        find_free_batch(pd.DataFrame({"batch": [1]}))
