"""Which points of a series may be concluded from?"""

from collections.abc import Sequence

from gpuexplain.model import Point
from gpuexplain.points import LOAD_FLAGS, usable


def most_trustworthy(own: Sequence[Point]) -> tuple[list[Point], bool]:
    """Return the points of one series to conclude from, and whether they are only provisional.

    A flagged point never stands beside a clean one. Where the machine was busy throughout (a browser
    on the same cores is enough), disturbed points are all there is: better an answer that says so
    than none. Points flagged for what they say (suspect, above the peak) stay out. For frames there is
    ``least_disturbed_rows``.
    """
    good = usable(own)
    if good:
        return good, False
    disturbed = [
        p.model_copy(update={"flags": tuple(f for f in p.flags if f not in LOAD_FLAGS)})
        for p in own
        if LOAD_FLAGS.intersection(p.flags)
    ]
    return usable(disturbed), bool(usable(disturbed))
