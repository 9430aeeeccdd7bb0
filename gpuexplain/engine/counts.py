"""How many runs ended how, how long did they take, how often did the store fail? Since the engine was made."""

import threading
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from gpuexplain.engine.jobs import Job

# Upper bounds of the classes of run time, in seconds: the presets take 5, 15 and 60.
RUN_TIME_BOUNDS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)


@dataclass(frozen=True, slots=True)
class RunTimes:
    """How many runs of one experiment fell into each class of time; one class more than there are bounds."""

    classes: tuple[int, ...] = (0,) * (len(RUN_TIME_BOUNDS_S) + 1)
    total_s: float = 0.0

    def with_one(self, time_s: float) -> "RunTimes":
        """Return the times with one more run."""
        hit = bisect_left(RUN_TIME_BOUNDS_S, time_s)
        classes = tuple(count + (number == hit) for number, count in enumerate(self.classes))
        return RunTimes(classes, self.total_s + time_s)


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted until a moment."""

    runs: dict[tuple[str, str], int]  # (experiment, state it ended in)
    times: dict[str, RunTimes]  # by experiment, of the runs that began
    store_failures: int


class Counts:
    """Counts from any thread."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._lock = threading.Lock()
        self._runs: Counter[tuple[str, str]] = Counter()
        self._times: dict[str, RunTimes] = {}
        self._store_failures = 0

    def note_end(self, job: Job) -> None:
        """Count a job that had its turn and has ended."""
        with self._lock:
            self._runs[job.experiment, job.state.value] += 1
            if job.started_at is not None and job.finished_at is not None:
                before = self._times.get(job.experiment, RunTimes())
                self._times[job.experiment] = before.with_one(max(0.0, job.finished_at - job.started_at))

    def note_store_failure(self) -> None:
        """Count an attempt to write a run that the store did not take."""
        with self._lock:
            self._store_failures += 1

    def read(self) -> Counted:
        """Return what was counted so far."""
        with self._lock:
            return Counted(dict(self._runs), dict(self._times), self._store_failures)
