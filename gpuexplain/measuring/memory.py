"""How much memory does a call take at its peak, and what keeps a process from taking too much?"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpuexplain.hardware.files import ROOT
from gpuexplain.model import Gauges

# Written to clear_refs, this resets the peak of the resident set (Linux proc(5)).
RESET_PEAK = "5"
UNLIMITED = -1  # resource.RLIM_INFINITY, a module that not every system has
NO_PROC = "this system has no /proc to read it from"
SHARED_DEVICE = "another process uses the device, or that cannot be told: its memory is in the same sum"


def read_process_bytes(field: str, root: Path = ROOT) -> int | None:
    """Return a size of this process such as ``VmRSS``, ``VmHWM`` or ``VmData``; None where it is not told."""
    try:
        lines = (root / "proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    text = next((line for line in lines if line.startswith(f"{field}:")), "")
    return int(text.split()[1]) * 1024 if text else None


def return_freed_memory() -> None:
    """Give what was freed back to the system, where the C library can: else it still counts as resident."""
    if not sys.platform.startswith("linux"):
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
    if trim is not None:
        trim(0)


class _AllocatorInfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc 2.33 and newer (mallinfo(3)), sizes in bytes."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    )


def read_freed_bytes() -> int:
    """Return what the C library keeps of freed memory: it still counts as data, and the next calls reuse it."""
    if not sys.platform.startswith("linux"):
        return 0
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _AllocatorInfo
    return int(ask().fordblks)


class ResidentMemory:
    """Peak resident memory (bytes) of a call: what was kept for it since this was made, and what it adds.

    What is kept is read before the first call measured; caches that grow from call to call would else
    be put down to the later ones.
    """

    def __init__(self, root: Path = ROOT) -> None:
        return_freed_memory()
        self._root = root
        self._base_bytes = read_process_bytes("VmRSS", root)
        self._kept_bytes: int | None = None

    def measure_peak(
        self, call: Callable[[], object], *, all_inputs_bytes: int = 0, own_inputs_bytes: int = 0
    ) -> Gauges:
        """Return the peak of one call with its own inputs, without those that are kept for other calls."""
        why_not = self._reset_peak()
        before_bytes = read_process_bytes("VmRSS", self._root)
        if self._kept_bytes is None and before_bytes is not None and self._base_bytes is not None:
            self._kept_bytes = before_bytes - self._base_bytes - all_inputs_bytes
        call()
        peak_bytes = read_process_bytes("VmHWM", self._root)
        if why_not or peak_bytes is None or before_bytes is None or self._kept_bytes is None:
            return Gauges(not_reported={"memory_resident_bytes": why_not or NO_PROC})
        added_bytes = max(0, peak_bytes - before_bytes)
        return Gauges(memory_resident_bytes=max(0, self._kept_bytes + own_inputs_bytes + added_bytes))

    def _reset_peak(self) -> str:
        """Begin a new peak; return "" or why that cannot be done."""
        return_freed_memory()
        try:
            (self._root / "proc/self/clear_refs").write_text(RESET_PEAK, encoding="ascii")
        except OSError as error:
            return f"the peak cannot be reset: {error.strerror or error}"
        return ""


class DeviceMemory:
    """Peak memory (bytes) of one CUDA device: live tensors, what the allocator held, the context apart.

    ``cuda`` is ``torch.cuda``, or a stand-in in tests.
    """

    def __init__(self, device: str, cuda: Any) -> None:
        self._device, self._cuda = device, cuda
        cuda.empty_cache()
        self._base_allocated_bytes = int(cuda.memory_allocated(device))
        self._base_reserved_bytes = int(cuda.memory_reserved(device))

    def measure_peak(
        self,
        call: Callable[[], object],
        *,
        all_inputs_bytes: int = 0,
        own_inputs_bytes: int = 0,
        has_device_alone: bool = False,
    ) -> Gauges:
        """Return the peaks of one call with its own inputs, without those that are kept for other calls."""
        cuda, device = self._cuda, self._device
        foreign_bytes = all_inputs_bytes - own_inputs_bytes
        cuda.empty_cache()
        cuda.reset_peak_memory_stats(device)
        call()
        cuda.synchronize(device)
        allocated_bytes = int(cuda.max_memory_allocated(device)) - self._base_allocated_bytes - foreign_bytes
        reserved_bytes = int(cuda.max_memory_reserved(device)) - self._base_reserved_bytes - foreign_bytes
        return Gauges(
            memory_allocated_bytes=max(0, allocated_bytes),
            memory_reserved_bytes=max(0, reserved_bytes),
            memory_context_bytes=self._read_context() if has_device_alone else None,
            not_reported={} if has_device_alone else {"memory_context_bytes": SHARED_DEVICE},
        )

    def _read_context(self) -> int:
        """What is used beyond the allocator's share: the context, the libraries' own and the driver's."""
        free_bytes, total_bytes = self._cuda.mem_get_info(self._device)
        return max(0, int(total_bytes) - int(free_bytes) - int(self._cuda.memory_reserved(self._device)))


@contextmanager
def data_limit(limit_bytes: int | None) -> Iterator[None]:
    """Let this process hold at most ``limit_bytes`` of data inside: a larger allocation fails, recoverably.

    A soft RLIMIT_DATA, given back afterwards. Without a limit, or where the system has none, nothing happens.
    """
    bounds = _data_bounds() if limit_bytes is not None else None
    if bounds is None or limit_bytes is None:
        yield
        return
    soft, hard = bounds
    with _soft_data_limit(min(bound for bound in (limit_bytes, soft, hard) if bound != UNLIMITED)):
        yield


@contextmanager
def no_data_limit() -> Iterator[None]:
    """Lift a ``data_limit`` inside: for what is no part of the measurement."""
    bounds = _data_bounds()
    if bounds is None:
        yield
        return
    with _soft_data_limit(bounds[1]):
        yield


@contextmanager
def _soft_data_limit(limit_bytes: int) -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def can_limit_data() -> bool:
    """Whether ``data_limit`` works here."""
    return _data_bounds() is not None


def _data_bounds() -> tuple[int, int] | None:
    """Return the soft and the hard limit (bytes; -1 is none) where the system counts what allocators map."""
    if not sys.platform.startswith("linux"):
        return None
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)
