"""How many browsers watch running jobs: the more there are, the less often each one asks."""

import threading
import time

_FORGOTTEN_AFTER_S = 15.0
FASTEST_POLL_S = 0.5
_POLLS_PER_S = 10.0  # that the process serves in all, whatever is watched
# A page's interval is set when it runs as a whole; a whole run costs about two polls, so it must pay.
_OUT_OF_STEP = 3.0


class Viewers:
    """Who asked about which job, and when last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], float] = {}

    def note(self, run_id: str, session: str) -> int:
        """Count this viewer and return how many there are, of all jobs together: they share one process."""
        now = time.monotonic()
        with self._lock:
            self._seen[run_id, session] = now
            self._seen = {k: at for k, at in self._seen.items() if now - at < _FORGOTTEN_AFTER_S}
            return len(self._seen)


VIEWERS = Viewers()


def poll_interval_s(n_viewers: int) -> float:
    """Return the seconds between two looks at a running job."""
    return max(FASTEST_POLL_S, n_viewers / _POLLS_PER_S)


def is_out_of_step(interval_s: float, n_viewers: int) -> bool:
    """Whether so many came or went that a page should change its interval."""
    wanted_s = poll_interval_s(n_viewers)
    return not interval_s / _OUT_OF_STEP < wanted_s < interval_s * _OUT_OF_STEP
