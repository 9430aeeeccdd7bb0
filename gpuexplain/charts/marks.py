"""How points become marks: lines with bands, whiskers, hollow markers, crosses, ghost lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.hover import hover_text
from gpuexplain.charts.theme import (
    BAND_OPACITY,
    ENTITY_STYLES,
    GHOST_OPACITY,
    PALETTES,
    Entity,
    SeriesLook,
    Theme,
    with_alpha,
)
from gpuexplain.model import Point, Source, Status

# The device of points that were read from somebody's file begins with this; the file's name follows.
FILE_DEVICE = "file:"


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a point is drawn: the value, and its interval or its whisker."""

    value: float
    low: float | None = None
    high: float | None = None
    is_interval: bool = False  # else low and high are the extremes


Read = Callable[[Point], Reading | None]


def read_time(point: Point) -> Reading | None:
    """Return the median time (seconds) with its 95 % interval, else with minimum and maximum."""
    if point.status is not Status.OK or not point.median_s:
        return None
    if point.ci_low_s and point.ci_high_s:
        return Reading(point.median_s, point.ci_low_s, point.ci_high_s, is_interval=True)
    return Reading(point.median_s, point.min_s, point.max_s)


def read_rate(point: Point) -> Reading | None:
    """Return floating-point operations per second, from the same times."""
    time = read_time(point)
    if time is None or not point.flops:
        return None
    low = point.flops / time.high if time.high else None
    high = point.flops / time.low if time.low else None
    return Reading(point.flops / time.value, low, high, time.is_interval)


@dataclass(frozen=True, slots=True)
class Line:
    """The points of one series from one origin, by rising x."""

    look: SeriesLook
    points: tuple[Point, ...]
    is_ghost: bool  # drawn faint beside what was measured here

    @property
    def source(self) -> Source:
        """Where its points come from."""
        return self.points[0].source

    def readings(self, read: Read) -> list[tuple[Point, Reading]]:
        """Return the points that have a value, each with it."""
        return [(p, reading) for p in self.points if (reading := read(p))]


def split_lines(points: Sequence[Point], looks: dict[str, SeriesLook]) -> list[Line]:
    """Return one line per series, device and origin, in the order of ``looks``.

    What was not measured here is a ghost; where nothing was, only a file beside what others published.
    """

    def key(point: Point) -> tuple[int, str, str, str]:
        return (list(looks).index(point.series), point.device, point.source, point.source_note)

    has_measured = any(p.source is Source.MEASURED for p in points)
    is_all_from_files = all(p.device.startswith(FILE_DEVICE) for p in points)

    def is_ghost(point: Point) -> bool:
        if has_measured:
            return point.source is not Source.MEASURED
        return point.device.startswith(FILE_DEVICE) and not is_all_from_files

    known = sorted((p for p in points if p.series in looks), key=lambda p: (*key(p), p.x))
    groups = [tuple(group) for _, group in groupby(known, key)]
    lines = [Line(looks[g[0].series], g, is_ghost(g[0])) for g in groups]
    return sorted(lines, key=lambda line: not line.is_ghost)  # ghosts below


def line_traces(line: Line, read: Read, theme: Theme) -> list[go.Scatter]:
    """Return the bands and the line of one series; points without a value are not in it."""
    drawn = line.readings(read)
    if not drawn:
        return []
    trace = go.Scatter(
        x=[point.x for point, _ in drawn],
        y=[reading.value for _, reading in drawn],
        name=line.look.name,
        mode="lines+markers",
        line=_line_style(line, theme),
        marker=_markers(line, [point for point, _ in drawn], theme),
        error_y=_whiskers(line, [reading for _, reading in drawn], theme),
        hovertext=[hover_text(point, line.look) for point, _ in drawn],
        hoverinfo="text",
    )
    return [*_bands(line, drawn, theme), trace]


def _line_color(line: Line, theme: Theme) -> str:
    return with_alpha(line.look.color(theme), GHOST_OPACITY) if line.is_ghost else line.look.color(theme)


def _line_style(line: Line, theme: Theme) -> dict[str, Any]:
    dash = "dot" if line.is_ghost else line.look.line_dash
    return {"color": _line_color(line, theme), "dash": dash, "width": line.look.width}


def _markers(line: Line, points: Sequence[Point], theme: Theme) -> dict[str, Any]:
    """Filled where measured and trusted; open where recorded, open and amber where flagged."""
    color, inside = _line_color(line, theme), PALETTES[theme].background
    is_open = line.source is not Source.MEASURED
    warning = ENTITY_STYLES[Entity.WARNING].color(theme)
    return {
        "symbol": line.look.symbol,
        "size": line.look.marker_size,
        "opacity": 1,
        "color": [inside if is_open or p.is_hollow else color for p in points],
        "line": {"width": 2, "color": [warning if p.is_hollow else color for p in points]},
    }


def _whiskers(line: Line, readings: Sequence[Reading], theme: Theme) -> dict[str, Any] | None:
    spans = [
        (r.high - r.value, r.value - r.low) if r.low and r.high and not r.is_interval else (0.0, 0.0) for r in readings
    ]
    if not any(above or below for above, below in spans):
        return None
    return {
        "type": "data",
        "array": [above for above, _ in spans],
        "arrayminus": [below for _, below in spans],
        "color": _line_color(line, theme),
        "thickness": 1.5,
        "width": 4,
    }


def _bands(line: Line, drawn: Sequence[tuple[Point, Reading]], theme: Theme) -> Iterator[go.Scatter]:
    color = line.look.color(theme)
    share = GHOST_OPACITY if line.is_ghost else 1.0
    for has_interval, run in groupby(drawn, lambda pair: pair[1].is_interval):
        part = list(run)
        if not has_interval or len(part) < 2:
            continue
        x = [point.x for point, _ in part]
        yield go.Scatter(
            x=x + x[::-1],
            y=[r.high or r.value for _, r in part] + [r.low or r.value for _, r in part][::-1],
            name=f"95 % interval, {line.look.name}",
            mode="lines",
            fill="toself",
            fillcolor=with_alpha(color, BAND_OPACITY * share),
            line={"width": 1, "color": with_alpha(color, 0.6 * share)},
            hoverinfo="skip",
        )


def cross_trace(lines: Sequence[Line], heights: Sequence[float], theme: Theme) -> list[go.Scatter]:
    """Return crosses for cases without a time, one row of the chart per line, the reason in the hover.

    ``heights`` are the y values of the rows, in axis units.
    """
    traces = []
    for line, height in zip(lines, heights, strict=True):
        ended = [p for p in line.points if p.status is not Status.OK]
        if ended:
            traces.append(
                go.Scatter(
                    x=[p.x for p in ended],
                    y=[height] * len(ended),
                    name=f"not measured, {line.look.name}",
                    mode="markers",
                    marker={
                        "symbol": "x-thin",
                        "size": 8,
                        "line": {"width": 2, "color": line.look.color(theme)},
                    },
                    hovertext=[hover_text(p, line.look) for p in ended],
                    hoverinfo="text",
                )
            )
    return traces
