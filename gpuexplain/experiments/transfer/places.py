"""Among how many places must a copy rotate so that it finds nothing in the caches?

A copy of a buffer that was copied a moment ago reads from a cache, four times as fast as from
memory on some machines: that is no copy that a program makes. So the same size is copied from and to
one place after the other, until the first has left the caches.
"""

import math
import random

# Bytes touched between two uses of a place, as a share of the last-level cache, from which on a copy
# counts as cache-cold.
COLD_RATIO = 2.0
# More pairs of small tensors would themselves fill the caches.
MOST_PLACES = 4096
# What the places of one size may take of the memory that is free, source and target together.
MEMORY_SHARE = 1 / 8
# Taken where the machine does not tell its last-level cache: no ratio is claimed then.
ASSUMED_CACHE_BYTES = 32 * 2**20
_SEED = 0


def count_places(
    size_bytes: int, cache_bytes: int | None, *, touched: int, window_bytes: float, most: int = MOST_PLACES
) -> int:
    """Return how many places of ``size_bytes`` to rotate among, at least 1.

    Args:
        size_bytes: Of one copy.
        cache_bytes: Last-level cache; None where it is not known.
        touched: How often a copy touches main memory for each byte: 2 within it, 1 over a link.
        window_bytes: What all places of one buffer may take together.
        most: Never more than this.
    """
    wanted = math.ceil(COLD_RATIO * (cache_bytes or ASSUMED_CACHE_BYTES) / (touched * size_bytes))
    return max(1, min(wanted, int(window_bytes // size_bytes), most))


def ratio_of_places(size_bytes: int, n_places: int, cache_bytes: int | None, *, touched: int) -> float | None:
    """Return bytes touched between two uses of a place / last-level cache; None where that is not known."""
    return touched * size_bytes * n_places / cache_bytes if cache_bytes else None


def shuffle_places(n_places: int) -> list[int]:
    """Return the numbers of the places in a fixed random order: neighbours would be fetched ahead."""
    order = list(range(n_places))
    random.Random(_SEED).shuffle(order)
    return order
