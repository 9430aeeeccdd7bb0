"""The charts of one layer by hand: predicted beside measured, and how the counts grow."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import log_range, value_axis
from gpuexplain.charts.figure import base_layout, empty_figure
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity, Theme
from gpuexplain.experiments.by_hand.conclude import ByHandFindings
from gpuexplain.experiments.by_hand.words import claim_main, claim_second, plain_name
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point
from gpuexplain.units import format_count, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: one product predicts the whole stack."
_STEPS = ("output", "example<br>and layer", "batch<br>and layer", "all layers")


def draw_main(points: Sequence[Point], findings: ByHandFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the predicted and the measured time of the stack, a row per device."""
    title, palette = claim_main(findings), PALETTES[theme]
    judged = [p for p in findings.predictions if p.predicted_s and p.measured_s]
    if not judged:
        return empty_figure(plain(title), HINT, theme)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=56, right=24))
    theory = ENTITY_STYLES[Entity.THEORY].color(theme)
    for row, p in enumerate(judged):
        color = ENTITY_STYLES[Entity.CPU if p.device == CPU else Entity.GPU].color(theme)
        figure.add_traces(
            [
                _dot(p.predicted_s, p.predicted_low_s, p.predicted_high_s, row, theory, "predicted", palette, up=False),
                _dot(p.measured_s, p.measured_low_s, p.measured_high_s, row, color, "measured", palette, up=True),
            ]
        )
    times = [t for p in judged for t in (p.predicted_s, p.measured_s, p.predicted_low_s, p.measured_high_s) if t]
    axis = value_axis("time of the stack", log_range(times, pad=0.25), format_time, theme)
    figure.update_layout(
        xaxis={**axis, "automargin": False, "tickangle": 0},
        yaxis={
            "tickvals": list(range(len(judged))),
            "ticktext": [plain_name(p) for p in judged],
            "range": [-0.7, len(judged) - 0.3],
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"color": palette.text},
        },
    )
    return figure


def _dot(
    time_s: float | None,
    low_s: float | None,
    high_s: float | None,
    row: int,
    color: str,
    name: str,
    palette: Any,
    *,
    up: bool,
) -> go.Scatter:
    assert time_s
    symbol, edge_px = ("circle", 0) if up else ("diamond-open", 2)
    return go.Scatter(
        x=[time_s],
        y=[row + (0.12 if up else -0.12)],
        mode="markers+text",
        name=name,
        marker={"size": 13, "color": color, "symbol": symbol, "line": {"width": edge_px}},
        text=[f"{name} {format_time(time_s)}"],
        textposition="top center" if up else "bottom center",
        textfont={"color": color if up else palette.muted, "size": 12},
        error_x={
            "type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 4,
            "array": [max(0.0, (high_s or time_s) - time_s)], "arrayminus": [max(0.0, time_s - (low_s or time_s))],
        },
        hoverinfo="skip",
        cliponaxis=False,
    )  # fmt: skip


def draw_second(points: Sequence[Point], findings: ByHandFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return how the multiplications add up: per output, per example, per batch, for all layers."""
    title, palette, count = claim_second(findings), PALETTES[theme], findings.count
    if count is None:
        return empty_figure(plain(title), HINT, theme)
    values = [count.width, count.width**2, count.batch * count.width**2, count.n_multiplications]
    span = (0.0, math.log10(max(*values, 10)) * 1.15)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=64, right=24))
    figure.add_bar(
        x=list(range(len(values))),
        y=values,
        marker={"color": ENTITY_STYLES[Entity.OVERHEAD].color(theme)},
        width=0.55,
        text=[format_count(value) for value in values],
        textposition="outside",
        constraintext="none",
        textfont={"color": palette.text, "size": 12},
        hoverinfo="skip",
        cliponaxis=False,
    )
    decades = [10.0**e for e in range(0, math.ceil(span[1]) + 1, 3)]
    figure.update_layout(
        xaxis={
            "tickvals": list(range(len(values))), "ticktext": list(_STEPS), "showgrid": False, "tickangle": 0,
            "tickfont": {"color": palette.muted},
        },
        yaxis={
            "type": "log", "range": list(span), "tickvals": decades, "gridcolor": palette.line, "zeroline": False,
            "ticktext": [f"10<sup>{round(math.log10(d))}</sup>" if d > 1 else "1" for d in decades],
            "tickfont": {"color": palette.muted},
            "title": {"text": "multiplications (log)", "font": {"color": palette.muted}},
        },
    )  # fmt: skip
    return figure
