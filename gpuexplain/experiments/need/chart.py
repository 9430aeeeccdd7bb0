"""The charts of "Do you need a GPU?": speed-ups around 1 with the noise zone, and the speed-up by batch."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, size_axis
from gpuexplain.charts.figure import base_layout, empty_figure
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SHADE_OPACITY, Entity, Theme, with_alpha
from gpuexplain.experiments.need.conclude import Comparison, NeedFindings, Verdict
from gpuexplain.experiments.need.words import NAMES, SHORT_NAMES, claim_main, claim_second
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point
from gpuexplain.units import format_factor, format_significant, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: eight kinds of everyday work are timed."
_SYMBOLS = {
    Verdict.PAYS: "circle", Verdict.SLOWER: "circle", Verdict.NO_DIFFERENCE: "circle",
    Verdict.CANNOT_TELL: "circle-open",
}  # fmt: skip
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_TICKS = 7


def draw_main(points: Sequence[Point], findings: NeedFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return one row per workload: its speed-up with interval, on a log axis centred on 1."""
    title, palette = claim_main(findings), PALETTES[theme]
    if not findings.compared:
        return empty_figure(plain(title), HINT, theme)
    rows = list(enumerate(reversed(findings.compared)))
    timed = [(row, c) for row, c in rows if c.ratio is not None]
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=104, right=20))
    figure.add_trace(_dots(timed, theme))
    times = {t.workload: t.time_s for t in findings.cpu}
    figure.update_layout(
        xaxis=_ratio_axis(findings, [c for _, c in timed], theme),
        yaxis={
            "tickvals": [row for row, _ in rows],
            "ticktext": [SHORT_NAMES[c.workload] for _, c in rows],
            "range": [-0.7, len(rows) - 0.3],
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"color": palette.text},
        },
        shapes=_zone(findings.zone, theme, along="x"),
        annotations=[_row_text(row, c, times.get(c.workload), theme) for row, c in rows],
    )
    return figure


def _ratio_axis(findings: NeedFindings, comparisons: Sequence[Comparison], theme: Theme) -> dict[str, Any]:
    span = centred_range([x for c in comparisons for x in (c.ratio, c.low, c.high) if x])
    inside = [tick for tick in _TICKS if span[0] <= math.log10(tick) <= span[1]]
    step = math.ceil(len(inside) / MOST_TICKS)
    middle = inside.index(1) if 1 in inside else 0
    shown = [tick for i, tick in enumerate(inside) if (i - middle) % step == 0]
    what = "GPU over CPU" if findings.has_gpu else "all threads over one"
    palette = PALETTES[theme]
    return {
        "type": "log",
        "range": list(span),
        "tickvals": shown,
        "ticktext": [f"{tick:g}×" for tick in shown],
        "tickangle": 0,
        "tickfont": {"color": palette.muted},
        "gridcolor": palette.line,
        "zeroline": False,
        "title": {"text": f"speed: {what} (log)", "font": {"size": 12, "color": palette.muted}, "standoff": 8},
    }


def centred_range(ratios: Sequence[float]) -> Range:
    """Return a log10 range with 1 in its middle that holds every ratio, and room for words."""
    farthest = max((abs(math.log10(ratio)) for ratio in ratios if ratio > 0), default=0.0)
    half = max(math.log10(2.0), 1.25 * farthest)
    return (-half, half)


def _zone(zone: float, theme: Theme, *, along: str) -> list[dict[str, Any]]:
    """Return the noise zone and the line at 1, across a chart whose ratios run along one axis."""
    other = "y" if along == "x" else "x"
    whole = {f"{other}ref": "paper", f"{other}0": 0, f"{other}1": 1, f"{along}ref": along, "layer": "below"}
    grey = ENTITY_STYLES[Entity.THEORY].color(theme)
    return [
        {
            "type": "rect", f"{along}0": 1 / (1 + zone), f"{along}1": 1 + zone, "line": {"width": 0},
            "fillcolor": with_alpha(grey, 2 * SHADE_OPACITY), **whole,
        },
        {"type": "line", f"{along}0": 1, f"{along}1": 1, "line": {"color": grey, "width": 1.5}, **whole},
    ]  # fmt: skip


def _dots(timed: Sequence[tuple[int, Comparison]], theme: Theme) -> go.Scatter:
    colors = [_color(c, theme) for _, c in timed]
    return go.Scatter(
        x=[c.ratio for _, c in timed],
        y=[row for row, _ in timed],
        mode="markers",
        name="speed-up",
        marker={
            "size": 9, "color": colors, "symbol": [_SYMBOLS[c.verdict] for _, c in timed],
            "line": {"width": 2, "color": colors},
        },
        error_x=_whiskers([c for _, c in timed], PALETTES[theme].muted),
        hovertext=[_hover(c) for _, c in timed],
        hoverinfo="text",
        cliponaxis=False,
    )  # fmt: skip


def _whiskers(comparisons: Sequence[Comparison], color: str) -> dict[str, Any]:
    return {
        "type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 4,
        "array": [max(0.0, (c.high or c.ratio or 0.0) - (c.ratio or 0.0)) for c in comparisons],
        "arrayminus": [max(0.0, (c.ratio or 0.0) - (c.low or c.ratio or 0.0)) for c in comparisons],
    }  # fmt: skip


def _color(comparison: Comparison, theme: Theme) -> str:
    """Return the colour of who is faster; grey where that is nobody."""
    paying = Entity.CPU if comparison.is_by_threads else Entity.GPU
    entity = {Verdict.PAYS: paying, Verdict.SLOWER: Entity.CPU}.get(comparison.verdict)
    return ENTITY_STYLES[entity].color(theme) if entity else PALETTES[theme].muted


def _row_text(row: int, comparison: Comparison, cpu_s: float | None, theme: Theme) -> dict[str, Any]:
    """Return the words above a row: the time on the CPU, and how much faster the other is."""
    told = [f"CPU {format_time(cpu_s)}"] if cpu_s else []
    told.append(format_factor(comparison.ratio) if comparison.ratio else "no comparison")
    return {
        "x": 1, "xref": "paper", "xanchor": "right", "y": row + 0.36, "yref": "y", "yanchor": "middle",
        "text": " · ".join(told), "showarrow": False, "font": {"size": 11, "color": PALETTES[theme].muted},
    }  # fmt: skip


def _hover(comparison: Comparison) -> str:
    lines = [f"<b>{NAMES[comparison.workload]}</b>", f"{format_factor(comparison.ratio or 0.0)} as fast"]
    if comparison.low is not None and comparison.high is not None:
        lines.append(f"{format_significant(comparison.low)} to {format_significant(comparison.high)}")
    plain_name, other_name = ("one thread", "all threads") if comparison.is_by_threads else ("CPU", "GPU")
    if comparison.plain_s and comparison.other_s:
        lines.append(f"{plain_name} {format_time(comparison.plain_s)}, {other_name} {format_time(comparison.other_s)}")
    return "<br>".join(lines)


def draw_second(points: Sequence[Point], findings: NeedFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the speed-up of the MLP's training step by its batch, with the noise zone."""
    title = claim_second(findings)
    timed = [c for c in findings.by_batch if c.ratio is not None]
    if not timed:
        return empty_figure(plain(title), HINT, theme)
    color = ENTITY_STYLES[Entity.GPU if findings.has_gpu else Entity.CPU].color(theme)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=56, right=24))
    figure.add_scatter(
        x=[c.x for c in timed],
        y=[c.ratio or 0.0 for c in timed],
        mode="lines+markers",
        name="speed-up",
        line={"color": color, "width": 2},
        marker={
            "size": 10, "color": [_color(c, theme) for c in timed], "symbol": [_SYMBOLS[c.verdict] for c in timed],
        },
        error_y=_whiskers(timed, color),
        hovertext=[f"{_hover(c)}<br>batch {c.x:g}" for c in timed],
        hoverinfo="text",
        cliponaxis=False,
    )  # fmt: skip
    ratios = _ratio_axis(findings, timed, theme)
    figure.update_layout(
        xaxis=size_axis("examples of one step", log_range([c.x for c in timed], pad=0.08), theme),
        yaxis=ratios,
        shapes=_zone(findings.zone, theme, along="y"),
    )
    return figure
