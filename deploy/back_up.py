"""Copy the store while the app runs.

    python deploy/back_up.py TARGET.db [STORE.db]

SQLite copies a consistent state, whatever is written meanwhile; copying the file itself would not. The copy is checked
and then put in place at once, so that TARGET is always a whole one. STORE is by default the one of GPUEXPLAIN_HOME.
A PostgreSQL store is backed up with pg_dump.
"""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path


def back_up(store: Path, target: Path) -> int:
    """Return how many runs the copy holds.

    Raises:
        OSError, sqlite3.Error: If the store cannot be read, or the target not be written.
    """
    if not store.is_file():
        raise FileNotFoundError(f"there is no store {store}")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        n_runs = _copy(store, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return n_runs


def _copy(store: Path, target: Path) -> int:
    """Copy the store into a file of its own, and check that."""
    with (
        closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the copy is damaged, and so is the store")
        return int(copy.execute("SELECT COUNT(*) FROM runs").fetchone()[0])


def main() -> int:
    """Back up; exit status 0, or 1 with the reason."""
    if len(sys.argv) not in (2, 3):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    default = Path(os.environ.get("GPUEXPLAIN_HOME", "/data")) / "gpuexplain.db"
    store = Path(sys.argv[2]) if len(sys.argv) == 3 else default
    try:
        n_runs = back_up(store, Path(sys.argv[1]))
    except (OSError, sqlite3.Error) as error:
        sys.stderr.write(f"Cannot back up {store}: {error}\n")
        return 1
    print(f"{n_runs} runs of {store} are in {sys.argv[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
