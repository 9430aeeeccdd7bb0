"""The intervals of a transfer fit: right coverage, wide where the line is poor, withheld where there is none."""

import numpy as np
import pandas as pd
import pytest

from gpuexplain.analysis.transfer_interval import find_fit_interval, student_t
from gpuexplain.findings import FitInterval, NotFound

SIZES = np.array([2.0**i for i in range(10, 28)])


def noisy(noise: float, seed: int) -> pd.DataFrame:
    """Return copies of 5 us and 10 GB/s whose times stray by ``noise``."""
    spread = np.random.default_rng(seed).normal(1, noise, len(SIZES))
    return pd.DataFrame({"bytes": SIZES, "seconds": (5e-6 + SIZES / 10e9) * spread})


def test_95_of_100_intervals_hold_the_truth() -> None:
    """Of latency and of rate; 400 repetitions with 3 % noise."""
    found = [find_fit_interval(noisy(0.03, seed)) for seed in range(400)]
    assert all(isinstance(f, FitInterval) for f in found)
    latency = np.mean([f.latency_low_us <= 5 <= f.latency_high_us for f in found])
    rate = np.mean([f.rate_low_gbps <= 10 <= f.rate_high_gbps for f in found])
    assert 0.91 <= latency <= 0.985
    assert 0.91 <= rate <= 0.985


def test_exact_times_leave_no_doubt() -> None:
    """Nothing strays, so the interval closes on the estimate."""
    found = find_fit_interval(noisy(0.0, 0))
    assert isinstance(found, FitInterval)
    assert found.latency_low_us == pytest.approx(5) == found.latency_high_us
    assert found.rate_low_gbps == pytest.approx(10) == found.rate_high_gbps
    assert found.n_points == len(SIZES)


def test_more_noise_is_a_wider_interval() -> None:
    """In both figures."""
    calm, wild = find_fit_interval(noisy(0.01, 1)), find_fit_interval(noisy(0.08, 1))
    assert isinstance(calm, FitInterval)
    assert isinstance(wild, FitInterval)
    assert wild.latency_high_us - wild.latency_low_us > 4 * (calm.latency_high_us - calm.latency_low_us)
    assert wild.rate_high_gbps - wild.rate_low_gbps > 4 * (calm.rate_high_gbps - calm.rate_low_gbps)


def test_times_off_the_line_have_no_interval() -> None:
    """Without a fit there is nothing to be sure of."""
    frame = noisy(0.0, 0)
    frame.loc[9, "seconds"] *= 3
    found = find_fit_interval(frame)
    assert found == NotFound("interval of the fit", "the times do not follow latency + bytes / rate")


def test_three_sizes_are_too_few() -> None:
    """They make a line, but leave one degree of freedom."""
    found = find_fit_interval(noisy(0.0, 0).iloc[[0, 8, 17]].reset_index(drop=True))
    assert found == NotFound("interval of the fit", "3 sizes, 4 are needed; add sizes")


def test_sizes_too_small_to_show_the_rate() -> None:
    """Where every copy costs the same within the noise, a byte may cost nothing."""
    sizes = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    times = 5e-6 * np.array([1.0, 1.03, 0.98, 1.01, 1.02])
    found = find_fit_interval(pd.DataFrame({"bytes": sizes, "seconds": times}))
    assert found == NotFound("interval of the fit", "the cost of a byte cannot be told from none; add larger sizes")


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(2, 4.303), (3, 3.182), (4, 2.776), (8, 2.306), (16, 2.120), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_of_student(degrees: int, quantile: float) -> None:
    """As every table has them."""
    assert student_t(degrees) == pytest.approx(quantile, rel=0.003)
