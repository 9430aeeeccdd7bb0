"""Transfer rules, each on a series that fails without it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.analysis.transfer_fit import find_transfer_fit
from gpuexplain.findings import TransferFit


def fit(points: dict[float, float], llc: float | None = None) -> TransferFit:
    """Return the finding of ``{bytes: gbps}``."""
    frame = pd.DataFrame({"bytes": list(points), "gbps": list(points.values())})
    return find_transfer_fit(frame, last_level_cache_bytes=llc)


def affine(latency_s: float, rate_gbps: float, sizes: list[float]) -> pd.DataFrame:
    """Return copies that follow t = latency + bytes / rate exactly."""
    return pd.DataFrame({"bytes": sizes, "seconds": [latency_s + b / (rate_gbps * 1e9) for b in sizes]})


SIZES = [float(2**i) for i in range(10, 28)]


@given(st.floats(1e-7, 1e-3), st.floats(0.1, 1000))
def test_exact_copies_give_back_latency_and_rate(latency_s: float, rate_gbps: float) -> None:
    """n_half is their product."""
    found = find_transfer_fit(affine(latency_s, rate_gbps, SIZES))
    assert found.fit_status == "ok"
    assert found.latency_us == pytest.approx(latency_s * 1e6, rel=1e-6)
    assert found.fit_gbps == pytest.approx(rate_gbps, rel=1e-6)
    assert found.n_half_bytes == pytest.approx(latency_s * rate_gbps * 1e9, rel=1e-6)


def test_errors_count_relative_to_their_time() -> None:
    """A large copy that is 20 % slow must not drown the latency of the small ones."""
    frame = affine(1e-5, 10, SIZES)
    frame.loc[frame.index[-1], "seconds"] *= 1.2
    found = find_transfer_fit(frame)
    assert found.latency_us == pytest.approx(10, rel=0.03)


@pytest.mark.parametrize(("factor", "status"), [(1.2, "ok"), (2.0, "not_affine")])
def test_a_residual_above_30_percent_is_another_regime(factor: float, status: str) -> None:
    """One copy at twice its time contradicts the line."""
    frame = affine(1e-5, 10, SIZES)
    frame.loc[frame.index[9], "seconds"] *= factor
    found = find_transfer_fit(frame)
    assert found.fit_status == status
    assert (found.latency_us is None) == (found.fit_gbps is None) == (found.n_half_bytes is None) == (status != "ok")


def test_negative_latency_is_not_affine() -> None:
    """Rates that fall with the size have no latency."""
    assert fit({1e6: 12.0, 2e6: 11.0, 4e6: 10.0}).fit_status == "not_affine"


def test_time_that_falls_with_the_size_is_not_affine() -> None:
    """A negative cost per byte is no rate."""
    frame = pd.DataFrame({"bytes": [1e3, 2e3, 4e3], "seconds": [3e-6, 2.9e-6, 2.8e-6]})
    assert find_transfer_fit(frame).fit_status == "not_affine"


def test_two_points_are_too_few() -> None:
    """Nothing could contradict a line through two points."""
    found = fit({1e3: 1.0, 1e6: 10.0})
    assert (found.fit_status, found.n_half_status) == ("too_few_points", "too_few_points")
    assert found.plateau_gbps == 10.0


def test_many_points_of_one_size_are_one_size() -> None:
    """Eight GPUs at 512 MiB are no curve."""
    found = find_transfer_fit(pd.DataFrame({"bytes": [2.0**29] * 8, "gbps": [26.0 + i / 10 for i in range(8)]}))
    assert (found.fit_status, found.n_half_status) == ("too_few_points", "too_few_points")
    assert found.plateau_gbps == 26.7


def test_plateau_is_the_best_tested() -> None:
    """Not the fitted asymptote, not the last."""
    assert fit({1e3: 1.0, 1e6: 10.0, 1e7: 9.9}).plateau_gbps == 10.0


def test_memory_copy_plateau_is_the_median_beyond_twice_the_cache() -> None:
    """Sizes within twice the cache are the cache's."""
    points = {1e6: 60.0, 2e6: 50.0, 4e6: 12.0, 8e6: 10.0, 16e6: 11.0}
    assert fit(points, llc=1e6).plateau_gbps == 11.0


def test_memory_copy_plateau_without_large_sizes_is_the_largest() -> None:
    """The largest size is the nearest to memory."""
    assert fit({1e6: 60.0, 2e6: 50.0, 4e6: 40.0}, llc=1e9).plateau_gbps == 40.0


def test_first_at_half_is_the_first_size_with_at_least_half() -> None:
    """Half counts."""
    assert fit({1e3: 1.0, 1e4: 5.0, 1e5: 9.0, 1e6: 10.0}).first_at_half_bytes == 1e4


@pytest.mark.parametrize(("first", "status"), [(5.0, "below_range"), (4.9, "located")])
def test_half_reached_by_the_smallest_size_lies_below_the_range(first: float, status: str) -> None:
    """Then n_half was not located."""
    assert fit({1e5: first, 1e6: 9.0, 1e7: 10.0}).n_half_status == status


@pytest.mark.parametrize(
    ("points", "saturated"),
    [
        pytest.param({1e6: 10.0, 2e6: 10.5}, True, id="gained exactly 5 %"),
        pytest.param({1e6: 10.0, 2e6: 10.6}, False, id="gained 6 %"),
        pytest.param({1e6: 10.0, 2e6: 9.0}, True, id="fell"),
        pytest.param({1e6: 5.0, 1.8e6: 9.9, 2e6: 10.0}, False, id="dense grid: half, not the neighbour"),
        pytest.param({1.8e6: 9.9, 2e6: 10.0}, False, id="no size of at most half: not shown"),
    ],
)
def test_saturated_when_the_last_step_gained_at_most_5_percent(points: dict[float, float], saturated: bool) -> None:
    """The last step compares the last size with the largest of at most half of it."""
    assert fit(points).saturated is saturated


def test_flagged_copies_are_left_out() -> None:
    """A copy under load is no plateau."""
    frame = pd.DataFrame({"bytes": [1e5, 1e6, 1e7], "gbps": [1.0, 50.0, 10.0], "flags": ["", "under_load", ""]})
    assert find_transfer_fit(frame).plateau_gbps == 10.0


def test_nothing_usable() -> None:
    """No figures without points."""
    found = find_transfer_fit(pd.DataFrame({"bytes": [1e5], "gbps": [1.0], "status": ["failed"]}))
    assert (found.plateau_gbps, found.first_at_half_bytes, found.saturated) == (None, None, False)
