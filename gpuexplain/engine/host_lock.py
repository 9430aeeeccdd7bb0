"""Does somebody else measure on this host right now, and who?

Two measurements at once spoil both, so a worker holds one lock per host during a job. The kernel
frees it when the process ends, however it ends. ``flock`` on one open file is all it takes: the lock
file belongs to whoever came first, and other users only ever open it (creating an existing file of
another user in a sticky folder is refused by Linux).
"""

import fcntl
import getpass
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gpuexplain.errors import EngineError

_POLL_S = 0.1
_TELL_AGAIN_S = 1.0
_NOTE_BYTES = 1_000
_SHOWN_CHARACTERS = 60
_SHARED = Path("/tmp")  # noqa: S108 - the one folder that all users share; TMPDIR may be private


def lock_path(folder: Path | None = None) -> Path:
    """Return the host's lock file: in ``folder``, else in the system's temporary folder.

    A folder that was named stands for the host: containers that share it have host names of their own.
    """
    if folder is not None:
        return folder / "gpuexplain.lock"
    shared = _SHARED.is_dir() and os.access(_SHARED, os.W_OK)
    folder = _SHARED if shared else Path(tempfile.gettempdir())
    return folder / f"gpuexplain-{socket.gethostname()}.lock"


class HostLock:
    """The right to measure on this host; one holder at a time, across processes and users."""

    def __init__(self, folder: Path | None = None) -> None:
        """Name the lock; nothing is opened yet."""
        self._path = lock_path(folder)
        self._descriptor: int | None = None

    def acquire(self, what: str, tell: Callable[[str], None], cancelled: Callable[[], bool]) -> bool:
        """Wait for the lock and return True; False if ``cancelled`` said so before.

        Args:
            what: What will be measured, for those who wait for us.
            tell: Called about once a second while waiting, with who holds the lock, in words.
            cancelled: Asked ten times a second while waiting.

        Raises:
            EngineError: If the lock file cannot be opened; says what to do.
        """
        told_at = -_TELL_AGAIN_S
        while not cancelled():
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _read_note(descriptor)
                os.close(descriptor)
                if time.monotonic() - told_at >= _TELL_AGAIN_S:
                    told_at = time.monotonic()
                    tell(holder)
                time.sleep(_POLL_S)
                continue
            if self._is_current(descriptor):
                _write_note(descriptor, what)
                self._descriptor = descriptor
                return True
            os.close(descriptor)  # somebody tidied the folder between opening and locking
        return False

    def release(self) -> None:
        """Let the next one measure."""
        if self._descriptor is not None:
            _clear_note(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            try:
                return os.open(self._path, os.O_RDWR | flags)
            except PermissionError:  # another user's, and closed to us: locking needs no writing
                return os.open(self._path, os.O_RDONLY | flags)
            except FileNotFoundError:
                return self._create(flags)
        except OSError as error:
            raise EngineError(
                f"Cannot open the lock file {self._path}: {error.strerror}. "
                "Make that folder writable, or remove the file if nobody measures."
            ) from error

    def _create(self, flags: int) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o666)
        except FileExistsError:  # another process was faster
            return os.open(self._path, os.O_RDWR | flags)
        os.fchmod(descriptor, 0o666)  # whatever the umask
        return descriptor

    def _is_current(self, descriptor: int) -> bool:
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return False
        held = os.fstat(descriptor)
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def _write_note(descriptor: int, what: str) -> None:
    note = {"user": _user(), "pid": os.getpid(), "what": what, "since": time.time()}
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode()[:_NOTE_BYTES], 0)
    except OSError:  # another user's file that we may only read, or a full disk: we hold the lock anyway
        return


def _clear_note(descriptor: int) -> None:
    try:
        os.ftruncate(descriptor, 0)
    except OSError:  # as above
        return


def _read_note(descriptor: int) -> str:
    """Return who holds the lock, in words; the file may hold anything, so nothing is trusted."""
    try:
        note = json.loads(os.pread(descriptor, _NOTE_BYTES, 0))
        user, what = _printable(note["user"]), _printable(note["what"])
        pid, age_s = int(note["pid"]), max(0, round(time.time() - float(note["since"])))
    except (OSError, ValueError, KeyError, TypeError):
        return "another process on this machine measures"
    return f"{user} measures {what} on this machine (process {pid}, for {age_s} s now)"


def _printable(text: object) -> str:
    return "".join(c for c in str(text) if c.isprintable())[:_SHOWN_CHARACTERS] or "?"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user without a name
        return f"user {os.getuid()}"
