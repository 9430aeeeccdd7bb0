"""What the sweep needs from a prepared case: call it, time a block, check the result."""

from dataclasses import dataclass
from typing import Protocol

from gpuexplain.errors import GpuExplainError
from gpuexplain.model import Gauges


class OutOfMemoryError(GpuExplainError):
    """The case does not fit the memory; the process goes on."""


class LaunchLimitError(GpuExplainError):
    """The device refuses a launch of this shape; memory is not the reason."""


class DeviceLostError(GpuExplainError):
    """A device error poisoned the context: this process must be replaced."""


@dataclass(frozen=True, slots=True)
class Block:
    """One sample: seconds per call, the whole timed part, and what the untimed calls took."""

    call_s: float
    timed_s: float
    untimed_s: float


@dataclass(frozen=True, slots=True)
class Check:
    """How far a result is from float64, and what that says."""

    rel_error: float | None
    nan_count: int
    inf_count: int
    failure: str = ""  # why the result is wrong; empty when it is right
    ran_as: str = ""  # another dtype whose error this is, or empty
    gauges: Gauges | None = None  # what else was read off around this untimed call


class Stopwatch(Protocol):
    """Times one prepared case by one clock."""

    most_calls: int  # calls per block: 1 where the clock synchronises every call
    resolution_s: float  # of the clock that is read
    timing: str  # how the clock is read, in words
    cache_ratio: float | None

    def call_once(self) -> float:
        """Run one call and return its seconds (cold call, warm-up)."""
        ...

    def time_block(self, untimed: int, n_calls: int) -> Block:
        """Run ``untimed`` calls, then time ``n_calls``."""
        ...

    def check(self) -> Check:
        """Compare the result with float64."""
        ...
