"""How a measurement talks to whoever asked for it: points, progress, cancel, and the final account."""

from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from gpuexplain.model import Point


class Progress(BaseModel):
    """How far a run is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(ge=0, le=1)  # of the budget
    phase: str  # in words, for the progress bar: "warming up n = 512", "round 3"
    round: int = 0
    elapsed_s: float = 0.0
    remaining_s: float = 0.0


class Coverage(BaseModel):
    """Where the time of a sweep went, in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget_s: float
    wall_s: float
    prepare_s: float  # making inputs
    verify_s: float  # checking results
    warmup_s: float  # cold and warm-up calls, and the untimed calls of every block
    timed_s: float  # inside samples
    rounds: int
    predicted_call_s: float = 0.0  # the longest single call that was predicted

    @property
    def sampling_share(self) -> float:
        """(timed + warm-up) / (wall - prepare - verify)."""
        rest = self.wall_s - self.prepare_s - self.verify_s
        return (self.timed_s + self.warmup_s) / rest if rest > 0 else 0.0


class Outcome(BaseModel):
    """How a measurement ended."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cancelled: bool = False
    coverage: Coverage


class Session(Protocol):
    """What a slice's ``measure`` function is given."""

    def point(self, point: Point) -> None:
        """Hand over a new or narrowed point; the last one of a case counts."""

    def progress(self, progress: Progress) -> None:
        """Tell how far we are."""

    def cancelled(self) -> bool:
        """Whether to stop after the current block."""
        ...
