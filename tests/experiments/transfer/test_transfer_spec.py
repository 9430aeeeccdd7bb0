"""What can be asked of the transfer experiment, and which cases answer it."""

from itertools import pairwise

import pytest
from pydantic import ValidationError
from transfer_made import CACHE_BYTES, GIB, KIB, MIB, make_machine

from gpuexplain.errors import InputError
from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.places import (
    COLD_RATIO,
    MOST_PLACES,
    count_places,
    ratio_of_places,
    shuffle_places,
)
from gpuexplain.experiments.transfer.spec import TransferParams, plan_cases, plan_pieces, plan_sizes
from gpuexplain.model import Case, Clock

WITH_GPU = make_machine(gpu_free_bytes=70 * GIB)


def of(cases: list[Case], series: str) -> list[Case]:
    """Return the cases of one series."""
    return [case for case in cases if case.series == series]


# -- params and sizes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"largest_mib": 0}, {"largest_mib": 1025}, {"largest_mib": 1.5}, {"side": 63}, {"side": 8193},
        {"total_mib": 0}, {"total_mib": 2000}, {"dtype": "fp32"}, {"device": "gpu"},
    ],
    ids=str,
)  # fmt: skip
def test_params_out_of_range_are_refused(params: dict[str, object]) -> None:
    """By the type, whoever asks."""
    with pytest.raises(ValidationError):
        TransferParams.model_validate(params)


def test_sizes_are_powers_of_two_from_1_kib_to_1_gib() -> None:
    """Twenty-one of them."""
    sizes = plan_sizes(GIB)
    assert (sizes[0], sizes[-1], len(sizes)) == (KIB, GIB, 21)
    assert all(later == 2 * earlier for earlier, later in pairwise(sizes))


def test_a_largest_size_between_powers_is_measured_too() -> None:
    """100 MiB after 64 MiB."""
    assert plan_sizes(100 * MIB)[-2:] == [64 * MIB, 100 * MIB]


@pytest.mark.parametrize(
    ("total", "pieces"),
    [
        (64 * MIB, [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB]),
        (3 * MIB, [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 3 * MIB]),
        (6 * MIB, [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 6 * MIB]),
    ],
    ids=["64 MiB", "3 MiB", "6 MiB"],
)
def test_pieces_divide_the_total(total: int, pieces: list[int]) -> None:
    """Powers of four, and the total itself; 64 KiB is always among them."""
    assert plan_pieces(total) == pieces


# -- without a GPU --------------------------------------------------------------------------------


def test_a_machine_without_a_gpu_measures_memory_copies_called_that() -> None:
    """No series is called by a direction over a link."""
    cases = plan_cases(TransferParams(), make_machine())
    assert {case.series for case in cases} == {
        spec.MEMORY_COPY, spec.MEMORY_COPY_ONE_THREAD, spec.MEMORY_COPY_FRESH, spec.MEMORY_COPY_PIECES, spec.CPU_PRODUCT,
    }  # fmt: skip
    assert {case.device for case in cases} == {"cpu"}
    assert not any(case.series.startswith(("h2d", "d2h")) for case in cases)
    assert [case.x for case in of(cases, spec.MEMORY_COPY)] == [float(size) for size in plan_sizes(GIB)]


def test_companions_have_every_second_size_up_to_256_mib() -> None:
    """A short run must reach its rounds; with both buffers of a gibibyte it stays far under 4 GB."""
    sizes = [float(KIB * 4**power) for power in range(10)]
    for series, machine in (
        (spec.MEMORY_COPY_ONE_THREAD, make_machine()), (spec.MEMORY_COPY_FRESH, make_machine()),
        (spec.H2D_PIN_THEN_COPY, WITH_GPU), (spec.H2D_PINNED_DEVICE, WITH_GPU),
    ):  # fmt: skip
        assert [case.x for case in of(plan_cases(TransferParams(), machine), series)] == sizes
    small = of(plan_cases(TransferParams(largest_mib=2), make_machine()), spec.MEMORY_COPY_FRESH)
    assert small[-1].x == MIB


def test_threads_are_those_of_the_machine_and_one() -> None:
    """A machine with one thread has one series."""
    cases = plan_cases(TransferParams(), make_machine(threads=8))
    assert {case.threads for case in of(cases, spec.MEMORY_COPY)} == {8}
    assert {case.threads for case in of(cases, spec.MEMORY_COPY_ONE_THREAD)} == {1}
    assert of(plan_cases(TransferParams(), make_machine(threads=1)), spec.MEMORY_COPY_ONE_THREAD) == []


def test_a_gpu_is_left_alone_where_the_cpu_was_asked() -> None:
    """Memory copies on a machine with a GPU."""
    assert {case.device for case in plan_cases(TransferParams(device="cpu"), WITH_GPU)} == {"cpu"}


def test_bytes_are_counted_once() -> None:
    """A copy of 1 MiB is 1 MiB, in pieces too."""
    cases = plan_cases(TransferParams(), make_machine())
    assert all(case.bytes_moved == case.x for case in of(cases, spec.MEMORY_COPY))
    assert {case.bytes_moved for case in of(cases, spec.MEMORY_COPY_PIECES)} == {64.0 * MIB}
    assert all(case.work == case.bytes_moved for case in cases)


def test_the_product_does_not_wait_for_the_largest_copies() -> None:
    """By its bytes it is one of the middle cases: a short run reaches it."""
    cases = sorted(plan_cases(TransferParams(), make_machine()), key=lambda case: case.work)
    (product,) = of(cases, spec.CPU_PRODUCT)
    assert cases.index(product) < len(cases) / 2 + 10
    assert product.x == 12.0 * MIB
    assert product.shape == (1024, 1024, 1024)


def test_small_memory_holds_smaller_copies() -> None:
    """A third of half of the memory for each of the buffers."""
    cases = plan_cases(TransferParams(total_mib=16), make_machine(memory_bytes=GIB))
    assert max(case.x for case in of(cases, spec.MEMORY_COPY)) == 128 * MIB
    assert all(case.memory_bytes <= GIB / 2 for case in cases)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        (
            TransferParams(largest_mib=512),
            "largest_mib=512 needs copies of 512 MiB, and a run may take 171 MiB for one here. Choose 170 or less.",
        ),
        (
            TransferParams(total_mib=256),
            "total_mib=256 needs copies of 256 MiB, and a run may take 171 MiB for one here. Choose 170 or less.",
        ),
        (
            TransferParams(side=8192),
            "side=8192 needs copies of 768 MiB, and a run may take 171 MiB for one here. "
            "The largest side that fits is 3861.",
        ),
    ],
    ids=["largest", "total", "side"],
)
def test_what_does_not_fit_is_refused_with_what_does(params: TransferParams, text: str) -> None:
    """Before anybody waits for it."""
    with pytest.raises(InputError) as caught:
        plan_cases(params, make_machine(memory_bytes=GIB))
    assert str(caught.value).replace("\u00a0", " ") == text
    largest = params.model_copy(update={"largest_mib": 170, "total_mib": 64, "side": 3861})
    assert plan_cases(largest, make_machine(memory_bytes=GIB))


def test_a_named_largest_size_is_explicit() -> None:
    """It runs with few samples where time is short."""
    assert all(
        case.explicit for case in of(plan_cases(TransferParams(largest_mib=16), make_machine()), spec.MEMORY_COPY)
    )
    assert not any(case.explicit for case in of(plan_cases(TransferParams(), make_machine()), spec.MEMORY_COPY))


# -- with a GPU -----------------------------------------------------------------------------------


def test_a_machine_with_a_gpu_measures_the_link() -> None:
    """Both directions and both kinds of memory, and what depends on them."""
    cases = plan_cases(TransferParams(), WITH_GPU)
    assert {case.series for case in cases} == {*spec.LINK_COPIES, *spec.PRODUCTS, spec.H2D_PIECES,
        spec.H2D_PINNED_PIECES, spec.OVERLAP_COMPUTE, spec.OVERLAP_BOTH}  # fmt: skip
    assert {case.device for case in cases if case.series != spec.CPU_PRODUCT} == {"cuda:0"}
    assert {case.clock for case in of(cases, spec.H2D_PINNED_DEVICE)} == {Clock.DEVICE}
    assert {case.clock for case in of(cases, spec.H2D_PINNED)} == {Clock.CALL}


def test_overlap_has_both_sides_at_every_size() -> None:
    """The products alone, and with the copy."""
    cases = plan_cases(TransferParams(largest_mib=16), WITH_GPU)
    sizes = [case.x for case in of(cases, spec.OVERLAP_BOTH)]
    assert sizes == [MIB, 4 * MIB, 16 * MIB] == [case.x for case in of(cases, spec.OVERLAP_COMPUTE)]


def test_no_copy_is_larger_than_what_a_run_may_take_of_the_gpu() -> None:
    """A gibibyte of free memory, of which 80 % may be taken."""
    cases = plan_cases(TransferParams(), make_machine(gpu_free_bytes=GIB))
    assert max(case.x for case in of(cases, spec.H2D_PINNED)) == 512 * MIB


def test_an_operator_may_offer_no_cpu() -> None:
    """Then no product is timed on it."""
    cases = plan_cases(TransferParams(), make_machine(gpu_free_bytes=70 * GIB, cpu_offered=False))
    assert of(cases, spec.CPU_PRODUCT) == []


def test_every_case_is_unique() -> None:
    """By its id."""
    for machine in (make_machine(), WITH_GPU):
        cases = plan_cases(TransferParams(), machine)
        assert len({case.id for case in cases}) == len(cases)


# -- places ---------------------------------------------------------------------------------------


def test_places_reach_twice_the_cache_where_that_is_possible() -> None:
    """From 8 KiB on with a cache of 32 MiB; below, 4,096 places are the limit."""
    ratios = {
        int(case.x): ratio_of_places(*case.shape, CACHE_BYTES, touched=2)
        for case in of(plan_cases(TransferParams(), make_machine()), spec.MEMORY_COPY)
    }
    assert all(ratio is not None and ratio >= COLD_RATIO for size, ratio in ratios.items() if size >= 8 * KIB)
    assert (ratios[KIB], ratios[4 * KIB]) == (0.25, 1.0)


def test_places_fit_their_window() -> None:
    """An eighth of the memory for both buffers; one place always fits."""
    machine = make_machine(memory_bytes=GIB, cache_bytes=512 * MIB)
    for case in of(plan_cases(TransferParams(total_mib=16), machine), spec.MEMORY_COPY):
        size, n_places = case.shape
        assert n_places == 1 or size * n_places <= GIB / 16


@pytest.mark.parametrize(
    ("size", "cache", "touched", "places"),
    [
        (MIB, 32 * MIB, 2, 32),
        (MIB, 32 * MIB, 1, 64),
        (MIB, None, 2, 32),
        (KIB, 32 * MIB, 2, MOST_PLACES),
        (GIB, 32 * MIB, 2, 1),
        (48 * MIB, 32 * MIB, 2, 1),
    ],
    ids=["memory", "link", "unknown cache", "small", "large", "just over the cache"],
)
def test_number_of_places(size: int, cache: int | None, touched: int, places: int) -> None:
    """Twice the cache, never more than the limit, never none."""
    assert count_places(size, cache, touched=touched, window_bytes=GIB) == places


def test_an_unknown_cache_claims_no_ratio() -> None:
    """It is not reported."""
    assert ratio_of_places(MIB, 32, None, touched=2) is None


def test_places_come_in_a_fixed_random_order() -> None:
    """Every one once, neighbours apart."""
    order = shuffle_places(1000)
    assert sorted(order) == list(range(1000))
    assert order == shuffle_places(1000)
    assert sum(abs(a - b) == 1 for a, b in pairwise(order)) < 10
