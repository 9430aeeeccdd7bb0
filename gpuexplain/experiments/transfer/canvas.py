"""The parts that the transfer charts are put together from: sizes in bytes, names, words above the plot."""

import math
from collections.abc import Sequence
from typing import Any

from gpuexplain.charts.axes import Range, power_of_two_ticks
from gpuexplain.charts.canvas import Canvas, Part
from gpuexplain.charts.marks import Line, Read, Reading, read_time
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.model import Point, Source
from gpuexplain.units import NBSP

ROW_PX = 17  # a line of words above the plot
FREE_ABOVE_PX = 14  # of which this much is there anyway, under the title
TICK_LINE_PX = 16  # the second line of a tick
# More ticks in two lines would touch each other on a chart 343 px wide.
MOST_TICKS = 5


# Above the highest point: half of a name in two lines stands there, and must not be cut off.
AIR_ABOVE = 1.4


def read_bandwidth(point: Point) -> Reading | None:
    """Return the copied bytes per second, counted once, with the interval of the time."""
    time = read_time(point)
    if time is None or not point.bytes:
        return None
    low = point.bytes / time.high if time.high else None
    high = point.bytes / time.low if time.low else None
    return Reading(point.bytes / time.value, low, high, time.is_interval)


class CopyCanvas(Canvas):
    """A canvas whose sizes are bytes, and whose faint lines say why they are faint."""

    def _ghost_name(self, line: Line) -> str:
        """Return what a faint line is called: several of one published part differ by their kind of memory."""
        if line.source is Source.PUBLISHED:
            return f"{line.look.label.split('<br>', maxsplit=1)[0]}<br>{Source.PUBLISHED}"
        return super()._ghost_name(line)

    def lay_out_bytes(self, layout: dict[str, Any], most: int = MOST_TICKS) -> None:
        """Give the size axis of a layout ticks of KiB, MiB and GiB, number over unit, and the room for two lines."""
        layout["xaxis"] |= byte_ticks(self.x_range, most)
        layout["margin"]["b"] += TICK_LINE_PX


def byte_ticks(span: Range, most: int = MOST_TICKS) -> Part:
    """Return powers of two inside a log10 range, written as ``64`` over ``KiB``."""
    sizes, _ = power_of_two_ticks(span, most=most)
    return {"tickvals": sizes, "ticktext": [say_bytes(size).replace(NBSP, "<br>") for size in sizes]}


def air_above(lines: Sequence[Line], read: Read) -> list[float]:
    """Return a y value above every point, to be kept inside the axis; none without points."""
    values = [reading.value for line in lines for _, reading in line.readings(read)]
    return [AIR_ABOVE * max(values)] if values else []


def within_reach(points: Sequence[Point]) -> list[Point]:
    """Return the points without those of others that are smaller than every size measured here.

    A published series starts at one byte: drawn whole, it would push what was measured to the side.
    """
    here = [point.x for point in points if point.source is Source.MEASURED]
    return [p for p in points if not here or p.source is Source.MEASURED or p.x >= min(here)]


def above_plot(row: int) -> Part:
    """Return the place of words above the plot, where no line can run through them."""
    return {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": ROW_PX * row}


def room_above(notes: Sequence[Part]) -> int:
    """Return what the top margin must grow by (px) for the words above the plot."""
    above = [words for words in notes if words.get("yref") == "paper" and "yshift" in words]
    rows = [round(words["yshift"] / ROW_PX) + 1 for words in above]
    return max(0, ROW_PX * max(rows, default=0) - FREE_ABOVE_PX)


def side_of(x: float, span: Range) -> Part:
    """Return where words about ``x`` stand so that they stay inside a plot of that log10 range."""
    is_right = math.log10(x) > sum(span) / 2
    return {"x": math.log10(x), "xanchor": "right" if is_right else "left"}
