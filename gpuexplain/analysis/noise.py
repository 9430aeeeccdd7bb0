"""What is the smallest difference that this set of points can tell apart?"""

import math

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import require_columns
from gpuexplain.findings import NoiseFloor, NotFound
from gpuexplain.points import usable_rows

# A difference takes two.
FEWEST_POINTS = 2


def find_noise_floor(frame: pd.DataFrame) -> NoiseFloor | NotFound:
    """Return the noise floor of points with ``seconds``, ``seconds_lo`` and ``seconds_hi``.

    Two medians differ when |a - b| exceeds sqrt(ha^2 + hb^2), the half-widths of their intervals, as
    shares of the median here. ``smallest_difference`` is that figure for the two best-known points,
    ``median_difference`` for two points of the median half-width.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("seconds",), "a noise floor")
    if not {"seconds_lo", "seconds_hi"} <= set(frame.columns):
        return NotFound("noise floor", "no point has an interval; take at least 6 samples of each")
    rows = usable_rows(frame)[["seconds", "seconds_lo", "seconds_hi"]].dropna()
    times, low, high = rows.to_numpy(dtype=np.float64).T
    half_widths = np.sort((high - low) / 2 / times)
    if len(half_widths) < FEWEST_POINTS:
        return NotFound(
            "noise floor",
            f"{len(half_widths)} points have an interval, {FEWEST_POINTS} are needed; take at least 6 samples of each",
        )
    return NoiseFloor(
        smallest_difference=float(math.hypot(half_widths[0], half_widths[1])),
        median_difference=float(math.sqrt(2) * np.median(half_widths)),
        n_points=len(half_widths),
    )
