"""What does a copy cost at once and per byte, and from which size on is it worth its start?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import Floats, Rates, last_step_gain, read_rates, require_columns
from gpuexplain.analysis.thresholds import exceeds, reaches
from gpuexplain.findings import FitStatus, NHalfStatus, TransferFit

# Two parameters need a third size to be contradicted by; several points of one size are one size.
FEWEST_POINTS = 3
# A residual beyond this is another regime (a cache, contention, a second protocol), not noise.
WORST_RESIDUAL = 0.30
# A last doubling that gains more than this has not reached the plateau.
STILL_RISING_ABOVE = 0.05
# From twice the last-level cache on, most of a copy's source and target must come from memory.
CACHES_LEFT_AT = 2.0
HALF = 0.5


def find_transfer_fit(frame: pd.DataFrame, *, last_level_cache_bytes: float | None = None) -> TransferFit:
    """Return latency, rate and n_half of copies given as ``bytes`` with ``gbps`` or ``seconds``.

    t = latency + bytes / rate is fitted by least squares on the relative error; n_half = latency x
    rate is the size (bytes) that reaches half of the rate. The plateau (GB/s) is the best tested
    rate; with ``last_level_cache_bytes``, for a memory copy on a CPU, the median of the sizes above
    twice that cache, else the largest size's. Not ``saturated``: plateau and n_half are lower bounds.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("bytes", "gbps|seconds"), "a transfer fit")
    work = frame["bytes"].to_numpy(dtype=np.float64)
    points = read_rates(frame, "bytes", "gbps", work, unit=1e9)
    plateau = _plateau(points, last_level_cache_bytes) if len(points) else None
    at_half = None if plateau is None else _first_at_half(points, plateau)
    gain = last_step_gain(points.sizes, points.rates)
    status, latency_s, rate_bytes_s, residual = _fit(points)
    is_affine = status is FitStatus.OK
    return TransferFit(
        plateau_gbps=plateau,
        fit_status=status,
        latency_us=latency_s * 1e6 if is_affine else None,
        fit_gbps=rate_bytes_s / 1e9 if is_affine else None,
        n_half_bytes=latency_s * rate_bytes_s if is_affine else None,
        first_at_half_bytes=at_half,
        saturated=gain is not None and not exceeds(1 + gain, 1 + STILL_RISING_ABOVE),
        n_half_status=_n_half_status(points, at_half),
        worst_residual=residual,
    )


def _plateau(points: Rates, last_level_cache_bytes: float | None) -> float:
    if last_level_cache_bytes is None:
        return float(points.rates.max())
    beyond = points.rates[points.sizes > CACHES_LEFT_AT * last_level_cache_bytes]
    return float(np.median(beyond)) if len(beyond) else float(points.rates[-1])


def _first_at_half(points: Rates, plateau: float) -> float | None:
    pairs = zip(points.sizes, points.rates, strict=True)
    return next((float(size) for size, rate in pairs if reaches(float(rate), HALF * plateau)), None)


def _n_half_status(points: Rates, at_half: float | None) -> NHalfStatus:
    if _count_sizes(points) < FEWEST_POINTS:
        return NHalfStatus.TOO_FEW_POINTS
    return NHalfStatus.BELOW_RANGE if at_half == points.sizes[0] else NHalfStatus.LOCATED


def _count_sizes(points: Rates) -> int:
    return len(np.unique(points.sizes))


def _fit(points: Rates) -> tuple[FitStatus, float, float, float | None]:
    """Return status, latency (s), rate (bytes/s) and the worst residual as a share of its time."""
    if _count_sizes(points) < FEWEST_POINTS:
        return FitStatus.TOO_FEW_POINTS, 0.0, 0.0, None
    line = solve_line(points)
    residual = float(np.abs(line.residuals).max())
    if line.latency_s <= 0 or line.seconds_per_byte <= 0 or exceeds(residual, WORST_RESIDUAL):
        return FitStatus.NOT_AFFINE, 0.0, 0.0, residual
    return FitStatus.OK, line.latency_s, 1 / line.seconds_per_byte, residual


@dataclass(frozen=True, slots=True)
class Line:
    """t = latency + bytes x seconds per byte, its standard errors and its relative residuals."""

    latency_s: float
    seconds_per_byte: float
    latency_error_s: float
    seconds_per_byte_error: float
    residuals: Floats


def solve_line(points: Rates) -> Line:
    """Return the line through at least three points, by least squares on the relative error."""
    scale = points.sizes.max()  # sizes span nine decades: keep the two columns comparable
    design = np.column_stack([1 / points.seconds, points.sizes / scale / points.seconds])
    norms = np.linalg.norm(design, axis=0)
    solution = np.linalg.lstsq(design / norms, np.ones(len(points)), rcond=None)[0] / norms
    residuals = design @ solution - 1
    variance = float(residuals @ residuals) / (len(points) - 2)
    covariance = variance * np.linalg.pinv((design / norms).T @ (design / norms))
    errors = np.sqrt(np.diag(covariance)) / norms
    return Line(
        latency_s=float(solution[0]),
        seconds_per_byte=float(solution[1] / scale),
        latency_error_s=float(errors[0]),
        seconds_per_byte_error=float(errors[1] / scale),
        residuals=residuals,
    )
