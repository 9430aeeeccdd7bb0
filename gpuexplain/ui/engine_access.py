"""Where do pages and routes get the engine, the store and the facts about this machine?

One of each per process. Pages call these through the module (``access.get_runner()``), so that a
test can put a stand-in in their place.
"""

import threading
import time
from functools import cache

from gpuexplain.engine.runner import Runner
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine, TorchProbe
from gpuexplain.settings import load_settings
from gpuexplain.store.runs import RunStore, open_store

# Free memory and other users of the GPU change; names and counts do not. Old enough to be cheap.
MACHINE_AGE_S = 30.0


# A store that cannot be opened is tried again by every page: two at once must not make two engines.
_ONE_AT_A_TIME = threading.RLock()


def get_store() -> RunStore:
    """Return the store of this process.

    Raises:
        StoreError: If it cannot be opened, with what to do.
    """
    with _ONE_AT_A_TIME:
        return _open_store()


def get_runner() -> Runner:
    """Return the engine of this process (not started by this).

    Raises:
        StoreError: If its store cannot be opened, with what to do.
    """
    with _ONE_AT_A_TIME:
        return _make_runner()


@cache
def _open_store() -> RunStore:
    return open_store(load_settings())


@cache
def _make_runner() -> Runner:
    return Runner(get_store(), load_settings())


class _MachineWatch:
    """The latest look at the machine, renewed when it is old or when the worker's torch has spoken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._machine: Machine | None = None
        self._probe: TorchProbe | None = None
        self._looked_at_s = 0.0

    def machine(self, probe: TorchProbe | None) -> Machine:
        with self._lock:
            is_old = time.monotonic() - self._looked_at_s > MACHINE_AGE_S
            if self._machine is None or is_old or probe != self._probe:
                self._machine = inspect_machine(probe)
                self._probe = probe
                self._looked_at_s = time.monotonic()
            return self._machine


_WATCH = _MachineWatch()


def get_machine() -> Machine:
    """Return what this machine is, at most half a minute old."""
    return _WATCH.machine(get_runner().probe())
