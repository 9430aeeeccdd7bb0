"""Which jobs are there, and how do they stand? One table, read and changed by several threads."""

import threading
import time
from collections import deque
from typing import Any

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.limits import JOBS_PER_VISITOR, KEPT_JOBS, KEPT_SAMPLES
from gpuexplain.engine.ticket import Ticket, tell_ahead
from gpuexplain.errors import EngineError, QueueFullError


class Board:
    """Snapshots of jobs by run id, and the queue. Every change makes a new snapshot and wakes waiters."""

    def __init__(self, max_queue: int) -> None:
        """Take at most ``max_queue`` waiting jobs."""
        self._max_queue = max_queue
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}  # oldest first
        self._tickets: dict[str, Ticket] = {}  # of active jobs
        self._queue: deque[str] = deque()
        self._cancelling: set[str] = set()
        self._holders: set[str] = set()  # visitors who hold a place (see hold)
        self._in_held: set[str] = set()  # active jobs that stand in a held place
        self._closed = ""  # why no job is taken any more

    def get(self, run_id: str) -> Job | None:
        """Return the snapshot of a job, None if it is not (or no longer) here."""
        with self._changed:
            return self._jobs.get(run_id)

    def active(self) -> tuple[Job, ...]:
        """Return the jobs from which more may come, oldest first."""
        with self._changed:
            return tuple(job for job in self._jobs.values() if job.state.is_active)

    def join(self, key: str, visitor: str) -> Job | None:
        """Let a visitor share the active job of this key, if there is one that nobody cancelled."""
        with self._changed:
            for run_id, ticket in self._tickets.items():
                if ticket.key == key and run_id not in self._cancelling:
                    return self._add_visitor(run_id, visitor)
            return None

    def watch(self, run_id: str, visitor: str) -> Job:
        """Let a visitor share this active job.

        Raises:
            EngineError: If it is not active.
        """
        with self._changed:
            if run_id not in self._tickets:
                raise EngineError(f"Run {run_id} is not going on. Show its result, or start a new run.")
            return self._add_visitor(run_id, visitor)

    def hold(self, visitor: str) -> None:
        """Keep one of a visitor's places for jobs that follow one another, until it is freed.

        Between two of them nobody can take it, and all of them count as one.

        Raises:
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If the engine has stopped.
        """
        with self._changed:
            self._check_room(visitor)
            self._holders.add(visitor)

    def free(self, visitor: str) -> None:
        """Give a held place back."""
        with self._changed:
            self._holders.discard(visitor)

    def queue(self, ticket: Ticket, visitor: str, *, in_held_place: bool = False) -> Job:
        """Put a job at the end of the queue; one of its key that is active is joined instead.

        Args:
            ticket: The job.
            visitor: Who asks.
            in_held_place: Use the place that ``hold`` kept: there is always room for it.

        Raises:
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If the engine has stopped.
        """
        with self._changed:
            if (joined := self.join(ticket.key, visitor)) is not None:
                return joined
            if in_held_place:
                self._check_open()
                self._in_held.add(ticket.run_id)
            else:
                self._check_room(visitor)
            job = Job(
                run_id=ticket.run_id,
                key=ticket.key,
                experiment=ticket.experiment,
                params=ticket.params,
                state=JobState.QUEUED,
                visitors=(visitor,),
                points=ticket.known,
                created_at=ticket.created_at,
            )
            self._jobs[ticket.run_id] = job
            self._tickets[ticket.run_id] = ticket
            self._queue.append(ticket.run_id)
            self._number_queue()
            return self._jobs[ticket.run_id]

    def add_ended(self, job: Job) -> Job:
        """Show a job that needs no running: an earlier result."""
        with self._changed:
            self._jobs.pop(job.run_id, None)
            self._jobs[job.run_id] = job
            self._forget_old()
            self._changed.notify_all()
            return job

    def take_next(self, timeout: float) -> Ticket | None:
        """Return the job to run now (it is STARTING), or None if none came for ``timeout`` seconds."""
        with self._changed:
            if not self._queue:
                self._changed.wait(timeout)
            if not self._queue or self._closed:
                return None
            run_id = self._queue.popleft()
            self._change(run_id, state=JobState.STARTING, queue_position=0, ahead="")
            self._number_queue()
            return self._tickets[run_id]

    def change(self, run_id: str, **changes: Any) -> Job:
        """Make a new snapshot with these fields changed."""
        with self._changed:
            job = self._change(run_id, **changes)
            if not job.state.is_active and run_id in self._tickets:
                del self._tickets[run_id]
                self._cancelling.discard(run_id)
                self._in_held.discard(run_id)
                self._number_queue()
                self._forget_old()
            return job

    def leave(self, run_id: str, visitor: str, now: float) -> bool:
        """Take a visitor off a job; the last one takes the job along (see ``Runner.cancel``).

        Raises:
            EngineError: If there is no such job, or the visitor has no part in it.
        """
        with self._changed:
            job = self._jobs.get(run_id)
            if job is None:
                raise EngineError(f"There is no run {run_id} to cancel.")
            if not job.state.is_active:
                return False
            if visitor not in job.visitors:
                raise EngineError(f"Run {run_id} was asked for by somebody else, who can cancel it.")
            others = tuple(name for name in job.visitors if name != visitor)
            if others:
                self._change(run_id, visitors=others)
            elif run_id in self._queue:
                self._queue.remove(run_id)
                reason = "Cancelled before it began."
                self.change(run_id, state=JobState.CANCELLED, reason=reason, finished_at=now)
            else:
                self._cancelling.add(run_id)
                self._change(run_id, reason="Stopping after the current step.")
            return True

    def is_cancelling(self, run_id: str) -> bool:
        """Whether the job should end now."""
        with self._changed:
            return run_id in self._cancelling

    def close(self, why: str, state: JobState, now: float) -> None:
        """Take no more jobs and end all active ones in ``state`` for this reason."""
        with self._changed:
            self._closed = why
            self._queue.clear()
            for run_id in list(self._tickets):
                self.change(run_id, state=state, reason=why, finished_at=now)
            self._changed.notify_all()

    def reopen(self) -> None:
        """Take jobs again."""
        with self._changed:
            self._closed = ""

    def wait_change(self, run_id: str, version: int, timeout: float | None) -> Job | None:
        """Return the job once it is newer than ``version`` or has ended; after ``timeout`` s as it is."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while (job := self._jobs.get(run_id)) and job.version <= version and job.state.is_active:
                rest = None if deadline is None else deadline - time.monotonic()
                if rest is not None and rest <= 0:
                    break
                self._changed.wait(rest)
            return job

    def _add_visitor(self, run_id: str, visitor: str) -> Job:
        job = self._jobs[run_id]
        if visitor in job.visitors:
            return job
        return self._change(run_id, visitors=(*job.visitors, visitor))

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError(self._closed)

    def _check_room(self, visitor: str) -> None:
        self._check_open()
        others = (self._jobs[run_id] for run_id in self._tickets if run_id not in self._in_held)
        own = sum(visitor in job.visitors for job in others) + (visitor in self._holders)
        if own >= JOBS_PER_VISITOR:
            raise QueueFullError(f"You already have {own} runs waiting or running. Wait until one ends, or cancel it.")
        if len(self._queue) >= self._max_queue:
            raise QueueFullError(
                f"The queue is full: {len(self._queue)} runs wait. Try again in a few minutes, "
                "or look at an earlier run meanwhile."
            )

    def _number_queue(self) -> None:
        running = [t.label for run_id, t in self._tickets.items() if run_id not in self._queue]
        for position, run_id in enumerate(self._queue, start=1):
            before = [self._tickets[other].label for other in list(self._queue)[: position - 1]]
            ahead = tell_ahead([*running, *before])
            job = self._jobs[run_id]
            if (job.queue_position, job.ahead) != (position, ahead):
                self._change(run_id, queue_position=position, ahead=ahead)
        self._changed.notify_all()

    def _change(self, run_id: str, **changes: Any) -> Job:
        job = self._jobs[run_id]
        job = job.model_copy(update={**changes, "version": job.version + 1})
        self._jobs[run_id] = job
        self._changed.notify_all()
        return job

    def _forget_old(self) -> None:
        ended = [job for job in self._jobs.values() if not job.state.is_active]
        n_samples = 0
        for number, job in enumerate(reversed(ended)):
            n_samples += sum(len(point.samples_s) for point in job.points)
            if number and (number >= KEPT_JOBS or n_samples > KEPT_SAMPLES):
                del self._jobs[job.run_id]
