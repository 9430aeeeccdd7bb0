"""Is there a worker, is it ready, and what did its torch find? The place where one worker lives."""

import logging
import threading
import time
from collections.abc import Sequence

from gpuexplain.engine.limits import Limits
from gpuexplain.engine.protocol import (
    PROTOCOL_VERSION,
    HeartbeatEvent,
    HelloEvent,
    ProbedEvent,
    ProbeRequest,
    RefusedEvent,
    Request,
)
from gpuexplain.engine.worker_process import Ended, Garbage, Heard, WorkerProcess
from gpuexplain.errors import EngineError
from gpuexplain.hardware.machine import TorchProbe
from gpuexplain.logs import log_event

LOG = logging.getLogger("gpuexplain.engine")


class WorkerSlot:
    """At most one worker, started when needed; used by the runner's thread only, watched by others."""

    def __init__(self, command: Sequence[str], limits: Limits, probes: bool) -> None:
        """Start nothing yet.

        Args:
            command: How a worker is started.
            limits: When an idle worker ends.
            probes: Whether a new worker loads torch at once and says what it found.
        """
        self.probe: TorchProbe | None = None  # of the latest worker that loaded torch
        self.probed = threading.Event()  # there is a probe, or there will be none
        self.wants_start = False  # start a worker when there is time, so that the next run begins fast
        self.starts = 0
        self.silent_s = 0.0  # how long we listened to the worker without hearing anything
        self.last_words = ""  # what a worker that was ended had written to stderr at last
        self._command = command
        self._limits = limits
        self._probes = probes
        self._worker: WorkerProcess | None = None
        self._is_ready = False
        self._used_at = 0.0
        self._listened_at = 0.0

    @property
    def state(self) -> str:
        """``stopped``, ``starting`` or ``ready``."""
        if self._worker is None:
            return "stopped"
        return "ready" if self._is_ready else "starting"

    def ensure(self) -> None:
        """Start a worker unless there is one.

        Raises:
            EngineError: If it cannot be started.
        """
        self.wants_start = False
        self._used_at = time.monotonic()
        if self._worker is not None and (self._worker.has_exited or self.is_silent):
            self.end()
        if self._worker is not None:
            if self._is_ready:
                self.probed.set()
            return
        self._is_ready, self.silent_s, self.last_words = False, 0.0, ""
        self._worker = WorkerProcess(self._command)
        self.starts += 1
        log_event(LOG, logging.INFO, "worker_started", pid=self._worker.pid, number=self.starts)
        if self._probes:
            self._worker.send(ProbeRequest())

    def send(self, request: Request) -> None:
        """Send a request to the worker, if there is one."""
        if self._worker is not None:
            self._worker.send(request)

    def hear(self, timeout: float) -> Heard | None:
        """Return the next thing that concerns a job; what concerns the worker is dealt with here."""
        if self._worker is None:
            return None
        heard = self._worker.hear(timeout)
        self._note_silence(self._worker.last_heard)
        match heard:
            case HelloEvent() if heard.protocol_version != PROTOCOL_VERSION:
                theirs = heard.protocol_version
                return Garbage(f"it speaks protocol {theirs}, we speak {PROTOCOL_VERSION}. Restart the app.")
            case HelloEvent():
                if not self._probes:
                    self._is_ready = True
                    self.probed.set()
            case ProbedEvent():
                self.probe, self._is_ready = heard.probe, True
                self.probed.set()
            case RefusedEvent():
                LOG.warning("the worker refused a request: %s", heard.reason)
                self._is_ready = True
                self.probed.set()
            case HeartbeatEvent():
                pass
            case _:
                return heard
        return None

    def tend(self) -> None:
        """Look after a worker without a job: listen, replace a broken one, end one idle for too long."""
        if self.wants_start:
            try:
                self.ensure()
            except EngineError as error:
                LOG.warning("%s", error)
                self.probed.set()
        while (heard := self.hear(0)) is not None or self._has_more:
            if isinstance(heard, Ended | Garbage):
                problem = heard.problem if isinstance(heard, Garbage) else ""
                LOG.warning("the idle worker %s. %s", self.end()[0], problem)
        is_idle = time.monotonic() - self._used_at > self._limits.idle_exit_s
        if self._worker is not None and (is_idle or self.is_silent):
            self.kill()
            self.end()

    def terminate(self) -> None:
        """Ask the system to end the worker."""
        if self._worker is not None:
            self._worker.terminate()

    def kill(self) -> None:
        """End the worker now; ``end`` must follow."""
        if self._worker is not None:
            self._worker.kill()

    def end(self) -> tuple[str, list[Heard]]:
        """End the worker; return how it ended, and what it had said that nobody heard yet."""
        worker = self._worker
        if worker is None:
            return "was not running", []
        worker.close()
        self.last_words = worker.last_words
        unheard: list[Heard] = []
        while worker.has_more:
            heard = self.hear(0)
            if heard is not None and not isinstance(heard, Ended):
                unheard.append(heard)
        self._worker = None
        self._is_ready = False
        self.probed.set()  # nobody need wait for this one
        how = worker.tell_end()
        log_event(LOG, logging.INFO, "worker_ended", pid=worker.pid, how=how)
        return how, unheard

    def rest(self) -> None:
        """Note that a job ended: the time until the idle worker ends begins now."""
        self._used_at = time.monotonic()

    @property
    def is_silent(self) -> bool:
        """Whether the worker missed its heartbeats for too long."""
        return self.silent_s > self._limits.silent_s

    def _note_silence(self, last_heard: float) -> None:
        """Count the time we listened in vain, not that in which the whole machine was paused."""
        before, self._listened_at = self._listened_at, time.monotonic()
        waited_s = min(self._listened_at - before, 1.0)
        self.silent_s = 0.0 if last_heard >= before else self.silent_s + waited_s

    @property
    def _has_more(self) -> bool:
        return self._worker is not None and self._worker.has_more
