"""What energy does one call take: a counter read around a block of calls, or why there is none."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pynvml

from gpuexplain.hardware.files import ROOT, read_int, read_text

# A counter moves in steps of 20 to 100 ms: a shorter block would read a step or none.
BLOCK_S = 0.2
# Calls between two looks at the counter, in seconds: few enough to meet its step, many enough to keep busy.
LOOK_EVERY_S = 0.01
# A counter that has not moved for so long under load is not a counter.
LONGEST_WAIT_S = 0.5
_POWERCAP = "sys/class/powercap"


class EnergyCounter(Protocol):
    """Something that only rises."""

    scope: str  # whose energy it counts, in words

    def read_j(self) -> float:
        """Return the joules so far.

        Raises:
            OSError, pynvml.NVMLError: If it cannot be read any more.
        """
        ...


@dataclass(frozen=True, slots=True)
class EnergyReading:
    """Joules of one call, everything that the counter's part took meanwhile included."""

    energy_j: float
    n_calls: int
    block_s: float
    scope: str


@dataclass(frozen=True, slots=True)
class NotReported:
    """Why there is no figure."""

    reason: str


class NvmlEnergyCounter:
    """The energy that a whole card took since the driver was loaded."""

    scope = "the whole card, what it draws when idle included"

    def __init__(self, handle: Any, api: Any = pynvml) -> None:
        self._handle, self._api = handle, api

    def read_j(self) -> float:
        """Return the joules so far; NVML counts millijoules."""
        return float(self._api.nvmlDeviceGetTotalEnergyConsumption(self._handle)) / 1e3


class RaplEnergyCounter:
    """The energy of every CPU package, by the running average power limit counters of Linux.

    Source: https://docs.kernel.org/power/powercap/powercap.html
    """

    scope = "the whole processor, every program on it included"

    def __init__(self, packages: tuple[Path, ...]) -> None:
        """Take the folders of the packages.

        Raises:
            OSError: If one of them cannot be read.
        """
        self._packages = packages
        self._ranges_uj = [read_int(package / "max_energy_range_uj") or 0 for package in packages]
        self._last_uj = [self._read_uj(package) for package in packages]
        self._total_uj = 0

    def read_j(self) -> float:
        """Return the joules since it was opened; each package's counter wraps around."""
        for i, package in enumerate(self._packages):
            now_uj = self._read_uj(package)
            step_uj = now_uj - self._last_uj[i]
            self._total_uj += step_uj if step_uj >= 0 else step_uj + self._ranges_uj[i]
            self._last_uj[i] = now_uj
        return self._total_uj / 1e6

    @staticmethod
    def _read_uj(package: Path) -> int:
        return int((package / "energy_uj").read_text())


def open_cpu_counter(root: Path = ROOT) -> EnergyCounter | NotReported:
    """Return the counter of this machine's CPU packages, or why there is none."""
    folder = root / _POWERCAP
    packages = tuple(
        path for path in sorted(folder.glob("*-rapl:*")) if (read_text(path / "name") or "").startswith("package")
    )
    if not packages:
        return NotReported("the system shows no energy counter of the CPU (no RAPL package in /sys/class/powercap)")
    try:
        return RaplEnergyCounter(packages)
    except PermissionError:
        return NotReported("the CPU's energy counter may be read by root only (/sys/class/powercap/*/energy_uj)")
    except (OSError, ValueError) as error:
        return NotReported(f"the CPU's energy counter cannot be read: {error}")


def open_gpu_counter(uuid: str, api: Any = pynvml) -> EnergyCounter | NotReported:
    """Return the counter of the GPU of this UUID, or why there is none."""
    if uuid.upper().startswith("MIG-"):
        return NotReported("NVML counts the energy of the whole card, not of a MIG instance")
    try:
        api.nvmlInit()
        counter = NvmlEnergyCounter(api.nvmlDeviceGetHandleByUUID(uuid if "-" in uuid[:4] else f"GPU-{uuid}"), api)
        counter.read_j()
        return counter
    except pynvml.NVMLError as error:
        return NotReported(f"NVML: {error}")
    except AttributeError as error:  # an older binding
        return NotReported(f"NVML binding: {error}")


def measure_energy(
    counter: EnergyCounter,
    run_calls: Callable[[int], object],
    call_s: float,
    clock: Callable[[], float] = time.perf_counter,
) -> EnergyReading | NotReported:
    """Return the energy of one call, from one step of the counter to another at least 0.2 s later.

    Args:
        counter: What is read.
        run_calls: Runs so many calls and returns when the device has finished them.
        call_s: About how long a call takes (seconds).
        clock: Seconds.
    """
    few = max(1, math.ceil(LOOK_EVERY_S / max(call_s, 1e-9)))
    try:
        first = _run_to_next_step(counter, run_calls, few, clock, at_least_s=0.0)
        last = _run_to_next_step(counter, run_calls, few, clock, at_least_s=BLOCK_S) if first else None
    except (OSError, ValueError, pynvml.NVMLError) as error:
        return NotReported(f"the energy counter cannot be read: {error}")
    if first is None or last is None:
        return NotReported(f"the energy counter did not move within {LONGEST_WAIT_S:g} s")
    (start_j, start_s, _), (end_j, end_s, n_calls) = first, last
    return EnergyReading((end_j - start_j) / n_calls, n_calls, end_s - start_s, counter.scope)


def _run_to_next_step(
    counter: EnergyCounter,
    run_calls: Callable[[int], object],
    few: int,
    clock: Callable[[], float],
    at_least_s: float,
) -> tuple[float, float, int] | None:
    """Run calls until the counter moves; return (joules, when, calls), None if it does not move."""
    started_s, n_calls = clock(), 0
    before_j = counter.read_j()
    while clock() - started_s < at_least_s:
        run_calls(few)
        n_calls += few
        before_j = counter.read_j()
    waiting_since_s = clock()
    while clock() - waiting_since_s <= LONGEST_WAIT_S or n_calls == 0:
        run_calls(few)
        n_calls += few
        now_j = counter.read_j()
        if now_j > before_j:
            return now_j, clock(), n_calls
    return None
