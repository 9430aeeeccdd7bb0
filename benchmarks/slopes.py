"""Does something grow? A straight line through samples, how sure it is, and what that says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.report import Figure

# Neighbouring samples tell the same thing; the means of blocks are as good as independent.
_BLOCKS = 10
# Student's t for 95 % and 8 degrees of freedom: ten blocks, less slope and level.
_T95 = 2.306


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at a process; ``at_s`` since the beginning."""

    at_s: float
    pid: int
    memory_bytes: int
    n_handles: int
    n_threads: int


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth a minute, and the half-width of its 95 % interval."""

    per_min: float
    half_width: float

    def tell(self, most: float) -> tuple[str, bool | None]:
        """Return the verdict and whether it holds; None: the samples cannot tell."""
        if self.per_min - self.half_width > most:
            return "grows", False
        if self.per_min + self.half_width <= most:
            return "flat", True
        return "cannot tell, repeat it for longer", None


def find_slope(samples: Sequence[tuple[float, float]]) -> Slope | None:
    """Return the slope of (seconds, value) samples by least squares over block means; None for too few of them."""
    if len(samples) < 2 * _BLOCKS:
        return None
    blocks = np.array([np.mean(block, axis=0) for block in np.array_split(np.array(samples, dtype=float), _BLOCKS)])
    minutes, level = blocks[:, 0] / 60, blocks[:, 1]
    spread = float(np.sum((minutes - minutes.mean()) ** 2))
    per_min = float(np.sum((minutes - minutes.mean()) * (level - level.mean())) / spread)
    left = level - level.mean() - per_min * (minutes - minutes.mean())
    error = math.sqrt(float(np.sum(left**2)) / (_BLOCKS - 2) / spread)
    return Slope(per_min, _T95 * error)


def tell_slope(name: str, samples: Sequence[tuple[float, float]], unit: str, most: float, remark: str = "") -> Figure:
    """Return the slope as a figure: what it is, how sure, and the verdict."""
    wanted = f"at most {most:g} {unit}"
    slope = find_slope(samples)
    if slope is None:
        return Figure(name, f"{len(samples)} samples are too few", wanted)
    verdict, holds = slope.tell(most)
    found = f"{slope.per_min:+.2f} ± {slope.half_width:.2f} {unit}: {verdict}{remark}"
    return Figure(name, found, wanted, holds)
