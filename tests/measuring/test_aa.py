"""The A/A benchmark: what counts as a pair, and when two medians agree."""

import pytest

pytest.importorskip("torch")

from benchmarks.aa import TWIN, Twins, agree, tell, twice
from gpuexplain.model import Case, Clock, Dtype, Flag, Point

pytestmark = pytest.mark.torch
CASE = Case("cpu", 64.0, (64, 64, 64), Dtype.FP32, "cpu", Clock.CALL, 2, 1.0, 1.0, 1)


def point(series: str, median_s: float, half_width_s: float | None, x: float = 64.0, *flags: Flag) -> Point:
    """Return a point with an interval, or without one."""
    low, high = (None, None) if half_width_s is None else (median_s - half_width_s, median_s + half_width_s)
    return Point(
        experiment="matmul", series=series, x=x, dtype=Dtype.FP32, device="cpu", median_s=median_s, ci_low_s=low,
        ci_high_s=high, flags=flags, shape=(int(x),),
    )  # fmt: skip


def test_each_case_is_measured_beside_its_twin() -> None:
    """Two cases of their own for the sweep: one shape, two ids."""
    first, second = twice([CASE])
    assert (first.shape, first.threads) == (second.shape, second.threads)
    assert first.id != second.id


@pytest.mark.parametrize(("other_s", "agrees"), [(1.05, True), (1.0707, True), (1.0708, False), (0.9, False)])
def test_medians_agree_within_the_root_of_the_squares_of_their_half_widths(other_s: float, agrees: bool) -> None:
    """0.05 and 0.05 explain 0.0707."""
    assert agree(point("cpu", 1.0, 0.05), point("cpu" + TWIN, other_s, 0.05)) is agrees


def test_a_pair_has_both_intervals() -> None:
    """Few samples have none; a case without its twin is no pair."""
    twins = Twins()
    for one in (
        point("cpu", 1.0, 0.1),
        point("cpu" + TWIN, 1.1, 0.1),
        point("cpu", 2.0, 0.1, 128.0),
        point("cpu" + TWIN, 2.0, None, 128.0),
        point("cpu", 3.0, 0.1, 256.0),
    ):
        twins.point(one)
    assert [(a.x, a.median_s, b.median_s) for a, b in twins.pairs()] == [(64.0, 1.0, 1.1)]


def test_it_says_the_share_and_how_quiet_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    """A share from a busy machine is told as one."""
    good = (point("cpu", 1.0, 0.1), point("cpu" + TWIN, 1.0, 0.1))
    bad = (point("cpu", 1.0, 0.01), point("cpu" + TWIN, 2.0, 0.01, 64.0, Flag.UNDER_LOAD))
    tell([good, good, good, bad], sweeps=2)
    said = capsys.readouterr().out
    assert "4 pairs of 2 sweeps: 75.0% agree (wanted 90%)" in said
    assert "12% of the points under load" in said
    tell([], sweeps=1)
    assert "no pair has intervals" in capsys.readouterr().out
