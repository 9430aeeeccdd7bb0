"""Runs and points survive, are found again, and answer only for what they are."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuexplain.errors import InputError, StoreError
from gpuexplain.model import Flag, Point, Status
from gpuexplain.store.run import RunState, new_run_id
from gpuexplain.store.runs import RunStore
from gpuexplain.store.thinning import MAX_KEPT_SAMPLES, thin_samples

MakePoint = Callable[..., Point]
BeginRun = Callable[..., str]


def test_a_run_comes_back_as_it_was_saved(store: RunStore, begin_run: BeginRun, make_point: MakePoint) -> None:
    """Points keep their order, raw samples and numbers that are not finite."""
    run_id = begin_run()
    odd = make_point(32, rel_error=math.nan, flops=math.inf)
    store.save_points(run_id, [make_point(64), odd])
    store.finish_run(run_id, RunState.DONE, coverage={"wall_s": 1.5})
    run = store.load_run(run_id)
    assert [point.x for point in run.points] == [64, 32]
    assert run.points[0] == make_point(64)
    assert math.isnan(run.points[1].rel_error or 0)
    assert run.points[1].flops == math.inf
    assert (run.state, run.coverage, run.params) == (RunState.DONE, {"wall_s": 1.5}, {"preset": "quick"})
    assert run.finished_at is not None


def test_the_last_point_of_a_case_counts_and_keeps_its_place(
    store: RunStore, begin_run: BeginRun, make_point: MakePoint
) -> None:
    """A narrowed point replaces the coarse one."""
    run_id = begin_run()
    store.save_points(run_id, [make_point(16), make_point(32)])
    store.save_points(run_id, [make_point(16, median_s=0.15), make_point(64)])
    points = store.load_run(run_id).points
    assert [(point.x, point.median_s) for point in points] == [(16, 0.15), (32, 0.2), (64, 0.2)]


def test_samples_are_thinned_evenly_and_counted_truly(make_point: MakePoint) -> None:
    """First and last stay, the count is that of all."""
    samples = tuple(float(i) for i in range(10_001))
    thin = thin_samples(make_point(samples_s=samples, calls_per_sample=tuple(range(10_001)), n_samples=10_001))
    assert (len(thin.samples_s), thin.n_samples) == (MAX_KEPT_SAMPLES, 10_001)
    assert (thin.samples_s[0], thin.samples_s[-1]) == (0.0, 10_000.0)
    assert thin.calls_per_sample == tuple(int(sample) for sample in thin.samples_s)
    gaps = {b - a for a, b in zip(thin.samples_s, thin.samples_s[1:], strict=False)}
    assert gaps <= {5.0, 6.0}
    assert thin_samples(thin) is thin


def test_the_store_thins_what_it_keeps(store: RunStore, begin_run: BeginRun, make_point: MakePoint) -> None:
    """What comes back has at most the stated number of samples."""
    run_id = begin_run()
    store.save_points(run_id, [make_point(samples_s=(0.5,) * 3_000, calls_per_sample=(7,), n_samples=3_000)])
    point = store.load_run(run_id).points[0]
    assert (len(point.samples_s), point.n_samples, point.calls_per_sample) == (2_000, 3_000, (7,))


@pytest.mark.parametrize("flag", [Flag.UNDER_LOAD, Flag.THROTTLED])
def test_a_disturbed_run_never_answers(store: RunStore, begin_run: BeginRun, make_point: MakePoint, flag: Flag) -> None:
    """An older, quiet run of the key answers instead."""
    quiet, disturbed = begin_run(created_at=1.0), begin_run(created_at=2.0)
    store.save_points(quiet, [make_point(16)])
    store.save_points(disturbed, [make_point(16), make_point(32, flags=(Flag.FEW_SAMPLES, flag))])
    store.finish_run(disturbed, RunState.DONE)
    assert store.latest_complete("key") is None
    store.finish_run(quiet, RunState.DONE)
    answer = store.latest_complete("key")
    assert answer is not None
    assert (answer.id, answer.is_disturbed) == (quiet, False)
    assert store.load_run(disturbed).is_disturbed


@pytest.mark.parametrize("state", [state for state in RunState if state is not RunState.DONE])
def test_only_a_finished_run_answers(
    store: RunStore, begin_run: BeginRun, make_point: MakePoint, state: RunState
) -> None:
    """Cancelled, crashed, failed, interrupted and running ones do not."""
    run_id = begin_run()
    store.save_points(run_id, [make_point(16)])
    store.finish_run(run_id, state)
    assert store.latest_complete("key") is None


def test_a_run_without_points_does_not_answer(store: RunStore, begin_run: BeginRun) -> None:
    """Nor does one of another key."""
    store.finish_run(begin_run(), RunState.DONE)
    assert store.latest_complete("key") is None


def test_the_first_view_prefers_a_finished_run(store: RunStore, begin_run: BeginRun, make_point: MakePoint) -> None:
    """A newer cancelled run shows only when nothing finished; one where nothing worked never."""
    failed = begin_run(created_at=3.0)
    store.save_points(failed, [make_point(16, status=Status.OOM, median_s=None)])
    store.finish_run(failed, RunState.DONE)
    assert store.latest_for("matmul") is None
    cancelled, done = begin_run(created_at=2.0), begin_run(created_at=1.0)
    store.save_points(cancelled, [make_point(16)])
    store.finish_run(cancelled, RunState.CANCELLED)
    first = store.latest_for("matmul")
    assert first is not None
    assert first.id == cancelled
    store.save_points(done, [make_point(16)])
    store.finish_run(done, RunState.DONE)
    first = store.latest_for("matmul", device="cpu")
    assert first is not None
    assert first.id == done
    assert store.latest_for("matmul", device="cuda:0") is None
    assert store.latest_for("matmul", machine_id="another") is None
    assert store.latest_for("batch") is None


def test_runs_are_listed_newest_first(store: RunStore, begin_run: BeginRun, make_point: MakePoint) -> None:
    """Without points, but with their number."""
    old, new, other = begin_run(created_at=1.0), begin_run(created_at=2.0), begin_run("batch", created_at=3.0)
    store.save_points(old, [make_point(16), make_point(32)])
    assert [run.id for run in store.list_runs()] == [other, new, old]
    assert [(run.id, run.n_points) for run in store.list_runs("matmul")] == [(new, 0), (old, 2)]
    assert [run.id for run in store.list_runs(limit=1)] == [other]


def test_an_unknown_run_is_a_clear_error(store: RunStore, make_point: MakePoint) -> None:
    """It says how to find one."""
    assert store.find_run("nope") is None
    with pytest.raises(InputError, match=r"no run 'nope'.*python -m gpuexplain runs"):
        store.load_run("nope")
    with pytest.raises(StoreError, match="no run of this id in it"):
        store.save_points("nope", [make_point()])


def test_a_run_from_a_file_is_added_once(
    store: RunStore, begin_run: BeginRun, make_point: MakePoint, tmp_path: Path
) -> None:
    """All of it comes along; a second time is refused."""
    run_id = begin_run()
    store.save_points(run_id, [make_point(16)])
    store.finish_run(run_id, RunState.DONE, "", {"wall_s": 1.0})
    run = store.load_run(run_id)
    other = RunStore(f"sqlite:///{tmp_path / 'other.db'}")
    other.add_run(run)
    assert other.load_run(run_id) == run
    with pytest.raises(InputError, match="in the store already"):
        other.add_run(run)


def test_run_ids_are_short_and_sort_by_time() -> None:
    """Seconds since the epoch become a UTC stamp and eight random digits."""
    early, late = new_run_id(1767366245.0), new_run_id(1767366246.0)
    assert early[:16] == "20260102-150405-"
    assert len(early) == 24
    assert early < late
