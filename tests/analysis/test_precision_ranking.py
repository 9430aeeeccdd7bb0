"""Precision rules, each on a series that fails without it."""

import pandas as pd
import pytest

from gpuexplain.analysis.precision_ranking import find_precision_ranking
from gpuexplain.findings import PrecisionRanking


def rank(
    series: dict[str, list[float]], gpu: str | None = None, **columns: list[float] | list[str]
) -> PrecisionRanking:
    """Return the finding of ``{dtype: rates at 1024, 2048, ...}``."""
    rows = [(d, 1024 * 2**i, r) for d, rates in series.items() for i, r in enumerate(rates)]
    frame = pd.DataFrame(rows, columns=["dtype", "n", "tflops"]).assign(**columns)
    return find_precision_ranking(frame, gpu)


def test_formats_are_ranked_best_first_and_near_ones_share() -> None:
    """Within 5 % of a rank's first is the same rank."""
    found = rank({"fp32": [50], "fp16": [100], "bf16": [95], "tf32": [94]})
    assert found.ranking == (("bf16", "fp16"), ("tf32",), ("fp32",))


def test_a_rank_is_measured_from_its_first_not_from_its_last() -> None:
    """100, 96, 92: the third is within 5 % of the second, not of the first."""
    assert rank({"fp16": [100], "bf16": [96], "tf32": [92]}).ranking == (("bf16", "fp16"), ("tf32",))


def test_overlapping_intervals_share_a_rank() -> None:
    """What cannot be told apart is not ranked."""
    bounds = {"tflops_lo": [85.0, 80.0], "tflops_hi": [115.0, 90.0]}
    assert rank({"fp16": [100], "fp32": [85]}, **bounds).ranking == (("fp16", "fp32"),)


def test_separate_intervals_do_not_share() -> None:
    """The same figures, better known."""
    bounds = {"tflops_lo": [99.0, 84.0], "tflops_hi": [101.0, 86.0]}
    assert rank({"fp16": [100], "fp32": [85]}, **bounds).ranking == (("fp16",), ("fp32",))


@pytest.mark.parametrize(("rate", "slow"), [(7.9, ("bf16",)), (8.0, ())])
def test_16_bit_under_80_percent_of_fp32_is_slow(rate: float, slow: tuple[str, ...]) -> None:
    """Exactly 80 % is not under it."""
    assert rank({"fp32": [10], "bf16": [rate]}).slow_16bit == slow


def test_slow_is_not_emulated() -> None:
    """A slow format on an unknown part may just be slow."""
    assert rank({"fp32": [10], "bf16": [1]}).emulated == ()


@pytest.mark.parametrize(("gpu", "emulated"), [("Tesla T4", ("bf16",)), ("A100 80GB PCIe", ()), ("unheard of", ())])
def test_known_part_without_bf16_emulates_it(gpu: str, emulated: tuple[str, ...]) -> None:
    """Capability below 8.0, known from the table only."""
    assert rank({"fp32": [8], "bf16": [2.3]}, gpu).emulated == emulated


@pytest.mark.parametrize(("gpu", "emulated"), [("A100 80GB PCIe", ("fp8", "fp8_e5m2")), ("RTX 4090", ())])
def test_both_fp8_formats_need_the_same_part(gpu: str, emulated: tuple[str, ...]) -> None:
    """Capability 8.9 or newer, e4m3 and e5m2 alike."""
    assert rank({"fp32": [19], "fp8": [3], "fp8_e5m2": [3]}, gpu).emulated == emulated


def test_probe_of_the_device_says_emulated() -> None:
    """The flag wins on any part."""
    assert rank({"fp32": [8], "bf16": [2]}, flags=["", "emulated"]).emulated == ("bf16",)


@pytest.mark.parametrize(("gpu", "fallback"), [("Tesla T4", {"tf32": "fp32"}), ("A100 80GB PCIe", {}), (None, {})])
def test_known_part_without_tf32_falls_back(gpu: str | None, fallback: dict[str, str]) -> None:
    """Capability below 8.0 runs tf32 as fp32."""
    assert rank({"fp32": [8], "tf32": [8]}, gpu).fallback == fallback


def test_no_tf32_series_no_fallback() -> None:
    """What was not run did not fall back."""
    assert rank({"fp32": [8]}, "Tesla T4").fallback == {}


@pytest.mark.parametrize(("error", "fallback"), [(3e-7, {"tf32": "fp32"}), (3e-4, {})])
def test_error_tells_the_fallback(error: float, fallback: dict[str, str]) -> None:
    """An fp32-sized error means fp32 ran."""
    assert rank({"fp32": [8], "tf32": [8]}, rel_error=[3e-7, error]).fallback == fallback


def test_both_largest_sizes_suspect_withholds_the_ranking() -> None:
    """A series without its upper end says nothing about the format."""
    found = rank({"fp32": [5, 6, 7, 90_000, 700_000], "fp16": [9, 9, 9, 9, 9]})
    assert (found.ranking, found.withheld) == (None, True)
    assert found.withheld_reason == (
        "fp32: both largest sizes took impossibly little time; measure again with synchronisation"
    )


def test_one_suspect_largest_size_does_not_withhold() -> None:
    """The size before it still stands."""
    assert rank({"fp32": [5, 6, 7, 8, 700_000], "fp16": [9] * 5}).withheld is False


@pytest.mark.parametrize(
    ("gpu", "last", "withheld"),
    [("any GPU", 69.0, True), ("any GPU", 70.0, False), (None, 69.0, False)],
    ids=["declines by 31 %", "by exactly 30 %", "no GPU named"],
)
def test_a_decline_above_30_percent_on_a_gpu_withholds(gpu: str | None, last: float, withheld: bool) -> None:
    """A best that does not last is no property of the format."""
    found = rank({"fp32": [100, last]}, gpu)
    assert (found.withheld, found.ranking is None) == (withheld, withheld)


def test_dtype_without_a_usable_point_is_not_ranked() -> None:
    """It failed; the others stand."""
    found = rank({"fp32": [10], "fp8": [1]}, status=["ok", "unsupported"])
    assert found.ranking == (("fp32",),)
    assert set(found.best_tflops_by_dtype) == {"fp32"}
