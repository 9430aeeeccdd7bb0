"""How does whoever is interested see a job move, be it of this process or of another?"""

import threading
import time
from collections.abc import Iterator

from gpuexplain.engine.board import Board
from gpuexplain.engine.jobs import Job
from gpuexplain.engine.stored_jobs import job_from_run
from gpuexplain.store.runs import RunStore


class Watch:
    """Looks at jobs on the board, and in the store at those that are not there."""

    def __init__(self, board: Board, store: RunStore, foreign_poll_s: float) -> None:
        """Look at this board and store.

        Args:
            board: The jobs of this process.
            store: The runs of all.
            foreign_poll_s: How often a run of another process is looked at, in seconds.
        """
        self._board = board
        self._store = store
        self._foreign_poll_s = foreign_poll_s

    def job(self, run_id: str) -> Job | None:
        """Return a job as it stands now, from memory or from the store; None if nobody knows it.

        Raises:
            StoreError: If it is not in memory and the store cannot be read.
        """
        job = self._board.get(run_id)
        if job is None and (run := self._store.find_run(run_id)) is not None:
            job = job_from_run(run)
            if not job.state.is_active:  # an active one belongs to another process
                job = self._board.add_ended(job)
        return job

    def active_jobs(self) -> tuple[Job, ...]:
        """Return the waiting and running jobs, oldest first."""
        return self._board.active()

    def wait(self, run_id: str, timeout: float | None = None) -> Job | None:
        """Return the job once it has ended, or as it stands after ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        job = self.job(run_id)
        while job is not None and job.state.is_active:
            rest = None if deadline is None else deadline - time.monotonic()
            if rest is not None and rest <= 0:
                break
            job = self.wait_change(run_id, job.version, rest)
        return job

    def wait_change(self, run_id: str, version: int, timeout: float | None = None) -> Job | None:
        """Return the job once it is newer than ``version`` or has ended, or after ``timeout`` seconds."""
        if (job := self._board.wait_change(run_id, version, timeout)) is not None:
            return job
        deadline = time.monotonic() + (threading.TIMEOUT_MAX if timeout is None else timeout)
        while (job := self.job(run_id)) is not None and job.state.is_active and job.version <= version:
            rest = deadline - time.monotonic()
            if rest <= 0:
                break
            time.sleep(min(rest, self._foreign_poll_s))  # another process measures it
        return job

    def follow(self, run_id: str) -> Iterator[Job]:
        """Yield the job now and after every change (several may come as one); the last one has ended."""
        job = self.job(run_id)
        while job is not None:
            yield job
            if not job.state.is_active:
                return
            job = self.wait_change(run_id, job.version)
