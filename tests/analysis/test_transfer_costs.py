"""What copies cost: break-even, overlap, ratios and pieces; each held, not held, and too noisy to say."""

import pytest

from gpuexplain.analysis.transfer_costs import find_break_even, find_copy_ratio, find_overlap, find_pieces_cost
from gpuexplain.findings import BreakEven, BreakEvenVerdict, CopyRatio, NotFound, Overlap, PiecesCost
from gpuexplain.model import Clock, Dtype, Flag, Point, Status

MIB = 2.0**20


def make(series: str, x: float, median_s: float | None, noise: float = 0.01, **changes: object) -> Point:
    """Return a point with an interval of ``noise`` either side."""
    fields: dict[str, object] = {
        "experiment": "transfer", "series": series, "x": x, "dtype": Dtype.FP32, "device": "cuda:0",
        "clock": Clock.CALL, "median_s": median_s, "bytes": x,
    }  # fmt: skip
    if median_s:
        fields |= {"ci_low_s": median_s * (1 - noise), "ci_high_s": median_s * (1 + noise), "n_samples": 20}
    return Point.model_validate({**fields, **changes})


# -- break-even -----------------------------------------------------------------------------------


def test_copies_are_paid_for_after_some_products() -> None:
    """1 ms of copies, 0.25 ms saved a product: four of them."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 0.35e-3), make("g", 1, 0.1e-3), 512)
    assert isinstance(found, BreakEven)
    assert (found.verdict, found.side) == (BreakEvenVerdict.AFTER, 512)
    assert found.reuses == pytest.approx(4.0)
    assert found.reuses_low == pytest.approx(0.99e-3 / (0.35e-3 * 1.01 - 0.1e-3 * 0.99))
    assert found.reuses_high == pytest.approx(1.01e-3 / (0.35e-3 * 0.99 - 0.1e-3 * 1.01))


def test_one_product_can_pay_for_its_own_copies() -> None:
    """10 ms saved, 1 ms of copies."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 11e-3), make("g", 1, 1e-3), 2048)
    assert isinstance(found, BreakEven)
    assert found.verdict is BreakEvenVerdict.AT_ONCE
    assert found.reuses == pytest.approx(0.1)


def test_a_break_even_that_may_lie_on_either_side_of_one_is_not_at_once() -> None:
    """The upper bound decides."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 2e-3), make("g", 1, 0.985e-3), 512)
    assert isinstance(found, BreakEven)
    assert found.reuses is not None
    assert found.reuses < 1
    assert found.verdict is BreakEvenVerdict.AFTER


def test_a_slower_gpu_never_pays() -> None:
    """However often the data is used."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 1e-5), make("g", 1, 2e-5), 64)
    assert isinstance(found, BreakEven)
    assert (found.verdict, found.reuses, found.reuses_high) == (BreakEvenVerdict.NEVER, None, None)


def test_products_that_cannot_be_told_apart_decide_nothing() -> None:
    """Their intervals touch."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 1.05e-3, 0.05), make("g", 1, 1e-3, 0.05), 512)
    reason = "the products take the same time within their intervals; take more time or a larger n"
    assert found == NotFound("break-even", reason)


def test_bounds_far_apart_are_no_number_of_products() -> None:
    """The products differ by 2 %, known to 1 % each."""
    found = find_break_even(make("c", 1, 1e-3), make("p", 1, 15e-3), make("g", 1, 14.6e-3), 512)
    reason = "between 1.4 and 9.7 products is all that these times allow; take more time or a larger n"
    assert found == NotFound("break-even", reason)


@pytest.mark.parametrize(
    ("points", "missing"),
    [
        ((None, make("p", 1, 1.0), make("g", 1, 0.5)), "copies"),
        ((make("c", 1, 1.0), make("p", 1, None, status=Status.SKIPPED), make("g", 1, 0.5)), "CPU product"),
        ((make("c", 1, 1.0), make("p", 1, 1.0), make("g", 1, 0.5, flags=(Flag.UNDER_LOAD,))), "GPU product"),
        ((None, None, make("g", 1, 0.5)), "copies and the CPU product"),
    ],
    ids=["no copies", "skipped", "under load", "two"],
)
def test_a_missing_time_is_named(points: tuple, missing: str) -> None:
    """Nothing is put in its place."""
    found = find_break_even(*points, 512)
    assert found == NotFound("break-even", f"there is no time of known bounds of the {missing}")


# -- overlap --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute_s", "both_s", "share"),
    [(2e-3, 2e-3, 1.0), (2e-3, 2.5e-3, 0.5), (2e-3, 3e-3, 0.0), (0.5e-3, 1e-3, 1.0), (2e-3, 3.2e-3, 0.0)],
    ids=["all", "half", "none", "all of the shorter computing", "worse than one after the other"],
)
def test_what_is_not_seen_in_the_time_of_both_was_hidden(compute_s: float, both_s: float, share: float) -> None:
    """A copy of 1 ms beside computing."""
    found = find_overlap([make("c", MIB, 1e-3)], [make("w", MIB, compute_s)], [make("b", MIB, both_s)])
    assert isinstance(found, Overlap)
    assert found.hidden_share == pytest.approx(share)
    assert 0 <= found.hidden_low <= found.hidden_share <= found.hidden_high <= 1
    assert found.bytes == MIB


def test_the_largest_common_size_speaks() -> None:
    """A small copy hides in the noise of the launches."""
    sizes = (MIB, 16 * MIB)
    found = find_overlap(
        *([make(s, x, t * x / MIB) for x in sizes] for s, t in (("c", 1e-3), ("w", 2e-3), ("b", 2e-3)))
    )
    assert isinstance(found, Overlap)
    assert found.bytes == 16 * MIB


def test_unsteady_times_hide_nothing_and_show_nothing() -> None:
    """Bounds half a copy apart."""
    found = find_overlap([make("c", MIB, 1e-3, 0.1)], [make("w", MIB, 2e-3, 0.1)], [make("b", MIB, 2.2e-3, 0.1)])
    reason = "the times are too unsteady to tell hidden from not hidden; take more time"
    assert found == NotFound("overlap", reason)


def test_without_a_common_size_there_is_no_overlap() -> None:
    """All three are needed."""
    found = find_overlap([make("c", MIB, 1e-3)], [make("w", MIB, 2e-3)], [make("b", 2 * MIB, 2e-3)])
    assert found == NotFound("overlap", "no size was copied alone, computed alone and done together often enough")


# -- one way beside another -----------------------------------------------------------------------


def test_the_ratio_of_two_ways_is_that_of_the_largest_common_size() -> None:
    """With the bounds that both intervals allow."""
    found = find_copy_ratio(
        [make("fresh", MIB, 3e-3), make("fresh", 4 * MIB, 8e-3)],
        [make("reused", MIB, 1e-3), make("reused", 4 * MIB, 4e-3), make("reused", 8 * MIB, 8e-3)],
    )
    assert isinstance(found, CopyRatio)
    assert (found.series, found.beside, found.bytes, found.factor) == ("fresh", "reused", 4 * MIB, 2.0)
    assert found.low == pytest.approx(2 * 0.99 / 1.01)
    assert found.high == pytest.approx(2 * 1.01 / 0.99)


def test_no_common_size_is_no_ratio() -> None:
    """A flagged point does not count either."""
    flagged = make("fresh", 4 * MIB, 8e-3, flags=(Flag.DRIFTING,))
    found = find_copy_ratio([make("fresh", MIB, 3e-3), flagged], [make("reused", 4 * MIB, 4e-3)])
    assert found == NotFound("ratio of two copies", "no size was copied often enough in both ways")


def test_wild_times_are_no_ratio() -> None:
    """Bounds a factor of two apart."""
    found = find_copy_ratio([make("fresh", MIB, 3e-3, 0.3)], [make("reused", MIB, 1e-3, 0.3)])
    assert found == NotFound("ratio of two copies", "the times are too unsteady to compare; take more time")


def test_without_an_interval_the_extremes_are_the_bounds() -> None:
    """Fewer than six samples."""
    few = make("fresh", MIB, 2e-3, ci_low_s=None, ci_high_s=None, min_s=1.8e-3, max_s=2.2e-3, n_samples=3)
    found = find_copy_ratio([few], [make("reused", MIB, 1e-3, 0.0)])
    assert isinstance(found, CopyRatio)
    assert (found.low, found.high) == (pytest.approx(1.8), pytest.approx(2.2))


def test_one_sample_compares_with_nothing() -> None:
    """Nor do two: the largest size measured often enough speaks."""
    once = {"ci_low_s": None, "ci_high_s": None, "min_s": 8e-3, "max_s": 8e-3}
    slow = [make("fresh", MIB, 2e-3), make("fresh", 4 * MIB, 8e-3, n_samples=1, **once)]
    fast = [make("reused", MIB, 1e-3), make("reused", 4 * MIB, 8e-3, n_samples=2, **once)]
    found = find_copy_ratio(slow, fast)
    assert isinstance(found, CopyRatio)
    assert (found.bytes, found.factor) == (MIB, 2.0)
    assert isinstance(find_copy_ratio(slow[1:], fast), NotFound)


# -- pieces ---------------------------------------------------------------------------------------


def pieces(times: dict[float, float], noise: float = 0.01) -> list[Point]:
    """Return one total of 64 MiB in pieces of the sizes given (MiB)."""
    return [make("pieces", size * MIB, t, noise, bytes=64 * MIB) for size, t in times.items()]


def test_small_copies_cost_a_factor() -> None:
    """64 KiB pieces take five times as long as all at once; from 4 MiB on the difference is under a tenth."""
    found = find_pieces_cost(pieces({1 / 16: 25e-3, 0.25: 10e-3, 1: 6.5e-3, 4: 5.4e-3, 16: 5.1e-3, 64: 5e-3}), 65536)
    assert isinstance(found, PiecesCost)
    assert (found.total_bytes, found.piece_bytes, found.factor) == (64 * MIB, 65536, 5.0)
    assert found.enough_bytes == 4 * MIB
    assert found.low == pytest.approx(5 * 0.99 / 1.01)
    assert found.whole_s == 5e-3


def test_pieces_that_cost_nothing_more_are_said_to() -> None:
    """A factor around 1, and the smallest piece is enough."""
    found = find_pieces_cost(pieces({1 / 16: 5.05e-3, 1: 5e-3, 64: 5e-3}), 65536)
    assert isinstance(found, PiecesCost)
    assert found.low < 1.05
    assert found.enough_bytes == 65536


def test_a_good_small_piece_before_a_bad_one_is_not_enough() -> None:
    """Every larger piece must be within a tenth, too."""
    found = find_pieces_cost(pieces({1 / 16: 5.1e-3, 1: 9e-3, 4: 5.2e-3, 64: 5e-3}), 65536)
    assert isinstance(found, PiecesCost)
    assert found.enough_bytes == 4 * MIB


def test_the_smallest_piece_stands_for_one_that_was_not_measured() -> None:
    """And is named."""
    found = find_pieces_cost(pieces({0.25: 10e-3, 64: 5e-3}), 65536)
    assert isinstance(found, PiecesCost)
    assert (found.piece_bytes, found.factor) == (0.25 * MIB, 2.0)


@pytest.mark.parametrize(
    "points",
    [
        [],
        pieces({64: 5e-3}),
        pieces({1: 6e-3, 4: 5e-3}),
        [*pieces({1: 6e-3, 64: 5e-3}), make("pieces", MIB / 4, 1e-3, bytes=MIB)],
    ],
    ids=["none", "only at once", "never at once", "two totals"],
)
def test_without_both_there_is_nothing_to_compare(points: list[Point]) -> None:
    """The same total, in pieces and at once."""
    reason = "the total was not copied often enough both in pieces and at once"
    assert find_pieces_cost(points, 65536) == NotFound("cost of small copies", reason)


def test_wild_pieces_say_nothing() -> None:
    """Bounds a factor of two apart."""
    found = find_pieces_cost(pieces({1 / 16: 7e-3, 64: 5e-3}, noise=0.4), 65536)
    assert found == NotFound("cost of small copies", "the times are too unsteady to compare; take more time")
