"""What the matmul page draws: time against size, and speed against size."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.canvas import Canvas, Part
from gpuexplain.charts.figure import empty_figure, guide_line, note, shaded_range, vertical_line
from gpuexplain.charts.marks import read_rate, read_time, split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, Entity, Theme
from gpuexplain.experiments.matmul.claims import (
    best_rate_flops,
    claim_main,
    claim_second,
    comparison_pair,
    headline_pair,
    headline_series,
)
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding, SeriesFinding
from gpuexplain.experiments.matmul.series import LOOKS
from gpuexplain.experiments.matmul.spec import CPU, GPU_CALL
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import Crossover, CrossoverVerdict, LaunchFloor
from gpuexplain.model import Point, Status
from gpuexplain.units import NBSP, format_count, format_percent, format_rate_flops, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: the first points appear within a few seconds."
SQUARE_AXIS = "matrix side n"
OTHER_AXIS = "side of the square product of equal work"
ROW_PX = 17  # a line of words above the plot
FREE_ABOVE_PX = 14  # of which this much is there anyway, under the title
PERCENT_AXIS_PX = 50
# Room above the best for a line of words on it, as a factor of the rate; above a peak, just some air.
LINE_ABOVE = 1.7
AIR_ABOVE = 1.3
# Smaller shares of the peak are not worth a tick.
SMALLEST_SHARE_TICK = 0.001
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
    layout = canvas.layout(entity_words(claim_main(findings)), "time for one product", format_time, _x_title(points))
    layout["margin"]["t"] += _room_for_rows(notes)
    layout |= {"shapes": shapes, "annotations": [*canvas.name_notes(), *notes]}
    return go.Figure(canvas.traces(), layout)


def draw_second(points: Sequence[Point], findings: MatmulFindings, theme: Theme) -> go.Figure:
    """Return speed against n with the best measured here, and the reference peak where it is known."""
    lines = split_lines(points, LOOKS)
    if not any(p.rate_flops for line in lines for p in line.points):
        return empty_figure(plain(claim_second(findings)), HINT, theme)
    best, peak_flops = headline_series(findings), _peak_flops(findings)
    best_flops = best_rate_flops(best) if best else None
    room = [AIR_ABOVE * peak_flops] if peak_flops else [LINE_ABOVE * best_flops] if best_flops else []
    canvas = Canvas(lines, read_rate, theme, extra_y=room)
    shapes, notes = _levels(canvas, best, peak_flops)
    write = _write_narrow_rate if peak_flops else format_rate_flops
    layout = canvas.layout(entity_words(claim_second(findings)), "speed", write, _x_title(points))
    layout["margin"]["t"] += _room_for_rows(notes)
    traces = canvas.traces()
    if peak_flops:
        layout["yaxis2"], ghost = _percent_axis(canvas, peak_flops, beyond_px=layout["margin"]["r"])
        layout["margin"]["r"] += PERCENT_AXIS_PX
        layout["xaxis"] |= canvas.sparse_sizes()
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
    """Shade where the headline pair changes over, and where it does with the copies included.

    Their words stand above the plot, where no line can run through them.
    """
    pair = headline_pair(findings) or comparison_pair(findings)
    if pair is None:
        return [], []
    style = ENTITY_STYLES[LOOKS[pair.challenger.series].entity]
    shapes, notes = _crossover(canvas, pair.crossover, style.color(canvas.theme), _winner(pair), 0)
    if pair.crossover.with_transfer:
        color = ENTITY_STYLES[Entity.TRANSFER].color(canvas.theme)
        more = _crossover(canvas, pair.crossover.with_transfer, color, "with copies it", len(notes))
        shapes, notes = shapes + more[0], notes + more[1]
    return shapes, notes


def _winner(pair: PairFinding) -> str:
    return f"{pair.challenger.threads} threads" if pair.challenger.series == CPU else "GPU"


def _crossover(
    canvas: Canvas, crossover: Crossover, color: str, winner: str, row: int
) -> tuple[list[Part], list[Part]]:
    low, high = crossover.low, crossover.high
    if crossover.verdict is not CrossoverVerdict.CROSSED or not low or not high:
        return [], []
    shapes = [shaded_range(low, high, color)]
    if crossover.estimate:
        shapes.append(vertical_line(crossover.estimate, color))
    middle = math.log10(low * high) / 2
    is_right = middle > sum(canvas.x_range) / 2
    place: Part = {"x": math.log10(high if is_right else low), "xanchor": "right" if is_right else "left"}
    place |= _row_above(row)
    s = "" if winner.endswith("threads") else "s"
    text = f"{winner} overtake{s} {format_count(low)} – {format_count(high)}"
    if crossover.low_is_tie:
        text = f"{winner} win{s} from {format_count(high)}"
    return shapes, [note(text, color, canvas.theme, **place)]


def _row_above(row: int) -> Part:
    return {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": ROW_PX * row}


def _room_for_rows(notes: Sequence[Part]) -> int:
    rows = sum("yshift" in words for words in notes)
    return max(0, ROW_PX * rows - FREE_ABOVE_PX)


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
    place = {"x": math.log10(last.x), "y": math.log10(top_s), "xanchor": "left", "yanchor": "middle", "xshift": 3}
    return [line], [note("n³", canvas.muted, canvas.theme, **place, bgcolor="rgba(0,0,0,0)")]


# -- the speed chart ----------------------------------------------------------------------------


def _peak_flops(findings: MatmulFindings) -> float | None:
    series = findings.of(GPU_CALL)
    return series.peak.peak_tflops * 1e12 if series and series.is_measured and series.peak.peak_tflops else None


def _write_narrow_rate(rate_flops: float) -> str:
    """Return a tick in two lines: with a second axis, ``10`` over ``TFLOP/s`` leaves a phone its plot."""
    return format_rate_flops(rate_flops).replace(NBSP, "<br>")


def _levels(canvas: Canvas, best: SeriesFinding | None, peak_flops: float | None) -> tuple[list[Part], list[Part]]:
    """Return the best measured here (solid) and the reference peak (dashed), each with its words."""
    shapes, notes = [], []
    best_flops = best_rate_flops(best) if best else None
    if best and best_flops:
        color = ENTITY_STYLES[LOOKS[best.series].entity].color(canvas.theme)
        line, words = canvas.level(best_flops, f"best here {format_rate_flops(best_flops)}", color, "solid")
        shapes.append({**line, "line": {**line["line"], "width": 1}})
        # Beside a peak they stand above the plot: the two levels may be one on the other.
        if peak_flops:
            words |= {"text": f"best here: {format_percent(best_flops / peak_flops, 3)} of it", **_row_above(0)}
        notes.append({**words, "bgcolor": "rgba(0,0,0,0)"})
    if peak_flops:
        color = ENTITY_STYLES[Entity.THEORY].color(canvas.theme)
        text = f"dashed: reference peak {format_rate_flops(peak_flops)}"
        line, words = canvas.level(peak_flops, text, color, "longdash")
        shapes.append(line)
        notes.append({**words, "font": {"size": 12, "color": canvas.muted}, **_row_above(len(notes))})
    return shapes, notes


def _percent_axis(canvas: Canvas, peak_flops: float, *, beyond_px: int) -> tuple[dict[str, Any], go.Scatter]:
    """Return a right axis in percent of the peak, and the empty trace that makes Plotly draw it.

    Its numbers stand ``beyond_px`` to the right of the plot, where the names of the lines end.
    """
    shift = 2 - math.log10(peak_flops)
    span = (canvas.y_range[0] + shift, canvas.y_range[1] + shift)
    ticks = [10.0**power for power in range(math.ceil(span[0]), math.floor(span[1]) + 1)]
    ticks = [tick for tick in ticks if 100 * SMALLEST_SHARE_TICK <= tick <= 100]
    axis = {
        "type": "log",
        "range": list(span),
        "overlaying": "y",
        "side": "right",
        "showgrid": False,
        "tickvals": ticks,
        "ticktext": [f"{format_percent(tick / 100, 1)}{'<br>of peak' * (tick == 100)}" for tick in ticks],
        "ticks": "outside",
        "ticklen": beyond_px,
        "tickcolor": "rgba(0,0,0,0)",
        "tickfont": {"size": 12, "color": canvas.muted},
    }
    return axis, go.Scatter(x=[], y=[], yaxis="y2", hoverinfo="skip")
