"""Is an operation limited by memory or by arithmetic, and how near is it to that limit?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import require_columns
from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.errors import PointsError
from gpuexplain.findings import Roofline, RooflinePoint
from gpuexplain.points import usable_rows

# Clocks above the reference lift both roofs by up to this much; beyond it something is wrong.
ABOVE_ROOF = 1.15


def find_roofline(frame: pd.DataFrame, *, peak_flops: float, bandwidth_bytes_s: float) -> Roofline:
    """Return the points of ``flops``, ``bytes`` and ``seconds`` under two roofs.

    Rules (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009): intensity =
    FLOPs / bytes moved; attainable rate = min(peak, intensity x bandwidth); the ridge is at peak /
    bandwidth, left of it a point is bound by memory, from it on by arithmetic. A point above 1.15 x
    its attainable rate is not shown as fact: its data stayed in a cache, or time, bytes or roof
    are wrong. Rates in FLOP/s, intensity in FLOP per byte.

    Raises:
        PointsError: If a column is missing or a roof is not positive.
    """
    require_columns(frame, ("flops", "bytes", "seconds"), "a roofline")
    if peak_flops <= 0 or bandwidth_bytes_s <= 0:
        raise PointsError(
            f"Cannot find a roofline: peak {peak_flops} FLOP/s, bandwidth {bandwidth_bytes_s} bytes/s. "
            "Give two positive roofs."
        )
    rows = usable_rows(frame)[["flops", "bytes", "seconds"]].dropna().to_numpy(dtype=np.float64)
    points = [_place(flops / moved, flops / seconds, peak_flops, bandwidth_bytes_s) for flops, moved, seconds in rows]
    return Roofline(
        peak_flops=peak_flops,
        bandwidth_bytes_s=bandwidth_bytes_s,
        ridge_intensity=peak_flops / bandwidth_bytes_s,
        points=tuple(sorted(points, key=lambda p: p.intensity)),
        above_roof=ABOVE_ROOF,
    )


def _place(intensity: float, rate: float, peak_flops: float, bandwidth_bytes_s: float) -> RooflinePoint:
    memory_roof = intensity * bandwidth_bytes_s
    attainable = min(peak_flops, memory_roof)
    return RooflinePoint(
        intensity=float(intensity),
        rate_flops=float(rate),
        attainable_flops=float(attainable),
        bound="memory" if memory_roof < peak_flops else "compute",
        is_fact=not exceeds(rate, ABOVE_ROOF * attainable),
    )
