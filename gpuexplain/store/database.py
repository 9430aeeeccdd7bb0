"""How is the database opened and shared, and what is told when it cannot be used?"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from gpuexplain.errors import StoreDamagedError, StoreError
from gpuexplain.store.redaction import hide_secrets, redact
from gpuexplain.store.schema import MIGRATIONS, check_not_newer, migrate, read_version

# How long a writer waits for another process; transactions take a few milliseconds each.
BUSY_TIMEOUT_S = 5.0
_WAL_ATTEMPTS = 20
# Any number, as long as every version of this program uses the same one.
_POSTGRES_MIGRATION_LOCK = 7_305_421
_WRITES = "gpuexplain_writes"  # execution option: this transaction will write, after at most so many seconds
_DAMAGE_SIGNS = ("malformed", "not a database")

# What the database says -> what a person can do. The first match counts.
_REMEDIES = (
    ("readonly", "The file or its folder is read-only: make it writable, or set GPUEXPLAIN_HOME."),
    ("read-only", "The file or its folder is read-only: make it writable, or set GPUEXPLAIN_HOME."),
    ("permission", "Give this user write access to the folder, or set GPUEXPLAIN_HOME to another one."),
    ("unable to open", "Check that the folder exists and is writable, or set GPUEXPLAIN_HOME."),
    ("file exists", "A file stands where the folder should be: move it, or set GPUEXPLAIN_HOME to another one."),
    ("not a directory", "A file stands where the folder should be: set GPUEXPLAIN_HOME to another one."),
    ("disk is full", "Free some space on that disk, or set GPUEXPLAIN_HOME to a folder on another one."),
    ("no space", "Free some space on that disk, or set GPUEXPLAIN_HOME to a folder on another one."),
    ("disk i/o", "The disk refused it: check its space and health, or set GPUEXPLAIN_HOME."),
    ("malformed", "The file is damaged: move it away (a new one is made), or restore a backup."),
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

    Args:
        action: What was tried.
        where: The address or path of the store; no secret of it is repeated.

    Raises:
        StoreDamagedError: If the file is no sound database.
        StoreError: If the block failed for another reason of the database, its driver or the disk.
    """
    try:
        yield
    except (SQLAlchemyError, OSError, ModuleNotFoundError) as error:
        stated = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        said = redact(stated, where)
        remedy = next((r for sign, r in _REMEDIES if sign in said.lower()), _ANY_REMEDY)
        is_damaged = any(sign in said.lower() for sign in _DAMAGE_SIGNS)
        kind = StoreDamagedError if is_damaged else StoreError
        raise kind(f"Cannot {action} the store ({hide_secrets(where)}): {said}. {remedy}") from (
            error if said == stated else None  # a log would show it, too
        )


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite URL; None for another database, one in memory, or a URI that says how."""
    try:
        parsed = make_url(url)
    except SQLAlchemyError:  # whoever opens it tells what is wrong
        return None
    name = parsed.database or ""
    is_plain = url.startswith("sqlite") and name and name != ":memory:" and not name.startswith("file:")
    return Path(name) if is_plain else None


def open_database(url: str) -> Engine:
    """Return the engine of an up-to-date database, made or migrated where needed.

    Raises:
        StoreDamagedError: If it is an SQLite file that is damaged.
        StoreError: If it cannot be opened, or was written by a newer release.
    """
    with _told_as_not_opened(url):
        path = sqlite_file(url)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        is_sqlite = url.startswith("sqlite")
        options: dict[str, Any] = {"connect_args": {"timeout": BUSY_TIMEOUT_S}} if is_sqlite else {}
        engine = create_engine(url, **options)
        if is_sqlite:
            _prepare_sqlite(engine, switch_to_wal=True)
        _bring_up_to_date(engine)
    return engine


def open_to_read(path: Path) -> Engine:
    """Return the engine of an SQLite file of this release's schema that cannot be written here.

    Raises:
        StoreError: If it cannot be read, or not without a migration.
    """
    try:
        engine, found = _open_uri(path, "mode=ro")
    except StoreError:
        # A file that nobody has open has no log beside it, and SQLite cannot make one here: the file is all.
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            raise
        engine, found = _open_uri(path, "mode=ro&immutable=1")
    if found != len(MIGRATIONS):
        raise StoreError(f"Cannot open the store ({path}): it must be written once by this release, and is read-only.")
    return engine


def _open_uri(path: Path, how: str) -> tuple[Engine, int]:
    """Return the engine of an SQLite file and its schema version."""
    url = f"sqlite:///file:{quote(str(path))}?{how}&uri=true"
    with _told_as_not_opened(str(path)):
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
        _prepare_sqlite(engine, switch_to_wal=False)
        with engine.connect() as connection, connection.begin():
            return engine, read_version(connection)


@contextmanager
def _told_as_not_opened(url: str) -> Iterator[None]:
    with told_as_store_error("open", url):
        try:
            yield
        except ValueError:  # SQLAlchemy's of a port that is no number; it repeats what stands there
            raise ArgumentError("this address cannot be read") from None


@contextmanager
def writing(engine: Engine, patience_s: float = BUSY_TIMEOUT_S) -> Iterator[Connection]:
    """Begin a transaction that will write: SQLite takes its lock at once, so it never fails half way.

    Args:
        engine: Of the database.
        patience_s: How long to wait for another process that writes (SQLite only).
    """
    with engine.connect().execution_options(**{_WRITES: patience_s}) as connection, connection.begin():
        yield connection


def _prepare_sqlite(engine: Engine, *, switch_to_wal: bool) -> None:
    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        if switch_to_wal:
            _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        patience_s = connection.get_execution_options().get(_WRITES)
        if patience_s is None:
            connection.exec_driver_sql("BEGIN")
        else:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={patience_s * 1000:.0f}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")


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
