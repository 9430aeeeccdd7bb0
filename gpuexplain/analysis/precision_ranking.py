"""Which number formats pay on this device, and which only pretend to?"""

import pandas as pd

from gpuexplain.analysis.matmul_peak import find_matmul_peak, median_error
from gpuexplain.analysis.plausibility import precision_by_error
from gpuexplain.analysis.precision_best import FormatBest, find_bests, share_rank
from gpuexplain.analysis.rows import require_columns
from gpuexplain.analysis.thresholds import falls_short
from gpuexplain.findings import MatmulPeak, PrecisionRanking
from gpuexplain.hardware.reference import match_reference_gpu
from gpuexplain.model import Dtype, Flag
from gpuexplain.points import has_flag

# A 16-bit format that does not even come near fp32 runs without hardware for it.
SLOW_16BIT_BELOW = 0.80
_SIXTEEN_BIT = (Dtype.BF16.value, Dtype.FP16.value)
# The first CUDA compute capability with hardware for it (Ampere; Ada, as torch._scaled_mm needs).
FIRST_CAPABILITY = {Dtype.BF16.value: 8.0, Dtype.FP8.value: 8.9, Dtype.FP8_E5M2.value: 8.9}
TF32_FIRST_CAPABILITY = 8.0


def find_precision_ranking(
    frame: pd.DataFrame, gpu_name: str | None = None, *, on_gpu: bool | None = None
) -> PrecisionRanking:
    """Return the formats, best first, from ``dtype``, ``n`` and ``tflops`` or ``seconds``.

    Formats within 5 % of a rank's first, or with overlapping intervals, share it. ``emulated`` and
    ``fallback`` come from the flags (the device's own probe), from the known part, or, for tf32,
    from ``rel_error``; slow alone is not emulated. ``on_gpu`` defaults to whether a GPU is named.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("dtype", "n", "seconds|tflops"), "a precision ranking")
    by_dtype = {str(dtype): rows for dtype, rows in frame.groupby("dtype", sort=False)}
    peaks = {name: find_matmul_peak(rows, gpu_name, Dtype(name)) for name, rows in by_dtype.items()}
    is_gpu = gpu_name is not None if on_gpu is None else on_gpu
    bests = find_bests(frame, on_gpu=is_gpu)
    reasons = [f"{b.dtype}: {b.objection}" for b in bests if b.objection]
    return PrecisionRanking(
        best_tflops_by_dtype={b.dtype: b.rate for b in bests},
        slow_16bit=_slow_16bit(peaks),
        emulated=_emulated(by_dtype, gpu_name),
        fallback=_fallback(by_dtype, gpu_name),
        ranking=None if reasons else _rank(bests),
        withheld=bool(reasons),
        withheld_reason="; ".join(reasons) or None,
        by_dtype=peaks,
    )


def _rank(bests: list[FormatBest]) -> tuple[tuple[str, ...], ...]:
    groups: list[list[FormatBest]] = []
    for best in sorted(bests, key=lambda b: (-b.rate, b.dtype)):
        if groups and share_rank(groups[-1][0], best):
            groups[-1].append(best)
        else:
            groups.append([best])
    return tuple(tuple(sorted(b.dtype for b in group)) for group in groups)


def _slow_16bit(peaks: dict[str, MatmulPeak]) -> tuple[str, ...]:
    fp32 = peaks[Dtype.FP32.value].best_tflops if Dtype.FP32.value in peaks else None
    rates = {name: peaks[name].best_tflops for name in _SIXTEEN_BIT if name in peaks}
    return tuple(
        name
        for name, rate in rates.items()
        if fp32 is not None and rate is not None and falls_short(rate, SLOW_16BIT_BELOW * fp32)
    )


def _known_capability(gpu_name: str | None) -> float | None:
    gpu = match_reference_gpu(gpu_name) if gpu_name else None
    return gpu.capability if gpu else None


def _emulated(by_dtype: dict[str, pd.DataFrame], gpu_name: str | None) -> tuple[str, ...]:
    capability = _known_capability(gpu_name)
    lacking = {name for name, first in FIRST_CAPABILITY.items() if capability is not None and capability < first}
    return tuple(
        sorted(name for name, rows in by_dtype.items() if name in lacking or bool(has_flag(rows, Flag.EMULATED).any()))
    )


def _fallback(by_dtype: dict[str, pd.DataFrame], gpu_name: str | None) -> dict[str, str]:
    tf32, fp32 = Dtype.TF32.value, Dtype.FP32.value
    if tf32 not in by_dtype:
        return {}
    capability = _known_capability(gpu_name)
    lacks_tf32 = capability is not None and capability < TF32_FIRST_CAPABILITY
    by_error = precision_by_error(Dtype.TF32, median_error(by_dtype[tf32])) == fp32
    by_probe = bool(has_flag(by_dtype[tf32], Flag.FALLBACK).any())
    return {tf32: fp32} if lacks_tf32 or by_error or by_probe else {}
