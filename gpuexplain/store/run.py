"""What is a stored run: who asked for what, on which machine, how it ended, and its points?"""

import secrets
import time
from enum import StrEnum
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from gpuexplain.model import Flag, Point

# A run with such a point is kept and shown, but never answers for a new one.
DISTURBED_FLAGS = (Flag.UNDER_LOAD, Flag.THROTTLED)


class RunState(StrEnum):
    """How a stored run stands; the words are those of the engine's job states."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


# Ended otherwise than somebody wanted.
FAILURES = (RunState.FAILED, RunState.CRASHED, RunState.INTERRUPTED)
# Of those: not for a reason of their own.
RESUMABLE = (RunState.INTERRUPTED, RunState.CRASHED)


class RunSummary(BaseModel):
    """A run without its points; times are seconds since the epoch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    experiment: str
    measuring_version: int
    key: str  # equal keys may answer for each other
    params: dict[str, object]  # Params.model_dump(mode="json")
    machine: dict[str, object] | None  # Machine as recorded then; None for an import without one
    device: str
    state: RunState
    reason: str = ""  # why it ended other than done, and what to do
    coverage: dict[str, float] | None = None  # where the time went (measuring.session.Coverage)
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    n_points: int = 0


class StoredRun(RunSummary):
    """A run with its points, in the order in which their cases first arrived."""

    # Of the exports. 1: first release. 2: points of version 2, and their columns in the CSV.
    schema_version: ClassVar[int] = 2

    points: tuple[Point, ...] = ()

    @property
    def is_disturbed(self) -> bool:
        """Whether other work or a throttled GPU touched a point."""
        return any(flag in point.flags for point in self.points for flag in DISTURBED_FLAGS)


def new_run_id(now_s: float | None = None) -> str:
    """Return a short id that sorts by its UTC time, such as ``20260102-150405-ab12cd34``.

    A class that presses Run in the same second shares a stamp: four bytes keep their runs apart.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_s))
    return f"{stamp}-{secrets.token_hex(4)}"
