"""How is the database opened and shared, and what is told when it cannot be used?"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from gpuexplain.errors import StoreError
from gpuexplain.store.schema import MIGRATIONS, check_not_newer, migrate, read_version

# How long a writer waits for another process; transactions take a few milliseconds each.
BUSY_TIMEOUT_S = 5.0
_WAL_ATTEMPTS = 20
# Any number, as long as every version of this program uses the same one.
_POSTGRES_MIGRATION_LOCK = 7_305_421
_WRITES = "gpuexplain_writes"  # execution option: this transaction will write

# What the database says -> what a person can do. The first match counts.
_REMEDIES = (
    ("readonly", "The file or its folder is read-only: make it writable, or set GPUEXPLAIN_HOME."),
    ("read-only", "The file or its folder is read-only: make it writable, or set GPUEXPLAIN_HOME."),
    ("permission", "Give this user write access to the folder, or set GPUEXPLAIN_HOME to another one."),
    ("unable to open", "Check that the folder exists and is writable, or set GPUEXPLAIN_HOME."),
    ("not a directory", "A file stands where the folder should be: set GPUEXPLAIN_HOME to another one."),
    ("disk is full", "Free some space on that disk, or set GPUEXPLAIN_HOME to a folder on another one."),
    ("no space", "Free some space on that disk, or set GPUEXPLAIN_HOME to a folder on another one."),
    ("disk i/o", "The disk refused it: check its space and health, or set GPUEXPLAIN_HOME."),
    ("malformed", "The file is damaged: move it away (a new one is made) or restore a backup."),
    ("not a database", "The file is damaged or no SQLite file: move it away, or restore a backup."),
    ("locked", "Another process keeps it busy: wait for it or end it, then try again."),
    ("foreign key", "There is no run of this id in it: create the run first."),
    ("no module named", "Install the driver of that database, such as psycopg2-binary."),
    (
        "can't load plugin",
        "Check GPUEXPLAIN_DATABASE_URL: such as sqlite:////srv/runs.db or postgresql://...",
    ),
)
_ANY_REMEDY = "Check GPUEXPLAIN_HOME and GPUEXPLAIN_DATABASE_URL, and run `python -m gpuexplain doctor`."


@contextmanager
def told_as_store_error(action: str, where: str) -> Iterator[None]:
    """Turn what the database or the disk raises inside into a ``StoreError`` with a remedy.

    Raises:
        StoreError: If the block failed for a reason of the database, its driver or the disk.
    """
    try:
        yield
    except (SQLAlchemyError, OSError, ModuleNotFoundError) as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        remedy = next((r for sign, r in _REMEDIES if sign in said.lower()), _ANY_REMEDY)
        raise StoreError(f"Cannot {action} the store ({where}): {said}. {remedy}") from error


def open_database(url: str) -> Engine:
    """Return the engine of an up-to-date database, made or migrated where needed.

    Raises:
        StoreError: If it cannot be opened, is damaged, or was written by a newer release.
    """
    with told_as_store_error("open", url if "@" not in url else url.split("@")[-1]):
        parsed = make_url(url)
        is_sqlite = parsed.get_backend_name() == "sqlite"
        if is_sqlite and parsed.database and not parsed.database.startswith("file:"):
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        options: dict[str, Any] = {"connect_args": {"timeout": BUSY_TIMEOUT_S}} if is_sqlite else {}
        engine = create_engine(url, **options)
        if is_sqlite:
            _prepare_sqlite(engine)
        _bring_up_to_date(engine)
    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction that will write: SQLite takes its lock at once, so it never fails half way."""
    with engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
        yield connection


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _switch_to_wal(connection: Any) -> None:
    """Turn on write-ahead logging, which lets readers go on while one process writes."""
    for attempt in range(_WAL_ATTEMPTS):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode=WAL").fetchone()
            return
        except connection.OperationalError as error:
            # The switch ignores the busy timeout when two processes make the file at once.
            if "locked" not in str(error) or attempt == _WAL_ATTEMPTS - 1:
                raise
            time.sleep(0.05)


def _bring_up_to_date(engine: Engine) -> None:
    with engine.connect() as connection, connection.begin():
        found = read_version(connection)
    check_not_newer(found)
    if found == len(MIGRATIONS):
        return
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _POSTGRES_MIGRATION_LOCK})
        migrate(connection)
