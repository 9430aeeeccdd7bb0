"""The adviser's arithmetic, on times made by hand."""

import math

import pytest

from gpuexplain.analysis.advice import (
    BreakEvenPasses,
    Device,
    Fit,
    Link,
    Pays,
    Span,
    Stack,
    Timed,
    advise,
    find_fit,
    interpolate,
    predict_copies,
    predict_pass,
)
from gpuexplain.findings import NotFound

# 2 x 100 x 1000 x 1000 operations a layer: 0.2 GFLOP, ten layers, 40 MB of weights, 0.4 MB between layers.
STACK = Stack(batch=100, width=1000, depth=10, passes=100, data_bytes=10e6)
LAYER = STACK.layer_flops


def steady(rate_flops: float, wide: float = 0.0) -> tuple[Timed, ...]:
    """Return products of a device whose rate does not depend on the size, each with an interval."""
    return tuple(
        Timed(work, Span((1 - wide) * work / rate_flops, work / rate_flops, (1 + wide) * work / rate_flops))
        for work in (LAYER / 8, 8 * LAYER)
    )


CPU = Device("CPU", steady(100e9), memory_bytes=10**9)  # 2 ms a layer, 20 ms a pass
GPU = Device("GPU", steady(10e12), memory_bytes=10**9)  # 0.2 ms a pass
LINK = Link(copies=(Timed(1e3, Span(1e-7, 1e-7, 1e-7)), Timed(1e9, Span(0.1, 0.1, 0.1))))  # 10 GB/s


# -- one pass -------------------------------------------------------------------------------------


def test_a_pass_is_its_layers_one_after_the_other() -> None:
    """At a steady rate, the operations over it."""
    span, is_far = predict_pass(STACK, CPU)
    assert isinstance(span, Span)
    assert span.centre == pytest.approx(20e-3)
    # A quarter for what is no product.
    assert (span.low, span.high) == (pytest.approx(16e-3), pytest.approx(25e-3))
    assert not is_far


def test_between_two_products_the_rate_is_interpolated_and_the_bounds_hold_for_both() -> None:
    """100 FLOP/s at 100, 400 at 10000: 200 at 1000 in the middle of the logarithms."""
    timed = [Timed(100, Span(0.9, 1.0, 1.1)), Timed(10_000, Span(24, 25, 26))]
    span, is_far = interpolate(1000, timed)
    assert span.centre == pytest.approx(5.0)
    assert (span.low, span.high) == (pytest.approx(2.4), pytest.approx(11.0))
    assert not is_far


def test_beyond_the_largest_product_its_rate_goes_on_and_that_is_far() -> None:
    """Nobody measured it."""
    span, is_far = interpolate(1e6, [Timed(100, Span(1, 1, 1)), Timed(1000, Span(5, 5, 5))])
    assert span.centre == pytest.approx(5000)
    assert is_far


def test_less_work_than_the_smallest_product_may_take_as_long() -> None:
    """A launch costs what it costs."""
    span, _ = interpolate(10, [Timed(100, Span(1, 1, 1.1))])
    assert (span.low, span.centre, span.high) == (pytest.approx(0.1), 1, 1.1)


def test_weights_beyond_the_cache_must_be_read() -> None:
    """40 MB at 1 GB/s take longer than the products."""
    slow = Device("CPU", steady(100e9), bandwidth_bytes_s=1e9, cache_bytes=10**6)
    span, _ = predict_pass(STACK, slow)
    assert isinstance(span, Span)
    assert span.low == pytest.approx(40e-3)
    assert span.centre == pytest.approx(40e-3 + 10 * 3 * 0.4e-3)


def test_weights_in_a_cache_cost_nothing_and_in_an_unknown_one_perhaps() -> None:
    """Then only the upper bound holds them."""
    cached, _ = predict_pass(STACK, Device("CPU", steady(100e9), bandwidth_bytes_s=1e9, cache_bytes=10**9))
    unknown, _ = predict_pass(STACK, Device("CPU", steady(100e9), bandwidth_bytes_s=1e9))
    assert isinstance(cached, Span)
    assert isinstance(unknown, Span)
    values_s = 10 * 3 * 0.4e-3
    assert cached.high == pytest.approx(25e-3 + values_s)
    assert (unknown.low, unknown.high) == (pytest.approx(16e-3), pytest.approx(40e-3 + values_s))


def test_a_data_sheet_gives_a_bound_only() -> None:
    """Nothing is faster; how much slower nobody knows."""
    span, _ = predict_pass(STACK, Device("part", peak_flops=10e12))
    assert isinstance(span, Span)
    assert span.low == pytest.approx(0.2e-3)
    assert span.is_bound
    slow, _ = predict_pass(STACK, Device("part", peak_flops=10e12, bandwidth_bytes_s=40e9, cache_bytes=10**6))
    assert isinstance(slow, Span)
    assert slow.low == pytest.approx(1e-3)


def test_without_products_or_peak_there_is_no_time() -> None:
    """And a reason."""
    found, _ = predict_pass(STACK, Device("GPU"))
    assert found == NotFound("one pass", "no product was measured on GPU")


# -- copies ---------------------------------------------------------------------------------------


def test_copies_hold_weights_and_data_in_and_results_out() -> None:
    """50 MB in and 0.4 MB out at 10 GB/s."""
    span = predict_copies(STACK, LINK)
    assert isinstance(span, Span)
    assert span.centre == pytest.approx(50.4e6 / 10e9)
    bound = predict_copies(STACK, Link(peak_bytes_s=10e9))
    assert isinstance(bound, Span)
    assert (bound.low, bound.high) == (pytest.approx(50.4e6 / 10e9), math.inf)
    assert isinstance(predict_copies(STACK, Link()), NotFound)


# -- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory_bytes", "fit"),
    [(51_200_000, Fit.FITS), (51_199_999, Fit.DOES_NOT_FIT), (None, Fit.CANNOT_TELL)],
    ids=["fits", "does not fit", "cannot tell"],
)
def test_weights_data_and_values_must_fit(memory_bytes: int | None, fit: Fit) -> None:
    """40 MB, 10 MB and three times 0.4 MB."""
    assert find_fit(STACK, Device("GPU", memory_bytes=memory_bytes)) is fit


# -- verdict and break-even -----------------------------------------------------------------------


def test_a_hundred_passes_pay_for_the_copies() -> None:
    """2 s on the CPU; 5 ms of copies and 20 ms on the GPU."""
    advice = advise(STACK, CPU, GPU, LINK)
    assert advice.pays is Pays.PAYS
    assert isinstance(advice.gpu.total, Span)
    assert advice.gpu.total.centre == pytest.approx(0.00504 + 0.02)
    assert isinstance(advice.break_even, BreakEvenPasses)
    assert advice.break_even.centre == pytest.approx(0.00504 / (20e-3 - 0.2e-3))


def test_one_pass_over_much_data_does_not_pay() -> None:
    """A gigabyte takes 0.1 s to copy, the pass on the CPU 20 ms."""
    once = Stack(100, 1000, 10, passes=1, data_bytes=1e9)
    advice = advise(once, CPU, Device("GPU", steady(10e12)), LINK)
    assert advice.pays is Pays.DOES_NOT_PAY
    assert isinstance(advice.break_even, BreakEvenPasses)
    assert advice.break_even.centre == pytest.approx(0.10404 / 19.8e-3)


def test_overlapping_intervals_cannot_be_told() -> None:
    """Twice as fast within 60 % either side is no difference that shows."""
    noisy = advise(STACK, Device("CPU", steady(100e9, 0.6)), Device("GPU", steady(200e9, 0.6)), LINK)
    assert (noisy.pays, noisy.reason) == (Pays.CANNOT_TELL, "the two intervals overlap")
    assert isinstance(noisy.break_even, BreakEvenPasses)
    assert noisy.break_even.high == math.inf


def test_a_slower_gpu_never_breaks_even() -> None:
    """However often the data are used."""
    advice = advise(STACK, CPU, Device("GPU", steady(50e9)), LINK)
    assert advice.pays is Pays.DOES_NOT_PAY
    assert advice.break_even == NotFound(
        "break-even", "a pass on the GPU is not faster, so no number of passes pays for the copies"
    )


def test_what_does_not_fit_does_not_pay() -> None:
    """However fast it would be."""
    advice = advise(STACK, CPU, Device("GPU", steady(10e12), memory_bytes=10**6), LINK)
    assert (advice.pays, advice.reason) == (Pays.DOES_NOT_PAY, "it does not fit the GPU's memory")


def test_a_bound_can_say_no_but_never_yes() -> None:
    """A copy that takes longer than the CPU's work rules a part out; room below the CPU rules nothing in."""
    part, paper = Device("part", peak_flops=80e12), Link(peak_bytes_s=32e9)
    many = advise(STACK, CPU, part, paper)
    assert many.pays is Pays.CANNOT_TELL
    assert many.reason == "of the GPU only a bound is known, and that is no measurement"
    once = advise(Stack(100, 1000, 10, passes=1, data_bytes=1e9), CPU, part, paper)
    assert once.pays is Pays.DOES_NOT_PAY


def test_a_guess_decides_nothing() -> None:
    """Products of a thousandth of the work say little of this one."""
    guess = Device("CPU", (Timed(LAYER / 1000, Span(1.0, 1.0, 1.0)),))
    advice = advise(STACK, guess, GPU, LINK)
    assert (advice.pays, advice.reason) == (
        Pays.CANNOT_TELL,
        "no product of about this size was measured on CPU",
    )


@pytest.mark.parametrize(
    ("cpu", "gpu", "link", "reason"),
    [
        (Device("CPU"), GPU, LINK, "no product was measured on CPU"),
        (CPU, Device("GPU"), LINK, "no product was measured on GPU"),
        (CPU, GPU, Link(), "no copy to a GPU was measured"),
    ],
    ids=["no CPU", "no GPU", "no link"],
)
def test_what_was_not_measured_cannot_be_told(cpu: Device, gpu: Device, link: Link, reason: str) -> None:
    """With what is missing."""
    advice = advise(STACK, cpu, gpu, link)
    assert (advice.pays, advice.reason) == (Pays.CANNOT_TELL, reason)
    assert advice.break_even == NotFound("break-even", reason)
