"""What the matmul page draws: time against size, and speed against size."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.figure import empty_figure, guide_line, note, shaded_range, vertical_line
from gpuexplain.charts.marks import read_rate, read_time, split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, Entity, Theme
from gpuexplain.experiments.matmul.canvas import Canvas, Part
from gpuexplain.experiments.matmul.claims import (
    best_rate_flops,
    claim_main,
    claim_second,
    comparison_pair,
    headline_pair,
    headline_series,
)
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding
from gpuexplain.experiments.matmul.series import LOOKS
from gpuexplain.experiments.matmul.spec import CPU, GPU_CALL
from gpuexplain.findings import Crossover, CrossoverVerdict, LaunchFloor
from gpuexplain.model import Point, Status
from gpuexplain.units import format_count, format_percent, format_rate_flops, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: the first points appear within a few seconds."
SQUARE_AXIS = "matrix side n"
OTHER_AXIS = "side of the square product of equal work"
# The guide runs this factor under the CPU's line: beside it, not on it.
GUIDE_BELOW = 0.35


def draw_main(points: Sequence[Point], findings: MatmulFindings, theme: Theme) -> go.Figure:
    """Return time for one product against n, log-log, with crossover, launch floor and n³ guide."""
    lines = split_lines(points, LOOKS)
    if not any(p.median_s or p.status is not Status.OK for line in lines for p in line.points):
        return empty_figure(plain(claim_main(findings)), HINT, theme)
    canvas = Canvas(lines, read_time, theme)
    shapes, notes = _crossovers(canvas, findings)
    for more_shapes, more_notes in (_launch_floor(canvas, findings), _cubic_guide(canvas)):
        shapes += more_shapes
        notes += more_notes
    layout = canvas.layout(claim_main(findings), "time for one product", format_time, _x_title(points))
    layout |= {"shapes": shapes, "annotations": [*canvas.name_notes(), *notes]}
    return go.Figure(canvas.traces(), layout)


def draw_second(points: Sequence[Point], findings: MatmulFindings, theme: Theme) -> go.Figure:
    """Return speed against n with the best measured here, and the reference peak where it is known."""
    lines = split_lines(points, LOOKS)
    if not any(p.rate_flops for line in lines for p in line.points):
        return empty_figure(plain(claim_second(findings)), HINT, theme)
    peak_flops = _peak_flops(findings)
    canvas = Canvas(lines, read_rate, theme, extra_y=[peak_flops] if peak_flops else [])
    shapes, notes = _best_here(canvas, findings)
    layout = canvas.layout(claim_second(findings), "speed", format_rate_flops, _x_title(points))
    traces = canvas.traces()
    if peak_flops:
        color = ENTITY_STYLES[Entity.THEORY].color(theme)
        line, words = canvas.level(peak_flops, f"reference peak {format_rate_flops(peak_flops)}", color, "longdash")
        shapes.append(line)
        notes.append(words)
        layout["yaxis2"], ghost = _percent_axis(canvas, peak_flops)
        layout["margin"]["r"] += 40
        traces.append(ghost)
    layout |= {"shapes": shapes, "annotations": [*canvas.name_notes(), *notes]}
    return go.Figure(traces, layout)


def describe_main(findings: MatmulFindings) -> str:
    """Return the text alternative of the time chart."""
    return f"Line chart, both axes logarithmic: time for one product against size. {plain(claim_main(findings))}."


def describe_second(findings: MatmulFindings) -> str:
    """Return the text alternative of the speed chart."""
    return f"Line chart, both axes logarithmic: speed against size. {plain(claim_second(findings))}."


def _x_title(points: Sequence[Point]) -> str:
    return OTHER_AXIS if any(len(set(point.shape)) > 1 for point in points) else SQUARE_AXIS


# -- the time chart -----------------------------------------------------------------------------


def _crossovers(canvas: Canvas, findings: MatmulFindings) -> tuple[list[Part], list[Part]]:
    """Shade where the headline pair changes over, and where it does with the copies included."""
    pair = headline_pair(findings) or comparison_pair(findings)
    if pair is None:
        return [], []
    style = ENTITY_STYLES[LOOKS[pair.challenger.series].entity]
    shapes, notes = _crossover(canvas, pair.crossover, style.color(canvas.theme), _overtakes(pair), 0.99)
    if pair.crossover.with_transfer:
        color = ENTITY_STYLES[Entity.TRANSFER].color(canvas.theme)
        more = _crossover(canvas, pair.crossover.with_transfer, color, "with copies", 0.9)
        shapes, notes = shapes + more[0], notes + more[1]
    return shapes, notes


def _overtakes(pair: PairFinding) -> str:
    if pair.challenger.series == CPU:
        return f"{pair.challenger.threads} threads overtake"
    return "GPU overtakes"


def _crossover(
    canvas: Canvas, crossover: Crossover, color: str, label: str, height: float
) -> tuple[list[Part], list[Part]]:
    low, high = crossover.low, crossover.high
    if crossover.verdict is not CrossoverVerdict.CROSSED or not low or not high:
        return [], []
    shapes = [shaded_range(low, high, color)]
    if crossover.estimate:
        shapes.append(vertical_line(crossover.estimate, color))
    middle = math.log10(low * high) / 2
    on_the_left = middle > sum(canvas.x_range) / 2
    place = {"x": math.log10(low if on_the_left else high), "yref": "paper", "y": height}
    place |= {"xanchor": "right" if on_the_left else "left", "yanchor": "top", "align": "left"}
    text = f"{label}<br>{format_count(low)} – {format_count(high)}"
    return shapes, [note(text, color, canvas.theme, **place)]


def _launch_floor(canvas: Canvas, findings: MatmulFindings) -> tuple[list[Part], list[Part]]:
    series = findings.of(GPU_CALL)
    if series is None or not isinstance(series.launch_floor, LaunchFloor) or not series.is_measured:
        return [], []
    color = ENTITY_STYLES[Entity.OVERHEAD].color(canvas.theme)
    floor_s = series.launch_floor.floor_s
    line, words = canvas.level(floor_s, f"launch floor {format_time(floor_s)}", color, "dot", below=True)
    words |= {"x": 0.99, "xanchor": "right"}
    return [line], [words]


def _cubic_guide(canvas: Canvas) -> tuple[list[Part], list[Part]]:
    """Draw the slope of n³ under the CPU's upper end, where the work is what costs."""
    ends = [readings for line, readings in canvas.drawn if line.points[0].series == CPU and len(readings) > 3]
    if not ends:
        return [], []
    (first, _), (last, reading) = ends[0][-3], ends[0][-1]
    top_s = reading.value * GUIDE_BELOW
    bottom_s = top_s * (first.x / last.x) ** 3
    if math.log10(bottom_s) < canvas.y_range[0]:
        return [], []
    line = guide_line((first.x, bottom_s), (last.x, top_s), canvas.muted)
    place = {"x": math.log10(first.x), "y": math.log10(bottom_s), "xanchor": "left", "yanchor": "top"}
    return [line], [note("n³", canvas.muted, canvas.theme, **place)]


# -- the speed chart ----------------------------------------------------------------------------


def _peak_flops(findings: MatmulFindings) -> float | None:
    series = findings.of(GPU_CALL)
    return series.peak.peak_tflops * 1e12 if series and series.is_measured and series.peak.peak_tflops else None


def _best_here(canvas: Canvas, findings: MatmulFindings) -> tuple[list[Part], list[Part]]:
    series = headline_series(findings)
    rate_flops = best_rate_flops(series) if series else None
    if series is None or rate_flops is None:
        return [], []
    color = ENTITY_STYLES[LOOKS[series.series].entity].color(canvas.theme)
    line, words = canvas.level(rate_flops, f"best here {format_rate_flops(rate_flops)}", color, "solid")
    return [{**line, "line": {**line["line"], "width": 1}}], [words]


def _percent_axis(canvas: Canvas, peak_flops: float) -> tuple[dict[str, Any], go.Scatter]:
    """Return a right axis in percent of the peak, and the empty trace that makes Plotly draw it."""
    shift = 2 - math.log10(peak_flops)
    span = (canvas.y_range[0] + shift, canvas.y_range[1] + shift)
    ticks = [10.0**power for power in range(math.ceil(span[0]), math.floor(span[1]) + 1)]
    axis = {
        "type": "log",
        "range": list(span),
        "overlaying": "y",
        "side": "right",
        "showgrid": False,
        "tickvals": ticks,
        "ticktext": [format_percent(tick / 100) for tick in ticks],
        "title": {"text": "of the peak (log)", "font": {"size": 12, "color": canvas.muted}},
        "tickfont": {"size": 12, "color": canvas.muted},
    }
    return axis, go.Scatter(x=[], y=[], yaxis="y2", hoverinfo="skip")
