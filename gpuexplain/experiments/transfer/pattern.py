"""What is copied, and did it arrive: values that depend on where they stand (torch)."""

from collections.abc import Iterator

import torch

_SEED = 0
# Values of a tile; every tile holds the same seeded values, turned by another distance.
TILE_VALUES = 2**20
_TURN = 7919  # prime: no two tiles of a buffer that fits a computer are turned alike
# Of a larger copy the first and the last tile and some between are looked at: 32 MiB.
MOST_CHECKED_TILES = 8


class Pattern:
    """Seeded uniform [-1, 1) fp32 values for every position of a buffer, made without storing them."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(_SEED)
        tile = torch.rand(TILE_VALUES, generator=generator).mul_(2).sub_(1)
        self._twice = torch.cat([tile, tile])

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, torch.Tensor]]:
        """Yield (start, stop, values) of the stretches of one tile that make up ``start`` to ``stop``."""
        for tile in range(start // TILE_VALUES, -(-stop // TILE_VALUES)):
            first = max(start, tile * TILE_VALUES)
            last = min(stop, (tile + 1) * TILE_VALUES)
            turned = (tile * _TURN) % TILE_VALUES + first - tile * TILE_VALUES
            yield first, last, self._twice[turned : turned + last - first]

    def write(self, buffer: torch.Tensor, start: int, stop: int) -> None:
        """Fill ``buffer[start:stop]``, on whatever device it is."""
        for first, last, values in self.parts(start, stop):
            buffer[first:last].copy_(values)

    def checked_parts(self, start: int, stop: int) -> list[tuple[int, int, torch.Tensor]]:
        """Return the parts that a check looks at: all, or the two ends and some between."""
        parts = list(self.parts(start, stop))
        if len(parts) <= MOST_CHECKED_TILES:
            return parts
        step = (len(parts) - 1) / (MOST_CHECKED_TILES - 1)
        return [parts[round(i * step)] for i in range(MOST_CHECKED_TILES)]

    def erase(self, target: torch.Tensor, start: int) -> None:
        """Put zeros where the check of ``target`` (which begins at ``start`` of its buffer) will look."""
        for first, last, _ in self.checked_parts(start, start + len(target)):
            target[first - start : last - start].zero_()

    def count_wrong(self, target: torch.Tensor, start: int) -> int:
        """Return how many of the looked-at values of ``target`` are not those of its place."""
        wrong = 0
        for first, last, values in self.checked_parts(start, start + len(target)):
            got = target[first - start : last - start].cpu()
            if not torch.equal(got, values):
                wrong += int((got != values).sum())
        return wrong
