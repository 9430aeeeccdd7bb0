"""What does a call cost before it does any work: the launch floor and the cold call."""

from collections.abc import Sequence

from gpuexplain.analysis.thresholds import exceeds
from gpuexplain.findings import ColdCall, LaunchFloor, NotFound
from gpuexplain.model import Point
from gpuexplain.points import usable

# Times this close to the shortest count as flat: were a quarter of the time work, eightfold work
# would nearly treble it, so a flat stretch is at most 4 % work at its small end.
FLAT_WITHIN = 1.25
# The work must grow this much along the flat stretch, or the sizes are merely close to each other.
# One doubling of n is eight times the work of a matrix product.
WORK_GROWS_BY = 8.0
# Two points are always a line; a third shows that it is flat.
FEWEST_SIZES = 3


def find_launch_floor(points: Sequence[Point]) -> LaunchFloor | NotFound:
    """Return the time (s) under which the calls of one series do not fall, however small the work.

    Rule: from the smallest size on, take sizes as long as the longest time is within 1.25 of the
    shortest. It is a floor when that holds for three sizes or more while the work (FLOPs, else
    bytes) grows at least eightfold; the shortest of those times is the floor.
    """
    rows = sorted((work, p.x, p.median_s, p.series) for p in usable(points) if (work := _work(p)) and p.median_s)
    flat = 0
    for end in range(1, len(rows) + 1):
        times = [time for _, _, time, _ in rows[:end]]
        if exceeds(max(times), FLAT_WITHIN * min(times)):
            break
        flat = end
    if flat < FEWEST_SIZES or rows[flat - 1][0] < WORK_GROWS_BY * rows[0][0]:
        reason = "the time falls with the size down to the smallest one; add smaller sizes"
        return NotFound("launch floor", reason)
    return LaunchFloor(
        series=rows[0][3],
        floor_s=min(time for _, _, time, _ in rows[:flat]),
        up_to_x=rows[flat - 1][1],
        within=FLAT_WITHIN,
    )


def _work(point: Point) -> float | None:
    return point.flops or point.bytes


def find_cold_call(points: Sequence[Point]) -> ColdCall | NotFound:
    """Return the first call (s) that costs most beside the median of its warm ones."""
    calls = [
        ColdCall(p.series, p.x, p.first_call_s, p.median_s, p.first_call_s / p.median_s)
        for p in usable(points)
        if p.first_call_s and p.median_s
    ]
    if not calls:
        return NotFound("cold call", "no point recorded its first call; run the sweep again")
    return max(calls, key=lambda call: call.factor)
