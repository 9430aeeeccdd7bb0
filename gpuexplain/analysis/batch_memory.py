"""How much memory does each further example take, and at which batch would it be full?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import require_columns
from gpuexplain.analysis.thresholds import ROUNDING
from gpuexplain.findings import BatchCeiling, MemoryFit, MemoryFitStatus, NotFound

# Two parameters need a third point to be contradicted by.
FEWEST_POINTS = 3
# Beyond this share of a point's memory the line is not the whole story: an allocator's steps, another
# algorithm from some batch on, or memory that another batch left behind.
WORST_RESIDUAL = 0.15
# What an allocator or a library keeps or gives back at any time says nothing of the line.
NOISE_BYTES = 8 * 2**20
# The memory must grow this many times as much as the points scatter around the line.
GROWTH_OVER_SCATTER = 4.0
# A prediction this far outside what was found still agrees: allocators hand out whole blocks.
AGREES_WITHIN = 0.10


def find_memory_fit(frame: pd.DataFrame) -> MemoryFit:
    """Return fixed bytes and bytes per example from ``batch`` and ``bytes``, rows without bytes left out.

    memory = fixed + per example x batch is fitted by least squares on the relative error, so that the
    small batches count as much as the largest. ``not_linear``: a residual over 15 % of its point and over
    8 MiB, or a negative slope. ``too_noisy``: the growth over the whole range is under four times the scatter.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("batch", "bytes"), "the memory per example")
    known = frame[["batch", "bytes"]].dropna().astype("float64")
    known = known[known["bytes"] > 0]
    n_points = known["batch"].nunique()
    if n_points < FEWEST_POINTS:
        return MemoryFit(MemoryFitStatus.TOO_FEW_POINTS, n_points=n_points)
    batches, held = known["batch"].to_numpy(), known["bytes"].to_numpy()
    design = np.column_stack([1 / held, batches / held])
    norms = np.linalg.norm(design, axis=0)
    fixed, slope = np.linalg.lstsq(design / norms, np.ones(len(held)), rcond=None)[0] / norms
    residuals = np.abs(fixed + slope * batches - held)
    worst = float((residuals / held).max())
    growth = slope * (batches.max() - batches.min())
    is_off = bool((residuals > np.maximum(WORST_RESIDUAL * held * (1 + ROUNDING), NOISE_BYTES)).any())
    status = MemoryFitStatus.OK
    if is_off:
        status = MemoryFitStatus.NOT_LINEAR
    elif abs(growth) < GROWTH_OVER_SCATTER * float(residuals.max()):
        status = MemoryFitStatus.TOO_NOISY
    elif slope < 0:
        status = MemoryFitStatus.NOT_LINEAR
    is_ok = status is MemoryFitStatus.OK
    return MemoryFit(
        status=status,
        fixed_bytes=float(fixed) if is_ok else None,
        bytes_per_example=float(slope) if is_ok else None,
        worst_residual=worst,
        n_points=n_points,
    )


def find_batch_ceiling(
    fit: MemoryFit, limit_bytes: int | None, largest_ran: int | None, first_failed: int | None
) -> BatchCeiling | NotFound:
    """Return where the memory ends by the fit and by what ran; ``first_failed`` is out of memory, nothing else.

    A prediction beyond what was tried is no finding about this machine, only an estimate; what ran and
    what did not are facts.
    """
    if largest_ran is None:
        return NotFound("memory ceiling", "no batch ran; choose a smaller model")
    predicted = _predict(fit, limit_bytes)
    if predicted is None and first_failed is None:
        return NotFound("memory ceiling", "no batch ran out of memory, and how it grows could not be fitted")
    agrees = None
    if predicted is not None and first_failed is not None:
        agrees = largest_ran * (1 - AGREES_WITHIN) <= predicted <= first_failed * (1 + AGREES_WITHIN)
    return BatchCeiling(limit_bytes, predicted, largest_ran, first_failed, agrees)


def _predict(fit: MemoryFit, limit_bytes: int | None) -> int | None:
    if limit_bytes is None or fit.fixed_bytes is None or not fit.bytes_per_example:
        return None
    return max(0, int((limit_bytes - fit.fixed_bytes) / fit.bytes_per_example * (1 + ROUNDING)))
