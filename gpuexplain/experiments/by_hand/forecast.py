"""How long should a stack take, by the products that were measured on this machine before?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.by_hand.counting import Count
from gpuexplain.experiments.by_hand.spec import GPU_PRODUCT, PRODUCT
from gpuexplain.model import Clock, Dtype, Point, Source

# A product of another size runs at another rate: beyond this factor of work, one says little of the other.
FAR = 64.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """The stack on one device, by the rate of one product; seconds. No rate: nothing that fits is stored."""

    device: str
    rate_flops: float | None = None
    time_s: float | None = None
    low_s: float | None = None  # by the interval of that product
    high_s: float | None = None
    shape: tuple[int, ...] = ()  # m, k, n of that product
    is_far: bool = False  # it does more than FAR times the work of a layer, or less than 1 / FAR
    was_busy: bool = False  # the machine did other work when that product was timed


def find_forecasts(count: Count, devices: Sequence[str], points: Sequence[Point]) -> tuple[Forecast, ...]:
    """Return one forecast for every device, from the measured product whose work is nearest to a layer's.

    Args:
        count: The stack.
        devices: Where it would run, in torch's names.
        points: Of the store, newest first, of any experiment; only fp32 products with call time count.
    """
    products = [p for p in points if _is_product(p)]
    return tuple(_forecast(count, device, [p for p in products if p.device == device]) for device in devices)


def _is_product(point: Point) -> bool:
    by_name = point.experiment == "matmul" or point.series in (PRODUCT, GPU_PRODUCT)
    timed_alike = point.clock is Clock.CALL and point.dtype is Dtype.FP32 and point.source is Source.MEASURED
    return by_name and timed_alike and bool(point.rate_flops) and len(point.shape) >= 3


def _forecast(count: Count, device: str, products: Sequence[Point]) -> Forecast:
    most_threads = max((p.threads or 0 for p in products), default=0)
    alike, was_busy = most_trustworthy([p for p in products if (p.threads or 0) == most_threads])
    if not alike:
        return Forecast(device)
    layer_flops = count.flops / count.depth

    def distance(point: Point) -> float:
        return abs(math.log((point.flops or 1.0) / layer_flops))

    near = min(alike, key=distance)
    assert near.rate_flops
    assert near.flops
    share = count.flops / near.flops
    return Forecast(
        device,
        near.rate_flops,
        count.flops / near.rate_flops,
        near.ci_low_s * share if near.ci_low_s else None,
        near.ci_high_s * share if near.ci_high_s else None,
        near.shape[:3],
        distance(near) > math.log(FAR),
        was_busy,
    )
