"""What a job looks like from outside the engine: one frozen snapshot, the same for every viewer."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from gpuexplain.measuring.session import Coverage, Progress
from gpuexplain.model import Point


class JobState(StrEnum):
    """The life of a job, in order."""

    QUEUED = "queued"  # behind other jobs of this process
    WAITING = "waiting"  # another process measures on this host
    STARTING = "starting"  # the worker is being started
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    CRASHED = "crashed"  # the worker died or went silent; points so far are kept
    FAILED = "failed"  # the worker said why it could not go on
    INTERRUPTED = "interrupted"  # the app stopped during the run

    @property
    def is_active(self) -> bool:
        """Whether more may come."""
        return self in {JobState.QUEUED, JobState.WAITING, JobState.STARTING, JobState.RUNNING}


class Job(BaseModel):
    """A snapshot of one job; ``version`` grows with every change, so viewers can share a figure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    key: str
    experiment: str
    params: dict[str, object]  # Params.model_dump(mode="json")
    state: JobState
    version: int = 0
    queue_position: int = 0  # 1 = next
    ahead: str = ""  # for whom a queued or waiting job waits, in words
    visitors: tuple[str, ...] = ()  # who asked for it (several: one flight)
    progress: Progress | None = None
    points: tuple[Point, ...] = ()  # the last of each case, in order of arrival
    reason: str = ""  # why it ended other than done, and what to do
    coverage: Coverage | None = None
    created_at: float  # seconds since the epoch
    started_at: float | None = None
    finished_at: float | None = None


class EngineStatus(BaseModel):
    """What runs now, for the sidebar and ``/api/ready``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    worker: str  # "stopped", "starting", "ready", "busy"
    worker_restarts: int = 0
    queue_length: int = 0
    not_stored: int = 0  # ended runs that the store has not taken yet; they are kept and tried again
    running: Job | None = None
    read_only: bool = False
