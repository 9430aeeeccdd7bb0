"""Which sizes of a series cannot be true, because larger work took far less time?"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from gpuexplain.analysis.thresholds import ROUNDING

# A smaller product may be slower than a larger one by a badly chosen kernel (tile and wave effects
# reach 1.4), but half as much again points at a missing synchronisation or a stray cold call.
SUSPECT_RATIO = 1.5


def find_suspects(times: Sequence[float], ratio: float = SUSPECT_RATIO) -> list[int]:
    """Return the positions to drop so that no time is above ``ratio`` x the time of a later one.

    ``times`` are by rising size. The set is a smallest one; of several, the one with the smaller
    sizes (first difference decides). Exact, in O(n log n).

    What must still go, seen from position i, is a rising step function f_i(M) of the largest time
    M kept so far, so it is stored as its value at zero and the sorted times behind which it rises
    by one. Walking from the last size to the first, taking size i into account does two things:
    every M above ratio x t_i costs one more, and below t_i the last rise disappears, because one may
    drop t_i instead of keeping it. The walk back undoes these steps and reads the choice.
    """
    rises: list[float] = []
    base = 0
    removed: list[float | None] = []  # by step: the rise that disappeared
    limits = [ratio * (1 + ROUNDING) * t for t in times]
    for t, limit in zip(reversed(times), reversed(limits), strict=True):
        below = bisect_left(rises, t)
        removed.append(rises.pop(below - 1) if below else None)
        base += removed[-1] is not None
        insort(rises, limit)
    return _choose(times, limits, rises, base, removed)


def _choose(
    times: Sequence[float], limits: list[float], rises: list[float], base: int, removed: list[float | None]
) -> list[int]:
    """Undo the steps from the first size on, dropping a size whenever that costs nothing more."""
    suspects = []
    largest_kept = 0.0
    for i, (t, limit) in enumerate(zip(times, limits, strict=True)):
        cost = base + bisect_left(rises, largest_kept)
        rises.pop(bisect_right(rises, limit) - 1)
        rise = removed.pop()
        if rise is not None:
            base -= 1
            insort(rises, rise)
        if 1 + base + bisect_left(rises, largest_kept) == cost:
            suspects.append(i)
        else:
            largest_kept = max(largest_kept, t)
    return suspects
