"""What the stored rates predict for a stack, and what can be done at the same time."""

import pytest
from by_hand_made import make_point

from gpuexplain.experiments.by_hand import spec
from gpuexplain.experiments.by_hand.conclude import find_by_hand_findings
from gpuexplain.experiments.by_hand.counting import Count, list_rounds, work_out
from gpuexplain.experiments.by_hand.forecast import Forecast, find_forecasts
from gpuexplain.experiments.by_hand.words import tell_forecast
from gpuexplain.model import Clock, Dtype, Flag, Point, Source
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

STACK = Count(256, 1024, 50)  # a layer of 5.4e8 operations


def product(n: int, rate_flops: float, **changes: object) -> Point:
    """Return an n x n product that was measured here at a rate."""
    fields = {"experiment": "matmul", "x": float(n), "shape": (n, n, n), "flops": 2.0 * n**3, "threads": 2}
    return make_point("cpu", 2.0 * n**3 / rate_flops, **{**fields, **changes})


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


def test_the_product_of_the_nearest_work_predicts() -> None:
    """A layer does what a product of n = 645 does: 512 is nearer than 2048."""
    (found,) = find_forecasts(STACK, ["cpu"], [product(2048, 200e9), product(512, 100e9)])
    assert (found.shape, found.rate_flops) == ((512, 512, 512), pytest.approx(100e9))
    assert found.time_s == pytest.approx(STACK.flops / 100e9)
    assert (found.low_s, found.high_s) == (pytest.approx(0.99 * found.time_s), pytest.approx(1.01 * found.time_s))


def test_an_own_product_of_the_same_shape_is_nearest() -> None:
    """Measured by an earlier run of this page."""
    own = make_point(spec.PRODUCT, 4e-3, threads=2)
    (found,) = find_forecasts(STACK, ["cpu"], [product(512, 100e9), own])
    assert (found.shape, found.time_s) == ((256, 1024, 1024), pytest.approx(0.2))


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": Dtype.BF16},
        {"clock": Clock.DEVICE},
        {"source": Source.PUBLISHED},
        {"flags": (Flag.SUSPECT,)},
        {"device": "cuda:0"},
        {"experiment": "transfer"},
    ],
    ids=["format", "clock", "published", "suspect", "device", "experiment"],
)
def test_what_was_not_timed_alike_on_this_device_predicts_nothing(changes: dict) -> None:
    """Only fp32 products, call time, measured here."""
    assert find_forecasts(STACK, ["cpu"], [product(512, 100e9, **changes)]) == (Forecast("cpu"),)


def test_one_thread_does_not_speak_for_all() -> None:
    """Though its product is nearer."""
    one, two = product(640, 50e9, threads=1), product(256, 90e9)
    (found,) = find_forecasts(STACK, ["cpu"], [one, two])
    assert found.rate_flops == pytest.approx(90e9)


def test_every_device_has_its_own_rate() -> None:
    """The GPU's is not stored."""
    cpu, gpu = find_forecasts(STACK, ["cpu", "cuda:0"], [product(512, 100e9)])
    assert cpu.time_s
    assert gpu == Forecast("cuda:0")


@pytest.mark.parametrize(
    ("points", "measured", "said"),
    [
        ([], [], "On the CPU: no rate is stored yet, so nothing predicts it."),
        (
            [],
            [make_point(spec.STACK, 0.3, 50)],
            "On the CPU: no rate is stored yet, so nothing predicts it. Measured: 300 ms.",
        ),
        (
            [product(512, 134.2177e9)],
            [],
            "On the CPU: 200 ms predicted (198 ms to 202 ms), at the 134 GFLOP/s that a product of 512 x 512 by "
            "512 x 512 reached here.",
        ),
        (
            [product(512, 134.2177e9, flags=(Flag.UNDER_LOAD,), ci_low_s=None)],
            [make_point(spec.STACK, 0.3, 50)],
            "On the CPU: 200 ms predicted, at the 134 GFLOP/s that a product of 512 x 512 by 512 x 512 reached here, "
            "timed while the machine was busy. Measured: 300 ms, 1.50 × the prediction.",
        ),
        (
            [product(64, 134.2177e9, ci_low_s=None)],
            [],
            "On the CPU: 200 ms predicted, at the 134 GFLOP/s that a product of 64 x 64 by 64 x 64 reached here. That "
            "product is of a very different size, so take it as a rough guess.",
        ),
    ],
    ids=["no rate", "measured without", "predicted", "measured after, busy", "far"],
)
def test_a_forecast_is_told(points: list[Point], measured: list[Point], said: str) -> None:
    """Before the run, and beside what the run found."""
    (forecast,) = find_forecasts(STACK, ["cpu"], points)
    predictions = find_by_hand_findings(measured).predictions
    assert bare(tell_forecast(forecast, predictions[0] if predictions else None)) == said


def test_what_does_not_need_each_other_stands_in_one_round() -> None:
    """Six multiplications, then an addition of each output, then the other one."""
    rounds = list_rounds(work_out([1, 2, 3], [[4, 5], [6, 7], [8, 9]]))
    assert [(r.name, len(r.steps)) for r in rounds] == [("multiply", 6), ("add", 2), ("add", 2)]
    assert [step for _, step in rounds[1].steps] == ["4 + 12 = 16", "5 + 14 = 19"]
    assert [step for _, step in rounds[2].steps] == ["16 + 24 = 40", "19 + 27 = 46"]
    assert {output for output, _ in rounds[0].steps} == {0, 1}
