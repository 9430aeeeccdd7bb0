"""A real CUDA device for the clocks, and what torch's exceptions mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from gpuexplain.errors import UnsupportedError
from gpuexplain.measuring.stopwatch import DeviceLostError, LaunchLimitError, OutOfMemoryError

# torch.cuda._sleep counts clock cycles; no SM clock is above this, so the wait is never too short.
FASTEST_SM_CLOCK_HZ = 3.2e9
# Texts of errors that leave the CUDA context usable.
_UNSUPPORTED_TEXTS = (
    "not implemented for",
    "CUBLAS_STATUS_NOT_SUPPORTED",
    "is not supported",
    "not compiled",
)
_LAUNCH_LIMIT_TEXTS = ("invalid configuration argument", "too many blocks")
_MEMORY_TEXTS = ("can't allocate memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED")


class TorchCuda:
    """One CUDA device through torch, on its current stream."""

    def __init__(self, device: str) -> None:
        self._device = torch.device(device)

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        torch.cuda.synchronize(self._device)

    def event(self) -> Any:
        """Return a timing event."""
        return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]

    def block_stream(self, duration_s: float) -> None:
        """Keep the current stream busy for at least ``duration_s``."""
        torch.cuda._sleep(int(duration_s * FASTEST_SM_CLOCK_HZ))  # type: ignore[no-untyped-call]


@contextmanager
def explained_errors() -> Iterator[None]:
    """Turn what torch raises during a case into the outcomes that the sweep knows.

    Raises:
        OutOfMemoryError: The case does not fit; the process goes on.
        LaunchLimitError: The launch is refused for its shape, not for memory.
        UnsupportedError: This device or build has no such operation.
        DeviceLostError: Any other CUDA error: it poisoned the context.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError(_first_line(error)) from None
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise _explain(_first_line(error)) from error


def _explain(text: str) -> Exception:
    if any(known in text for known in _MEMORY_TEXTS):
        return OutOfMemoryError(text)
    if any(known in text for known in _LAUNCH_LIMIT_TEXTS):
        return LaunchLimitError(f"The device refuses this launch (not for lack of memory): {text}")
    if any(known in text for known in _UNSUPPORTED_TEXTS):
        return UnsupportedError(f"Not supported here: {text}")
    return DeviceLostError(f"The device failed: {text}. The measuring process is restarted.")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def limit_device_memory(device: str, share_of_free: float) -> int:
    """Cap what this process may take of a device's free memory; return the cap in bytes."""
    free_bytes, total_bytes = torch.cuda.mem_get_info(torch.device(device))
    cap_bytes = int(free_bytes * share_of_free)
    torch.cuda.set_per_process_memory_fraction(min(1.0, cap_bytes / total_bytes), torch.device(device))
    return cap_bytes
