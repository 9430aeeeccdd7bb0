"""Which points of a series may be concluded from?"""

from collections.abc import Callable, Sequence

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
    disturbed = _forgive([p for p in own if LOAD_FLAGS.intersection(p.flags)])
    return disturbed, bool(disturbed)


def trustworthy_enough(own: Sequence[Point], is_enough: Callable[[Sequence[Point]], bool]) -> tuple[list[Point], bool]:
    """Return the points of one series as ``most_trustworthy`` does, but disturbed ones too where those are too few.

    For a series that says nothing without its base, such as the speed-up over one worker: leaving out
    one disturbed point must not lose all the others.
    """
    good, is_provisional = most_trustworthy(own)
    if is_enough(good):
        return good, is_provisional
    every = _forgive(own)
    return (every, True) if is_enough(every) else (good, is_provisional)


def _forgive(points: Sequence[Point]) -> list[Point]:
    """Return the usable ones of these points, whatever load or drift they were flagged for."""
    return usable([p.model_copy(update={"flags": tuple(f for f in p.flags if f not in LOAD_FLAGS)}) for p in points])
