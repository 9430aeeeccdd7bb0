"""What the points of a transfer sweep say."""

import json

import pytest
from transfer_made import (
    CACHE_BYTES,
    KIB,
    MIB,
    PUBLISHED_NAME,
    copies,
    link_points,
    make_point,
    memory_points,
    product,
    published_points,
    recorded,
)

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.borrowed import BorrowedCopy
from gpuexplain.experiments.transfer.conclude import find_transfer_findings, findings_json, flag_points
from gpuexplain.findings import (
    BreakEven,
    BreakEvenVerdict,
    CopyRatio,
    Crossover,
    CrossoverVerdict,
    FitInterval,
    FitStatus,
    LinkShare,
    NHalfStatus,
    NotFound,
    Overlap,
    PiecesCost,
)
from gpuexplain.model import Conditions, Flag, Point, Status

EXPECTED_NAMES = {
    "plateau_gbps", "fit_status", "latency_us", "fit_gbps", "n_half_bytes", "first_at_half_bytes", "saturated",
    "n_half_status",
}  # fmt: skip


def test_nothing_says_nothing() -> None:
    """No points, no series, no headline; what is missing is said."""
    findings = find_transfer_findings([])
    assert (findings.series, findings.headline, findings.device_memory_gbps) == ((), None, None)
    assert isinstance(findings.break_even, NotFound)


# -- one series -----------------------------------------------------------------------------------


def test_latency_and_rate_come_back() -> None:
    """8 µs and 25 GB/s, with n-half at their product."""
    pinned = find_transfer_findings(link_points()).of(spec.H2D_PINNED)
    assert pinned is not None
    assert pinned.fit is not None
    assert pinned.fit.fit_status is FitStatus.OK
    assert pinned.fit.latency_us == pytest.approx(8.0)
    assert pinned.fit.fit_gbps == pytest.approx(25.0)
    assert pinned.fit.n_half_bytes == pytest.approx(200_000)
    assert pinned.fit.n_half_status is NHalfStatus.LOCATED
    assert isinstance(pinned.interval, FitInterval)
    assert pinned.plateau_low_gbps == pytest.approx(pinned.fit.plateau_gbps / 1.01)
    assert pinned.plateau_high_gbps == pytest.approx(pinned.fit.plateau_gbps / 0.99)


def test_the_plateau_of_a_memory_copy_lies_beyond_the_caches() -> None:
    """The cache is read off the places of the points; 60 GB/s inside it are not the memory's."""
    rates = {MIB: 60e9, 4 * MIB: 60e9, 16 * MIB: 50e9, 128 * MIB: 11e9, 256 * MIB: 10e9, 512 * MIB: 12e9}
    points = [make_point(spec.MEMORY_COPY, size, size / rate) for size, rate in rates.items()]
    assert {round(2 * p.shape[0] * p.shape[1] / p.cache_ratio) for p in points} == {CACHE_BYTES}
    (found,) = find_transfer_findings(points).series
    assert found.fit is not None
    assert found.fit.plateau_gbps == pytest.approx(11.0)
    assert (found.plateau_low_gbps, found.plateau_high_gbps) == (pytest.approx(11 / 1.01), pytest.approx(11 / 0.99))
    assert found.fit.fit_status is FitStatus.NOT_AFFINE


def test_over_a_link_the_plateau_is_the_best_tested() -> None:
    """Places rotate there too, but no cache is between memory and GPU."""
    points = [p.model_copy(update={"cache_ratio": 2.0}) for p in copies(spec.H2D_PINNED, 8e-6, 25e9)]
    (found,) = find_transfer_findings(points).series
    assert found.fit is not None
    assert found.fit.plateau_gbps == pytest.approx(max(p.bytes / p.median_s for p in points) / 1e9)
    assert found.cache_ratio == 2.0


def test_the_cache_ratio_that_is_told_is_the_smallest() -> None:
    """That of 1 KiB, of which not enough places fit."""
    assert find_transfer_findings(memory_points()).of(spec.MEMORY_COPY).cache_ratio == 0.25  # type: ignore[union-attr]


def test_points_without_intervals_give_no_bounds() -> None:
    """A published median stands alone."""
    found = find_transfer_findings(published_points()).of(spec.H2D_PINNED)
    assert found is not None
    assert (found.plateau_low_gbps, found.plateau_high_gbps) == (None, None)


def test_a_disturbed_run_is_told_provisionally() -> None:
    """Better an answer that says so than none."""
    points = [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in memory_points()]
    findings = find_transfer_findings(points)
    assert findings.headline is not None
    assert findings.headline.is_provisional
    assert dict(findings.headline.flagged)[Flag.UNDER_LOAD] == len(copies(spec.MEMORY_COPY, 1, 1))


def test_failed_sizes_are_kept_with_their_reason() -> None:
    """And are no part of the fit."""
    failed = make_point(spec.H2D_PINNED, 512 * MIB, None, status=Status.OOM, reason="does not fit")
    found = find_transfer_findings([*link_points(), failed]).of(spec.H2D_PINNED)
    assert found is not None
    assert found.failed == ((512.0 * MIB, Status.OOM, "does not fit"),)
    assert found.fit is not None
    assert found.fit.fit_status is FitStatus.OK


# -- who leads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "series"),
    [
        (memory_points(), spec.MEMORY_COPY),
        ([*memory_points(), *published_points()], spec.MEMORY_COPY),
        (link_points(), spec.H2D_PINNED),
        ([*link_points(), *published_points()], spec.H2D_PINNED),
        ([p for p in link_points() if p.series != spec.H2D_PINNED], spec.H2D_PAGEABLE),
        (published_points(), spec.H2D_PINNED),
        ([product(spec.CPU_PRODUCT, 1e-3)], None),
    ],
    ids=["memory", "memory and published", "link", "link and published", "no pinned", "published", "no copy"],
)
def test_what_was_measured_here_leads(points: list[Point], series: str | None) -> None:
    """Then pinned before pageable; a product alone has no rate of a copy."""
    headline = find_transfer_findings(points).headline
    assert (headline.series if headline else None) == series


def test_a_published_series_never_takes_the_place_of_a_measured_one() -> None:
    """Whatever the order of the points."""
    findings = find_transfer_findings([*published_points(), *link_points()])
    pinned = findings.of(spec.H2D_PINNED)
    assert pinned is not None
    assert pinned.is_measured


# -- the link ---------------------------------------------------------------------------------------


def test_the_link_is_judged_by_what_was_read_under_load() -> None:
    """An idle link reported generation 1 for one point."""
    idle = make_point(spec.H2D_PINNED, KIB, 8e-6, conditions=Conditions(pcie_generation=1, pcie_width=8))
    findings = find_transfer_findings([idle, *link_points()[4:]])
    assert isinstance(findings.link, LinkShare)
    assert findings.link.link == "PCIe 4.0 x16"
    assert findings.link.of_typical == pytest.approx(25 / 26, rel=0.01)
    assert isinstance(findings.link_back, LinkShare)
    assert findings.link_back.typical_gbps == 26.6


def test_a_link_that_is_not_reported_is_not_judged() -> None:
    """Nor is a published one judged by this machine's."""
    silent = [p.model_copy(update={"conditions": None}) for p in link_points()]
    found = find_transfer_findings(silent).link
    assert found == NotFound("link ceiling", "the driver does not report generation and width of the link")
    assert isinstance(find_transfer_findings(published_points()).link, NotFound)


def test_a_rate_above_the_link_is_flagged_and_only_there() -> None:
    """60 GB/s over PCIe 4.0 x16; a published one is left alone."""
    points = [*copies(spec.H2D_PINNED, 8e-6, 60e9), *copies(spec.D2H_PINNED, 8e-6, 20e9)]
    findings = find_transfer_findings(points)
    assert isinstance(findings.link, LinkShare)
    assert not findings.link.is_fact
    flagged = [p for p in flag_points(points, findings) if Flag.ABOVE_PEAK in p.flags]
    assert flagged
    assert {p.series for p in flagged} == {spec.H2D_PINNED}
    assert all(p.rate_bytes and p.rate_bytes > 31.51e9 for p in flagged)
    assert flag_points(published_points(), findings) == published_points()


@pytest.mark.parametrize(
    ("points", "gbps"),
    [
        (link_points(), 2039.0),
        (published_points(), 672.0),
        (memory_points(), None),
        ([*memory_points(), *published_points()], None),
    ],
    ids=["A100", "published", "memory", "memory beside published"],
)
def test_device_memory_is_that_of_the_gpu_the_page_is_about(points: list[Point], gbps: float | None) -> None:
    """A machine without a GPU has none, whatever stands beside it."""
    assert find_transfer_findings(points).device_memory_gbps == gbps


# -- what several series say together -----------------------------------------------------------------


def test_pinned_memory_overtakes_pageable_memory() -> None:
    """Pinned starts later and copies faster."""
    points = [*copies(spec.H2D_PAGEABLE, 5e-6, 10e9), *copies(spec.H2D_PINNED, 8e-6, 25e9)]
    found = find_transfer_findings(points).pinned
    assert isinstance(found, Crossover)
    assert (found.verdict, found.low, found.high) == (CrossoverVerdict.CROSSED, 16.0 * KIB, 64.0 * KIB)
    assert found.speedup == pytest.approx(2.5, rel=0.01)


def test_pinned_memory_that_is_no_faster_never_overtakes() -> None:
    """Both take the same time within their intervals: a tie."""
    points = [*copies(spec.H2D_PAGEABLE, 8e-6, 25e9), *copies(spec.H2D_PINNED, 8e-6, 25.2e9)]
    found = find_transfer_findings(points).pinned
    assert isinstance(found, Crossover)
    assert found.verdict is CrossoverVerdict.TIE


def test_unsteady_copies_decide_nothing_about_pinning() -> None:
    """Twice as fast, but known to 60 % only."""
    points = [*copies(spec.H2D_PAGEABLE, 8e-6, 10e9, noise=0.6), *copies(spec.H2D_PINNED, 8e-6, 20e9, noise=0.6)]
    found = find_transfer_findings(points).pinned
    assert isinstance(found, Crossover)
    assert found.verdict is CrossoverVerdict.TIE


def test_series_of_two_machines_are_not_paired() -> None:
    """Pageable from here, pinned from a publication."""
    points = [*copies(spec.H2D_PAGEABLE, 8e-6, 10e9), *[p for p in published_points() if p.series == spec.H2D_PINNED]]
    found = find_transfer_findings(points).pinned
    assert found == NotFound("pinned against pageable", "the two were not measured on the same machine")
    alone = find_transfer_findings(copies(spec.H2D_PAGEABLE, 8e-6, 10e9)).pinned
    assert alone == NotFound("pinned against pageable", "only one of the two was measured")


def test_the_findings_of_a_gpu() -> None:
    """Each with the number that was put in."""
    findings = find_transfer_findings(link_points())
    assert isinstance(findings.pin_then_copy, CopyRatio)
    assert findings.pin_then_copy.factor == pytest.approx(2.0, rel=0.01)
    assert isinstance(findings.overlap, Overlap)
    assert findings.overlap.hidden_share == pytest.approx((10.745 + 12 - 12.2) / 10.745, rel=0.01)
    assert isinstance(findings.pieces, PiecesCost)
    assert (findings.pieces.series, findings.pieces.piece_bytes) == (spec.H2D_PIECES, 64 * KIB)
    assert isinstance(findings.pinned_pieces, PiecesCost)
    assert isinstance(findings.break_even, BreakEven)
    assert (findings.break_even.verdict, findings.break_even.side) == (BreakEvenVerdict.AT_ONCE, 1024)
    assert findings.break_even.reuses == pytest.approx(1.3 / 14.8)
    assert isinstance(findings.threads, NotFound)


def test_the_findings_of_a_machine_without_a_gpu() -> None:
    """What needs one says so."""
    findings = find_transfer_findings(memory_points())
    reason = "it needs a GPU: the time of a product on it, and of the copies to it and back"
    assert findings.break_even == NotFound("break-even", reason)
    assert isinstance(findings.fresh, CopyRatio)
    assert findings.fresh.factor == pytest.approx(3.0, rel=0.01)
    assert isinstance(findings.threads, Crossover)
    assert findings.threads.speedup == pytest.approx(14 / 8, rel=0.01)
    assert isinstance(findings.pieces, PiecesCost)
    assert findings.pieces.series == spec.MEMORY_COPY_PIECES
    assert isinstance(findings.overlap, NotFound)
    assert isinstance(findings.link, NotFound)


def test_a_missing_product_is_named() -> None:
    """The break-even needs three times."""
    points = [p for p in link_points() if p.series != spec.CPU_PRODUCT]
    found = find_transfer_findings(points).break_even
    assert found == NotFound("break-even", "there is no time of known bounds of the CPU product")


# -- computed from a published link ---------------------------------------------------------------------


def test_the_copies_of_a_product_over_a_published_link_are_computed() -> None:
    """Three operands of 4 MiB by the fitted line: 6.892 µs + bytes / 11.181 GB/s each."""
    found = find_transfer_findings([*memory_points(), *published_points()]).borrowed
    assert isinstance(found, BorrowedCopy)
    assert (found.part, found.memory, found.side, found.bytes) == (PUBLISHED_NAME, "pinned", 1024, 12.0 * MIB)
    assert found.copy_s == pytest.approx(3 * (6.892e-6 + 4 * MIB / 11.181e9), rel=0.01)
    assert found.share == pytest.approx(found.copy_s / 15e-3)
    assert found.beyond_bytes == MIB


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (memory_points(), "no published series stands beside this result"),
        ([*copies(spec.MEMORY_COPY, 2e-6, 14e9), *published_points()], "no product was measured on this CPU"),
        (recorded(memory_points()), "no product was measured on this CPU"),
    ],
    ids=["nothing beside", "no product", "another machine"],
)
def test_without_both_nothing_is_computed(points: list[Point], reason: str) -> None:
    """A product from here, and a link from elsewhere."""
    found = find_transfer_findings(points).borrowed
    assert found == NotFound("the copies over a published link", reason)


def test_an_operand_within_the_published_sizes_needs_no_drawing_on() -> None:
    """256 KiB lie inside."""
    points = [*copies(spec.MEMORY_COPY, 2e-6, 14e9), product(spec.CPU_PRODUCT, 1e-4, side=256), *published_points()]
    found = find_transfer_findings(points).borrowed
    assert isinstance(found, BorrowedCopy)
    assert found.beyond_bytes is None


# -- as JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "points", [memory_points(), link_points(), published_points()], ids=["memory", "link", "published"]
)
def test_findings_are_published_under_their_names(points: list[Point]) -> None:
    """The headline's at the top, every series below, plain JSON."""
    findings = find_transfer_findings(points)
    told = json.loads(json.dumps(findings_json(findings), allow_nan=False))
    assert set(told) >= EXPECTED_NAMES
    assert told["headline_series"] == findings.headline.series  # type: ignore[union-attr]
    assert told["is_memory_copy"] is (told["headline_series"] == spec.MEMORY_COPY)
    assert set(told["series"]) == {p.series for p in points}
    assert set(told["series"][told["headline_series"]]["fit"]) >= EXPECTED_NAMES


def test_published_verdicts_come_out_of_points_too() -> None:
    """The same as of the file."""
    told = findings_json(find_transfer_findings(published_points()))
    assert told["plateau_gbps"] == pytest.approx(11.0621)
    assert told["latency_us"] == pytest.approx(6.892, rel=0.01)
    assert told["n_half_bytes"] == pytest.approx(77058, rel=0.01)
    assert (told["saturated"], told["first_at_half_bytes"]) == (False, 131072.0)
    pageable = told["series"][spec.H2D_PAGEABLE]["fit"]
    assert (pageable["saturated"], pageable["first_at_half_bytes"]) == (True, 32768.0)


def test_findings_without_a_result_are_json_too() -> None:
    """Nothing is made up."""
    told = findings_json(find_transfer_findings([make_point(spec.H2D_PINNED, KIB, None, status=Status.FAILED)]))
    assert (told["headline_series"], told["is_memory_copy"]) == (None, False)
    json.dumps(told, allow_nan=False)
