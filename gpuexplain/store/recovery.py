"""What becomes of an SQLite file that is damaged? It is kept under a new name, and a fresh one is begun.

Nothing of the old file is changed. What can still be read from it is copied into the fresh one, and a
text beside it says what happened, until somebody who took note of it deletes that text.
"""

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import Engine

from gpuexplain.errors import StoreDamagedError
from gpuexplain.store.database import BUSY_TIMEOUT_S, open_database, sqlite_file, told_as_store_error
from gpuexplain.store.salvage import Salvaged, salvage

LOG = logging.getLogger("gpuexplain.store")

# Settings.store_url's; a file of another name that is no SQLite file at all may be anything, and stays.
OWN_NAME = "gpuexplain.db"
_SQLITE_HEADER = b"SQLite format 3\x00"
_MARK = "-damaged-"
# The log before the file: a log without its file is harmless, one beside a new file would be replayed into it.
_SUFFIXES = ("-wal", "-shm", "")


def open_or_replace(url: str) -> Engine:
    """Return the engine of an up-to-date database; a damaged SQLite file is replaced by a fresh one.

    Raises:
        StoreError: If it cannot be opened for another reason, or cannot be replaced.
    """
    try:
        return open_database(url)
    except StoreDamagedError as error:
        return replace_damaged(url, error)


def replace_damaged(url: str, error: StoreDamagedError) -> Engine:
    """Return the engine of a fresh database in the place of a damaged one, which is kept aside.

    Where another process did that already, or the file turns out to be sound, it is just opened.

    Args:
        url: Of the database.
        error: What told of the damage; raised again where the file cannot be looked after by us.

    Raises:
        StoreError: If the old file cannot be renamed, or no new one can be made.
    """
    path = sqlite_file(url)
    if path is None or not _is_ours(path):
        raise error
    with told_as_store_error("replace", str(path)), _alone(path.parent):
        if (damage := find_damage(path)) == "":
            return open_database(url)
        aside = _keep_aside(path)
        engine = open_database(url)
        saved = salvage(aside, engine)
        text = _tell(aside, damage, saved)
        LOG.error("%s", text)
        with suppress(OSError):  # no space for it: the log has it
            aside.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")
        return engine


def find_damage(path: Path, *, thorough: bool = True) -> str:
    """Return what SQLite finds wrong with a file, "" if nothing.

    Args:
        path: Of the database.
        thorough: Compare indexes with their tables, too.
    """
    check = "integrity_check" if thorough else "quick_check"
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            found = str(connection.execute(f"PRAGMA {check}(1)").fetchone()[0])
            return "" if found == "ok" else " ".join(found.removeprefix("*** in database main ***").split())
    except sqlite3.OperationalError:  # locked, no space, no right: that is not damage
        return ""
    except sqlite3.DatabaseError as error:
        return str(error)


def read_notices(path: Path | None) -> tuple[str, ...]:
    """Return what is to be said of damaged files that lie beside the store, oldest first."""
    if path is None:
        return ()
    texts = sorted(path.parent.glob(f"{path.stem}{_MARK}*.txt"))
    return tuple(text.read_text(encoding="utf-8", errors="replace").strip() for text in texts)


def _is_ours(path: Path) -> bool:
    if path.name == OWN_NAME:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except OSError:
        return False


def _keep_aside(path: Path) -> Path:
    """Rename a database and what belongs to it; return its new path."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    names = (f"{path.stem}{_MARK}{stamp}{number}{path.suffix}" for number in ("", *(f"-{n}" for n in range(2, 100))))
    aside = next(path.with_name(name) for name in names if not path.with_name(name).exists())
    for suffix in _SUFFIXES:
        old = Path(f"{path}{suffix}")
        if old.exists():
            old.rename(f"{aside}{suffix}")
    return aside


def _tell(aside: Path, damage: str, saved: Salvaged) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    runs = "1 run" if saved.n_runs == 1 else f"{saved.n_runs} runs"
    points = "1 point" if saved.n_points == 1 else f"{saved.n_points} points"
    rest = f"{runs} with {points} could be read from it and are in the new one" if saved.n_runs else "it held no run"
    if saved.problem and not saved.n_runs:
        rest = "nothing could be read from it"
    return (
        f"On {when} UTC the store was found damaged ({damage}) and a new one was begun: {rest}. "
        f"The old one is kept as {aside.name}; delete {aside.with_suffix('.txt').name} to end this notice."
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time do this in a folder; the kernel frees the lock however it ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
