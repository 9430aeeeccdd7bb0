"""What a coarser format gains and costs: speed-ups, the trade-off, the front, lost updates."""

import pandas as pd
import pytest

from gpuexplain.analysis.precision_best import FormatBest
from gpuexplain.analysis.precision_tradeoff import (
    ERROR_BOUND,
    find_front,
    find_lost_updates,
    find_speedup,
    find_speedups,
    find_trade_off,
)
from gpuexplain.errors import PointsError
from gpuexplain.findings import NotFound, Speedup, SpeedVerdict, TradeOff

ERRORS = {"fp64": 3e-16, "fp32": 3e-7, "tf32": 3e-4, "fp16": 3.3e-4, "bf16": 2.7e-3, "int8": 5.6e-3, "fp8": 3.6e-2}


def make_frame(
    rates: dict[str, list[float]], *, spread: float | None = 0.01, errors: dict[str, float] | None = None
) -> pd.DataFrame:
    """Return rates (TFLOP/s) at n = 1024, 2048, ... with bounds of so much either side."""
    known = ERRORS if errors is None else errors
    rows = []
    for dtype, series in rates.items():
        for i, rate in enumerate(series):
            row = {"dtype": dtype, "n": 1024.0 * 2**i, "tflops": rate, "rel_error": known.get(dtype)}
            if spread is not None:
                row |= {"tflops_lo": rate * (1 - spread), "tflops_hi": rate * (1 + spread)}
            rows.append(row)
    return pd.DataFrame(rows)


def speedup(frame: pd.DataFrame, dtype: str) -> Speedup:
    """Return the speed-up over fp32 that must be there."""
    found = find_speedups(frame)[dtype]
    assert isinstance(found, Speedup)
    return found


# -- speed-ups ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "spread", "verdict"),
    [
        (40.0, 0.01, SpeedVerdict.FASTER),
        (10.8, 0.01, SpeedVerdict.FASTER),
        (10.6, 0.01, SpeedVerdict.TIE),
        (15.0, 0.30, SpeedVerdict.TIE),
        (9.0, 0.01, SpeedVerdict.SLOWER),
        (9.5, 0.01, SpeedVerdict.TIE),
        (7.0, 0.30, SpeedVerdict.TIE),
    ],
    ids=["fourfold", "just", "not quite", "too noisy to win", "slower", "level", "too noisy to lose"],
)
def test_a_format_is_faster_only_where_its_worst_ratio_is(rate: float, spread: float, verdict: SpeedVerdict) -> None:
    """More than 5 % after both intervals are taken into account."""
    found = speedup(make_frame({"fp32": [10.0], "bf16": [rate]}, spread=spread), "bf16")
    assert found.verdict is verdict
    assert found.factor == pytest.approx(rate / 10)
    assert found.low == pytest.approx(rate * (1 - spread) / (10 * (1 + spread)))
    assert found.high == pytest.approx(rate * (1 + spread) / (10 * (1 - spread)))


def test_the_largest_common_size_is_compared() -> None:
    """A slow format that ends earlier is not compared with a larger fp32 product."""
    found = speedup(make_frame({"fp32": [10.0, 12.0, 16.0], "bf16": [20.0, 30.0]}), "bf16")
    assert (found.n, found.factor) == (2048.0, pytest.approx(2.5))


def test_without_intervals_there_are_no_bounds() -> None:
    """A published series has rates only; the factor decides."""
    found = speedup(make_frame({"fp32": [10.0], "bf16": [20.0]}, spread=None), "bf16")
    assert (found.low, found.high, found.verdict) == (None, None, SpeedVerdict.FASTER)


def test_a_suspect_size_is_not_compared() -> None:
    """2048 took far longer than 4096: only what can be true together counts."""
    frame = make_frame({"fp32": [10.0, 10.0], "bf16": [20.0, 0.001, 30.0]})
    assert speedup(frame, "bf16").n == 1024.0


def test_flagged_points_are_not_compared() -> None:
    """As in every other finding."""
    frame = make_frame({"fp32": [10.0, 10.0], "bf16": [20.0, 30.0]}).assign(flags=["", "", "", "under_load"])
    assert speedup(frame, "bf16").n == 1024.0


def test_nothing_in_common_is_not_found() -> None:
    """And says which two."""
    frame = make_frame({"fp32": [10.0], "bf16": [20.0]}).assign(n=[1024.0, 2048.0])
    assert find_speedups(frame)["bf16"] == NotFound(
        "speed-up", "bf16 and fp32 have no trustworthy size in common; run longer"
    )


def test_without_a_baseline_nothing_is_found() -> None:
    """The formats are named all the same."""
    assert find_speedups(make_frame({"bf16": [1.0]})) == {"bf16": NotFound("speed-up", "fp32 was not measured")}


def test_two_series_of_another_kind_are_compared_by_name() -> None:
    """A training step with autocast and without."""
    frames = [make_frame({"fp32": [rate]}) for rate in (30.0, 10.0)]
    found = find_speedup(frames[0], frames[1], names=("autocast", "fp32"))
    assert isinstance(found, Speedup)
    assert (found.challenger, found.baseline, found.factor) == ("autocast", "fp32", pytest.approx(3.0))


def test_a_missing_column_is_named() -> None:
    """With what the frame has."""
    with pytest.raises(PointsError, match="Cannot find speed-ups: no column dtype"):
        find_speedups(pd.DataFrame({"n": [1], "tflops": [1.0]}))


# -- the trade-off ------------------------------------------------------------------------------


def trade_off(rates: dict[str, list[float]], **options: object) -> TradeOff:
    """Return the trade-off that must be there."""
    found = find_trade_off(make_frame(rates, **options))  # type: ignore[arg-type]
    assert isinstance(found, TradeOff)
    return found


def test_the_fastest_format_under_the_bound_is_the_best() -> None:
    """fp8 and int8 are faster but err by more than half a unit of bf16."""
    found = trade_off({"fp32": [20.0], "bf16": [100.0], "int8": [150.0], "fp8": [200.0]})
    assert (found.dtypes, found.best_tflops, found.rel_error) == (("bf16",), 100.0, 2.7e-3)
    assert found.error_bound == ERROR_BOUND == 0.00390625


def test_fp32_is_the_best_where_nothing_else_pays() -> None:
    """A CPU without 16-bit units."""
    assert trade_off({"fp64": [0.05], "fp32": [0.1], "bf16": [0.001]}).dtypes == ("fp32",)


def test_what_speed_cannot_tell_apart_is_named_together() -> None:
    """Within 5 %, or with intervals that overlap."""
    assert trade_off({"fp32": [20.0], "bf16": [100.0], "fp16": [97.0]}).dtypes == ("bf16", "fp16")
    assert trade_off({"fp32": [70.0], "bf16": [100.0]}, spread=0.25).dtypes == ("bf16", "fp32")


def test_an_error_on_the_bound_is_not_under_it() -> None:
    """Exactly half a unit is too much."""
    found = trade_off({"fp32": [1.0], "bf16": [9.0]}, errors={"fp32": 3e-7, "bf16": ERROR_BOUND})
    assert found.dtypes == ("fp32",)


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ({}, "no point reports its error, so only speeds can be compared"),
        ({"fp32": 0.1, "bf16": 0.2}, "no format errs by less than 0.0039"),
    ],
    ids=["no errors", "all too coarse"],
)
def test_without_an_exact_format_there_is_no_trade_off(errors: dict[str, float], reason: str) -> None:
    """And the reason is told."""
    found = find_trade_off(make_frame({"fp32": [1.0], "bf16": [2.0]}, errors=errors))
    assert found == NotFound("trade-off", reason)


def test_what_withholds_the_ranking_withholds_the_trade_off() -> None:
    """A GPU that loses a third towards large sizes was disturbed."""
    frame = make_frame({"fp32": [10.0, 6.0], "bf16": [20.0, 20.0]})
    found = find_trade_off(frame, on_gpu=True)
    assert isinstance(found, NotFound)
    assert found.reason.startswith("fp32: its largest size is 40 % below its best")
    assert isinstance(find_trade_off(frame, on_gpu=False), TradeOff)


def test_the_error_of_the_best_size_counts() -> None:
    """Another size's stands in only where it has none."""
    frame = make_frame({"fp32": [10.0, 20.0]}).assign(rel_error=[1e-7, 4e-7])
    found = find_trade_off(frame)
    assert isinstance(found, TradeOff)
    assert (found.n, found.rel_error) == (2048.0, 4e-7)
    without = find_trade_off(frame.assign(rel_error=[1e-7, None]))
    assert isinstance(without, TradeOff)
    assert without.rel_error == 1e-7


# -- the front ----------------------------------------------------------------------------------


def best(dtype: str, rate: float, error: float | None, spread: float = 0.01) -> FormatBest:
    """Return a format's best with bounds of so much either side."""
    return FormatBest(dtype, rate, rate * (1 - spread), rate * (1 + spread), 1024.0, error)


def test_the_front_goes_from_exact_to_fast() -> None:
    """Each step costs exactness and buys speed; what is beaten in both is left out."""
    bests = [best("bf16", 100, 3e-3), best("fp64", 1, 3e-16), best("fp32", 20, 3e-7), best("fp8", 50, 4e-2)]
    assert find_front(bests) == ("fp64", "fp32", "bf16")


def test_as_fast_and_more_exact_beats() -> None:
    """fp16 rounds finer than bf16 at the same speed."""
    assert find_front([best("bf16", 100, 3e-3), best("fp16", 98, 3e-4)]) == ("fp16",)


def test_as_exact_and_faster_beats() -> None:
    """tf32 that ran as fp32, and another format of that error at twice the speed."""
    assert find_front([best("fp32", 10, 3.0e-7), best("tf32", 20, 2.6e-7)]) == ("tf32",)


def test_what_cannot_be_told_apart_stands_together() -> None:
    """Neither speed nor error decides: overlapping intervals, errors of one size."""
    assert find_front([best("fp32", 10, 3.0e-7), best("tf32", 12, 2.6e-7, spread=0.3)]) == ("tf32", "fp32")


def test_a_format_without_an_error_has_no_place() -> None:
    """A published speed says nothing about exactness."""
    assert find_front([best("fp32", 10, 3e-7), best("bf16", 20, None)]) == ("fp32",)


# -- lost updates -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "lost_from"),
    [
        ([(16, 0.01), (256, 0.7), (4096, 1.0)], 256.0),
        ([(16, 0.01), (256, 0.02)], None),
        ([(16, 0.9), (256, 0.02)], None),
        ([(4096, 1.0), (16, 0.0), (256, 0.5)], 256.0),
    ],
    ids=["lost", "kept", "not for good", "any order, on the threshold"],
)
def test_updates_are_lost_from_where_they_stay_lost(lost: list[tuple[float, float]], lost_from: float | None) -> None:
    """More than half of the sum missing, at that number and every larger one."""
    found = find_lost_updates("bf16", lost)
    assert not isinstance(found, NotFound)
    assert (found.lost_from, found.lost) == (lost_from, tuple(sorted(lost)))


def test_no_sum_no_loss() -> None:
    """Not 0 %."""
    assert find_lost_updates("fp16", []) == NotFound("lost updates", "no running sum was taken in fp16")
