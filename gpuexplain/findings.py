"""What the analysis may conclude: frozen answers, each with the thresholds that made it.

The field names are the published vocabulary (``--json`` prints them as they stand here), so they
carry the units that their readers expect. "Cannot tell, because ..." is an answer: ``NotFound``.
"""

from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class NotFound:
    """The data does not decide; ``reason`` says why and what would."""

    what: str
    reason: str


class CrossoverVerdict(StrEnum):
    """Who wins, and where it changes."""

    CROSSED = "crossed"
    GPU_ALWAYS = "gpu_always"
    CPU_ALWAYS = "cpu_always"
    TIE = "tie"
    TIE_AT_END = "tie_at_end"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW_POINTS = "too_few_points"


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where the challenger (usually the GPU) overtakes the baseline (usually the CPU).

    ``low`` and ``high`` bracket the change; ``low_is_tie``: ``low`` is no baseline win, only the
    size before ``high``. ``speedup`` is baseline time / challenger time at ``speedup_n``, the
    largest common size, with its bounds.
    """

    verdict: CrossoverVerdict
    low: float | None = None
    high: float | None = None
    low_is_tie: bool = False
    estimate: float | None = None
    n_sizes: int = 0
    speedup: float | None = None
    speedup_low: float | None = None
    speedup_high: float | None = None
    speedup_n: float | None = None
    win_above: float = 1.05
    lose_below: float = 0.95
    with_transfer: "Crossover | None" = None


class Plausibility(StrEnum):
    """How a rate compares with the part's reference peak."""

    OK = "ok"
    ABOVE_REFERENCE_CLOCK = "above_reference_clock"
    IMPLAUSIBLE = "implausible"
    UNKNOWN_GPU = "unknown_gpu"


@dataclass(frozen=True, slots=True)
class MatmulPeak:
    """The best rate of one matmul series, and which of its points not to trust."""

    best_tflops: float | None
    best_n: float | None
    n_at_90pct: float | None
    suspect_n: tuple[float, ...]
    dips_n: tuple[float, ...]
    decline_pct: float | None
    fraction_of_peak: float | None = None
    plausibility: Plausibility | None = None
    peak_tflops: float | None = None
    peak_source: str | None = None
    matched_gpu: str | None = None
    ran_as: str | None = None


@dataclass(frozen=True, slots=True)
class PrecisionRanking:
    """Which number formats pay on this device, and which only pretend to."""

    best_tflops_by_dtype: dict[str, float]
    slow_16bit: tuple[str, ...]
    emulated: tuple[str, ...]
    fallback: dict[str, str]
    ranking: tuple[tuple[str, ...], ...] | None
    withheld: bool
    withheld_reason: str | None = None
    by_dtype: dict[str, MatmulPeak] | None = None


class SpeedVerdict(StrEnum):
    """Whether a difference in speed is more than chance and rounding."""

    FASTER = "faster"
    SLOWER = "slower"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times a challenger's rate is that of a baseline, at ``n``, the largest size of both.

    ``low`` and ``high`` enclose the factor where both rates have intervals.
    """

    challenger: str
    baseline: str
    factor: float
    low: float | None
    high: float | None
    n: float
    verdict: SpeedVerdict
    win_above: float = 1.05
    lose_below: float = 0.95


@dataclass(frozen=True, slots=True)
class TradeOff:
    """The fastest formats whose error stays under a bound; several where speed cannot tell them apart.

    ``front`` holds every format that no other beats in both speed and error, most exact first.
    """

    dtypes: tuple[str, ...]
    best_tflops: float
    n: float
    rel_error: float
    error_bound: float
    front: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LostUpdates:
    """What becomes of many small numbers added to a large one, one after the other.

    ``lost`` is, by how many were added, the share of their sum that did not arrive; ``lost_from`` the
    smallest number of them from which on more than ``threshold`` of it is lost.
    """

    dtype: str
    lost: tuple[tuple[float, float], ...]
    lost_from: float | None
    threshold: float


@dataclass(frozen=True, slots=True)
class BatchKnee:
    """The smallest batch that already gives 90 % of the best throughput."""

    best_throughput: float | None
    best_batch: int | None
    knee_batch: int | None
    knee_unstable: bool
    saturated: bool
    knee_low: int | None = None
    knee_high: int | None = None
    largest_ran: int | None = None
    first_failed: int | None = None
    saturation: "Saturation | None" = None
    last_step_gain: float | None = None


class Saturation(StrEnum):
    """Whether more batch would still bring more throughput, as far as the intervals tell."""

    SATURATED = "saturated"
    STILL_RISING = "still_rising"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class FreeBatch:
    """The batches whose step takes hardly longer than that of the smallest: the further examples are free.

    By the medians up to ``largest``; by the intervals surely up to ``surely_largest`` and perhaps up to
    ``perhaps_largest``. ``is_bounded``: the next batch measured takes longer, so the end was seen.
    """

    smallest: int
    largest: int
    surely_largest: int
    perhaps_largest: int
    step_s: float  # of the smallest
    within: float  # a step is free up to this factor of it
    is_bounded: bool


class MemoryFitStatus(StrEnum):
    """Whether memory = fixed + per example x batch describes the points."""

    OK = "ok"
    NOT_LINEAR = "not_linear"
    TOO_FEW_POINTS = "too_few_points"
    TOO_NOISY = "too_noisy"


@dataclass(frozen=True, slots=True)
class MemoryFit:
    """What a model holds whatever the batch, and what each further example adds (bytes)."""

    status: MemoryFitStatus
    fixed_bytes: float | None = None
    bytes_per_example: float | None = None
    worst_residual: float | None = None  # as a share of the memory of its point
    n_points: int = 0


@dataclass(frozen=True, slots=True)
class BatchCeiling:
    """Where the memory ends: ``predicted_batch`` by the fit, ``largest_ran`` and ``first_failed`` as found.

    ``agrees``: the prediction lies between the two; None where one of them is missing.
    """

    limit_bytes: int | None  # what the run was allowed to fill
    predicted_batch: int | None
    largest_ran: int
    first_failed: int | None
    agrees: bool | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Whether batches that are multiples of ``multiple`` are faster an example than their neighbours.

    ``gain`` is the median ratio of throughputs, aligned over not; ``low`` and ``high`` enclose all pairs.
    """

    multiple: int
    pays: bool
    gain: float
    low: float
    high: float
    n_pairs: int


class FitStatus(StrEnum):
    """Whether time = latency + bytes / rate describes the points."""

    OK = "ok"
    NOT_AFFINE = "not_affine"
    TOO_FEW_POINTS = "too_few_points"


class NHalfStatus(StrEnum):
    """Whether the size that reaches half the rate lies in the tested range."""

    LOCATED = "located"
    BELOW_RANGE = "below_range"
    TOO_FEW_POINTS = "too_few_points"


@dataclass(frozen=True, slots=True)
class TransferFit:
    """What a copy costs at once (latency) and per byte (rate), and when it is worth its start."""

    plateau_gbps: float | None
    fit_status: FitStatus
    latency_us: float | None
    fit_gbps: float | None
    n_half_bytes: float | None
    first_at_half_bytes: float | None
    saturated: bool
    n_half_status: NHalfStatus
    worst_residual: float | None = None


@dataclass(frozen=True, slots=True)
class FitInterval:
    """Where latency and rate of a fitted copy lie with 95 % confidence, by how far the points stray."""

    latency_low_us: float
    latency_high_us: float
    rate_low_gbps: float
    rate_high_gbps: float
    n_points: int


@dataclass(frozen=True, slots=True)
class LinkShare:
    """How much of a link a copy reached; rates of one direction in GB/s.

    ``is_fact`` is false when the rate lies above what the link can carry: bytes, time or link are
    wrong, so nothing may be claimed from it. ``of_typical`` compares with what others measured.
    """

    link: str
    rate_gbps: float
    theoretical_gbps: float
    typical_gbps: float | None
    of_theoretical: float
    of_typical: float | None
    is_fact: bool
    source: str
    above_theoretical: float  # the share of the theoretical rate above which it is no fact


class BreakEvenVerdict(StrEnum):
    """Whether working on the device pays for copying the operands there and the result back."""

    AT_ONCE = "at_once"
    AFTER = "after"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class BreakEven:
    """After how many products of side ``side`` on the GPU the copies are paid for.

    copy + r x gpu = r x cpu at r = ``reuses`` (seconds of one copy there and back, and of one
    product). None where the GPU's product is not the faster one.
    """

    verdict: BreakEvenVerdict
    side: int
    copy_s: float
    cpu_s: float
    gpu_s: float
    reuses: float | None
    reuses_low: float | None
    reuses_high: float | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a copy hides behind computing: 1 is all that could, 0 is one after the other.

    (copy + compute - both) / the shorter of copy and compute; seconds.
    """

    bytes: float
    copy_s: float
    compute_s: float
    both_s: float
    hidden_share: float
    hidden_low: float
    hidden_high: float


@dataclass(frozen=True, slots=True)
class CopyRatio:
    """What one way to copy costs beside another, at the largest size that both have.

    ``factor`` is the time of ``series`` / the time of ``beside``, with its bounds.
    """

    series: str
    beside: str
    bytes: float
    factor: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PiecesCost:
    """What a total costs in many small copies beside one large one.

    ``factor`` is the time in pieces of ``piece_bytes`` / the time at once, with its bounds.
    ``enough_bytes`` is the smallest piece from which on every size measured stays within ``within``
    of the time at once.
    """

    series: str
    total_bytes: float
    piece_bytes: float
    whole_s: float
    factor: float
    low: float
    high: float
    enough_bytes: float
    within: float


@dataclass(frozen=True, slots=True)
class ColdCall:
    """What the first call costs beside the warm ones; the largest factor of a series."""

    series: str
    x: float
    first_call_s: float
    median_s: float
    factor: float


@dataclass(frozen=True, slots=True)
class LaunchFloor:
    """The time under which a call does not fall however small the work is."""

    series: str
    floor_s: float
    up_to_x: float
    within: float  # sizes up to up_to_x take at most this factor of the floor


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The smallest relative difference that this sweep can tell apart; nothing closer is ranked."""

    smallest_difference: float
    median_difference: float
    n_points: int


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """One operation under its roof; rates in FLOP/s, intensity in FLOP per byte.

    ``bound`` is the roof above its intensity, "memory" or "compute". ``is_fact`` is false when the
    rate lies above that roof: bytes, time or roof are wrong, so nothing may be claimed from it.
    """

    intensity: float
    rate_flops: float
    attainable_flops: float
    bound: str
    is_fact: bool


@dataclass(frozen=True, slots=True)
class Roofline:
    """Two roofs, the ridge where they meet (FLOP per byte), and the points under them."""

    peak_flops: float
    bandwidth_bytes_s: float
    ridge_intensity: float
    points: tuple[RooflinePoint, ...]
    above_roof: float  # the factor of the roof above which a point is no fact


@dataclass(frozen=True, slots=True)
class Drift:
    """Whether the samples of one case moved while they were taken; times are medians of a third."""

    first_third_s: float
    last_third_s: float
    change: float  # last / first - 1
    is_drifting: bool
    n_samples: int


def to_json(finding: Any) -> Any:
    """Return a finding (or a container of findings) as plain JSON values, names unchanged."""
    if is_dataclass(finding) and not isinstance(finding, type):
        return {f.name: to_json(getattr(finding, f.name)) for f in fields(finding)}
    if isinstance(finding, dict):
        return {str(key): to_json(value) for key, value in finding.items()}
    if isinstance(finding, (list, tuple)):
        return [to_json(item) for item in finding]
    if isinstance(finding, StrEnum):
        return str(finding)
    return finding
