"""What Prometheus reads, and what readiness says of store and disk."""

import re
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from ui_fakes import Answer, FakeRunner, ask

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.errors import StoreError
from gpuexplain.settings import Settings
from gpuexplain.store.runs import RunStore
from gpuexplain.ui import engine_access, health
from gpuexplain.ui.health import health_routes
from gpuexplain.ui.store_notes import tell_store_notes

Usage = namedtuple("Usage", "total used free")


def get(path: str) -> Answer:
    """Return what the routes answer."""
    return ask(Starlette(routes=health_routes()), path)


def read_metrics() -> dict[tuple[str, ...], float]:
    """Return (name, label values in order) -> number, for our own metrics."""
    families = text_string_to_metric_families(get("/api/metrics").body.decode())
    return {
        (s.name, *(s.labels[label] for label in sorted(s.labels))): s.value
        for family in families
        for s in family.samples
        if s.name.startswith("gpuexplain_")
    }


def make_job(state: JobState, took_s: float) -> Job:
    """Return an ended job."""
    return Job(
        run_id="r", key="k", experiment="matmul", params={}, state=state, visitors=("visitor-secret",),
        created_at=1.0, started_at=2.0, finished_at=2.0 + took_s,
    )  # fmt: skip


@pytest.fixture
def engine(store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A real engine that has not been started."""
    made = Runner(store, Settings(home=tmp_path), warm=False)
    monkeypatch.setattr(engine_access, "get_runner", lambda: made)
    return made


def test_runs_are_counted_by_result_and_their_times_by_class(engine: Runner) -> None:
    """Bounds are inclusive; the classes add up."""
    for state, took_s in ((JobState.DONE, 5.0), (JobState.DONE, 5.1), (JobState.CRASHED, 4000.0)):
        engine._counts.note_end(make_job(state, took_s))
    engine._counts.note_store_failure()
    found = read_metrics()
    assert found["gpuexplain_runs_total", "matmul", "done"] == 2
    assert found["gpuexplain_runs_total", "matmul", "crashed"] == 1
    below = [found["gpuexplain_run_seconds_bucket", "matmul", le] for le in ("2", "5", "10", "600", "+Inf")]
    assert below == [0, 1, 2, 2, 3]
    assert found["gpuexplain_run_seconds_count", "matmul"] == 3
    assert found["gpuexplain_run_seconds_sum", "matmul"] == pytest.approx(4010.1)
    assert found["gpuexplain_store_failures_total",] == 1


def test_the_engine_is_described_as_it_stands(engine: Runner) -> None:
    """Nobody runs or waits; the worker is stopped; the disk has room."""
    found = read_metrics()
    assert found["gpuexplain_up",] == 1
    assert (found["gpuexplain_queue_length",], found["gpuexplain_running",]) == (0, 0)
    assert found["gpuexplain_worker_restarts_total",] == 0
    assert [found["gpuexplain_worker_state", s] for s in ("stopped", "ready")] == [1, 0]
    assert found["gpuexplain_store_free_bytes",] > 0


def test_nobody_is_named(engine: Runner) -> None:
    """Neither visitors nor folders are labels."""
    engine._counts.note_end(make_job(JobState.DONE, 1.0))
    body = get("/api/metrics").body.decode()
    assert "visitor" not in body
    assert str(engine._store.folder) not in body


def test_the_document_names_every_metric_and_no_other(engine: Runner) -> None:
    """An operator finds them in the table."""
    engine._counts.note_end(make_job(JobState.DONE, 1.0))
    document = (Path(__file__).resolve().parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(gpuexplain_[a-z_]+)`", document.split("## Metrics")[1].split("## Log")[0]))
    served = {re.sub(r"_(bucket|count|sum)$", "", name) for name, *_ in read_metrics() if not name.endswith("_created")}
    assert named == served


def test_without_a_store_the_metrics_still_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """And say that the engine is not up."""

    def fail() -> None:
        raise StoreError("Cannot open the store.")

    monkeypatch.setattr(engine_access, "get_runner", fail)
    found = read_metrics()
    assert found["gpuexplain_up",] == 0
    assert ("gpuexplain_queue_length",) not in found


def test_ready_says_no_before_the_disk_is_full(
    runner: FakeRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what is left and what is wanted; the folder need not exist yet."""
    monkeypatch.setattr(health, "load_settings", lambda: Settings(home=tmp_path / "not" / "yet"))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1e9, 1e9, 12 * 2**20))
    answer = get("/api/ready")
    disk = answer.json()["checks"]["disk"]
    assert (answer.status_code, disk["ok"]) == (503, False)
    assert disk["detail"] == (
        f"Only 12.0\N{NO-BREAK SPACE}MiB are free where the store lies ({tmp_path}); at least "
        "64.0\N{NO-BREAK SPACE}MiB are wanted. Free some space, or set GPUEXPLAIN_HOME to another disk."
    )


def test_ready_does_not_look_at_a_disk_that_holds_no_store(runner: FakeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database elsewhere has a disk of its own."""
    monkeypatch.setattr(health, "load_settings", lambda: Settings(database_url="postgresql://db/runs"))
    assert get("/api/ready").json()["checks"]["disk"]["detail"] == "the store is a database elsewhere"


def test_what_is_wrong_with_the_store_is_said_everywhere(runner: FakeRunner, store: RunStore, tmp_path: Path) -> None:
    """A notice of a damaged file, a store that takes nothing, runs that wait for it."""
    assert tell_store_notes(store, runner.status()) == ()
    (tmp_path / "runs-damaged-20260102-150405.txt").write_text("On 2026-01-02 the store was found damaged.\n")
    detail = get("/api/ready").json()["checks"]["store"]["detail"]
    assert detail == "writable On 2026-01-02 the store was found damaged."
    store._database.why_read_only = "Cannot open the store. Make it writable."
    status = runner.status().model_copy(update={"not_stored": 2})
    assert tell_store_notes(store, status)[1:] == (
        "Results are shown but cannot be kept. Cannot open the store. Make it writable.",
        "2 runs that ended are not stored yet; it is tried again.",
    )
    assert tell_store_notes(store, status.model_copy(update={"not_stored": 1}))[2] == (
        "1 run that ended is not stored yet; it is tried again."
    )


def test_a_damaged_store_is_told_in_the_sidebar(open_page, store: RunStore, tmp_path: Path) -> None:
    """Whoever misses a result learns why; nothing in the text is markup."""
    (tmp_path / "runs-damaged-20260102-150405.txt").write_text("It was *damaged*. Delete this text.\n")
    page = open_page("home")
    assert [w.value for w in page.sidebar.warning] == [r"It was \*damaged\*."]
