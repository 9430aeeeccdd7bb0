"""Which raw samples of a point are kept when there are too many to keep all?"""

from gpuexplain.model import Point

# Quartiles and order-statistic intervals from 2,000 evenly chosen samples differ from those of all
# by less than a point's own interval; 200 cases then fit in about 10 MB.
MAX_KEPT_SAMPLES = 2_000


def thin_samples(point: Point, limit: int = MAX_KEPT_SAMPLES) -> Point:
    """Return the point with at most ``limit`` samples, evenly spaced in time, first and last included.

    ``n_samples`` stays the number taken; ``calls_per_sample`` keeps matching ``samples_s``.
    """
    taken = len(point.samples_s)
    if taken <= limit:
        return point
    kept = [round(i * (taken - 1) / (limit - 1)) for i in range(limit)]
    calls = point.calls_per_sample
    return point.model_copy(
        update={
            "samples_s": tuple(point.samples_s[i] for i in kept),
            "calls_per_sample": tuple(calls[i] for i in kept) if len(calls) == taken else calls,
            "n_samples": max(point.n_samples, taken),
        }
    )
