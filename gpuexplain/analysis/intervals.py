"""Between which bounds does a median lie, from the samples alone?"""

import math
from collections.abc import Sequence

# The confidence that every interval of this package means.
CONFIDENCE = 0.95
# Below six samples even the whole range covers the median with less than 95 %.
FEWEST_SAMPLES = 6


def median_interval(samples: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the median by order statistics; None under six samples.

    The k-th smallest and k-th largest sample enclose the median unless fewer than k of n fall on
    one side of it, a binomial chance; k is the largest that keeps the confidence (Conover, Practical
    Nonparametric Statistics, section 3.2).
    """
    n = len(samples)
    if n < FEWEST_SAMPLES:
        return None
    outside = 0.0  # chance that at most k - 1 samples fall below the median, one side
    k = 0
    while k < n // 2:
        outside += math.comb(n, k) * 0.5**n if n < 1000 else _normal_step(n, k)
        if 2 * outside > 1 - CONFIDENCE:
            break
        k += 1
    ordered = sorted(samples)
    return ordered[k - 1], ordered[n - k]


def _normal_step(n: int, k: int) -> float:
    # The exact term would overflow a float: the same number by logarithms.
    log_term = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    return math.exp(log_term)
