"""How is a run read back from its rows, and which runs answer a question?"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select

from gpuexplain.model import Status
from gpuexplain.store.encoding import load_json, load_point
from gpuexplain.store.run import DISTURBED_FLAGS, RunState, RunSummary, StoredRun
from gpuexplain.store.schema import POINTS, RUNS

N_POINTS = (
    select(func.count()).select_from(POINTS).where(POINTS.c.run_id == RUNS.c.id).scalar_subquery().label("n_points")
)


def read_summary(row: Mapping[Any, Any]) -> RunSummary:
    """Return a run without its points."""
    return RunSummary.model_validate(_fields(row))


def read_run(row: Mapping[Any, Any], points: Sequence[str]) -> StoredRun:
    """Return a run with its points, given as their JSON texts in order."""
    return StoredRun.model_validate(
        {**_fields(row), "n_points": len(points), "points": tuple(load_point(text) for text in points)}
    )


def _fields(row: Mapping[Any, Any]) -> dict[str, Any]:
    fields = {name: row[name] for name in RunSummary.model_fields if name in row}
    for name in ("params", "machine", "coverage"):
        fields[name] = None if row[name] is None else load_json(row[name])
    return fields


def answers_for_key(key: str) -> ColumnElement[bool]:
    """Return the condition: a finished run of this key that has points, none of them disturbed."""
    disturbed = or_(*(POINTS.c.flags.contains(flag.value) for flag in DISTURBED_FLAGS))
    return and_(
        RUNS.c.key == key,
        RUNS.c.state == RunState.DONE.value,
        exists().where(POINTS.c.run_id == RUNS.c.id),
        ~exists().where(POINTS.c.run_id == RUNS.c.id, disturbed),
    )


def shows_something() -> ColumnElement[bool]:
    """Return the condition: an ended run with at least one point that worked."""
    return and_(
        RUNS.c.state != RunState.RUNNING.value,
        exists().where(POINTS.c.run_id == RUNS.c.id, POINTS.c.status == Status.OK.value),
    )
