"""How does the runner hold a worker: its process, its pipes, its end?"""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO

import gpuexplain
from gpuexplain.engine.protocol import MAX_LINE_BYTES, Event, Request, decode_event, encode
from gpuexplain.errors import EngineError

LOG = logging.getLogger("gpuexplain.worker")

_PACKAGE_FOLDER = Path(gpuexplain.__file__).parent.parent
_STDERR_LINES = 40
_SHOWN_STDERR_LINES = 3
_CLOSE_S = 2.0
_LAST_EVENTS_S = 0.5  # after its end, a worker's pipe is empty or held open by somebody who escaped us


@dataclass(frozen=True, slots=True)
class Garbage:
    """A line that is no event; the worker cannot be trusted any more."""

    problem: str


class Ended:
    """The worker's last word: nothing more will come."""


Heard = Event | Garbage | Ended


def default_command() -> list[str]:
    """Return how a worker is started: with our interpreter."""
    return [sys.executable, "-m", "gpuexplain.engine.worker"]


class WorkerProcess:
    """One running worker; two threads keep its pipes empty, so that it never blocks on us."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it.

        Raises:
            EngineError: If the process cannot be started.
        """
        paths = [str(_PACKAGE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            # A group of its own: Ctrl-C reaches us only, and its children can be ended with it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=_PACKAGE_FOLDER,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(
                f"Cannot start the measuring process: {error}. Check the memory and the process limit."
            ) from error
        self.last_heard = time.monotonic()
        self._exit_seen: float | None = None
        self._is_ended_by_us = False
        self._heard: SimpleQueue[Heard] = SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers = [
            threading.Thread(target=self._read_events, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, request: Request) -> None:
        """Send a request; if the worker is gone, its end is heard of in its turn."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(encode(request))
            self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken, or closed by us
            return

    def hear(self, timeout: float) -> Heard | None:
        """Return the next thing the worker said, or None if it said nothing for ``timeout`` seconds."""
        try:
            return self._heard.get(timeout=timeout) if timeout > 0 else self._heard.get_nowait()
        except Empty:
            return Ended() if self._is_over() else None

    def _is_over(self) -> bool:
        """Whether it has ended though its pipe is open: a child of the job may hold that, so end it too."""
        if not self.has_exited:
            return False
        self._signal_group(signal.SIGKILL)
        now = time.monotonic()
        self._exit_seen = self._exit_seen or now
        return now - self._exit_seen > _LAST_EVENTS_S

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        return "\n".join(self._stderr)

    @property
    def has_exited(self) -> bool:
        """Whether it has ended; it is not reaped here, so its pid and group stay ours to signal."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    @property
    def has_more(self) -> bool:
        """Whether something it said was not heard yet."""
        return not self._heard.empty()

    def terminate(self) -> None:
        """Ask the system to end it and its children."""
        self._is_ended_by_us = not self.has_exited
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """End it and its children now."""
        self._is_ended_by_us = self._is_ended_by_us or not self.has_exited
        self._signal_group(signal.SIGKILL)

    def close(self) -> None:
        """End it, by the end of its stdin or else by force; what it still said can be heard."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.close()
        except OSError:
            pass
        deadline = time.monotonic() + _CLOSE_S
        while not self.has_exited and time.monotonic() < deadline:
            time.sleep(0.01)
        self._signal_group(signal.SIGKILL)
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            LOG.error("worker %d cannot be ended: the system holds it in a device call", self.pid)
        for reader, pipe in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            reader.join(_LAST_EVENTS_S)
            if pipe is not None and not reader.is_alive():
                pipe.close()

    def tell_end(self) -> str:
        """Return how it ended (after ``close``): exit status or signal, and its last words."""
        code = self._process.returncode
        if code is None:
            how = "did not end"
        elif self._is_ended_by_us:
            how = "was ended by this program"
        elif code < 0:
            how = f"was ended by signal {_signal_name(-code)}"
            if -code == signal.SIGKILL:
                how += " (the system does that when memory runs out)"
        else:
            how = f"ended with exit status {code}"
        last = " | ".join(list(self._stderr)[-_SHOWN_STDERR_LINES:])
        return f"{how}; its last words: {last}" if last else how

    def _read_events(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
                break  # cut off by the worker's end
            self.last_heard = time.monotonic()
            try:
                self._heard.put(decode_event(line))
            except EngineError as error:
                self._heard.put(Garbage(str(error)))
        self._heard.put(Ended())

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(MAX_LINE_BYTES):
            text = line.decode(errors="replace").rstrip()
            self._stderr.append(text)
            LOG.info("worker %d: %s", self._process.pid, text)

    def _signal_group(self, number: signal.Signals) -> None:
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):  # gone; macOS says "not permitted" for a zombie
            return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
