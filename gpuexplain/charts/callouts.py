"""Where the names of scattered points stand: near their point, on no other point and on no other name."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

from gpuexplain.charts.labels import CHARACTER_PX, LINE_HEIGHT_PX

# Plot areas that a name must fit in: a phone's and a laptop's. What is free of overlap in both is so between.
PLOTS_PX = ((215.0, 330.0), (560.0, 330.0))
MARKER_PX = 15.0
_DISTANCES_PX = (13.0, 24.0, 38.0, 54.0, 72.0)
_DIRECTIONS = 16
_PASSES = 3  # a name that was placed early may make room for a later one
_OUTSIDE = 60.0  # leaving the plot is worse than any overlap
_PER_PX = 0.35  # a near name is read with its point; a far one needs a line


@dataclass(frozen=True, slots=True)
class Callout:
    """A name wanted beside (x, y), both as shares of the plot from 0 to 1; the first ones choose first."""

    text: str  # may hold <br>
    color: str
    x: float
    y: float

    @property
    def size_px(self) -> tuple[float, float]:
        """Width and height, roughly."""
        rows = self.text.split("<br>")
        return CHARACTER_PX * max(len(row) for row in rows), LINE_HEIGHT_PX * len(rows)


Box = tuple[float, float, float, float]  # left, bottom, right, top


def place_callouts(callouts: Sequence[Callout], obstacles: Sequence[tuple[float, float]] = ()) -> list[tuple[int, int]]:
    """Return, by callout, where its middle stands: pixels to the right of its point, and above it.

    Args:
        callouts: What to place.
        obstacles: Further points, as shares of the plot, that no name may cover.
    """
    points = [*((c.x, c.y) for c in callouts), *obstacles]
    markers = [[_marker(point, plot) for point in points] for plot in PLOTS_PX]
    placed: dict[int, tuple[float, float]] = {}
    for _ in range(_PASSES):
        for number, callout in enumerate(callouts):
            placed.pop(number, None)
            taken = _with_names(markers, callouts, placed)
            placed[number] = min(_candidates(callout), key=partial(_cost, callout, taken))
        if not _is_crowded(callouts, placed):
            break
    return [(round(placed[number][0]), round(placed[number][1])) for number in range(len(callouts))]


def _with_names(
    markers: Sequence[Sequence[Box]], callouts: Sequence[Callout], placed: Mapping[int, tuple[float, float]]
) -> list[list[Box]]:
    """Return, by plot, every box that a name must leave free."""
    return [
        [*boxes, *(_box(callouts[number], offset, plot) for number, offset in placed.items())]
        for boxes, plot in zip(markers, PLOTS_PX, strict=True)
    ]


def _is_crowded(callouts: Sequence[Callout], placed: Mapping[int, tuple[float, float]]) -> bool:
    """Return whether two names lie on each other in any plot."""
    for plot in PLOTS_PX:
        boxes = [_box(callouts[number], offset, plot) for number, offset in placed.items()]
        if any(_overlap(one, other) > 0 for one, other in combinations(boxes, 2)):
            return True
    return False


def _candidates(callout: Callout) -> Iterator[tuple[float, float]]:
    """Yield offsets of the middle such that the edge of the name keeps its distance from the point."""
    width, height = callout.size_px
    for distance in _DISTANCES_PX:
        for step in range(_DIRECTIONS):
            angle = 2 * math.pi * step / _DIRECTIONS
            across, up = math.cos(angle), math.sin(angle)
            yield across * (distance + width / 2), up * (distance + height / 2 - LINE_HEIGHT_PX / 4)


def _cost(callout: Callout, taken: Sequence[Sequence[Box]], offset: tuple[float, float]) -> float:
    width, height = callout.size_px
    edge_px = math.hypot(max(0.0, abs(offset[0]) - width / 2), max(0.0, abs(offset[1]) - height / 2))
    cost = _PER_PX * edge_px
    for boxes, plot in zip(taken, PLOTS_PX, strict=True):
        box = _box(callout, offset, plot)
        cost += sum(_overlap(box, other) for other in boxes)
        cost += _OUTSIDE * _beyond(box, plot)
    return cost


def _box(callout: Callout, offset: tuple[float, float], plot: tuple[float, float]) -> Box:
    width, height = callout.size_px
    x, y = callout.x * plot[0] + offset[0], callout.y * plot[1] + offset[1]
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _marker(point: tuple[float, float], plot: tuple[float, float]) -> Box:
    x, y = point[0] * plot[0], point[1] * plot[1]
    half = MARKER_PX / 2
    return x - half, y - half, x + half, y + half


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _beyond(box: Box, plot: tuple[float, float]) -> float:
    return max(0.0, -box[0]) + max(0.0, -box[1]) + max(0.0, box[2] - plot[0]) + max(0.0, box[3] - plot[1])


def callout_annotation(
    callout: Callout, offset: tuple[int, int], at: tuple[float, float], *, line_color: str, ground: str
) -> dict[str, Any]:
    """Return a placed name as Plotly's annotation, joined to its point by a thin line.

    Args:
        callout: The name.
        offset: What ``place_callouts`` returned for it.
        at: The point in axis units (the logarithm on a log axis).
        line_color: Colour of the line.
        ground: Colour behind the name.
    """
    return {
        "text": callout.text,
        "x": at[0],
        "y": at[1],
        "ax": offset[0],
        "ay": -offset[1],
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": line_color,
        "standoff": 7,
        "borderpad": 0,
        "bgcolor": ground,
        "align": "center",
        "font": {"size": 12, "color": callout.color},
    }
