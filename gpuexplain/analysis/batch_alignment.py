"""Are batches that are multiples of 8 or 64 worth choosing?"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
import pandas as pd

from gpuexplain.analysis.rows import Rates, read_rates, require_columns
from gpuexplain.analysis.thresholds import exceeds, falls_short
from gpuexplain.findings import Alignment, NotFound

# Kernels work on tiles of 8 to 256 rows; a batch between two multiples pays for the larger one.
MULTIPLES = (64, 8)
# Under this an aligned batch is not worth an extra thought.
PAYS_FROM = 1.05
# One pair may be a coincidence.
FEWEST_PAIRS = 2


@dataclass(frozen=True, slots=True)
class _Pair:
    """Throughput of an aligned batch over that of a neighbour, with its bounds."""

    gain: float
    low: float
    high: float


def find_alignment(frame: pd.DataFrame) -> Alignment | NotFound:
    """Return whether a multiple of 64 (else of 8) has more throughput than the batch one less or one more.

    ``batch`` with ``throughput`` or ``seconds`` and optional bounds. It pays where every pair gains more
    than 5 % beyond its bounds, not where some pair surely gains less; anything else is too noisy.

    Raises:
        PointsError: If a column is missing.
    """
    require_columns(frame, ("batch", "throughput|seconds"), "an alignment")
    batches = frame["batch"].to_numpy(dtype=np.float64)
    points = read_rates(frame, "batch", "throughput", batches, unit=1.0)
    for multiple in MULTIPLES:
        pairs = list(_pairs(points, multiple))
        if len(pairs) >= FEWEST_PAIRS:
            return _judge(multiple, pairs)
    reason = "no batches next to a multiple of 8 were measured; switch the dense zoom on"
    return NotFound("alignment", reason)


def _pairs(points: Rates, multiple: int) -> Iterator[_Pair]:
    at = {int(size): i for i, size in enumerate(points.sizes)}
    for batch, i in at.items():
        if batch % multiple:
            continue
        for neighbour in (batch - 1, batch + 1):
            j = at.get(neighbour)
            if j is not None:
                yield _Pair(
                    float(points.rates[i] / points.rates[j]),
                    float(points.low[i] / points.high[j]),
                    float(points.high[i] / points.low[j]),
                )


def _judge(multiple: int, pairs: list[_Pair]) -> Alignment | NotFound:
    pays = all(exceeds(pair.low, PAYS_FROM) for pair in pairs)
    pays_not = any(falls_short(pair.high, PAYS_FROM) for pair in pairs)
    if not pays and not pays_not:
        return NotFound("alignment", f"{len(pairs)} pairs are too uncertain to tell; run with a larger budget")
    return Alignment(
        multiple=multiple,
        pays=pays,
        gain=float(median(pair.gain for pair in pairs)),
        low=min(pair.low for pair in pairs),
        high=max(pair.high for pair in pairs),
        n_pairs=len(pairs),
    )
