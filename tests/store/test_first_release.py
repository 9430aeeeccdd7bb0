"""A store that the first release wrote opens, is told, and takes points of today beside its own.

``first_release.db`` was written by that release's command line (`run matmul --budget 1.5 --set largest_side=32`);
only the names of its machine were changed. It never changes again.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuexplain.model import Clock, Dtype, Gauges, Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.exports import export_json, read_json
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.store.schema import MIGRATIONS

RUN = "20261130-083427-4b01"
NEW = Point(
    experiment="matmul",
    series="cpu",
    x=64.0,
    shape=(64, 64, 64),
    dtype=Dtype.FP32,
    device="cpu",
    device_name="CPU of today",
    clock=Clock.CALL,
    threads=2,
    n_samples=7,
    samples_s=(1e-5,) * 7,
    median_s=1e-5,
    ci_low_s=0.99e-5,
    ci_high_s=1.01e-5,
    flops=2.0 * 64**3,
    items=1.0,
    gauges=Gauges(memory_resident_bytes=4096, energy_j=0.5),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A copy of the file."""
    return Path(shutil.copy(Path(__file__).parent / "first_release.db", tmp_path / "gpuexplain.db"))


@pytest.fixture
def store(path: Path) -> Iterator[RunStore]:
    """The copy, opened by this release."""
    opened = RunStore(f"sqlite:///{path}")
    yield opened
    opened.close()


def test_the_file_is_of_the_first_release(path: Path) -> None:
    """Schema 1, and points without the fields that came later."""
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT MAX(version) FROM schema_version").fetchone() == (1,)
        points = [json.loads(text) for (text,) in file.execute("SELECT point FROM points")]
    assert len(points) == 4
    assert all({"items", "gauges"}.isdisjoint(point) for point in points)


def test_its_run_is_listed_told_and_drawn(store: RunStore) -> None:
    """Everything that a page and the command line do with a run."""
    [summary] = store.list_runs("matmul")
    run = store.load_run(RUN)
    assert (summary.id, summary.n_points, run.state) == (RUN, 4, RunState.DONE)
    assert all(point.samples_s and point.gauges is None and point.items is None for point in run.points)
    experiment = EXPERIMENTS["matmul"]
    findings = experiment.find(run.points)
    assert "GFLOP/s" in experiment.tell(findings).answer
    assert len(experiment.draw_main(experiment.flag_points(run.points, findings), findings, "light").data) > 0


def test_points_of_today_stand_beside_its_own(path: Path, store: RunStore) -> None:
    """In one run, after the file was opened again; the old ones are what they were."""
    before = store.load_run(RUN).points
    store.save_points(RUN, [NEW])
    store.close()
    again = RunStore(f"sqlite:///{path}")
    run = again.load_run(RUN)
    again.close()
    assert run.points == (*before, NEW)
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT MAX(version) FROM schema_version").fetchone() == (len(MIGRATIONS),)


def test_such_a_mixed_run_goes_through_an_export(store: RunStore) -> None:
    """Out and in again loses nothing."""
    store.save_points(RUN, [NEW])
    run = store.load_run(RUN)
    assert read_json(export_json(run)) == run
