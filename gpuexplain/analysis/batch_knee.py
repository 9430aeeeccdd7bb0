"""Which batch size already gives nearly all of the throughput?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import (
    Rates,
    best_index,
    last_step_gain,
    read_rates,
    require_columns,
)
from gpuexplain.analysis.thresholds import exceeds, falls_short, reaches
from gpuexplain.findings import BatchKnee, Saturation
from gpuexplain.model import Status

# The knee: beyond it a doubled batch buys less than a tenth more.
KNEE_AT = 0.90
# A dip under this between knee and best is more than noise: the knee is then one of several humps.
UNSTABLE_BELOW = 0.80
# A last doubling that gains more than this has not levelled off.
STILL_RISING_ABOVE = 0.05
# Outcomes that mean "this batch was tried and did not run"; a skipped one was never tried.
_DID_NOT_RUN = (Status.OOM.value, Status.LAUNCH_LIMIT.value, Status.FAILED.value)


def find_batch_knee(frame: pd.DataFrame) -> BatchKnee:
    """Return the smallest tested batch with at least 90 % of the best throughput.

    ``batch`` with ``throughput`` (samples per second) or ``seconds`` per step. All points are looked
    at: stopping at the first small gain would end early on a noisy series. With ``_lo`` and ``_hi``
    bounds, ``knee_low`` to ``knee_high`` is the range in which the knee may lie. Only tested batches
    are named; ``largest_ran`` is a bound, not a limit. Without a batch of at most half the largest
    there is no last step, and ``saturated`` stays true. ``saturation`` is the same question asked of the
    intervals: where the last step may have gained more than 5 % or less, it is uncertain.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("batch", "throughput|seconds"), "a knee")
    batches = frame["batch"].to_numpy(dtype=np.float64)
    points = read_rates(frame, "batch", "throughput", batches, unit=1.0)
    ran, failed = _outcomes(frame)
    if not len(points):
        return BatchKnee(None, None, None, False, False, largest_ran=ran, first_failed=failed)
    best = best_index(points.rates)
    knee = _first(points.rates, KNEE_AT * points.rates[best])
    low, high = _knee_range(points, best) if _has_intervals(points) else (None, None)
    gain = last_step_gain(points.sizes, points.rates)
    is_rising = best == len(points) - 1 and gain is not None and exceeds(1 + gain, 1 + STILL_RISING_ABOVE)
    return BatchKnee(
        best_throughput=float(points.rates[best]),
        best_batch=int(points.sizes[best]),
        knee_batch=int(points.sizes[knee]),
        knee_unstable=_has_gap(points, knee, best),
        saturated=not is_rising,
        knee_low=low,
        knee_high=high,
        largest_ran=ran,
        first_failed=failed,
        saturation=_saturation(points, best),
        last_step_gain=gain,
    )


def _first(rates: "np.typing.NDArray[np.float64]", limit: float) -> int:
    return next(i for i, rate in enumerate(rates) if reaches(float(rate), limit))


def _saturation(points: Rates, best: int) -> Saturation | None:
    """Return what the last step gained at least and at most, judged; None where there is no last step."""
    smallest = last_step_gain(points.sizes, np.where(points.sizes == points.sizes[-1], points.low, points.high))
    largest = last_step_gain(points.sizes, np.where(points.sizes == points.sizes[-1], points.high, points.low))
    if smallest is None or largest is None:
        return None
    if best != len(points) - 1 or not exceeds(1 + largest, 1 + STILL_RISING_ABOVE):
        return Saturation.SATURATED
    return Saturation.STILL_RISING if exceeds(1 + smallest, 1 + STILL_RISING_ABOVE) else Saturation.UNCERTAIN


def _has_gap(points: Rates, knee: int, best: int) -> bool:
    limit = UNSTABLE_BELOW * points.rates[best]
    return any(falls_short(float(rate), limit) for rate in points.rates[knee + 1 : best])


def _has_intervals(points: Rates) -> bool:
    return bool((points.low < points.high).any())


def _knee_range(points: Rates, best: int) -> tuple[int, int]:
    """Return the first batch that may reach 90 % of the best, and the first that surely does."""
    may = _first(points.high, KNEE_AT * points.low[best])
    surely = next((i for i, low in enumerate(points.low) if reaches(float(low), KNEE_AT * points.high[best])), best)
    return int(points.sizes[may]), int(points.sizes[min(surely, best)])


def _outcomes(frame: pd.DataFrame) -> tuple[int | None, int | None]:
    """Return the largest batch that ran and the smallest that was tried and did not."""
    if "status" not in frame:
        return (int(frame["batch"].max()), None) if len(frame) else (None, None)
    ran = frame.loc[frame["status"] == Status.OK.value, "batch"]
    failed = frame.loc[frame["status"].isin(_DID_NOT_RUN), "batch"]
    return (int(ran.max()) if len(ran) else None, int(failed.min()) if len(failed) else None)
