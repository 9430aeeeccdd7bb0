"""Where are runs and their points kept, so that neither a crash nor a restart loses one?"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, and_, select, update

from gpuexplain.asked import shown
from gpuexplain.errors import InputError, StoreError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point
from gpuexplain.settings import Settings
from gpuexplain.store.connection import Database
from gpuexplain.store.database import BUSY_TIMEOUT_S
from gpuexplain.store.encoding import dump_json
from gpuexplain.store.owners import Owner, is_gone, this_process
from gpuexplain.store.rows import N_POINTS, answers_for_key, read_run, read_summary, shows_something
from gpuexplain.store.run import RunState, RunSummary, StoredRun, new_run_id
from gpuexplain.store.schema import POINTS, RUNS
from gpuexplain.store.writes import insert_run, make_point_rows, upsert_points

# How long what a live run writes waits for another writer: the engine must go on, and tries again by itself.
LIVE_PATIENCE_S = 0.3
_ORPHAN_REASON = "The app ended during the run. Points measured until then are kept; run it again."


class RunStore:
    """Runs in one database, for several threads and processes at once.

    Every method raises ``StoreError``, with what to do, if the database cannot be read or written.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        """Open the database, and make or migrate it where needed.

        Args:
            url: An SQLAlchemy URL, as ``Settings.store_url``.
            clock: Seconds since the epoch; another one in tests.
        """
        self._database = Database(url)
        self._clock = clock
        self._owner = this_process()

    @property
    def generation(self) -> int:
        """Grows when another database took the place of this one: what was written before may not be in it."""
        return self._database.generation

    @property
    def folder(self) -> Path | None:
        """Where its file lies; None for a database elsewhere."""
        return self._database.folder

    @property
    def why_read_only(self) -> str:
        """Why results can be read but not kept here; "" while they can."""
        return self._database.why_read_only

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator should know of a damaged file that was kept aside."""
        return self._database.notices

    def close(self) -> None:
        """Close the connections; the store cannot be used afterwards."""
        self._database.close()

    def create_run(
        self,
        *,
        experiment: str,
        measuring_version: int,
        key: str,
        params: Mapping[str, object],
        device: str,
        machine: Machine | None = None,
        run_id: str | None = None,
        created_at: float | None = None,
        started_at: float | None = None,
    ) -> str:
        """Note that a run of this process began (state RUNNING) and return its id."""
        now = self._clock()
        run = StoredRun(
            id=run_id or new_run_id(now),
            experiment=experiment,
            measuring_version=measuring_version,
            key=key,
            params=dict(params),
            machine=None if machine is None else machine.model_dump(mode="json"),
            device=device,
            state=RunState.RUNNING,
            created_at=now if created_at is None else created_at,
            started_at=now if started_at is None else started_at,
        )
        with self._writing("write to", LIVE_PATIENCE_S) as connection:
            insert_run(connection, run, self._owner, now)
        return run.id

    def reopen_run(self, run_id: str) -> bool:
        """Note that this process goes on with a run that is there; False if it is not. Its points stay."""
        now = self._clock()
        goes_on = {"state": RunState.RUNNING.value, "reason": "", "finished_at": None, "alive_at": now}
        owner = {"owner_host": self._owner.host, "owner_pid": self._owner.pid, "owner_started": self._owner.started}
        with self._writing("write to", LIVE_PATIENCE_S) as connection:
            found = connection.execute(update(RUNS).where(RUNS.c.id == run_id).values({**goes_on, **owner}))
            return found.rowcount > 0

    def add_run(self, run: StoredRun) -> None:
        """Keep a whole run that was read from a file, under its own id.

        Raises:
            InputError: If a run of this id is there already.
        """
        rows = make_point_rows(run.id, run.points)
        with self._writing("write to") as connection:
            if connection.execute(select(RUNS.c.id).where(RUNS.c.id == run.id)).first():
                raise InputError(f"Run {run.id} is in the store already. Show that one instead.")
            insert_run(connection, run, self._owner, self._clock())
            upsert_points(connection, run.id, rows, self._clock())

    def save_points(self, run_id: str, points: Iterable[Point]) -> None:
        """Keep these points; one of a case that is there already replaces it."""
        rows = make_point_rows(run_id, points)  # before the transaction: it must stay short
        with self._writing("save points in", LIVE_PATIENCE_S) as connection:
            upsert_points(connection, run_id, rows, self._clock())

    def finish_run(
        self,
        run_id: str,
        state: RunState,
        reason: str = "",
        coverage: Mapping[str, float] | None = None,
        started_at: float | None = None,
        finished_at: float | None = None,
    ) -> None:
        """Note how a run ended, and when (now, unless told); its points stay as they are."""
        ended: dict[str, Any] = {} if started_at is None else {"started_at": started_at}
        ended |= {
            "state": state.value,
            "reason": reason,
            "coverage": None if coverage is None else dump_json(dict(coverage)),
            "finished_at": self._clock() if finished_at is None else finished_at,
        }
        with self._writing("write to", LIVE_PATIENCE_S) as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(ended))

    def sign_of_life(self, run_id: str) -> None:
        """Note that the run is still looked after; for processes that cannot see ours."""
        with self._writing("write to", LIVE_PATIENCE_S) as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(alive_at=self._clock()))

    def load_run(self, run_id: str) -> StoredRun:
        """Return a run with its points.

        Raises:
            InputError: If there is no such run.
        """
        run = self.find_run(run_id)
        if run is None:
            raise InputError(f"There is no run {shown(run_id)}. List the runs with `python -m gpuexplain runs`.")
        return run

    def find_run(self, run_id: str) -> StoredRun | None:
        """Return a run with its points, or None if there is no such run."""
        return self._first(select(RUNS).where(RUNS.c.id == run_id))

    def list_runs(
        self, experiment: str | None = None, limit: int = 50, states: Iterable[RunState] = ()
    ) -> list[RunSummary]:
        """Return the latest runs (in one of the states, if any are given), newest first, without their points."""
        query = select(RUNS, N_POINTS).order_by(RUNS.c.created_at.desc(), RUNS.c.id.desc()).limit(limit)
        if experiment is not None:
            query = query.where(RUNS.c.experiment == experiment)
        if wanted := [state.value for state in states]:
            query = query.where(RUNS.c.state.in_(wanted))
        with self._reading() as connection:
            return [read_summary(row) for row in connection.execute(query).mappings()]

    def latest_complete(self, key: str) -> StoredRun | None:
        """Return the newest run that may answer for a new one of this key.

        It is done, has points, and none of them is flagged ``under_load`` or ``throttled``.
        """
        query = select(RUNS).where(answers_for_key(key)).order_by(RUNS.c.created_at.desc()).limit(1)
        return self._first(query)

    def latest_for(
        self, experiment: str, *, machine_id: str | None = None, device: str | None = None
    ) -> StoredRun | None:
        """Return the run to show first: the newest one done, else the newest with a point that worked.

        Args:
            experiment: Its id.
            machine_id: ``Machine.platform.machine_id``: only runs of that machine.
            device: Only runs asked for on that device.
        """
        query = select(RUNS).where(RUNS.c.experiment == experiment, shows_something())
        if machine_id is not None:
            query = query.where(RUNS.c.machine_id == machine_id)
        if device is not None:
            query = query.where(RUNS.c.device == device)
        is_done = RUNS.c.state == RunState.DONE.value
        return self._first(query.order_by(is_done.desc(), RUNS.c.created_at.desc()).limit(1))

    def interrupt_orphans(self) -> list[str]:
        """Mark the runs of processes that are gone as INTERRUPTED, keep their points; return their ids.

        Runs of living processes are never touched. A process of another host or container counts as
        gone after ten minutes without a sign of life.
        """
        now = self._clock()
        ended = {"state": RunState.INTERRUPTED.value, "reason": _ORPHAN_REASON, "finished_at": now}
        running = select(RUNS).where(RUNS.c.state == RunState.RUNNING.value)
        with self._reading() as connection:
            orphans = [row.id for row in connection.execute(running).all() if _is_orphan(row, now)]
        if orphans:
            with self._writing("write to") as connection:
                # Whoever went on with it meanwhile has signed since.
                is_still = and_(RUNS.c.id.in_(orphans), RUNS.c.state == RunState.RUNNING.value, RUNS.c.alive_at <= now)
                connection.execute(update(RUNS).where(is_still).values(ended))
        return orphans

    def check_writable(self) -> None:
        """Take and give back the right to write, as ``doctor`` and ``/api/ready`` do.

        Raises:
            StoreError: If nothing could be written now, with what to do.
        """
        with self._writing("write to", LIVE_PATIENCE_S):
            pass

    def check_sound(self) -> None:
        """Look through the whole file; a damaged one is kept aside and a fresh one begun.

        Raises:
            StoreError: If it was damaged, or could not be looked at.
        """
        self._database.check_sound()

    @contextmanager
    def _writing(self, action: str, patience_s: float = BUSY_TIMEOUT_S) -> Iterator[Connection]:
        with self._database.writing(action, patience_s) as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._database.reading() as connection:
                yield connection
        except ValueError as error:  # a text in it is no JSON, or no point of this version
            raise StoreError(
                f"Cannot read the store ({self._database.where}): {str(error).splitlines()[0]}. "
                "The file was changed by hand or is damaged: move it away, or restore a backup."
            ) from error

    def _first(self, query: Any) -> StoredRun | None:
        with self._reading() as connection:
            row = connection.execute(query).mappings().first()
            if row is None:
                return None
            points = select(POINTS.c.point).where(POINTS.c.run_id == row["id"]).order_by(POINTS.c.ordinal)
            return read_run(row, connection.execute(points).scalars().all())


def _is_orphan(row: Any, now: float) -> bool:
    return is_gone(Owner(row.owner_host, row.owner_pid, row.owner_started), row.alive_at, now)


def open_store(settings: Settings) -> RunStore:
    """Open the store that the settings name.

    Raises:
        StoreError: If it cannot be opened, with what to do.
    """
    return RunStore(settings.store_url)
