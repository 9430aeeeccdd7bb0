"""Up to which batch are further examples free, because the step takes no longer?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import Rates, read_rates, require_columns
from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.findings import FreeBatch, NotFound
from gpuexplain.units import format_count, format_factor

# A step up to a quarter longer than the smallest batch's counts as the same step: where the batch has
# grown eightfold meanwhile, under a twentieth of its time is work that grows with the batch.
FREE_WITHIN = 1.25
FEWEST_BATCHES = 2


def find_free_batch(frame: pd.DataFrame) -> FreeBatch | NotFound:
    """Return the batches from the smallest on whose step takes at most 1.25 x the smallest's time.

    ``batch`` with ``seconds`` or ``throughput`` and optional ``_lo`` and ``_hi`` bounds. The stretch
    ends at the first batch that takes longer. With bounds it is told how far it surely and how far it
    perhaps reaches; where not even the second batch is surely free or surely not, nothing is said.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("batch", "throughput|seconds"), "a free batch")
    batches = frame["batch"].to_numpy(dtype=np.float64)
    points = read_rates(frame, "batch", "throughput", batches, unit=1.0)
    if len(points) < FEWEST_BATCHES:
        return NotFound("free batch", f"it takes at least {FEWEST_BATCHES} batches")
    ratios, fewest, most = _ratios(points)
    by_median, surely, perhaps = _stretch(ratios), _stretch(most), _stretch(fewest)
    if not by_median or not surely:
        return NotFound("free batch", _why_none(points, ratios, perhaps))
    return FreeBatch(
        smallest=int(points.sizes[0]),
        largest=int(points.sizes[by_median]),
        surely_largest=int(points.sizes[surely]),
        perhaps_largest=int(points.sizes[perhaps]),
        step_s=float(points.seconds[0]),
        within=FREE_WITHIN,
        is_bounded=by_median < len(points) - 1,
    )


def _ratios(points: Rates) -> tuple[list[float], list[float], list[float]]:
    """Return step time over the smallest batch's, at best and at worst: median, lower and upper bound."""
    shortest, longest = points.sizes / points.high, points.sizes / points.low
    median = points.seconds / points.seconds[0]
    return list(median), list(shortest / longest[0]), list(longest / shortest[0])


def _stretch(ratios: list[float]) -> int:
    """Return the position of the last batch before the first that takes too long."""
    return next((i for i, ratio in enumerate(ratios) if i and exceeds(ratio, FREE_WITHIN)), len(ratios)) - 1


def _why_none(points: Rates, ratios: list[float], perhaps: int) -> str:
    first, second = (format_count(points.sizes[i]) for i in (0, 1))
    if perhaps:
        return f"the times of batch {first} and {second} are too uncertain to tell; run with a larger budget"
    return f"a step of batch {second} already takes {format_factor(ratios[1])} the time of batch {first}"
