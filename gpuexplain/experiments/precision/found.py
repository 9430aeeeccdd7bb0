"""What the precision experiment may conclude: per device, and there per format."""

from dataclasses import dataclass

from gpuexplain.analysis.precision_best import FormatBest
from gpuexplain.experiments.precision.spec import Inputs
from gpuexplain.findings import LostUpdates, NoiseFloor, NotFound, PrecisionRanking, Speedup, TradeOff
from gpuexplain.model import Dtype, Flag, Source, Status


@dataclass(frozen=True, slots=True)
class FormatFinding:
    """What one format says on one device; ``best`` and ``speedup`` are None and NotFound where nothing can be said.

    ``clipped_share`` and ``zeroed_share`` are of the values of both operands, at the largest size checked.
    """

    dtype: Dtype
    best: FormatBest | None
    speedup: Speedup | NotFound  # over fp32; of fp32 itself NotFound
    rel_error: float | None
    bytes_per_value: int
    largest_n: float
    clipped_share: float | None
    zeroed_share: float | None
    nan_count: int
    inf_count: int
    energy_j_per_flop: float | None
    energy_reason: str
    ran_as: str  # another format, by the error; "" as asked
    emulated_reason: str
    flagged: tuple[tuple[Flag, int], ...]
    failed: tuple[tuple[float, Status, str], ...]  # (x, status, reason)
    suspect_n: tuple[float, ...]
    is_withheld: bool  # faster than the part's peak allows
    is_provisional: bool


@dataclass(frozen=True, slots=True)
class DeviceFindings:
    """Everything that one device (measured, recorded or published) says."""

    device: str
    device_name: str
    source: Source
    source_note: str
    threads: int | None
    inputs: Inputs | None
    overrides: tuple[str, ...]  # variables that decide which precision runs, NAME=value
    formats: tuple[FormatFinding, ...]
    ranking: PrecisionRanking | NotFound
    trade_off: TradeOff | NotFound
    autocast: Speedup | NotFound
    autocast_error: float | None
    autocast_dtype: Dtype | None
    lost: tuple[LostUpdates, ...]  # plain sums in each format
    lost_in_fp32: LostUpdates | NotFound  # bf16 numbers, fp32 sum
    flushes_subnormals: bool | None
    is_provisional: bool  # something could be told from disturbed points only

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    def of(self, dtype: str) -> FormatFinding | None:
        """Return the finding of a format."""
        return next((found for found in self.formats if found.dtype == dtype), None)


@dataclass(frozen=True, slots=True)
class PrecisionFindings:
    """Everything the charts and the words of this page may use beside the points."""

    devices: tuple[DeviceFindings, ...]  # measured here first
    noise: NoiseFloor | NotFound

    @property
    def headline(self) -> DeviceFindings | None:
        """The device the page's answer is about."""
        return next(iter(self.devices), None)
