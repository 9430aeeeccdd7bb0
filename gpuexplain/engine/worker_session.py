"""How does a measure module inside the worker talk to the runner?"""

import os
import threading
import time
from typing import BinaryIO

from gpuexplain.engine.protocol import Event, PointEvent, ProgressEvent, encode
from gpuexplain.measuring.session import Progress
from gpuexplain.model import Point
from gpuexplain.store.thinning import thin_samples

PROGRESS_INTERVAL_S = 0.1


class Channel:
    """The way to the runner; several threads may send."""

    def __init__(self, pipe: BinaryIO) -> None:
        """Write to ``pipe``, which nothing else may use."""
        self._pipe = pipe
        self._lock = threading.Lock()

    def send(self, event: Event) -> None:
        """Send one event; ends the process if the runner is gone."""
        line = encode(event)
        try:
            with self._lock:
                self._pipe.write(line)
                self._pipe.flush()
        except OSError:
            os._exit(1)


class WorkerSession:
    """What a measure module talks to (``gpuexplain.measuring.session.Session``)."""

    def __init__(self, job_id: str, channel: Channel, cancelled: threading.Event) -> None:
        """Report as ``job_id`` and stop when ``cancelled`` is set."""
        self._job_id = job_id
        self._channel = channel
        self._cancelled = cancelled
        self._progress_at = 0.0

    def point(self, point: Point) -> None:
        """Hand over a new or narrowed point."""
        self._channel.send(PointEvent(job_id=self._job_id, point=thin_samples(point)))

    def progress(self, progress: Progress) -> None:
        """Tell how far we are; at most ten times a second goes out."""
        now = time.monotonic()
        if now - self._progress_at >= PROGRESS_INTERVAL_S:
            self._progress_at = now
            self._channel.send(ProgressEvent(job_id=self._job_id, progress=progress))

    def cancelled(self) -> bool:
        """Whether to stop after the current block."""
        return self._cancelled.is_set()
