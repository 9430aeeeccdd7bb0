"""Points that one experiment's page borrows from other runs of the machine."""

from collections.abc import Callable

import pytest

from gpuexplain.hardware.machine import Cpu, Machine, Memory, Platform
from gpuexplain.model import Flag, Point
from gpuexplain.store.borrowed import MOST_RUNS, borrow_points
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

Make = Callable[..., Point]
Begin = Callable[..., str]


def machine(machine_id: str) -> Machine:
    return Machine(
        cpu=Cpu(architecture="x86_64", logical_cpus=2, affinity_cpus=2, usable_threads=2),
        memory=Memory(total_bytes=2**34, available_bytes=2**33),
        platform=Platform(hostname="here", machine_id=machine_id, system="Testix", kernel="6", python="3.11"),
    )


@pytest.fixture
def keep(store: RunStore, begin_run: Begin) -> Callable[..., str]:
    """Store an ended run of a machine."""
    count = iter(range(1000))

    def save(*points: Point, on: str = "m1", experiment: str = "matmul") -> str:
        run_id = begin_run(experiment, machine=machine(on), created_at=1000.0 + next(count))
        store.save_points(run_id, points)
        store.finish_run(run_id, RunState.DONE)
        return run_id

    return save


def test_the_newest_point_of_each_case_is_lent_without_its_samples(
    store: RunStore, keep: Begin, make_point: Make
) -> None:
    """With the run it is from, so that two states of the store are never taken for one."""
    keep(make_point(64, median_s=0.2), make_point(128))
    newest = keep(make_point(64, median_s=0.1))
    lent = {point.x: point for point in borrow_points(store, ("matmul",), "m1")}
    assert (lent[64.0].median_s, lent[64.0].samples_s, lent[64.0].source_note) == (0.1, (), f"run {newest}")
    assert set(lent) == {64.0, 128.0}


def test_a_disturbed_point_does_not_push_out_an_older_undisturbed_one(
    store: RunStore, keep: Begin, make_point: Make
) -> None:
    """A figure under load says less."""
    keep(make_point(64, median_s=0.1))
    keep(make_point(64, median_s=0.4, flags=(Flag.UNDER_LOAD,)))
    assert [point.median_s for point in borrow_points(store, ("matmul",), "m1")] == [0.1]


def test_other_machines_other_experiments_and_running_runs_lend_nothing(
    store: RunStore, keep: Begin, begin_run: Begin, make_point: Make
) -> None:
    """Nor do cases without a time."""
    keep(make_point(64), on="m2")
    keep(make_point(64, experiment="batch"), experiment="batch")
    keep(make_point(64, median_s=None, n_samples=0, samples_s=(), calls_per_sample=()))
    running = begin_run("matmul", machine=machine("m1"))
    store.save_points(running, [make_point(256)])
    assert borrow_points(store, ("matmul",), "m1") == ()


def test_old_runs_are_not_read(store: RunStore, keep: Begin, make_point: Make) -> None:
    """A store of years costs a page no more than one of a day."""
    for number in range(MOST_RUNS + 1):
        keep(make_point(64 + number))
    assert len(borrow_points(store, ("matmul",), "m1")) == MOST_RUNS
