"""Matmul rules, each on a series that fails without it."""

import pandas as pd
import pytest

from gpuexplain.analysis.matmul_peak import find_matmul_peak
from gpuexplain.errors import PointsError
from gpuexplain.findings import MatmulPeak, Plausibility


def peak(points: dict[int, float], gpu: str | None = None, dtype: str | None = None) -> MatmulPeak:
    """Return the finding of ``{n: tflops}``."""
    return find_matmul_peak(pd.DataFrame({"n": list(points), "tflops": list(points.values())}), gpu, dtype)


def test_seconds_and_tflops_say_the_same() -> None:
    """2 n^3 operations in the given seconds are the rate."""
    found = find_matmul_peak(pd.DataFrame({"n": [1000, 2000], "seconds": [2e-3, 8e-3]}))
    assert found.best_tflops == pytest.approx(2.0)
    assert found.best_n == 2000


def test_flops_column_replaces_the_square_product() -> None:
    """Products that are not square bring their own count."""
    frame = pd.DataFrame({"n": [1000, 2000], "seconds": [1.0, 1.0], "flops": [5e12, 7e12]})
    assert find_matmul_peak(frame).best_tflops == pytest.approx(7.0)


def test_of_equal_bests_the_smaller_size_is_named() -> None:
    """A tie goes to the size that costs less."""
    assert peak({512: 10.0, 1024: 10.0}).best_n == 512


@pytest.mark.parametrize(("rate", "first"), [(9.0, 512.0), (8.99, 1024.0)], ids=["at 90 %", "under 90 %"])
def test_n_at_90pct_starts_at_exactly_90_percent(rate: float, first: float) -> None:
    """At least 90 % includes 90 %."""
    assert peak({512: rate, 1024: 10.0}).n_at_90pct == first


@pytest.mark.parametrize(
    ("points", "dips"),
    [
        pytest.param({256: 10.0, 512: 6.9, 1024: 10.0}, (512.0,), id="under 70 % of both"),
        pytest.param({256: 10.0, 512: 7.0, 1024: 10.0}, (), id="exactly 70 %"),
        pytest.param({256: 6.0, 512: 6.9, 1024: 10.0}, (), id="of one neighbour only"),
        pytest.param({256: 6.0, 512: 10.0, 1024: 6.0}, (), id="ends have one neighbour"),
    ],
)
def test_dips_are_under_70_percent_of_both_neighbours(points: dict[int, float], dips: tuple[float, ...]) -> None:
    """A dip needs two better neighbours."""
    assert peak(points).dips_n == dips


def test_suspects_are_left_out_of_best_dips_and_decline() -> None:
    """An impossible rate is named and nothing else is drawn from it."""
    found = peak({512: 5.0, 1024: 9.0, 2048: 11.0, 4096: 11450.0})
    assert found.suspect_n == (4096.0,)
    assert (found.best_n, found.decline_pct, found.dips_n) == (2048.0, 0.0, ())


def test_suspect_does_not_count_as_a_neighbour() -> None:
    """A dip is told from trusted neighbours."""
    found = peak({256: 10.0, 512: 6.0, 1024: 0.05, 2048: 10.0, 4096: 10.0})
    assert found.suspect_n == (1024.0,)
    assert found.dips_n == (512.0,)


def test_decline_is_that_of_the_largest_size() -> None:
    """How far the largest size lies below the best, to a tenth of a percent."""
    assert peak({1024: 10.0, 2048: 8.0, 4096: 9.0}).decline_pct == 10.0


@pytest.mark.parametrize("column", ["status", "flags"])
def test_points_not_ok_or_hollow_are_never_the_best(column: str) -> None:
    """A failed or throttled point may not carry a claim."""
    mark = {"status": ["ok", "failed"], "flags": ["", "throttled not_converged"]}[column]
    found = find_matmul_peak(pd.DataFrame({"n": [512, 1024], "tflops": [5.0, 9.0], column: mark}))
    assert (found.best_n, found.decline_pct) == (512.0, 0.0)


def test_flags_that_only_widen_the_band_do_not_exclude() -> None:
    """A point that did not converge still counts."""
    frame = pd.DataFrame({"n": [512, 1024], "tflops": [5.0, 9.0], "flags": ["", "not_converged"]})
    assert find_matmul_peak(frame).best_n == 1024


def test_nothing_usable_is_no_best() -> None:
    """Without a usable point every figure is missing."""
    found = find_matmul_peak(pd.DataFrame({"n": [512.0], "seconds": [None], "status": ["oom"]}))
    assert (found.best_tflops, found.best_n, found.n_at_90pct, found.decline_pct) == (None, None, None, None)


def test_missing_columns_are_named_with_the_remedy() -> None:
    """The error says what is missing, what is there and what to do."""
    with pytest.raises(PointsError, match=r"no column seconds or tflops \(have \['n'\], 1 rows\). Add that"):
        find_matmul_peak(pd.DataFrame({"n": [1]}))


@pytest.mark.parametrize(
    ("best", "verdict"),
    [
        pytest.param(19.5, Plausibility.OK, id="exactly the peak"),
        pytest.param(19.6, Plausibility.ABOVE_REFERENCE_CLOCK, id="above it"),
        pytest.param(19.5 * 1.15, Plausibility.ABOVE_REFERENCE_CLOCK, id="exactly 115 %"),
        pytest.param(22.6, Plausibility.IMPLAUSIBLE, id="above 115 %"),
    ],
)
def test_plausibility_by_share_of_the_peak(best: float, verdict: Plausibility) -> None:
    """The bounds 1.00 and 1.15 belong to the better verdict (A100: 19.5 TFLOP/s fp32)."""
    found = peak({1024: best}, "A100 80GB PCIe", "fp32")
    assert found.plausibility is verdict
    assert found.fraction_of_peak == pytest.approx(best / 19.5)
    assert found.matched_gpu == "NVIDIA A100 80GB PCIe"


def test_unknown_gpu_is_said_and_nothing_divided() -> None:
    """No part, no share."""
    found = peak({1024: 5.0}, "GTX TITAN Black", "fp32")
    assert (found.plausibility, found.fraction_of_peak) == (Plausibility.UNKNOWN_GPU, None)


def test_part_without_a_figure_for_the_dtype_cannot_be_judged() -> None:
    """A V100 has no TF32 peak to divide by."""
    found = peak({1024: 5.0}, "Tesla V100-SXM2-16GB", "tf32")
    assert (found.plausibility, found.matched_gpu) == (Plausibility.UNKNOWN_GPU, "Tesla V100-SXM2-16GB")


@pytest.mark.parametrize("given", [("A100 80GB PCIe", None), (None, "fp32"), (None, None)])
def test_without_gpu_and_dtype_nothing_is_compared(given: tuple[str | None, str | None]) -> None:
    """Both are needed."""
    found = peak({1024: 5.0}, *given)
    assert (found.plausibility, found.fraction_of_peak, found.ran_as) == (None, None, None)


@pytest.mark.parametrize(
    ("gpu", "dtype", "rate", "ran_as"),
    [
        pytest.param("A100 80GB PCIe", "fp32", 120.0, "tf32", id="above fp32, fits tf32"),
        pytest.param("A100 80GB PCIe", "fp32", 22.0, None, id="within 1.15 of fp32"),
        pytest.param("A100 80GB PCIe", "fp32", 200.0, None, id="above tf32 too"),
        pytest.param("A100 80GB PCIe", "bf16", 400.0, None, id="no fp32 series"),
        pytest.param("RTX 4090", "fp32", 100.0, None, id="GeForce: tf32 is no faster"),
        pytest.param("Tesla V100-SXM2-16GB", "fp32", 60.0, None, id="no tf32"),
    ],
)
def test_fp32_that_only_tf32_can_reach_ran_as_tf32(gpu: str, dtype: str, rate: float, ran_as: str | None) -> None:
    """Told from the rates only where the tf32 peak is higher and the rate fits it."""
    assert peak({4096: rate}, gpu, dtype).ran_as == ran_as


@pytest.mark.parametrize(("error", "ran_as"), [(3e-4, "tf32"), (3e-7, None), (3e-3, None)])
def test_error_tells_tf32_where_the_rates_cannot(error: float, ran_as: str | None) -> None:
    """An error of 3e-4 is tf32's."""
    frame = pd.DataFrame({"n": [4096], "tflops": [50.0], "rel_error": [error]})
    assert find_matmul_peak(frame, "RTX 4090", "fp32").ran_as == ran_as
