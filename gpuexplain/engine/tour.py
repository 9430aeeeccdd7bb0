"""One tour through several experiments: how far is it, and how long may its next part take?

A tour is a row of ordinary jobs, one after the other. It has a total time to spend on measuring;
waiting for others, or for a worker that still loads torch, does not count.
"""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.errors import InputError
from gpuexplain.units import format_count

# What a visitor waits for the whole tour, on a warm worker.
TOUR_S = 60.0
# A later part gets at least this, however long the earlier ones took: a coarse answer beats none.
FLOOR_S = 2.0
# A run ends within its budget plus one call; preparing, checking and the hand-over come on top. This much
# is kept back for each part still to come, or what the slowest part so far took beyond its budget.
RESERVE_S = 1.0


class TourState(StrEnum):
    """The life of a tour; a part that fails does not end it."""

    RUNNING = "running"
    DONE = "done"  # every part had its turn
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # the engine stopped


class TourPart(BaseModel):
    """One experiment of a tour and how its job stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    experiment: str
    wanted_s: float  # what it gets if everything goes well
    budget_s: float | None = None  # what it got, once it began
    run_id: str = ""
    state: JobState | None = None  # of its job; None: its turn has not come
    share: float = 0.0  # of its own budget
    remaining_s: float | None = None  # what its job says is left
    spent_s: float = 0.0  # from its start to its end
    n_points: int = 0
    reason: str = ""  # why it ended other than done

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes from it."""
        return self.state is not None and not self.state.is_active

    @property
    def has_failed(self) -> bool:
        """Whether it ended in a way that nobody asked for."""
        return self.state in (JobState.FAILED, JobState.CRASHED, JobState.INTERRUPTED)


class Tour(BaseModel):
    """A snapshot of a tour, the same for every viewer; ``version`` grows with every change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 0
    state: TourState = TourState.RUNNING
    budget_s: float
    visitors: tuple[str, ...]
    parts: tuple[TourPart, ...]
    reason: str = ""  # why it ended other than done
    created_at: float  # seconds since the epoch
    finished_at: float | None = None

    @property
    def is_active(self) -> bool:
        """Whether more may come."""
        return self.state is TourState.RUNNING

    @property
    def current(self) -> TourPart | None:
        """The part whose job waits or runs, else the next one; None when all had their turn."""
        return next((part for part in self.parts if not part.is_over), None)

    @property
    def share(self) -> float:
        """How much of the whole tour is done, 0 to 1."""
        done_s = sum(part.wanted_s * (1.0 if part.is_over else part.share) for part in self.parts)
        return min(1.0, done_s / sum(part.wanted_s for part in self.parts))

    @property
    def remaining_s(self) -> float:
        """About how many seconds of measuring are left."""
        return sum(_left_s(part) for part in self.parts if not part.is_over)

    @property
    def spent_s(self) -> float:
        """Seconds that the parts so far took to measure."""
        return sum(part.spent_s for part in self.parts)

    @property
    def run_ids(self) -> dict[str, str]:
        """The run of each experiment that had its turn."""
        return {part.experiment: part.run_id for part in self.parts if part.run_id}


def _left_s(part: TourPart) -> float:
    return part.remaining_s if part.remaining_s is not None else part.budget_s or part.wanted_s


def note_job(part: TourPart, job: Job) -> TourPart:
    """Return the part as its job stands now."""
    is_over = not job.state.is_active
    took_s = (job.finished_at or 0.0) - (job.started_at or 0.0) if job.finished_at and job.started_at else 0.0
    changes = {
        "run_id": job.run_id,
        "state": job.state,
        "share": job.progress.share if job.progress else 0.0,
        "remaining_s": job.progress.remaining_s if job.progress else None,
        "n_points": len(job.points),
        "spent_s": max(0.0, took_s),
        "reason": job.reason if is_over else "",
    }
    return part.model_copy(update=changes)


def next_budget_s(tour: Tour, most_s: float) -> float:
    """Return the seconds for the tour's next part.

    The rest of the time is shared in proportion among the parts still to come, less a reserve for what
    each takes beyond its budget; nobody gets more than was wanted, nor less than ``FLOOR_S``.

    Args:
        tour: Its next part is the first that is not over.
        most_s: The operator's longest run.
    """
    ahead = [part.wanted_s for part in tour.parts if not part.is_over]
    overruns_s = [part.spent_s - (part.budget_s or 0.0) for part in tour.parts if part.is_over]
    reserve_s = max([RESERVE_S, *overruns_s])
    free_s = tour.budget_s - tour.spent_s - reserve_s * len(ahead)
    fair_s = free_s * ahead[0] / sum(ahead)
    return round(min(most_s, max(FLOOR_S, min(ahead[0], fair_s))), 1)


def check_tour_budget(budget_s: float, n_parts: int, most_s: float) -> float:
    """Return the seconds for a whole tour if they can be used.

    Raises:
        InputError: If they are too few for every part, or too many for the operator.
    """
    least_s, largest_s = n_parts * (min(FLOOR_S, most_s) + RESERVE_S), n_parts * (most_s + RESERVE_S)
    if not least_s <= budget_s <= largest_s:  # NaN is in no range
        raise InputError(
            f"budget={budget_s:g} cannot be used. Allowed: seconds for the whole tour, "
            f"{format_count(least_s)} to {format_count(largest_s)}."
        )
    return budget_s


def plan_parts(wanted_s: Sequence[tuple[str, float]], budget_s: float, most_s: float) -> tuple[TourPart, ...]:
    """Return the parts of a tour, none begun.

    Args:
        wanted_s: Each experiment with the seconds it would like of a tour of ``TOUR_S``.
        budget_s: The seconds of this tour.
        most_s: The operator's longest run.
    """
    scale = budget_s / TOUR_S
    return tuple(TourPart(experiment=name, wanted_s=min(most_s, time_s * scale)) for name, time_s in wanted_s)
