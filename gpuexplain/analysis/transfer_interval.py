"""How sure are latency and rate of a fitted copy?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import read_rates, require_columns
from gpuexplain.analysis.transfer_fit import find_transfer_fit, solve_line
from gpuexplain.findings import FitInterval, FitStatus, NotFound

# Two of the points go into the line itself; with one left, an interval is 13 standard errors wide.
FEWEST_POINTS = 4
_Z = 1.959964  # 97.5 % of a normal distribution
_T_OF_TWO = 4.302653  # of Student's t with two degrees of freedom


def find_fit_interval(frame: pd.DataFrame) -> FitInterval | NotFound:
    """Return the 95 % intervals of latency and rate of ``bytes`` with ``gbps`` or ``seconds``.

    The spread comes from the residuals of the line, so a size that does not lie on it widens the
    intervals as noise does: estimate +- t x standard error, t of Student's distribution with
    n - 2 degrees of freedom. A latency below 0 is cut off at 0.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("bytes", "gbps|seconds"), "the interval of a transfer fit")
    if find_transfer_fit(frame).fit_status is not FitStatus.OK:
        return NotFound("interval of the fit", "the times do not follow latency + bytes / rate")
    points = read_rates(frame, "bytes", "gbps", frame["bytes"].to_numpy(dtype=np.float64), unit=1e9)
    if len(points) < FEWEST_POINTS:
        return NotFound("interval of the fit", f"{len(points)} sizes, {FEWEST_POINTS} are needed; add sizes")
    line = solve_line(points)
    factor = student_t(len(points) - 2)
    slope_error = factor * line.seconds_per_byte_error
    if slope_error >= line.seconds_per_byte:
        return NotFound("interval of the fit", "the cost of a byte cannot be told from none; add larger sizes")
    return FitInterval(
        latency_low_us=max(0.0, line.latency_s - factor * line.latency_error_s) * 1e6,
        latency_high_us=(line.latency_s + factor * line.latency_error_s) * 1e6,
        rate_low_gbps=1e-9 / (line.seconds_per_byte + slope_error),
        rate_high_gbps=1e-9 / (line.seconds_per_byte - slope_error),
        n_points=len(points),
    )


def student_t(degrees: int) -> float:
    """Return the 97.5 % point of Student's t for two degrees of freedom or more, within 1 %.

    The expansion in 1 / degrees of Abramowitz and Stegun, 26.7.5; the exact figure for two.
    """
    if degrees == 2:
        return _T_OF_TWO
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))
