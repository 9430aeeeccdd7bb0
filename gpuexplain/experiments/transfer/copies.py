"""The ways to copy: each takes the next place and copies it; how each is checked (torch)."""

import mmap
from collections.abc import Callable
from itertools import cycle

import torch

from gpuexplain.experiments.transfer.buffers import Place, fresh_memory
from gpuexplain.experiments.transfer.pattern import Pattern
from gpuexplain.experiments.transfer.spec import BYTES_PER_VALUE
from gpuexplain.measuring.stopwatch import Check

Operation = Callable[[], object]
Advance = Callable[[], Place]
MakeOperation = Callable[[Advance], Operation]


def copy_and_wait(advance: Advance) -> Operation:
    """Return a copy that has finished, or may be waited for, when it returns: what a program writes."""

    def operation() -> None:
        _, target, source = advance()
        target.copy_(source)

    return operation


def copy_without_waiting(advance: Advance) -> Operation:
    """Return a copy that is only queued where source and device allow it; both slices outlive the wait."""

    def operation() -> None:
        _, target, source = advance()
        target.copy_(source, non_blocking=True)

    return operation


def copy_to_fresh_memory(advance: Advance) -> Operation:
    """Return a copy to memory that no program has touched yet, which is given back afterwards."""

    def operation() -> None:
        pages, target = _copy_to_fresh(advance()[2])
        del target  # before its memory goes
        pages.close()

    return operation


def _copy_to_fresh(source: torch.Tensor) -> tuple[mmap.mmap, torch.Tensor]:
    pages = fresh_memory(source.numel() * BYTES_PER_VALUE)
    target = torch.frombuffer(pages, dtype=source.dtype)
    target.copy_(source)
    return pages, target


class PinThenCopy:
    """Pins a copy of the source, then copies that: what ``x.pin_memory().to(device)`` does.

    The pinned copy is kept until ``let_go``, which comes after the synchronisation.
    """

    def __init__(self, advance: Advance, pin: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self._advance = advance
        self._pin = pin
        self._alive: torch.Tensor | None = None

    def __call__(self) -> None:
        """Pin and queue the copy."""
        _, target, source = self._advance()
        self._alive = self._pin(source)
        target.copy_(self._alive, non_blocking=True)

    def let_go(self) -> None:
        """Release the pinned copy of the call before."""
        self._alive = None


def copy_in_pieces(piece_bytes: int, *, wait: bool) -> MakeOperation:
    """Return what copies a place in pieces of ``piece_bytes``, one after the other."""
    length = piece_bytes // BYTES_PER_VALUE

    def make(advance: Advance) -> Operation:
        split: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

        def operation() -> None:
            start, target, source = advance()
            if start not in split:
                split[start] = list(zip(torch.split(target, length), torch.split(source, length), strict=True))
            for to, of in split[start]:
                to.copy_(of, non_blocking=not wait)

        return operation

    return make


def rotate(places: list[Place]) -> Advance:
    """Return what gives one place after the other, for ever."""
    return cycle(places).__next__


def check_copy(
    make: MakeOperation,
    places: list[Place],
    pattern: Pattern,
    synchronize: Operation,
    *,
    before: Operation = lambda: None,
    after: Operation = lambda: None,
) -> Check:
    """Erase the target of one place, copy, wait, and look whether every value is the one of its place.

    ``before`` and ``after`` run around the copy: they set the threads that the measured copies have.
    """
    place = places[-1]
    start, target, _ = place
    pattern.erase(target, start)
    synchronize()  # a copy on a stream of its own must not overtake the erasing
    before()
    make(lambda: place)()
    synchronize()
    after()
    return judge_copy(pattern.count_wrong(target, start))


def check_fresh_copy(places: list[Place], pattern: Pattern) -> Check:
    """Copy to fresh memory, and look at it before it is given back."""
    start, _, source = places[-1]
    pages, target = _copy_to_fresh(source)
    wrong = pattern.count_wrong(target, start)
    del target, pages
    return judge_copy(wrong)


def judge_copy(n_wrong: int) -> Check:
    """Return what differing values mean: a copy is exact or it failed."""
    if n_wrong:
        return Check(
            None, 0, 0, failure=f"The copy is wrong: {n_wrong} of the values looked at are not their source's."
        )
    return Check(0.0, 0, 0)
