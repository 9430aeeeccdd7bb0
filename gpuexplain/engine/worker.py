"""The measuring process: takes requests on stdin, answers with events on stdout.

Run as ``python -m gpuexplain.engine.worker``. It starts light and loads torch only when a measure
module or a probe asks for it; torch then stays loaded between jobs. It ends with its runner: at the
end of stdin, whatever it is doing.
"""

import argparse
import gc
import importlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

import psutil

from gpuexplain.engine.host_lock import HostLock
from gpuexplain.engine.protocol import (
    MAX_LINE_BYTES,
    PROTOCOL_VERSION,
    CancelRequest,
    Event,
    ExitRequest,
    FailedEvent,
    FinishedEvent,
    HeartbeatEvent,
    HelloEvent,
    ProbedEvent,
    ProbeRequest,
    RefusedEvent,
    Request,
    RunRequest,
    StartedEvent,
    WaitingEvent,
    decode_request,
)
from gpuexplain.engine.worker_session import Channel, WorkerSession
from gpuexplain.errors import EngineError, GpuExplainError, InputError
from gpuexplain.measuring.memory import return_freed_memory
from gpuexplain.measuring.session import Outcome
from gpuexplain.measuring.stopwatch import DeviceLostError
from gpuexplain.settings import load_settings

HEARTBEAT_S = 1.0
# torch with a CUDA context keeps 1-3 GB of host memory; much more after a job is a leak of the job.
MAX_KEPT_MEMORY_BYTES = 6 * 2**30
MODULE_PREFIX = "gpuexplain.experiments."


class Worker:
    """Does one request after the other on the main thread; a second thread listens."""

    def __init__(self, channel: Channel, lock: HostLock, allowed_modules: Sequence[str] = ()) -> None:
        """Measure under ``lock``; modules besides the experiments' must be allowed by name."""
        self._channel = channel
        self._lock = lock
        self._allowed_modules = frozenset(allowed_modules)
        self._requests: SimpleQueue[Request] = SimpleQueue()
        self._cancelled: dict[str, threading.Event] = {}

    def listen(self, pipe: BinaryIO) -> None:
        """Take requests until the pipe ends, then end the process, even in the middle of a job."""
        while line := pipe.readline(MAX_LINE_BYTES):
            try:
                self._take(decode_request(line))
            except EngineError as error:
                self._channel.send(RefusedEvent(reason=str(error)))
        os._exit(0)  # the runner is gone: nobody would read what we measure

    def _take(self, request: Request) -> None:
        if isinstance(request, CancelRequest):
            if request.job_id in self._cancelled:
                self._cancelled[request.job_id].set()
            return
        if isinstance(request, RunRequest):
            self._cancelled[request.job_id] = threading.Event()
        self._requests.put(request)

    def beat(self) -> None:
        """Send heartbeats for ever."""
        while True:
            self._channel.send(HeartbeatEvent())
            time.sleep(HEARTBEAT_S)

    def serve(self) -> None:
        """Do what is asked until asked to exit."""
        while not isinstance(request := self._requests.get(), ExitRequest):
            self._channel.send(self._answer(request))
            give_back_memory()

    def _answer(self, request: Request) -> Event:
        """Do one request; every way to fail becomes an event."""
        try:
            return self._run(request) if isinstance(request, RunRequest) else self._probe(request)
        except GpuExplainError as error:
            # A lost device stays lost in this process: its CUDA context is poisoned.
            reason, restart = str(error), isinstance(error, DeviceLostError)
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a job raises must not end the worker
            traceback.print_exc()
            # A device error poisons the CUDA context, so a worker that met the unexpected is replaced.
            reason, restart = _tell_unexpected(error), True
        if isinstance(request, RunRequest):
            return FailedEvent(job_id=request.job_id, reason=reason, restart=restart)
        return RefusedEvent(reason=reason)

    def _run(self, request: RunRequest) -> FinishedEvent:
        job_id, cancelled = request.job_id, self._cancelled[request.job_id]
        try:
            if not self._lock.acquire(
                request.label or request.measure_module,
                lambda holder: self._channel.send(WaitingEvent(job_id=job_id, holder=holder)),
                cancelled.is_set,
            ):
                return FinishedEvent(job_id=job_id, cancelled=True)
            self._channel.send(StartedEvent(job_id=job_id))
            outcome = self._measure(request, WorkerSession(job_id, self._channel, cancelled))
        finally:
            self._lock.release()
            del self._cancelled[job_id]
        rss_bytes = psutil.Process().memory_info().rss
        return FinishedEvent(
            job_id=job_id,
            cancelled=outcome.cancelled,
            coverage=outcome.coverage,
            restart=rss_bytes > MAX_KEPT_MEMORY_BYTES,
        )

    def _measure(self, request: RunRequest, session: WorkerSession) -> Outcome:
        name = request.measure_module
        if not name.startswith(MODULE_PREFIX) and name not in self._allowed_modules:
            raise InputError(f"Cannot measure with module {name!r}: it is not part of an experiment.")
        outcome = importlib.import_module(name).measure(request.params, session)
        return Outcome.model_validate(outcome)

    def _probe(self, request: Request) -> ProbedEvent:
        from gpuexplain.hardware.cpu import inspect_cpu  # here, not above: the worker starts light
        from gpuexplain.measuring.probe import probe_torch

        threads = request.threads if isinstance(request, ProbeRequest) else None
        return ProbedEvent(probe=probe_torch(threads or inspect_cpu().usable_threads))


def give_back_memory() -> None:
    """Free what a job left behind: its tensors, and what the C library, and torch of each GPU, keep for later ones.

    Others may want that memory while this process is idle.
    """
    gc.collect()  # tensors in reference cycles must not wait for chance
    return_freed_memory()
    torch = sys.modules.get("torch")  # loaded by a measure module, never here
    if torch is None or not torch.cuda.is_initialized():
        return
    try:
        torch.cuda.empty_cache()
    except RuntimeError:  # the context is poisoned: this worker is replaced
        traceback.print_exc()


def _tell_unexpected(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
    return f"The measurement stopped on an unexpected error ({what}). The log has the details; run it again."


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return (stdin, stdout) for messages only; what libraries print goes to stderr from now on."""
    requests = os.fdopen(os.dup(0), "rb")
    events = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, events


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve one runner until it asks to exit or goes away."""
    parser = argparse.ArgumentParser(prog="gpuexplain.engine.worker")
    parser.add_argument("--allow-module", action="append", default=[], help="a measure module of a test")
    parser.add_argument("--lock-folder", type=Path, help="where the host's lock lies; default the shared one")
    options = parser.parse_args(arguments)
    requests, events = _take_over_pipes()
    channel = Channel(events)
    lock = HostLock(options.lock_folder or load_settings().lock_dir)
    worker = Worker(channel, lock, options.allow_module)
    channel.send(HelloEvent(protocol_version=PROTOCOL_VERSION, pid=os.getpid()))
    threading.Thread(target=worker.listen, args=(requests,), daemon=True).start()
    threading.Thread(target=worker.beat, daemon=True).start()
    worker.serve()
    sys.stderr.flush()
    os._exit(0)  # no waiting for threads and for what libraries registered


if __name__ == "__main__":
    main()
