"""How do the points of a live run get into the store, even if the store fails for a while?"""

import time
from dataclasses import dataclass

from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.ticket import Ticket
from gpuexplain.errors import StoreError
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore


@dataclass(frozen=True, slots=True)
class _Ending:
    state: RunState
    reason: str
    coverage: Coverage | None


class Recorder:
    """Writes one run in batches; what a failing store did not take is kept here and tried again."""

    def __init__(self, store: RunStore, ticket: Ticket, started_at: float, limits: Limits) -> None:
        """Note the run in the store at once, if the store takes it.

        Args:
            store: Where to.
            ticket: The run.
            started_at: Seconds since the epoch.
            limits: How often to write, and how long to wait after a failure.
        """
        self.ticket = ticket
        self.reason = ""  # how the run ended, without the problem
        self.problem = ""  # why the store does not take it now, and what to do
        self._store = store
        self._started_at = started_at
        self._limits = limits
        self._is_created = False
        self._pending: dict[str, Point] = {}
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
        self._pending[point.case_id] = point

    def tick(self) -> None:
        """Write what is due; call it often."""
        now = time.monotonic()
        if (not self.is_complete or now >= self._next_sign) and now >= self._next_write:
            self.write()

    def finish(self, state: JobState, reason: str, coverage: Coverage | None) -> None:
        """Write the rest and how the run ended, now."""
        self.reason = reason
        self._ending = _Ending(RunState(state.value), reason, coverage)
        self.write()

    def write(self) -> bool:
        """Try to write everything that is not in the store; return whether it is there now."""
        try:
            self._write()
        except StoreError as error:
            self.problem = f"Not stored yet: {error}"
            self._next_write = time.monotonic() + self._limits.retry_store_s
            return False
        self.problem = ""
        self._next_write = time.monotonic() + self._limits.flush_s
        return True

    def _write(self) -> None:
        ticket, run_id = self.ticket, self.ticket.run_id
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
            self._store.finish_run(run_id, self._ending.state, self._ending.reason, coverage)
            self._ending = None
