"""Ticks of log axes."""

import math

import pytest

from gpuexplain.charts.axes import log_range, power_of_two_ticks, si_ticks, size_axis, value_axis
from gpuexplain.units import NBSP, format_rate_flops, format_time


def test_a_range_is_padded_on_both_sides() -> None:
    """Two decades, padded by a tenth of them."""
    assert log_range([1.0, 100.0], pad=0.1) == pytest.approx((-0.2, 2.2))


def test_one_number_does_not_fill_the_chart() -> None:
    """The range has a least width around it; without numbers it is one decade."""
    low, high = log_range([10.0], pad=0.0, least=0.6)
    assert (low, high) == pytest.approx((0.7, 1.3))
    assert log_range([]) == (0.0, 1.0)
    assert log_range([0.0, -1.0]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (64, 256, ["64", "128", "256"]),
        (16, 8192, ["16", "64", "256", "1,024", "4,096"]),
        (65, 127, []),
    ],
    ids=["all", "every second", "none inside"],
)
def test_sizes_are_powers_of_two(low: float, high: float, texts: list[str]) -> None:
    """With thousands separators, and never so many that they touch."""
    sizes, written = power_of_two_ticks((math.log10(low), math.log10(high)))
    assert written == texts
    assert [f"{size:,.0f}" for size in sizes] == texts


def test_fewer_sizes_can_be_asked_for() -> None:
    """A plot narrowed by a second axis takes four at most."""
    assert power_of_two_ticks((math.log10(16), math.log10(8192)), most=4)[1] == ["64", "512", "4,096"]


def test_decades_carry_their_unit_and_no_decimals() -> None:
    """Times over six decades, rates over four."""
    written = si_ticks((-6.0, 0.0), format_time)[1]
    assert [text.replace(NBSP, " ") for text in written] == [
        "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s",
    ]  # fmt: skip
    rates = si_ticks((9.0, 12.0), format_rate_flops)[1]
    assert [text.replace(NBSP, " ") for text in rates] == [
        "1 GFLOP/s", "10 GFLOP/s", "100 GFLOP/s", "1 TFLOP/s",
    ]  # fmt: skip


def test_a_short_range_has_steps_of_one_two_five() -> None:
    """One decade would leave a single label."""
    written = si_ticks((math.log10(15e-6), math.log10(60e-6)), format_time)[1]
    assert [text.replace(NBSP, " ") for text in written] == ["20 µs", "50 µs"]


def test_log_axes_say_so_and_only_values_have_a_grid() -> None:
    """The title names the scale; sizes have a mark at each power of two instead."""
    sizes = size_axis("matrix side n", (1.0, 3.0), "light")
    values = value_axis("time", (-6.0, 0.0), format_time, "light")
    assert (sizes["title"]["text"], values["title"]["text"]) == ("matrix side n (log)", "time (log)")
    assert (sizes["showgrid"], values["showgrid"]) == (False, True)
    assert sizes["minor"]["tickvals"] == [16, 32, 64, 128, 256, 512]
