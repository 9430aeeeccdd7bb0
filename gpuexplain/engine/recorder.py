"""How do the points of a live run get into the store, even if the store fails for a while?"""

import logging
import time
from dataclasses import dataclass

from gpuexplain.engine.counts import Counts
from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.ticket import Ticket
from gpuexplain.errors import StoreError
from gpuexplain.logs import log_event
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

LOG = logging.getLogger("gpuexplain.engine")


@dataclass(frozen=True, slots=True)
class _Ending:
    state: RunState
    reason: str
    coverage: Coverage | None
    started_at: float
    finished_at: float


class Recorder:
    """Writes one run in batches; what a failing store did not take is kept here and tried again."""

    def __init__(
        self, store: RunStore, ticket: Ticket, started_at: float, limits: Limits, counts: Counts | None = None
    ) -> None:
        """Note the run in the store at once, if the store takes it.

        Args:
            store: Where to.
            ticket: The run.
            started_at: Seconds since the epoch.
            limits: How often to write, and how long to wait after a failure.
            counts: Where failures of the store are counted.
        """
        self.ticket = ticket
        self.reason = ""  # how the run ended, without the problem
        self.problem = ""  # why the store does not take it now, and what to do
        self._store = store
        self._started_at = started_at
        self._limits = limits
        self._counts = counts or Counts()
        self._is_created = False
        self._generation = store.generation
        self._points = {point.case_id: point for point in ticket.known}  # all of the run
        self._pending = dict(self._points)
        self._ending: _Ending | None = None
        self._next_write = 0.0
        self._next_sign = time.monotonic() + limits.sign_of_life_s
        self.write()

    @property
    def is_complete(self) -> bool:
        """Whether the store has everything, the ending included."""
        return self._is_created and not self._pending and self._ending is None

    def add(self, point: Point) -> None:
        """Take a point; the last one of a case counts."""
        self._points[point.case_id] = self._pending[point.case_id] = point

    def tick(self) -> None:
        """Write what is due; call it often."""
        now = time.monotonic()
        if (not self.is_complete or now >= self._next_sign) and now >= self._next_write:
            self.write()

    def finish(
        self, state: JobState, reason: str, coverage: Coverage | None, started_at: float, finished_at: float
    ) -> None:
        """Write the rest and how and when the run ended (seconds since the epoch), now."""
        self.reason = reason
        self._ending = _Ending(RunState(state.value), reason, coverage, started_at, finished_at)
        self.write()

    def write(self) -> bool:
        """Try to write everything that is not in the store; return whether it is there now."""
        try:
            self._write_anywhere()
        except StoreError as error:
            self._counts.note_store_failure()
            if not self.problem:
                log_event(LOG, logging.WARNING, "store_failed", run=self.ticket.run_id, problem=str(error))
            self.problem = f"Not stored yet: {error}"
            self._next_write = time.monotonic() + self._limits.retry_store_s
            return False
        if self.problem:
            log_event(LOG, logging.INFO, "store_works_again", run=self.ticket.run_id)
        self.problem = ""
        self._next_write = time.monotonic() + self._limits.flush_s
        return True

    def _write_anywhere(self) -> None:
        """Write to the store, and whole to the one that took its place while we tried."""
        try:
            self._write()
        except StoreError:
            if self._generation == self._store.generation:
                raise
            self._write()

    def _write(self) -> None:
        ticket, run_id = self.ticket, self.ticket.run_id
        if self._generation != self._store.generation:
            self._generation = self._store.generation
            self._is_created = self._store.reopen_run(run_id)
            self._pending = dict(self._points)
        if not self._is_created:
            self._store.create_run(
                experiment=ticket.experiment,
                measuring_version=ticket.measuring_version,
                key=ticket.key,
                params=ticket.params,
                device=ticket.device,
                machine=ticket.machine,
                run_id=run_id,
                created_at=ticket.created_at,
                started_at=self._started_at,
            )
            self._is_created = True
        if self._pending:
            self._store.save_points(run_id, self._pending.values())
            self._pending.clear()
        elif time.monotonic() >= self._next_sign:
            self._store.sign_of_life(run_id)
        self._next_sign = time.monotonic() + self._limits.sign_of_life_s
        if self._ending is not None:
            coverage = None if self._ending.coverage is None else self._ending.coverage.model_dump()
            ending = self._ending
            self._store.finish_run(run_id, ending.state, ending.reason, coverage, ending.started_at, ending.finished_at)
            self._ending = None
