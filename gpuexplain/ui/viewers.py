"""How many browsers watch a job: the more there are, the less often each one asks."""

import threading
import time

_FORGOTTEN_AFTER_S = 15.0
FASTEST_POLL_S = 0.5
_VIEWERS_PER_POLL = 10.0  # polls per second that the process serves in all


class Viewers:
    """Who asked about which job, and when last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], float] = {}

    def note(self, run_id: str, session: str) -> int:
        """Count this viewer and return how many there are."""
        now = time.monotonic()
        with self._lock:
            self._seen[run_id, session] = now
            self._seen = {k: at for k, at in self._seen.items() if now - at < _FORGOTTEN_AFTER_S}
            return sum(run == run_id for run, _ in self._seen)


VIEWERS = Viewers()


def poll_interval_s(n_viewers: int) -> float:
    """Return the seconds between two looks at a running job."""
    return max(FASTEST_POLL_S, n_viewers / _VIEWERS_PER_POLL)
