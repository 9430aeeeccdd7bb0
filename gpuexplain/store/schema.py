"""Which tables does the store have, and how does an older file become a current one?

Version history:
    0: an empty database.
    1: first release: runs, points (one JSON text a point, raw samples included).
"""

import time
from collections.abc import Callable, Sequence

from sqlalchemy import Column, Connection, Double, ForeignKey, Integer, MetaData, Table, Text, text
from sqlalchemy import inspect as inspect_database

from gpuexplain.errors import StoreError

METADATA = MetaData()

RUNS = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("experiment", Text, nullable=False),
    Column("measuring_version", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("params", Text, nullable=False),
    Column("machine", Text),
    Column("machine_id", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("coverage", Text),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("owner_host", Text, nullable=False),
    Column("owner_pid", Integer, nullable=False),
    Column("owner_started", Double, nullable=False),
    Column("alive_at", Double, nullable=False),
)

POINTS = Table(
    "points",
    METADATA,
    Column("run_id", Text, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("ordinal", Integer, nullable=False),  # order of first arrival
    Column("status", Text, nullable=False),
    Column("flags", Text, nullable=False),  # space-separated, for queries; the point has them too
    Column("point", Text, nullable=False),
)

# Migrations are written out, never derived from the tables above: those describe today's schema, a
# migration must keep making the schema of its own time. Column types are spelled so that SQLite
# and PostgreSQL both take them.
_VERSION_1 = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, experiment TEXT NOT NULL, measuring_version INTEGER NOT NULL,
        key TEXT NOT NULL, params TEXT NOT NULL, machine TEXT, machine_id TEXT NOT NULL,
        device TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, coverage TEXT,
        created_at DOUBLE PRECISION NOT NULL, started_at DOUBLE PRECISION,
        finished_at DOUBLE PRECISION, owner_host TEXT NOT NULL, owner_pid INTEGER NOT NULL,
        owner_started DOUBLE PRECISION NOT NULL, alive_at DOUBLE PRECISION NOT NULL)""",
    "CREATE INDEX runs_by_key ON runs (key, created_at)",
    "CREATE INDEX runs_by_experiment ON runs (experiment, created_at)",
    """CREATE TABLE points (
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, case_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL, status TEXT NOT NULL, flags TEXT NOT NULL, point TEXT NOT NULL,
        PRIMARY KEY (run_id, case_id))""",
)

Migration = Callable[[Connection], None]


def _make_version_1(connection: Connection) -> None:
    for statement in _VERSION_1:
        connection.execute(text(statement))


# The n-th entry (from 0) makes version n + 1 out of version n.
MIGRATIONS: tuple[Migration, ...] = (_make_version_1,)


def read_version(connection: Connection) -> int:
    """Return the schema version of the database; 0 for an empty one."""
    if not inspect_database(connection).has_table("schema_version"):
        return 0
    return int(connection.execute(text("SELECT MAX(version) FROM schema_version")).scalar() or 0)


def migrate(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the database up to date, inside the caller's (exclusive) transaction.

    Raises:
        StoreError: If a newer GPU Explain wrote it.
    """
    found = read_version(connection)
    check_not_newer(found, len(migrations))
    if found == 0:
        connection.execute(text("CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at DOUBLE PRECISION)"))
    for version, step in enumerate(migrations[found:], start=found + 1):
        step(connection)
        connection.execute(
            text("INSERT INTO schema_version (version, applied_at) VALUES (:version, :now)"),
            {"version": version, "now": time.time()},
        )


def check_not_newer(found: int, known: int = len(MIGRATIONS)) -> None:
    """Refuse a database that this release does not understand.

    Raises:
        StoreError: If ``found`` is newer than ``known``.
    """
    if found > known:
        raise StoreError(
            f"Cannot use the store: its schema is version {found}, this release knows up to {known}. "
            "Install a newer GPU Explain, or set GPUEXPLAIN_HOME to another folder."
        )
