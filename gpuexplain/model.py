"""What can be asked for and what a measurement is: the nouns that every room shares."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class Dtype(StrEnum):
    """Number formats, by the names the field uses."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"  # e4m3: both operands; what files and reference peaks call fp8
    FP8_E5M2 = "fp8_e5m2"  # e5m2 by e4m3, as a backward pass multiplies gradients by weights
    INT8 = "int8"


BYTES_PER_VALUE: dict[Dtype, int] = {
    Dtype.FP64: 8,
    Dtype.FP32: 4,
    Dtype.TF32: 4,
    Dtype.BF16: 2,
    Dtype.FP16: 2,
    Dtype.FP8: 1,
    Dtype.FP8_E5M2: 1,
    Dtype.INT8: 1,
}


class Clock(StrEnum):
    """Which question a time answers; every chart names it."""

    CALL = "call"  # host clock, device synchronised before and after
    DEVICE = "device"  # device events around queued calls
    TRANSFER_INCLUSIVE = "transfer_inclusive"  # inputs in, operation, result out, one sync
    ENQUEUE = "enqueue"  # host clock without a sync: the mistake, shown as one


class Source(StrEnum):
    """Where a point comes from; only MEASURED may be called "on this machine"."""

    MEASURED = "measured"
    RECORDED = "recorded"
    PUBLISHED = "published"
    MODEL = "model"


class Status(StrEnum):
    """How a case ended."""

    OK = "ok"
    OOM = "oom"
    UNSUPPORTED = "unsupported"
    LAUNCH_LIMIT = "launch_limit"
    SKIPPED = "skipped"
    FAILED = "failed"


class Flag(StrEnum):
    """What a reader should know before trusting a point; a flag never removes it."""

    NOT_CONVERGED = "not_converged"
    FEW_SAMPLES = "few_samples"
    SUSPECT = "suspect"
    UNDER_LOAD = "under_load"
    THROTTLED = "throttled"
    DRIFTING = "drifting"
    COLD = "cold"
    ABOVE_PEAK = "above_peak"
    BELOW_TIMER_RESOLUTION = "below_timer_resolution"
    EMULATED = "emulated"
    FALLBACK = "fallback"


# Drawn hollow and never a best, a knee or the end of a range. The other flags
# only show in the band and in the words: at a target of 2 % most small CPU
# points of a busy machine do not converge, and a chart of hollow points helps nobody.
HOLLOW_FLAGS = frozenset({Flag.SUSPECT, Flag.THROTTLED, Flag.UNDER_LOAD, Flag.DRIFTING, Flag.ABOVE_PEAK})


class Preset(StrEnum):
    """How much time a visitor wants to spend; "default" means STANDARD."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"


PRESET_BUDGET_S: dict[Preset, float] = {
    Preset.QUICK: 5.0,
    Preset.STANDARD: 15.0,
    Preset.THOROUGH: 60.0,
}

DeviceChoice = Annotated[
    str,
    Field(
        pattern=r"^(auto|cpu|cuda:(0|[1-9][0-9]?))$",
        description="auto, cpu or cuda:N; auto takes the first GPU that works, else the CPU",
    ),
]


class Params(BaseModel):
    """What every experiment is asked with: the same object serves form, URL, CLI and cache key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: DeviceChoice = Field(default="auto", title="Device")
    preset: Preset = Field(default=Preset.STANDARD, title="Time to spend")
    budget_s: float | None = Field(
        default=None,
        ge=0.5,
        le=3600,
        title="Seconds (instead of a preset)",
        description="seconds to spend, 0.5 to 3600; overrides the preset's",
    )

    @property
    def sweep_budget_s(self) -> float:
        """Seconds this run may spend on warm-up and samples."""
        return self.budget_s if self.budget_s is not None else PRESET_BUDGET_S[self.preset]


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to time.

    ``x`` is the position on the experiment's main axis (matmul: the side n);
    ``shape`` is what the operation needs (matmul: m, k, n); ``memory_bytes`` is
    what must fit on the device at once; ``items`` is how many examples one call processes.
    """

    series: str
    x: float
    shape: tuple[int, ...]
    dtype: Dtype
    device: str
    clock: Clock
    threads: int | None
    flops: float
    bytes_moved: float
    memory_bytes: int
    explicit: bool = False  # the visitor named this size: it may run with few samples
    items: float = 0.0

    @property
    def work(self) -> float:
        """What a call's time grows with: its operations, or its bytes where it computes nothing."""
        return self.flops or self.bytes_moved

    @property
    def id(self) -> str:
        """Unique within a run, stable between runs."""
        shape = "x".join(str(side) for side in self.shape)
        return f"{self.series}|{self.device}|{self.dtype}|{shape}"


class Conditions(BaseModel):
    """What else went on while the samples of a point were taken.

    ``None`` means "not reported"; ``not_reported`` says why, by field name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    other_cpu_cores: float | None = None  # cores kept busy by everybody else, us and our UI included
    steal_share: float | None = None  # share of time the hypervisor gave to other guests
    quota_throttled_s: float | None = None
    involuntary_switches: int | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    throttle_reasons: tuple[str, ...] = ()
    pcie_generation: int | None = None
    pcie_width: int | None = None
    other_gpu_processes: int | None = None
    gpu_utilisation: float | None = None  # share of the time in which a kernel ran
    not_reported: dict[str, str] = Field(default_factory=dict)


class Gauges(BaseModel):
    """What else was read off once per case, outside the timed calls.

    ``None`` means "not read"; ``not_reported`` says why where it was asked for, by field name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_allocated_bytes: int | None = None  # peak of live tensors on the device
    memory_reserved_bytes: int | None = None  # peak that the allocator held for them
    memory_context_bytes: int | None = None  # the CUDA context, which no allocator counts
    memory_resident_bytes: int | None = None  # peak growth of the process in main memory
    memory_limit_bytes: int | None = None  # what the run was allowed to fill of it
    energy_j: float | None = None  # of one call
    clipped_count: int | None = None  # values beyond the largest number of the format
    zeroed_count: int | None = None  # values other than zero that the format rounds to zero
    not_reported: dict[str, str] = Field(default_factory=dict)


class Point(BaseModel):
    """One measured (or published) case: raw samples kept, statistics derived from them.

    Times are seconds for ONE operation; ``calls_per_sample`` is the k a block was divided by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    # 1: first release. 2: items, gauges and gpu_utilisation, all optional: a version 1 point is a version 2 point.
    schema_version: ClassVar[int] = 2

    experiment: str
    series: str
    x: float
    shape: tuple[int, ...] = ()
    dtype: Dtype
    device: str
    device_name: str = ""
    clock: Clock = Clock.CALL
    threads: int | None = None
    source: Source = Source.MEASURED
    source_note: str = ""  # citation, file name or machine, for anything not measured here
    status: Status = Status.OK
    reason: str = ""  # why the status is not ok, and what to do
    flags: tuple[Flag, ...] = ()
    timing: str = ""  # how the clock was read, in words
    samples_s: tuple[float, ...] = ()
    calls_per_sample: tuple[int, ...] = ()
    n_samples: int = 0  # as taken; samples_s may be thinned
    median_s: float | None = None
    q1_s: float | None = None
    q3_s: float | None = None
    min_s: float | None = None
    max_s: float | None = None
    ci_low_s: float | None = None
    ci_high_s: float | None = None
    first_call_s: float | None = None  # the cold call
    warmup_s: tuple[float, ...] = ()  # the calls between the cold one and the first sample
    flops: float | None = None  # floating-point operations of one call
    bytes: float | None = None  # bytes counted for one call
    items: float | None = None  # examples processed by one call
    rel_error: float | None = None  # ||out - ref|| / ||ref|| against float64
    nan_count: int | None = None
    inf_count: int | None = None
    cache_ratio: float | None = None  # bytes touched between two uses of an input / last-level cache
    conditions: Conditions | None = None
    gauges: Gauges | None = None

    @property
    def case_id(self) -> str:
        """The id of the case this point answers."""
        shape = "x".join(str(side) for side in self.shape)
        return f"{self.series}|{self.device}|{self.dtype}|{shape}"

    @property
    def rate_flops(self) -> float | None:
        """Floating-point operations per second, from the median."""
        return self.flops / self.median_s if self.flops and self.median_s else None

    @property
    def rate_bytes(self) -> float | None:
        """Bytes per second, from the median."""
        return self.bytes / self.median_s if self.bytes and self.median_s else None

    @property
    def rate_items(self) -> float | None:
        """Examples per second, from the median."""
        return self.items / self.median_s if self.items and self.median_s else None

    @property
    def is_hollow(self) -> bool:
        """Whether a flag keeps this point from being a best, a knee or the end of a range."""
        return bool(HOLLOW_FLAGS.intersection(self.flags))

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % interval as a share of the median; None without an interval."""
        if self.ci_low_s is None or self.ci_high_s is None or not self.median_s:
            return None
        return (self.ci_high_s - self.ci_low_s) / 2 / self.median_s
