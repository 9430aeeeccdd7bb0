"""Roofline, drift, noise floor, launch floor and cold call."""

import math
from statistics import median

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analysis.drift import find_drift
from gpuexplain.analysis.intervals import median_interval
from gpuexplain.analysis.launch import find_cold_call, find_launch_floor
from gpuexplain.analysis.noise import find_noise_floor
from gpuexplain.analysis.roofline import find_roofline
from gpuexplain.errors import PointsError
from gpuexplain.findings import ColdCall, Drift, LaunchFloor, NoiseFloor, NotFound
from gpuexplain.model import Clock, Dtype, Flag, Point


def roofline_of(flops: float, moved: float, seconds: float) -> tuple[str, float, bool]:
    """Return bound, attainable rate and is_fact under 100 FLOP/s and 10 bytes/s."""
    frame = pd.DataFrame({"flops": [flops], "bytes": [moved], "seconds": [seconds]})
    point = find_roofline(frame, peak_flops=100, bandwidth_bytes_s=10).points[0]
    return point.bound, point.attainable_flops, point.is_fact


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param((50, 10, 1), ("memory", 50, True), id="left of the ridge: memory"),
        pytest.param((100, 10, 1), ("compute", 100, True), id="on the ridge: compute"),
        pytest.param((100, 1, 1), ("compute", 100, True), id="right of the ridge: compute"),
        pytest.param((115, 1, 1), ("compute", 100, True), id="15 % above the roof: clocks"),
        pytest.param((116, 1, 1), ("compute", 100, False), id="more: no fact"),
        pytest.param((50, 10, 0.5), ("memory", 50, False), id="twice the memory roof: no fact"),
    ],
)
def test_a_point_is_placed_under_its_roof(given: tuple[float, float, float], expected: tuple[str, float, bool]) -> None:
    """Bound and attainable rate follow from the intensity, fact from the rate."""
    assert roofline_of(*given) == expected


def test_ridge_is_peak_over_bandwidth() -> None:
    """FLOP per byte where both roofs meet; no points are needed."""
    frame = pd.DataFrame({"flops": [], "bytes": [], "seconds": []})
    assert find_roofline(frame, peak_flops=100, bandwidth_bytes_s=10).ridge_intensity == 10


def test_a_roof_must_be_positive() -> None:
    """The text says what to give."""
    frame = pd.DataFrame({"flops": [1.0], "bytes": [1.0], "seconds": [1.0]})
    with pytest.raises(PointsError, match="Give two positive roofs"):
        find_roofline(frame, peak_flops=0, bandwidth_bytes_s=10)


STEADY = [1.00, 1.02, 0.98, 1.01, 0.99, 1.0] * 3


def test_steady_samples_do_not_drift() -> None:
    """The same third three times."""
    found = find_drift(STEADY)
    assert isinstance(found, Drift)
    assert (found.is_drifting, found.change, found.n_samples) == (False, 0.0, 18)


@pytest.mark.parametrize("factor", [1.1, 0.9], ids=["slower", "faster"])
def test_thirds_apart_by_more_than_their_intervals_drift(factor: float) -> None:
    """In either direction."""
    found = find_drift(STEADY[:12] + [factor * t for t in STEADY[12:]])
    assert isinstance(found, Drift)
    assert found.is_drifting
    assert found.change == pytest.approx(factor - 1)


def test_the_middle_third_does_not_decide() -> None:
    """A bump in the middle is no drift."""
    found = find_drift(STEADY[:6] + [9 * t for t in STEADY[6:12]] + STEADY[12:])
    assert isinstance(found, Drift)
    assert not found.is_drifting


def test_under_18_samples_nothing_is_said_about_drift() -> None:
    """A third of five has no interval."""
    found = find_drift(STEADY[:17])
    assert found == NotFound("drift", "17 samples, 18 are needed; run with a larger budget")


@pytest.mark.parametrize(("count", "ranks"), [(6, (1, 6)), (9, (2, 8)), (20, (6, 15)), (100, (40, 61))])
def test_interval_of_the_median_by_rank(count: int, ranks: tuple[int, int]) -> None:
    """Ranks from the published tables of the sign test."""
    assert median_interval([float(i) for i in range(1, count + 1)]) == ranks


def test_five_samples_have_no_interval() -> None:
    """Their whole range covers the median with 94 %."""
    assert median_interval([1, 2, 3, 4, 5]) is None


@given(st.lists(st.floats(1e-6, 1), min_size=6, max_size=60))
def test_interval_encloses_the_median(samples: list[float]) -> None:
    """For any samples."""
    interval = median_interval(samples)
    assert interval is not None
    assert interval[0] <= median(samples) <= interval[1]


def test_large_samples_use_logarithms_and_agree() -> None:
    """At 2,000 samples the ranks are n/2 -+ 0.98 sqrt(n)."""
    interval = median_interval([float(i) for i in range(1, 2001)])
    assert interval is not None
    assert interval[0] == pytest.approx(1000 - 0.98 * math.sqrt(2000), abs=2)


def noise(half_widths: list[float]) -> NoiseFloor | NotFound:
    """Return the noise floor of points at 1 s."""
    frame = pd.DataFrame(
        {
            "seconds": 1.0,
            "seconds_lo": [1 - h for h in half_widths],
            "seconds_hi": [1 + h for h in half_widths],
        }
    )
    return find_noise_floor(frame)


def test_noise_floor_joins_the_two_best_known_points() -> None:
    """3 % and 4 % tell 5 % apart."""
    found = noise([0.1, 0.03, 0.04])
    assert isinstance(found, NoiseFloor)
    assert found.smallest_difference == pytest.approx(0.05)
    assert found.median_difference == pytest.approx(0.04 * math.sqrt(2))
    assert found.n_points == 3


@pytest.mark.parametrize("half_widths", [[], [0.1]])
def test_noise_floor_needs_two_intervals(half_widths: list[float]) -> None:
    """A difference takes two."""
    found = noise(half_widths)
    assert isinstance(found, NotFound)
    assert found.reason.startswith(f"{len(half_widths)} points have an interval, 2 are needed")


def test_noise_floor_without_interval_columns() -> None:
    """Published figures have none."""
    assert isinstance(find_noise_floor(pd.DataFrame({"seconds": [1.0, 2.0]})), NotFound)


def points(times: dict[int, float], **changes: object) -> list[Point]:
    """Return GPU matmul points of ``{n: seconds}``."""
    common = {"experiment": "matmul", "series": "gpu_call", "dtype": Dtype.FP32, "device": "cuda:0"}
    rows = [Point(**common, clock=Clock.CALL, x=n, median_s=t, flops=2.0 * n**3) for n, t in times.items()]
    return [row.model_copy(update=changes) for row in rows]


def test_flat_small_sizes_are_the_launch_floor() -> None:
    """Three sizes within 25 % while the work grows 64-fold."""
    found = find_launch_floor(points({16: 1.1e-5, 32: 1e-5, 64: 1.2e-5, 128: 4e-5, 256: 2e-4}))
    assert found == LaunchFloor("gpu_call", 1e-5, 64, 1.25)


@pytest.mark.parametrize(
    "times",
    [
        pytest.param({16: 1e-6, 32: 8e-6, 64: 6.4e-5}, id="the time follows the work"),
        pytest.param({64: 1e-5, 128: 1e-5, 256: 1e-4}, id="two sizes only"),
        pytest.param({64: 1e-5, 65: 1e-5, 66: 1e-5, 256: 1e-4}, id="the work hardly grows"),
        pytest.param({16: 4e-5, 32: 1e-5, 64: 1e-5, 128: 1e-5}, id="the smallest sizes are not flat"),
        pytest.param({}, id="no points"),
    ],
)
def test_no_launch_floor_unless_small_sizes_are_flat(times: dict[int, float]) -> None:
    """And the work grows at least eightfold."""
    assert isinstance(find_launch_floor(points(times)), NotFound)


def test_hollow_points_make_no_launch_floor() -> None:
    """Throttled points are no floor."""
    flat = {16: 1e-5, 32: 1e-5, 64: 1e-5}
    assert isinstance(find_launch_floor(points(flat, flags=(Flag.THROTTLED,))), NotFound)


def test_cold_call_is_the_largest_factor() -> None:
    """Not the longest time."""
    own = points({16: 1e-5}, first_call_s=1e-2) + points({4096: 1.0}, first_call_s=2.0)
    found = find_cold_call(own)
    assert isinstance(found, ColdCall)
    assert (found.x, found.factor) == (16, pytest.approx(1000))


def test_no_first_call_no_cold_call() -> None:
    """Published points have none."""
    assert isinstance(find_cold_call(points({16: 1e-5})), NotFound)
