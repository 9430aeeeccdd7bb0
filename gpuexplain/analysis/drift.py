"""Did the samples of a case move while they were taken?"""

from collections.abc import Sequence
from statistics import median

from gpuexplain.analysis.intervals import FEWEST_SAMPLES, median_interval
from gpuexplain.findings import Drift, NotFound

# A third has an interval from six samples on.
FEWEST_FOR_DRIFT = 3 * FEWEST_SAMPLES


def find_drift(samples_s: Sequence[float]) -> Drift | NotFound:
    """Return whether the samples (seconds, in the order taken) drift.

    Rule: the median of the first third and the median of the last third each have a 95 % interval
    by order statistics; the case drifts when the two intervals do not touch, so that the thirds
    differ by more than their intervals. The middle third is left out, so that a slow trend has time
    to show. Under 18 samples a third has no interval, and nothing is said.
    """
    n = len(samples_s)
    third = n // 3
    first, last = median_interval(samples_s[:third]), median_interval(samples_s[n - third :])
    if first is None or last is None:
        return NotFound("drift", f"{n} samples, {FEWEST_FOR_DRIFT} are needed; run with a larger budget")
    early, late = median(samples_s[:third]), median(samples_s[n - third :])
    return Drift(
        first_third_s=early,
        last_third_s=late,
        change=late / early - 1,
        is_drifting=first[1] < last[0] or last[1] < first[0],
        n_samples=n,
    )
