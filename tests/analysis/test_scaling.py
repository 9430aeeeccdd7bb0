"""Speed-up by workers, and the serial share behind it."""

import pytest

from gpuexplain.analysis.scaling import Speedup, find_serial_share, find_speedups
from gpuexplain.findings import NotFound
from gpuexplain.model import Dtype, Flag, Point


def point(workers: int, time_s: float, **changes: object) -> Point:
    fields: dict[str, object] = {
        "experiment": "workers", "series": "threads", "x": float(workers), "dtype": Dtype.FP32, "device": "cpu",
        "median_s": time_s, "ci_low_s": 0.98 * time_s, "ci_high_s": 1.02 * time_s,
    }  # fmt: skip
    return Point.model_validate({**fields, **changes})


def amdahl(share: float, *counts: int) -> list[Speedup]:
    return [Speedup(p, 1 / (share + (1 - share) / p), None, None) for p in counts]


def test_a_speedup_is_bounded_by_both_intervals() -> None:
    """Two workers in half the time, each known within 2 %."""
    one, two = find_speedups([point(2, 0.5), point(1, 1.0)])
    assert (one.factor, two.factor, two.efficiency) == (1.0, 2.0, 1.0)
    assert (two.low, two.high) == (pytest.approx(0.98 / 0.51), pytest.approx(1.02 / 0.49))


def test_without_one_worker_there_is_nothing_to_compare_with() -> None:
    """Nor with one whose point is flagged."""
    assert find_speedups([point(2, 0.5)]) == ()
    assert find_speedups([point(1, 1.0, flags=(Flag.SUSPECT,)), point(2, 0.5)]) == ()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_the_serial_share_of_an_exact_law_is_found(share: float) -> None:
    """Counts 1 to 8."""
    found = find_serial_share(amdahl(share, 1, 2, 4, 8))
    assert not isinstance(found, NotFound)
    assert found.share == pytest.approx(share, abs=1e-9)
    assert found.limit == (pytest.approx(1 / share) if share else None)


def test_three_counts_are_too_few() -> None:
    """Any curve fits them."""
    found = find_serial_share(amdahl(0.1, 1, 2, 4))
    assert isinstance(found, NotFound)
    assert found.reason == "a serial share needs 4 counts of workers, there are 3 (1, 2, 4)"


def test_a_speedup_that_stops_is_not_called_serial_work() -> None:
    """Four cores with eight hyper-threads: a kink, not Amdahl's curve."""
    points = [Speedup(1, 1, 1, 1), Speedup(2, 2, 2, 2), Speedup(4, 4, 4, 4), Speedup(8, 4.0, 4, 4)]
    assert isinstance(find_serial_share(points), NotFound)


def test_more_than_the_workers_explain_is_not_a_law() -> None:
    """Caches that fit only when shared out."""
    found = find_serial_share([Speedup(p, 1.6 * p if p > 1 else 1, None, None) for p in (1, 2, 4, 8)])
    assert isinstance(found, NotFound)
