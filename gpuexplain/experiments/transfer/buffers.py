"""The memory that is copied from and to: one buffer of each kind, of which every size is a slice (torch)."""

import mmap
import sys
from collections.abc import Callable

import torch

from gpuexplain.errors import UnsupportedError
from gpuexplain.experiments.transfer.pattern import Pattern
from gpuexplain.experiments.transfer.places import shuffle_places
from gpuexplain.experiments.transfer.spec import BYTES_PER_VALUE

# Of a slice: its first value, the slice of the target and that of the source.
Place = tuple[int, torch.Tensor, torch.Tensor]


class Buffer:
    """fp32 values, filled with the pattern as far as somebody needs them."""

    def __init__(self, values: torch.Tensor, pattern: Pattern) -> None:
        self.values = values
        self._pattern = pattern
        self._filled = 0

    def fill(self, n_values: int) -> None:
        """Have the pattern in the first ``n_values``: their pages are touched, too."""
        if n_values > self._filled:
            self._pattern.write(self.values, self._filled, n_values)
            self._filled = n_values


class Buffers:
    """One buffer of each kind, made when first asked for; ``n_values`` is the length of each."""

    def __init__(
        self,
        n_values: int,
        device: str,
        pin: Callable[[int], torch.Tensor] | None = None,
        pin_copy: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.pin_memory,
    ) -> None:
        """Make nothing yet; ``pin`` gives pinned memory, ``pin_copy`` a pinned copy (fakes in tests)."""
        self.pattern = Pattern()
        self.pin_copy = pin_copy
        self._n_values = n_values
        self._device = device
        self._pin = pin or _pin
        self._made: dict[str, Buffer] = {}
        self._places: dict[tuple[str, str, int, int], list[Place]] = {}

    def _buffer(self, kind: str, make: Callable[[], torch.Tensor]) -> Buffer:
        if kind not in self._made:
            self._made[kind] = Buffer(make(), self.pattern)
        return self._made[kind]

    @property
    def pageable(self) -> Buffer:
        """Memory of the host as every program has it."""
        return self._buffer("pageable", lambda: torch.empty(self._n_values))

    @property
    def second(self) -> Buffer:
        """Another one, to copy to within main memory."""
        return self._buffer("second", lambda: torch.empty(self._n_values))

    @property
    def pinned(self) -> Buffer:
        """Memory of the host that the operating system may not move.

        Raises:
            UnsupportedError: If it cannot be had; says why, and that pageable memory stands for it.
        """
        return self._buffer("pinned", lambda: self._pin(self._n_values))

    @property
    def device(self) -> Buffer:
        """Memory of the GPU."""
        return self._buffer("device", lambda: torch.empty(self._n_values, device=self._device))

    def places(self, target: Buffer, source: Buffer, size_bytes: int, n_places: int) -> list[Place]:
        """Return slices of ``size_bytes`` at ``n_places`` places, in a fixed random order, filled.

        A slice of the target holds the pattern of its place after a copy, and before it.
        """
        length = size_bytes // BYTES_PER_VALUE
        source.fill(length * n_places)
        target.fill(length * n_places)
        key = (self._kind(target), self._kind(source), size_bytes, n_places)
        if key not in self._places:
            starts = [number * length for number in shuffle_places(n_places)]
            self._places[key] = [
                (at, target.values[at : at + length], source.values[at : at + length]) for at in starts
            ]
        return self._places[key]

    def _kind(self, buffer: Buffer) -> str:
        return next(kind for kind, made in self._made.items() if made is buffer)


def _pin(n_values: int) -> torch.Tensor:
    try:
        return torch.empty(n_values, pin_memory=True)
    except RuntimeError as error:
        why = str(error).strip().splitlines()[0]
        raise UnsupportedError(
            f"Memory cannot be pinned here ({why}); the series from pageable memory stands for this one."
        ) from None


def fresh_memory(size_bytes: int) -> mmap.mmap:
    """Return memory that no program has touched yet: the kernel hands out its pages one by one."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size_bytes)
    return mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def empty_pinned_cache() -> bool:
    """Give torch's unused pinned memory back to the system; False where this torch cannot."""
    empty = getattr(torch._C, "_host_emptyCache", None) or getattr(torch._C, "_accelerator_emptyHostCache", None)
    if empty is None:
        return False
    try:
        empty()
    except RuntimeError:  # a build without any device to pin memory for
        return False
    return True
