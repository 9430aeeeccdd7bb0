"""Alignment: it pays, it does not, nobody can tell, nobody looked."""

import pandas as pd
import pytest

from gpuexplain.analysis.batch_alignment import find_alignment
from gpuexplain.errors import PointsError
from gpuexplain.findings import Alignment, NotFound


def align(throughput: dict[int, float], half_width: float = 0.0) -> Alignment | NotFound:
    """Return the finding of ``{batch: throughput}`` with bounds of this share on either side."""
    rates = list(throughput.values())
    return find_alignment(
        pd.DataFrame(
            {
                "batch": list(throughput),
                "throughput": rates,
                "throughput_lo": [rate * (1 - half_width) for rate in rates],
                "throughput_hi": [rate * (1 + half_width) for rate in rates],
            }
        )
    )


def test_it_pays_where_every_multiple_beats_its_neighbours() -> None:
    """A fifth more at 64 and at 128 than next to them, beyond 1 %."""
    found = align({63: 100, 64: 120, 65: 98, 127: 110, 128: 132, 129: 108}, half_width=0.01)
    assert isinstance(found, Alignment)
    assert (found.multiple, found.pays, found.n_pairs) == (64, True, 4)
    assert found.gain == pytest.approx(1.2, abs=0.02)
    assert found.low > 1.05


def test_it_does_not_pay_where_the_neighbours_do_as_well() -> None:
    """Within 1 % everywhere."""
    found = align({63: 100, 64: 101, 65: 100}, half_width=0.005)
    assert isinstance(found, Alignment)
    assert (found.multiple, found.pays) == (64, False)


def test_one_pair_that_surely_gains_nothing_is_enough_against_it() -> None:
    """A rule that does not hold at 128 is no rule."""
    found = align({63: 100, 64: 120, 127: 110, 128: 110}, half_width=0.005)
    assert isinstance(found, Alignment)
    assert found.pays is False


def test_gains_lost_in_their_bounds_are_too_noisy() -> None:
    """6 % more, give or take 10 %."""
    found = align({63: 100, 64: 106, 65: 100}, half_width=0.05)
    assert found == NotFound("alignment", "2 pairs are too uncertain to tell; run with a larger budget")


def test_small_batches_are_asked_about_multiples_of_eight() -> None:
    """No pair around a multiple of 64."""
    found = align({15: 100, 16: 130, 17: 100})
    assert isinstance(found, Alignment)
    assert (found.multiple, found.pays) == (8, True)


@pytest.mark.parametrize(
    "throughput", [{}, {1: 1, 2: 2, 4: 4}, {8: 10, 16: 20, 24: 30}, {63: 1, 64: 2}], ids=["none", "powers", "all aligned", "one pair"]
)  # fmt: skip
def test_without_neighbours_nobody_looked(throughput: dict[int, float]) -> None:
    """Powers of two are all aligned; one pair may be a coincidence."""
    assert align(throughput) == NotFound(
        "alignment", "no batches next to a multiple of 8 were measured; switch the dense zoom on"
    )


def test_missing_columns_are_named() -> None:
    """The error says what to add."""
    with pytest.raises(PointsError, match="no column batch"):
        find_alignment(pd.DataFrame({"throughput": [1.0]}))
