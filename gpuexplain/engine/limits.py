"""How long does the engine wait for what, and how much does it keep?"""

from dataclasses import dataclass

JOBS_PER_VISITOR = 2  # waiting or running
# Ended jobs are kept in memory as long as their raw samples take no more than about 12 MB together (40
# bytes each); the latest always, older ones come from the store.
KEPT_SAMPLES = 300_000
KEPT_JOBS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds; shorter ones in tests."""

    flush_s: float = 0.3  # at most this much of the newest points is not yet in the store
    retry_store_s: float = 2.0  # between attempts to write to a store that failed
    sign_of_life_s: float = 30.0
    # torch may take half a minute from a cold disk, a first CUDA context on a many-GPU host as long again.
    start_s: float = 120.0
    # A sweep ends within its budget plus one call, its preparations and checks come on top.
    deadline_factor: float = 3.0
    deadline_grace_s: float = 60.0
    silent_s: float = 20.0  # without a heartbeat (one a second), on a machine that may be swapping
    # Cancel: asked, terminated, killed; within two seconds in all.
    polite_cancel_s: float = 1.0
    terminate_s: float = 0.3
    idle_exit_s: float = 300.0  # an idle worker gives torch's memory back
    poll_s: float = 0.05  # how often a running job looks at its clocks
    idle_poll_s: float = 0.2
    # A process elsewhere that died leaves a run that seems to go on: looked for this often while idle.
    orphans_s: float = 30.0
    foreign_poll_s: float = 0.5  # how often a run of another process is looked at by who waits for it
