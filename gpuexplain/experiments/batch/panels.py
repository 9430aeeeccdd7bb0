"""Panels on top of one another that share an axis of batches: lines, names, levels, crosses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, size_axis, value_axis
from gpuexplain.charts.figure import base_layout, note
from gpuexplain.charts.hover import hover_text
from gpuexplain.charts.labels import EndLabel, label_annotations, margin_for
from gpuexplain.charts.literal import literal
from gpuexplain.charts.marks import Line, Read, line_traces
from gpuexplain.charts.theme import PALETTES, Theme
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point, Source, Status
from gpuexplain.units import format_size

Part = dict[str, Any]  # a shape or an annotation, as Plotly takes it
Ticks = Callable[[Range], tuple[list[float], list[str]]]
LEFT_MARGIN_PX = 64
HEIGHT_PX = 680
# Room over each panel for its heading, as a share of the plot's height.
GAP = 0.065
HEADING_PX = 4
ROW_PX = 17  # a line of words above the plot
CROSS_ROW = 0.09


@dataclass(slots=True)
class Panel:
    """One panel: what of a point it draws, its lines, and what else must be inside its axis."""

    heading: str
    read: Read
    write: Callable[[float], str]
    theme: Theme
    lines: Sequence[Line]
    extra_y: Sequence[float] = ()
    crossed: Sequence[Line] = ()  # lines whose cases without a time get a cross at the bottom
    ticks: Ticks | None = None  # None: decades
    shapes: list[Part] = field(default_factory=list)
    notes: list[Part] = field(default_factory=list)
    more_traces: list[go.Scatter] = field(default_factory=list)

    @property
    def y_range(self) -> Range:
        """The log10 range of its axis, with a row for each line that has crosses."""
        values = [
            v
            for line in self.lines
            for _, reading in line.readings(self.read)
            for v in (reading.low, reading.value, reading.high)
            if v
        ]
        low, high = log_range([*values, *self.extra_y], pad=0.08)
        return (low - CROSS_ROW * len(self.crossed) * (high - low), high)

    def traces(self) -> list[go.Scatter]:
        """Return bands, lines and crosses, each point with its memory in the hover."""
        drawn = [trace for line in self.lines for trace in self._line(line)]
        return [*drawn, *self._crosses(), *self.more_traces]

    def _line(self, line: Line) -> list[go.Scatter]:
        traces = line_traces(line, self.read, self.theme)
        if traces:
            points = [point for point, _ in line.readings(self.read)]
            traces[-1].hovertext = [f"{hover_text(point, line.look)}{say_memory(point)}" for point in points]
        return traces

    def _crosses(self) -> list[go.Scatter]:
        low, high = self.y_range
        return [
            cross(line, ended, [10 ** (low + (row + 0.5) * CROSS_ROW * (high - low))] * len(ended), self.theme)
            for row, line in enumerate(self.crossed)
            if (ended := [p for p in line.points if p.status not in (Status.OK, Status.OOM)])
        ]

    def names(self) -> list[EndLabel]:
        """Return the name of each line at its last point."""
        labels = []
        for line in self.lines:
            if drawn := line.readings(self.read):
                point, reading = drawn[-1]
                place = math.log10(point.x), math.log10(reading.value)
                labels.append(EndLabel(say_line(line), line.look.color(self.theme), *place))
        return labels


def say_line(line: Line) -> str:
    """Return what is written at the end of a line; of others, the part and the network."""
    point = line.points[0]
    if not line.is_ghost and point.source is Source.MEASURED:
        return line.look.label
    if point.device == "cpu":
        return f"{line.look.label}<br>earlier"
    return f"{literal(point.device_name.removeprefix('NVIDIA ')[:14])}<br>{point.source}"


def say_memory(point: Point) -> str:
    """Return the lines of a hover that tell the memory of a step; "" where nothing was read."""
    gauges = point.gauges
    if gauges is None:
        return ""
    told = [
        ("peak of live tensors", gauges.memory_allocated_bytes),
        ("held by the allocator", gauges.memory_reserved_bytes),
        ("CUDA context, apart", gauges.memory_context_bytes),
        ("peak growth of the process", gauges.memory_resident_bytes),
    ]
    known = [f"<br>{name} {format_size(held)}" for name, held in told if held is not None]
    unknown = [f"<br>memory not reported: {literal(why)}" for why in dict.fromkeys(gauges.not_reported.values())]
    return "".join(known or unknown)


def cross(line: Line, ended: Sequence[Point], heights: Sequence[float], theme: Theme) -> go.Scatter:
    """Return a cross for each case that did not run, the reason in the hover."""
    return go.Scatter(
        x=[p.x for p in ended],
        y=list(heights),
        name=f"not measured, {line.look.name}",
        mode="markers",
        marker={"symbol": "x-thin", "size": 10, "line": {"width": 2.5, "color": line.look.color(theme)}},
        hovertext=[hover_text(p, line.look) for p in ended],
        hoverinfo="text",
    )


@dataclass(frozen=True, slots=True)
class Overlay:
    """What spans every panel: a shape, and its words in a row of their own above the plot."""

    shape: Part
    text: str
    color: str


def stack(panels: Sequence[Panel], title: str, x_title: str, overlays: Sequence[Overlay], theme: Theme) -> go.Figure:
    """Return panels of equal height, the first on top, over one axis of batches; the marked title is the finding."""
    x_range = log_range([p.x for panel in panels for line in panel.lines for p in line.points])
    right = max(margin_for(panel.names()) for panel in panels)
    layout = base_layout(entity_words(title), theme, left=LEFT_MARGIN_PX, right=right)
    layout |= {"height": HEIGHT_PX, "xaxis": size_axis(x_title, x_range, theme)}
    layout["xaxis"] |= {"anchor": f"y{len(panels)}"} if len(panels) > 1 else {}
    layout["margin"]["t"] += ROW_PX * (1 + len(overlays))
    layout["shapes"] = [overlay.shape for overlay in overlays]
    layout["annotations"] = [_row_above(overlay, row, theme) for row, overlay in enumerate(overlays, start=1)]
    traces: list[go.Scatter] = []
    height = (1 - GAP * (len(panels) - 1)) / len(panels)
    for number, panel in enumerate(panels, start=1):
        top = 1 - (number - 1) * (height + GAP)
        domain = (max(0.0, top - height), top)
        axis = "y" if number == 1 else f"y{number}"
        layout[axis.replace("y", "yaxis")] = _axis(panel, domain)
        for trace in panel.traces():
            trace.yaxis = axis
            traces.append(trace)
        layout["shapes"] += [_on(axis, domain, shape) for shape in panel.shapes]
        layout["annotations"] += [_heading(panel, domain[1]), *(_on(axis, domain, words) for words in panel.notes)]
        names = label_annotations(panel.names(), panel.y_range, PALETTES[theme].background)
        layout["annotations"] += [_on(axis, domain, words) for words in names]
    return go.Figure(traces, layout)


def _row_above(overlay: Overlay, row: int, theme: Theme) -> Part:
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "bottom"}
    words = note(overlay.text, overlay.color, theme, **place, yshift=HEADING_PX + ROW_PX * row)
    return {**words, "bgcolor": "rgba(0,0,0,0)"}


def _axis(panel: Panel, domain: tuple[float, float]) -> Part:
    axis = value_axis("", panel.y_range, panel.write, panel.theme)
    if panel.ticks is not None:
        axis["tickvals"], axis["ticktext"] = panel.ticks(panel.y_range)
    return {**axis, "title": None, "domain": list(domain)}


def _heading(panel: Panel, top: float) -> Part:
    """The heading stands over the panel, where a phone has the width for it."""
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": top, "yanchor": "bottom"}
    color = PALETTES[panel.theme].muted
    words = note(f"{panel.heading} (log)", color, panel.theme, **place, yshift=HEADING_PX)
    return {**words, "bgcolor": "rgba(0,0,0,0)"}


def _on(axis: str, domain: tuple[float, float], part: Part) -> Part:
    """Return a shape or annotation moved to a panel; what spans a whole chart spans the panel."""
    moved = dict(part)
    if moved.get("yref", "y") == "y":
        moved["yref"] = axis
    elif "y0" in moved and "y1" in moved:  # over the whole height: of this panel
        moved |= {"y0": domain[0], "y1": domain[1]}
    return moved
