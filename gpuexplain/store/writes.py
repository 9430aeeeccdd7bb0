"""How are runs and points put into the tables, inside a transaction that somebody else began?"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gpuexplain.model import Point
from gpuexplain.store.encoding import dump_json
from gpuexplain.store.owners import Owner
from gpuexplain.store.run import StoredRun
from gpuexplain.store.schema import POINTS, RUNS
from gpuexplain.store.thinning import thin_samples


def make_point_rows(run_id: str, points: Iterable[Point]) -> list[dict[str, Any]]:
    """Return rows of the points table, still without ordinal; raw samples are thinned."""
    return [
        {
            "run_id": run_id,
            "case_id": point.case_id,
            "status": point.status.value,
            "flags": " ".join(point.flags),
            "point": dump_json(thin_samples(point)),
        }
        for point in points
    ]


def insert_run(connection: Connection, run: StoredRun, owner: Owner, now: float) -> None:
    """Add the row of a run; its points are added apart."""
    platform = (run.machine or {}).get("platform")
    row = run.model_dump(include={"id", "experiment", "measuring_version", "key", "device", "reason"})
    row |= run.model_dump(include={"created_at", "started_at", "finished_at"})
    row |= {
        "state": run.state.value,
        "machine_id": platform.get("machine_id", "") if isinstance(platform, dict) else "",
        "params": dump_json(run.params),
        "machine": None if run.machine is None else dump_json(run.machine),
        "coverage": None if run.coverage is None else dump_json(run.coverage),
        "owner_host": owner.host,
        "owner_pid": owner.pid,
        "owner_started": owner.started,
        "alive_at": now,
    }
    connection.execute(insert(RUNS).values(row))


def upsert_points(connection: Connection, run_id: str, rows: list[dict[str, Any]], now: float) -> None:
    """Add rows made by ``make_point_rows``; a case that is there keeps its place and gets the new point."""
    if not rows:
        return
    highest = connection.execute(select(func.max(POINTS.c.ordinal)).where(POINTS.c.run_id == run_id)).scalar()
    first = 0 if highest is None else int(highest) + 1
    numbered = [{**row, "ordinal": ordinal} for ordinal, row in enumerate(rows, start=first)]
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(POINTS)
    new = statement.excluded
    changed = {"status": new.status, "flags": new.flags, "point": new.point}
    connection.execute(statement.on_conflict_do_update(index_elements=["run_id", "case_id"], set_=changed), numbered)
    connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(alive_at=now))
