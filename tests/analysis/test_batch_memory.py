"""Memory by batch: a line, no line, and too noisy to say; and where it ends."""

import pandas as pd
import pytest

from gpuexplain.analysis.batch_memory import find_batch_ceiling, find_memory_fit
from gpuexplain.errors import PointsError
from gpuexplain.findings import BatchCeiling, MemoryFit, MemoryFitStatus, NotFound


def fit(held: dict[int, float | None]) -> MemoryFit:
    """Return the finding of ``{batch: bytes}``."""
    return find_memory_fit(pd.DataFrame({"batch": list(held), "bytes": list(held.values())}))


def line(fixed: float, per_example: float, batches: tuple[int, ...] = (1, 4, 16, 64, 256)) -> dict[int, float | None]:
    """Return memory that is exactly fixed + per example x batch."""
    return {batch: fixed + per_example * batch for batch in batches}


def test_a_line_gives_what_is_held_and_what_an_example_adds() -> None:
    """100 MB and 2 MB an example."""
    found = fit(line(100e6, 2e6))
    assert found.status is MemoryFitStatus.OK
    assert found.fixed_bytes == pytest.approx(100e6)
    assert found.bytes_per_example == pytest.approx(2e6)
    assert (found.worst_residual, found.n_points) == (pytest.approx(0.0, abs=1e-9), 5)


def test_another_algorithm_from_some_batch_on_is_no_line() -> None:
    """Four times the memory at one size: the figures are withheld."""
    held = line(100e6, 2e6)
    held[16] = 4 * (held[16] or 0.0)
    found = fit(held)
    assert found.status is MemoryFitStatus.NOT_LINEAR
    assert (found.fixed_bytes, found.bytes_per_example) == (None, None)
    assert found.worst_residual is not None
    assert found.worst_residual > 0.15


def test_memory_that_falls_with_the_batch_is_no_line() -> None:
    """What an earlier batch left behind, not what this one needs."""
    assert fit({1: 100e6, 64: 95e6, 256: 80e6}).status is MemoryFitStatus.NOT_LINEAR


def test_growth_lost_in_the_scatter_is_too_noisy() -> None:
    """Up and down by 5 % around a level."""
    found = fit({1: 100e6, 2: 105e6, 4: 99e6, 8: 104e6, 16: 102e6})
    assert (found.status, found.bytes_per_example) == (MemoryFitStatus.TOO_NOISY, None)


@pytest.mark.parametrize("held", [{}, {1: 1e6, 2: 2e6}, {1: 1e6, 2: None, 4: 3e6}], ids=["none", "two", "one unread"])
def test_under_three_batches_there_is_no_fit(held: dict[int, float | None]) -> None:
    """Two points are always a line."""
    found = fit(held)
    assert (found.status, found.n_points) == (MemoryFitStatus.TOO_FEW_POINTS, sum(v is not None for v in held.values()))


def test_missing_columns_are_named() -> None:
    """The error says what to add."""
    with pytest.raises(PointsError, match="no column bytes"):
        find_memory_fit(pd.DataFrame({"batch": [1]}))


GOOD = fit(line(100e6, 2e6))
NO_FIT = fit({})


def test_the_ceiling_is_predicted_from_the_fit() -> None:
    """1,100 MB hold 500 examples of 2 MB beside 100 MB; 512 did not run: agreed."""
    assert find_batch_ceiling(GOOD, 1_100_000_000, 256, 512) == BatchCeiling(1_100_000_000, 500, 256, 512, True)


def test_a_prediction_outside_what_was_found_does_not_agree() -> None:
    """Room for 500 by the line, yet 128 did not run."""
    found = find_batch_ceiling(GOOD, 1_100_000_000, 64, 128)
    assert isinstance(found, BatchCeiling)
    assert found.agrees is False


def test_without_a_failure_there_is_only_a_prediction() -> None:
    """Nothing was found out, so nothing agrees."""
    assert find_batch_ceiling(GOOD, 1_100_000_000, 256, None) == BatchCeiling(1_100_000_000, 500, 256, None, None)


def test_without_a_fit_there_is_only_what_was_found() -> None:
    """And without a limit too."""
    assert find_batch_ceiling(NO_FIT, 10**9, 256, 512) == BatchCeiling(10**9, None, 256, 512, None)
    assert find_batch_ceiling(GOOD, None, 256, 512) == BatchCeiling(None, None, 256, 512, None)


def test_with_neither_nothing_is_said() -> None:
    """The reason says what is missing."""
    assert find_batch_ceiling(NO_FIT, 10**9, 256, None) == NotFound(
        "memory ceiling", "no batch ran out of memory, and how it grows could not be fitted"
    )
    assert find_batch_ceiling(GOOD, 10**9, None, 1) == NotFound(
        "memory ceiling", "no batch ran; choose a smaller model"
    )
