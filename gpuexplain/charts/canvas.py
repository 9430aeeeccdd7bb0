"""The parts that a chart of lines over sizes is put together from: lines, names, ranges, notes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import MOST_SIZE_LABELS, Range, log_range, power_of_two_ticks, size_axis, value_axis
from gpuexplain.charts.figure import Words, base_layout, level_line, note
from gpuexplain.charts.labels import FAINT_CHARACTER_PX, NARROWEST_PLOT_PX, EndLabel, label_annotations, margin_for
from gpuexplain.charts.literal import literal
from gpuexplain.charts.marks import FILE_DEVICE, Line, Read, cross_trace, line_traces
from gpuexplain.charts.theme import PALETTES, Theme
from gpuexplain.model import Status

Part = dict[str, Any]  # a shape or an annotation, as Plotly takes it
LEFT_MARGIN_PX = 64
# Room under the lowest point for a row of crosses, as a share of the height.
CROSS_ROW = 0.07
NAME_SHARE = 0.07  # a name's height, as a share of the smallest chart's
SPARSE_TICKS = 4
FEWEST_TICKS = 3
NARROWEST_CHART_PX = 343
TICK_PX = 34  # "1,024" and a gap
NAME_CHARACTERS = 14  # of a part or a file beside its line: more would eat a narrow chart
EARLIER = "earlier"


class Canvas:
    """The lines of one chart, with what is written beside them."""

    def __init__(self, lines: Sequence[Line], read: Read, theme: Theme, extra_y: Sequence[float] = ()) -> None:
        """Take lines, what of a point is drawn, and further y values that must be inside."""
        self.lines, self.read, self.theme = lines, read, theme
        self.drawn = [(line, readings) for line in lines if (readings := line.readings(read))]
        values = [v for _, rs in self.drawn for _, r in rs for v in (r.low, r.value, r.high) if v]
        self.x_range: Range = log_range([p.x for line in lines for p in line.points])
        self._failed = [line for line in lines if any(p.status is not Status.OK for p in line.points)]
        low, high = log_range([*values, *extra_y])
        self.y_range: Range = (low - CROSS_ROW * len(self._failed) * (high - low), high)

    def traces(self) -> list[go.Scatter]:
        """Return bands, lines and, in rows at the bottom, a cross for each case without a time."""
        low, high = self.y_range
        rows = [10 ** (low + (i + 0.5) * CROSS_ROW * (high - low)) for i in range(len(self._failed))]
        traces = [trace for line, _ in self.drawn for trace in line_traces(line, self.read, self.theme)]
        return [*traces, *cross_trace(self._failed, rows, self.theme)]

    def names(self) -> list[EndLabel]:
        """Return the name of each line at its last point; a ghost is called by its part or its file."""
        labels = []
        for line, readings in self.drawn:
            point, reading = readings[-1]
            text = self._ghost_name(line) if line.is_ghost else line.look.label
            x, y = math.log10(point.x), math.log10(reading.value)
            label = EndLabel(text, line.look.color(self.theme), x, y, is_faint=line.is_ghost)
            labels.append(replace(label, is_left=self._meets_a_line(x, y) and self._fits_left(label)))
        return labels

    def _fits_left(self, label: EndLabel) -> bool:
        """Whether a name to the left of its end stays inside the plot of the narrowest chart."""
        per_x = NARROWEST_PLOT_PX / (self.x_range[1] - self.x_range[0])
        return (label.x - self.x_range[0]) * per_x >= label.width_px

    def _ghost_name(self, line: Line) -> str:
        point = line.points[0]
        if point.device.startswith(FILE_DEVICE):
            name = literal(_short(point.device.removeprefix(FILE_DEVICE)))
            alike = [other for other, _ in self.drawn if other.points[0].device == point.device]
            return name if len(alike) == 1 else f"{line.look.label}<br>{name}"
        solid = {(other.points[0].series, other.points[0].device) for other, _ in self.drawn if not other.is_ghost}
        if (point.series, point.device) in solid:
            return EARLIER
        if point.device == "cpu":
            return f"{line.look.label}<br>{EARLIER}"
        return f"{literal(_short(point.device_name))}<br>{point.source}"

    def _meets_a_line(self, x: float, y: float) -> bool:
        """Whether a name to the right of (x, y) would stand on a line that goes on there and rises."""
        nearby = NAME_SHARE * (self.y_range[1] - self.y_range[0])
        for _, readings in self.drawn:
            ends = [(math.log10(p.x), math.log10(r.value)) for p, r in readings]
            if any(
                x < at and 0 <= y - before <= nearby <= after - before for (_, before), (at, after) in pairwise(ends)
            ):
                return True
        return False

    def sparse_sizes(self) -> Part:
        """Return fewer size ticks, for a plot that something narrows on both sides."""
        sizes, texts = power_of_two_ticks(self.x_range, most=SPARSE_TICKS)
        return {"tickvals": sizes, "ticktext": texts}

    def name_notes(self) -> list[Part]:
        """Return the names as annotations that do not lie on one another."""
        ground = PALETTES[self.theme].background
        return label_annotations(self.names(), self.y_range, ground, self.x_range)

    def level(self, y: float, text: str, color: str, dash: str, *, below: bool = False) -> tuple[Part, Part]:
        """Return a horizontal line and the words on it."""
        place = {"xref": "paper", "x": 0.01, "xanchor": "left", "y": math.log10(y)}
        words = note(text, color, self.theme, **place, yanchor="top" if below else "bottom")
        return level_line(y, color, dash), words

    def layout(self, title: Words, y_title: str, write: Callable[[float], str], x_title: str) -> dict[str, Any]:
        """Return the layout with both axes; the title is what the chart shows."""
        right_px = margin_for(self.names())
        layout = base_layout(title, self.theme, left=LEFT_MARGIN_PX, right=right_px)
        layout["xaxis"] = size_axis(x_title, self.x_range, self.theme)
        layout["yaxis"] = value_axis(y_title, self.y_range, write, self.theme)
        left_px = LEFT_MARGIN_PX / 2 + FAINT_CHARACTER_PX * max(map(len, layout["yaxis"]["ticktext"]), default=0)
        n_fit = int((NARROWEST_CHART_PX - max(left_px, LEFT_MARGIN_PX) - right_px) / TICK_PX)
        if n_fit < MOST_SIZE_LABELS:
            sizes, texts = power_of_two_ticks(self.x_range, most=max(FEWEST_TICKS, n_fit))
            layout["xaxis"] |= {"tickvals": sizes, "ticktext": texts}
        return layout

    @property
    def muted(self) -> str:
        """The colour of guides."""
        return PALETTES[self.theme].muted


def _short(name: str) -> str:
    bare = name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    return bare if len(bare) <= NAME_CHARACTERS else f"{bare[: NAME_CHARACTERS - 1]}…"
