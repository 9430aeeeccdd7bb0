"""The file is made, migrated and shared; when it cannot be used, the error says what to do."""

import os
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from sqlalchemy import Connection, text

import gpuexplain
from gpuexplain.errors import StoreError
from gpuexplain.model import Point
from gpuexplain.settings import Settings
from gpuexplain.store.database import open_database, writing
from gpuexplain.store.owners import SILENT_AFTER_S, Owner, is_gone, this_process
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore, open_store
from gpuexplain.store.schema import METADATA, MIGRATIONS, migrate, read_version

ROOT = Path(gpuexplain.__file__).parent.parent

# A file as the first release wrote it, made by hand: this text never changes.
VERSION_1_FILE = """
    CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at DOUBLE PRECISION);
    INSERT INTO schema_version VALUES (1, 1767366245.0);
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, experiment TEXT NOT NULL, measuring_version INTEGER NOT NULL,
        key TEXT NOT NULL, params TEXT NOT NULL, machine TEXT, machine_id TEXT NOT NULL,
        device TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, coverage TEXT,
        created_at DOUBLE PRECISION NOT NULL, started_at DOUBLE PRECISION,
        finished_at DOUBLE PRECISION, owner_host TEXT NOT NULL, owner_pid INTEGER NOT NULL,
        owner_started DOUBLE PRECISION NOT NULL, alive_at DOUBLE PRECISION NOT NULL);
    CREATE TABLE points (
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, case_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL, status TEXT NOT NULL, flags TEXT NOT NULL, point TEXT NOT NULL,
        PRIMARY KEY (run_id, case_id));
    INSERT INTO runs VALUES ('20260102-150405-ab12', 'matmul', 1, 'key', '{}', NULL, '', 'cpu', 'done',
        '', NULL, 1767366245.0, 1767366245.0, 1767366250.0, 'host', 1, 1.0, 1.0);
    INSERT INTO points VALUES ('20260102-150405-ab12', 'cpu|cpu|fp32|16', 0, 'ok', '',
        '{"experiment":"matmul","series":"cpu","x":16,"shape":[16],"dtype":"fp32","device":"cpu"}');
"""


def _run_python(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_an_empty_file_becomes_a_current_one(tmp_path: Path) -> None:
    """Version 0 is a file without tables."""
    path = tmp_path / "empty.db"
    sqlite3.connect(path).close()
    path.touch()
    with open_database(f"sqlite:///{path}").connect() as connection:
        assert read_version(connection) == len(MIGRATIONS)
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"


def test_a_file_of_the_first_release_is_read(tmp_path: Path) -> None:
    """Its runs and points are there afterwards."""
    path = tmp_path / "first.db"
    with sqlite3.connect(path) as file:
        file.executescript(VERSION_1_FILE)
    run = RunStore(f"sqlite:///{path}").load_run("20260102-150405-ab12")
    assert (run.state, [point.x for point in run.points]) == (RunState.DONE, [16])


def test_migrations_run_in_order_and_all_or_none(store_url: str) -> None:
    """A step that fails leaves the version, and the tables, as they were."""

    def add_note(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE runs ADD COLUMN note TEXT"))

    def fail(_connection: Connection) -> None:
        raise ZeroDivisionError

    engine = open_database(store_url)
    with pytest.raises(ZeroDivisionError), writing(engine) as connection:
        migrate(connection, [*MIGRATIONS, add_note, fail])
    with engine.connect() as connection:
        assert read_version(connection) == len(MIGRATIONS)
        names = [row.name for row in connection.execute(text("PRAGMA table_info(runs)"))]
        assert "note" not in names
    with writing(engine) as connection:
        migrate(connection, [*MIGRATIONS, add_note])
    with engine.connect() as connection:
        assert read_version(connection) == len(MIGRATIONS) + 1
        assert connection.execute(text("SELECT count(note) FROM runs")).scalar() == 0


def test_migrated_tables_are_those_that_the_code_uses(store_url: str) -> None:
    """Every column of the tables exists in a migrated database, and no other."""
    with open_database(store_url).connect() as connection:
        for table in METADATA.tables.values():
            rows = connection.execute(text(f"PRAGMA table_info({table.name})"))
            assert [row.name for row in rows] == [column.name for column in table.columns]


def test_a_newer_file_is_refused(store_url: str, store: RunStore) -> None:
    """Nothing in it is touched."""
    with sqlite3.connect(store_url.removeprefix("sqlite:///")) as file:
        file.execute("INSERT INTO schema_version VALUES (99, 0)")
    with pytest.raises(StoreError, match=r"version 99, this release knows up to \d+.*newer GPU Explain"):
        RunStore(store_url)


def test_a_damaged_file_is_told_as_such(tmp_path: Path) -> None:
    """The remedy is to move it away."""
    (tmp_path / "bad.db").write_bytes(b"no database at all " * 500)
    with pytest.raises(StoreError, match=r"not a database.*move it away"):
        RunStore(f"sqlite:///{tmp_path / 'bad.db'}")


def test_a_damaged_point_is_told_as_such(
    store: RunStore, store_url: str, begin_run: Callable[..., str], make_point: Callable[..., Point]
) -> None:
    """Not a crash of whoever reads."""
    run_id = begin_run()
    store.save_points(run_id, [make_point()])
    with sqlite3.connect(store_url.removeprefix("sqlite:///")) as file:
        file.execute("UPDATE points SET point = '{'")
    with pytest.raises(StoreError, match="damaged: move it away"):
        store.load_run(run_id)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """The remedy names the variable."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Cannot open the store.*set GPUEXPLAIN_HOME"):
        open_store(Settings(home=tmp_path / "file" / "home"))


def test_a_read_only_database_can_be_read_but_not_written(
    store: RunStore, store_url: str, begin_run: Callable[..., str]
) -> None:
    """The remedy is to make it writable."""
    run_id = begin_run()
    path = store_url.removeprefix("sqlite:///")
    read_only = RunStore(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert read_only.load_run(run_id).id == run_id
    with pytest.raises(StoreError, match=r"readonly database.*make it writable, or set GPUEXPLAIN_HOME"):
        read_only.finish_run(run_id, RunState.DONE)


def test_a_full_disk_is_told(store: RunStore, begin_run: Callable[..., str], make_point: Callable[..., Point]) -> None:
    """What was there before stays readable."""
    run_id = begin_run()
    store.save_points(run_id, [make_point(16)])
    with store._database.engine.connect() as connection:
        connection.execute(text("PRAGMA max_page_count=1"))  # clamped to what the file has now
    with pytest.raises(StoreError, match=r"disk is full.*Free some space"):
        store.save_points(run_id, [make_point(32, samples_s=tuple(i / 7 for i in range(2_000)))])
    assert [point.x for point in store.load_run(run_id).points] == [16]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("oracle9://somewhere", "Check GPUEXPLAIN_DATABASE_URL"),
        ("postgresql+nodriver://anna:secret@db/runs", "Check GPUEXPLAIN_DATABASE_URL"),
    ],
    ids=["unknown", "no driver"],
)
def test_a_url_that_leads_nowhere_is_told_without_its_password(url: str, said: str) -> None:
    """The variable is named."""
    with pytest.raises(StoreError, match=said) as told:
        RunStore(url)
    assert "secret" not in str(told.value)


def test_postgresql_gets_statements_that_it_understands() -> None:
    """The upsert exists in both dialects; the DDL uses types that both know."""
    from sqlalchemy.dialects import postgresql

    from gpuexplain.store.rows import answers_for_key
    from gpuexplain.store.schema import POINTS

    upsert = postgresql.insert(POINTS).on_conflict_do_update(index_elements=["run_id"], set_={"flags": ""})
    assert "ON CONFLICT" in str(upsert.compile(dialect=postgresql.dialect()))
    assert "EXISTS" in str(answers_for_key("key").compile(dialect=postgresql.dialect()))


def test_two_processes_write_at_once(store: RunStore, store_url: str, begin_run: Callable[..., str]) -> None:
    """Neither fails, and no point of either is lost."""
    code = """
        import sys
        from gpuexplain.model import Point
        from gpuexplain.store.runs import RunStore
        store = RunStore(sys.argv[1])
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(60):
            point = Point(experiment="m", series=sys.argv[3], x=n, shape=(n,), dtype="fp32", device="cpu")
            store.save_points(sys.argv[2], [point])
    """
    run_id = begin_run()
    writers = [_run_python(code, store_url, run_id, name) for name in ("a", "b")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(store.load_run(run_id).points) == 120


def test_two_processes_make_the_file_at_once(store_url: str) -> None:
    """The second waits for the first's migration."""
    code = "import sys; from gpuexplain.store.runs import RunStore; RunStore(sys.argv[1]).list_runs()"
    makers = [_run_python(code, store_url) for _ in range(3)]
    for maker in makers:
        maker.communicate()
    assert [maker.returncode for maker in makers] == [0, 0, 0]


def test_only_runs_of_dead_processes_are_interrupted(
    store: RunStore, store_url: str, begin_run: Callable[..., str], make_point: Callable[..., Point]
) -> None:
    """A living process keeps its run; after its end the points are kept."""
    code = """
        import sys
        from gpuexplain.store.runs import RunStore
        store = RunStore(sys.argv[1])
        run = dict(experiment="m", measuring_version=1, key="k", params={}, device="cpu")
        print(store.create_run(**run), flush=True)
        sys.stdin.readline()
    """
    own = begin_run()
    other = _run_python(code, store_url)
    assert other.stdout is not None
    theirs = other.stdout.readline().strip()
    store.save_points(theirs, [make_point(16)])
    assert store.interrupt_orphans() == []
    other.kill()  # not yet waited for: a zombie is dead, too
    deadline = time.monotonic() + 10
    while (orphans := store.interrupt_orphans()) == [] and time.monotonic() < deadline:
        time.sleep(0.01)
    other.communicate()
    assert orphans == [theirs]
    run = store.load_run(theirs)
    assert (run.state, len(run.points)) == (RunState.INTERRUPTED, 1)
    assert "Points measured until then are kept" in run.reason
    assert store.load_run(own).state is RunState.RUNNING


@pytest.mark.parametrize(
    ("owner", "silent_s", "gone"),
    [
        (this_process(), 1e6, False),
        (Owner(this_process().host, os.getpid(), this_process().started - 100), 0.0, True),
        (Owner("elsewhere", os.getpid(), this_process().started), SILENT_AFTER_S - 1, False),
        (Owner("elsewhere", os.getpid(), this_process().started), SILENT_AFTER_S + 1, True),
        (Owner("elsewhere there boot", os.getpid(), 1.0), SILENT_AFTER_S - 1, False),
    ],
    ids=["ourselves", "pid given to another", "elsewhere", "elsewhere, silent", "elsewhere, booted"],
)
def test_an_owner_is_recognised_after_its_pid_was_reused(owner: Owner, silent_s: float, gone: bool) -> None:
    """Pid and start time together name a process; elsewhere only silence counts."""
    assert is_gone(owner, alive_at=1e9 - silent_s, now=1e9) is gone


def test_a_run_from_before_the_latest_boot_has_no_owner() -> None:
    """One of a namesake goes on: it signed after our boot."""
    *host, _boot = this_process().host.split()
    owner = Owner(" ".join([*host, "another-boot"]), os.getpid(), 1.0)
    boot = psutil.boot_time()
    assert is_gone(owner, alive_at=boot - 1, now=boot + 60)
    assert not is_gone(owner, alive_at=boot + 50, now=boot + 60)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems tell no start but by the wall clock")
def test_a_corrected_clock_makes_no_living_process_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock is set by an hour: what is derived from it moves, the start by the kernel does not."""
    owner = this_process()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 3e9)
    assert psutil.Process().create_time() > 2.9e9
    assert not is_gone(owner, alive_at=0.0, now=3600.0)


def test_opening_is_cheap_and_loads_nothing_heavy(store: RunStore, store_url: str) -> None:
    """Neither pandas nor torch is needed to keep runs."""
    code = """
        import sys, time
        from gpuexplain.store.runs import RunStore
        times = []
        for _ in range(5):
            began = time.perf_counter()
            RunStore(sys.argv[1])
            times.append(time.perf_counter() - began)
        print(min(times), *{"pandas", "numpy", "torch", "streamlit", "plotly"}.intersection(sys.modules))
    """
    said, _ = _run_python(code, store_url).communicate()
    assert len(said.split()) == 1
    assert float(said) < 0.05


def test_the_right_to_write_can_be_checked(store: RunStore) -> None:
    """It changes nothing."""
    store.check_writable()
    assert store.list_runs() == []
