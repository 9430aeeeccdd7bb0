"""How fast is one matmul series at best, from which size on, and which points not to trust?"""

import numpy as np
import pandas as pd

from gpuexplain.analysis.plausibility import PeakVerdict, judge_rate
from gpuexplain.analysis.rows import Floats, Rates, best_index, column, read_rates, require_columns
from gpuexplain.analysis.suspects import find_suspects
from gpuexplain.analysis.thresholds import falls_short, reaches
from gpuexplain.findings import MatmulPeak
from gpuexplain.model import Dtype

# What users call "full speed": the last tenth often costs a doubling of the size.
NEAR_BEST = 0.90
# Under this share of both neighbours a size is slow by itself (alignment, kernel choice), not noisy.
DIP_BELOW = 0.70


def read_matmul(frame: pd.DataFrame) -> Rates:
    """Return the usable points of ``n`` with ``seconds``, ``tflops`` or both; rates in TFLOP/s.

    ``flops`` by row, where the products are not square; 2 n^3 otherwise.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("n", "seconds|tflops"), "a matmul peak")
    flops = column(frame, "flops")
    work = 2.0 * frame["n"].to_numpy(dtype=np.float64) ** 3 if flops is None else flops
    return read_rates(frame, "n", "tflops", work, unit=1e12)


def find_matmul_peak(frame: pd.DataFrame, gpu_name: str | None = None, dtype: Dtype | str | None = None) -> MatmulPeak:
    """Return the best rate (TFLOP/s) of one series and what to make of its points.

    ``suspect_n`` is the smallest set of sizes without which no time is above 1.5 x the time of a
    larger size; they are left out of the rest. With a GPU and a dtype the best is compared with the
    reference peak. ``decline_pct``, to a tenth, is how far the largest size lies below the best.

    Raises:
        PointsError: If ``n`` and one of ``seconds``, ``tflops`` are missing.
    """
    points = read_matmul(frame)
    trusted, suspects = split_suspects(points)
    best = best_index(trusted.rates) if len(trusted) else None
    best_rate = None if best is None else float(trusted.rates[best])
    verdict = _compare(frame, best_rate, gpu_name, dtype)
    return MatmulPeak(
        best_tflops=best_rate,
        best_n=None if best is None else float(trusted.sizes[best]),
        n_at_90pct=None if best_rate is None else _first_near_best(trusted, best_rate),
        suspect_n=suspects,
        dips_n=find_dips(trusted.sizes, trusted.rates),
        decline_pct=None if best_rate is None else round(100 * decline(trusted), 1),
        fraction_of_peak=verdict.fraction if verdict else None,
        plausibility=verdict.plausibility if verdict else None,
        peak_tflops=verdict.peak_tflops if verdict else None,
        peak_source=verdict.peak_source if verdict else None,
        matched_gpu=verdict.matched_gpu if verdict else None,
        ran_as=verdict.ran_as if verdict else None,
    )


def split_suspects(points: Rates) -> tuple[Rates, tuple[float, ...]]:
    """Return the points that can be true together, and the sizes of the others."""
    dropped = find_suspects(points.seconds.tolist())
    kept = np.ones(len(points), dtype=bool)
    kept[dropped] = False
    return points.keep(kept), tuple(float(points.sizes[i]) for i in dropped)


def find_dips(sizes: Floats, rates: Floats) -> tuple[float, ...]:
    """Return the sizes whose rate is under 70 % of both neighbours'."""
    return tuple(
        float(sizes[i])
        for i in range(1, len(sizes) - 1)
        if falls_short(rates[i], DIP_BELOW * rates[i - 1]) and falls_short(rates[i], DIP_BELOW * rates[i + 1])
    )


def decline(trusted: Rates) -> float:
    """Return how far the largest size lies below the best, as a share of the best."""
    return float(1 - trusted.rates[-1] / trusted.rates.max())


def _first_near_best(trusted: Rates, best_rate: float) -> float:
    near = (n for n, rate in zip(trusted.sizes, trusted.rates, strict=True) if reaches(rate, NEAR_BEST * best_rate))
    return float(next(near))


def _compare(
    frame: pd.DataFrame, best_tflops: float | None, gpu_name: str | None, dtype: Dtype | str | None
) -> PeakVerdict | None:
    if gpu_name is None or dtype is None:
        return None
    rate_flops = None if best_tflops is None else best_tflops * 1e12
    return judge_rate(rate_flops, gpu_name, Dtype(dtype), median_error(frame))


def median_error(frame: pd.DataFrame) -> float | None:
    """Return the median relative error of the rows that report one."""
    errors = column(frame, "rel_error")
    known = errors[~np.isnan(errors)] if errors is not None else np.array([])
    return float(np.median(known)) if len(known) else None
