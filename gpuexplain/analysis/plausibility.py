"""Can this rate be true of this part: how does it compare with the reference peak?"""

from dataclasses import dataclass

from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.findings import Plausibility
from gpuexplain.hardware.reference import (
    ReferenceGpu,
    ReferencePeak,
    match_reference_gpu,
    peak_flops,
    reference_peak,
)
from gpuexplain.model import Dtype

# The data sheet's rate is at its boost clock; up to it nothing needs explaining.
PLAIN_UP_TO = 1.00
# Cards boost past the data sheet's clock (a GeForce RTX 3090 reaches 76.7 of 71 TFLOP/s in bf16); above
# this the usual causes are a clock read too early, another dtype than named, or the wrong peak.
CLOCK_UP_TO = 1.15
# ||out - ref|| / ||ref|| is about 3e-7 in fp32 and 3e-4 in tf32: a hundredfold away from both ends.
FP32_ERROR_BELOW = 1e-5
# bf16 shows about 3e-3; between the two lies tf32.
TF32_ERROR_BELOW = 1e-3


@dataclass(frozen=True, slots=True)
class PeakVerdict:
    """How a rate stands against the part's peak; ``fraction`` is None where it cannot be judged."""

    plausibility: Plausibility
    fraction: float | None = None
    peak_tflops: float | None = None
    peak_source: str | None = None
    matched_gpu: str | None = None
    ran_as: str | None = None


def judge_fraction(fraction: float) -> Plausibility:
    """Return the verdict on a share of the peak; each bound belongs to the better verdict."""
    if exceeds(fraction, CLOCK_UP_TO):
        return Plausibility.IMPLAUSIBLE
    if exceeds(fraction, PLAIN_UP_TO):
        return Plausibility.ABOVE_REFERENCE_CLOCK
    return Plausibility.OK


def judge_rate(rate_flops: float | None, gpu_name: str, dtype: Dtype, rel_error: float | None = None) -> PeakVerdict:
    """Return how ``rate_flops`` (FLOP/s) stands against the peak of ``gpu_name`` in ``dtype``.

    A part that is not in the table, or has no figure for the dtype, is UNKNOWN_GPU: cannot judge.
    """
    ran_as = precision_by_error(dtype, rel_error)
    gpu = match_reference_gpu(gpu_name)
    peak = None if gpu is None else reference_peak(gpu, dtype)
    if gpu is None or peak is None or rate_flops is None:
        name = None if gpu is None else gpu.name
        return PeakVerdict(Plausibility.UNKNOWN_GPU, matched_gpu=name, ran_as=ran_as)
    fraction = rate_flops / peak.rate_flops
    if ran_as is None and dtype is Dtype.FP32 and _fits_tf32(rate_flops, gpu, peak):
        ran_as = Dtype.TF32.value
    return PeakVerdict(judge_fraction(fraction), fraction, peak.rate_flops / 1e12, _cite(peak), gpu.name, ran_as)


def _fits_tf32(rate_flops: float, gpu: ReferenceGpu, fp32: ReferencePeak) -> bool:
    tf32 = peak_flops(gpu, Dtype.TF32)
    if tf32 is None:
        return False
    # Both can only hold where the tf32 peak is higher: on GeForce 30 and 40 the error has to tell.
    above_fp32 = exceeds(rate_flops / fp32.rate_flops, CLOCK_UP_TO)
    return above_fp32 and not exceeds(rate_flops / tf32, CLOCK_UP_TO)


def precision_by_error(dtype: Dtype, rel_error: float | None) -> str | None:
    """Return the precision that really ran, told by the error against float64; None: as asked.

    Only fp32 and tf32 can be mistaken for each other without anybody asking for it.
    """
    if rel_error is None:
        return None
    if dtype is Dtype.FP32 and FP32_ERROR_BELOW < rel_error < TF32_ERROR_BELOW:
        return Dtype.TF32.value
    if dtype is Dtype.TF32 and rel_error < FP32_ERROR_BELOW:
        return Dtype.FP32.value
    return None


def _cite(peak: ReferencePeak) -> str:
    notes = [note for note in (peak.note, "" if peak.verified else "unverified: no source found") if note]
    return f"{peak.source} ({'; '.join(notes)})" if notes else peak.source
