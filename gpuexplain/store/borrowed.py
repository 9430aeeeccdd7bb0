"""Which points of other experiments' runs of one machine can stand beside a result?"""

from collections.abc import Callable, Iterable, Sequence

from gpuexplain.model import Point
from gpuexplain.store.run import RunState, RunSummary, StoredRun
from gpuexplain.store.runs import RunStore

# Of each experiment, the newest: older ones answer the same questions.
MOST_RUNS = 20


def find_lenders(store: RunStore, experiments: Sequence[str], machine_id: str) -> list[RunSummary]:
    """Return the ended runs of a machine that have points, newest first within each experiment."""
    runs = [run for name in experiments for run in store.list_runs(name, limit=MOST_RUNS)]
    return [r for r in runs if r.n_points and r.state is not RunState.RUNNING and machine_id_of(r) == machine_id]


def machine_id_of(run: RunSummary) -> str:
    """Return the id of the machine a run was measured on; empty where it is not known."""
    platform = (run.machine or {}).get("platform")
    return str(platform.get("machine_id", "")) if isinstance(platform, dict) else ""


def lent_points(run: StoredRun) -> tuple[Point, ...]:
    """Return the timed points of a run without their raw samples; their source names the run."""
    bare = {"samples_s": (), "calls_per_sample": (), "warmup_s": (), "source_note": f"run {run.id}"}
    return tuple(point.model_copy(update=bare) for point in run.points if point.median_s is not None)


def newest_of_each_case(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return one point a case of those given newest first; an undisturbed one rather than a newer disturbed one."""
    kept: dict[tuple[str, str], Point] = {}
    for point in points:
        before = kept.get((point.experiment, point.case_id))
        if before is None or (before.is_hollow and not point.is_hollow):
            kept[point.experiment, point.case_id] = point
    return tuple(kept.values())


def borrow_points(
    store: RunStore,
    experiments: Sequence[str],
    machine_id: str,
    load: Callable[[str], tuple[Point, ...]] | None = None,
) -> tuple[Point, ...]:
    """Return the newest points of these experiments, measured on this machine.

    Args:
        store: Where the runs are.
        experiments: The lenders' ids.
        machine_id: ``Machine.platform.machine_id``.
        load: Returns the points that a run lends; a reader of many pages keeps them.
    """
    load = load or (lambda run_id: lent_points(store.load_run(run_id)))
    runs = find_lenders(store, experiments, machine_id)
    return newest_of_each_case(point for run in runs for point in load(run.id))
