"""How does a store stay usable while its file is locked, replaced, damaged or write-protected?"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine

from gpuexplain.errors import StoreDamagedError, StoreError
from gpuexplain.store.database import (
    BUSY_TIMEOUT_S,
    open_to_read,
    sqlite_file,
    told_as_store_error,
    writing,
)
from gpuexplain.store.recovery import find_damage, open_or_replace, read_notices, replace_damaged
from gpuexplain.store.redaction import hide_secrets

LOG = logging.getLogger("gpuexplain.store")


class Database:
    """One database for several threads; another file in its place, or a fresh one, is taken up by itself.

    ``generation`` grows when what was written before may not be in it any more.
    """

    def __init__(self, url: str) -> None:
        """Open it; an SQLite file that cannot be written is opened to be read.

        Raises:
            StoreError: If it can be neither written nor read.
        """
        self.generation = 0
        self.why_read_only = ""
        self._url = url
        self._path = sqlite_file(url)
        self._lock = threading.RLock()
        self._engine = self._open()
        self._file = self._identify()
        self.where = hide_secrets(url)

    @property
    def engine(self) -> Engine:
        """The engine in use."""
        return self._engine

    @property
    def folder(self) -> Path | None:
        """Where its file lies; None for a database elsewhere."""
        return None if self._path is None else self._path.parent

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator should know of earlier damage."""
        return read_notices(self._path)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin to read.

        Raises:
            StoreError: With what to do.
        """
        engine = self._current()
        with self._replacing(engine), told_as_store_error("read", self._url), engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, action: str, patience_s: float = BUSY_TIMEOUT_S) -> Iterator[Connection]:
        """Begin a transaction that writes.

        Args:
            action: What it does, for the error.
            patience_s: How long to wait for another process that writes.

        Raises:
            StoreError: With what to do.
        """
        if self.why_read_only:
            self._try_to_write_again()
        if self.why_read_only:
            raise StoreError(self.why_read_only)
        engine = self._current()
        with (
            self._replacing(engine),
            told_as_store_error(action, self._url),
            writing(engine, patience_s) as connection,
        ):
            yield connection

    def check_sound(self) -> None:
        """Look through the whole file, and replace it if it is damaged; takes seconds for a large one.

        Raises:
            StoreDamagedError: If it was; says so.
        """
        if self._path is not None and (damage := find_damage(self._path, thorough=False)):
            with self._replacing(self._engine):
                raise StoreDamagedError(damage)

    def _open(self) -> Engine:
        try:
            engine = open_or_replace(self._url)
        except StoreError as error:
            if self._path is None or not self._path.exists() or isinstance(error, StoreDamagedError):
                raise
            try:
                engine = open_to_read(self._path)
            except StoreError:
                raise error from None
            if not self.why_read_only:
                LOG.warning("%s Results are shown; new ones cannot be kept.", error)
            self.why_read_only = str(error)
            return engine
        self.why_read_only = ""
        return engine

    def _current(self) -> Engine:
        """Return the engine of the file that lies there now."""
        with self._lock:
            if self._file != self._identify():
                self._take_up("another file lies in its place")
            return self._engine

    def _try_to_write_again(self) -> None:
        with self._lock, suppress(StoreError):
            before, self._engine = self._engine, self._open()
            before.dispose()
            self._file = self._identify()

    def _take_up(self, why: str) -> None:
        """Open what lies there now."""
        LOG.warning("the store %s is opened again: %s", self.where, why)
        before, self._engine = self._engine, self._open()
        before.dispose()
        self._file = self._identify()
        self.generation += 1

    @contextmanager
    def _replacing(self, engine: Engine) -> Iterator[None]:
        """Put a fresh database in the place of a damaged one; whoever met the damage tries again."""
        try:
            yield
        except StoreDamagedError as error:
            with self._lock:
                if self._engine is engine:
                    engine.dispose()
                    self._engine = replace_damaged(self._url, error)
                    self._file = self._identify()
                    self.generation += 1
            raise StoreDamagedError(
                f"The store ({self.where}) was found damaged and a new one was begun. Try again; "
                "the notice beside it says what could be kept."
            ) from error

    def _identify(self) -> tuple[int, int] | None:
        """Return what tells one file from another of the same name."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
