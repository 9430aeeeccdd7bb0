"""The charts of many workers: speed-up by threads with what is lost; a sum in four ways, or a GPU's staircase."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.figure import base_layout, empty_figure, note
from gpuexplain.charts.theme import BAND_OPACITY, ENTITY_STYLES, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.titles import entity_words
from gpuexplain.experiments.workers.conclude import Staircase, WorkersFindings
from gpuexplain.experiments.workers.series import SUM_NAMES
from gpuexplain.experiments.workers.spec import BLOCKS
from gpuexplain.experiments.workers.words import claim_main, claim_second
from gpuexplain.model import Point
from gpuexplain.points import usable
from gpuexplain.units import format_factor, format_percent, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: one product, shared by one thread, two, and more."
MOST_LABELS = 8


def draw_main(points: Sequence[Point], findings: WorkersFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the speed-up by threads, the ideal line, and what is lost between them."""
    title = claim_main(findings)
    if not findings.speedups:
        return empty_figure(plain(title), HINT, theme)
    palette, color = PALETTES[theme], ENTITY_STYLES[Entity.CPU].color(theme)
    counts = [s.workers for s in findings.speedups]
    factors = [s.factor for s in findings.speedups]
    top = max(counts[-1], max(s.high or s.factor for s in findings.speedups))
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=56, right=72))
    figure.add_scatter(
        x=counts, y=counts, mode="lines", name="ideal", hoverinfo="skip",
        line={"color": ENTITY_STYLES[Entity.THEORY].color(theme), "dash": "longdash", "width": 1.5},
    )  # fmt: skip
    figure.add_scatter(
        x=counts, y=factors, mode="lines", name="lost", hoverinfo="skip", fill="tonexty",
        fillcolor=with_alpha(palette.muted, BAND_OPACITY), line={"width": 0, "color": color},
    )  # fmt: skip
    figure.add_scatter(
        x=counts,
        y=factors,
        mode="lines+markers",
        name="measured",
        line={"color": color, "width": 2.4},
        marker={"size": 9, "color": color},
        error_y={
            "type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 4,
            "array": [max(0.0, (s.high or s.factor) - s.factor) for s in findings.speedups],
            "arrayminus": [max(0.0, s.factor - (s.low or s.factor)) for s in findings.speedups],
        },
        hovertext=[
            f"<b>{s.workers} threads</b><br>{format_factor(s.factor)}<br>{format_percent(s.efficiency)} of the ideal"
            for s in findings.speedups
        ],
        hoverinfo="text",
    )  # fmt: skip
    last = findings.speedups[-1]
    place = {"x": last.workers, "xanchor": "left", "xshift": 8}
    figure.add_annotation(note("measured", color, theme, y=last.factor, yanchor="top", **place))
    figure.add_annotation(note("ideal", palette.muted, theme, y=last.workers, yanchor="bottom", **place))
    ticks = counts if len(counts) <= MOST_LABELS else [c for c in counts if c & (c - 1) == 0]
    figure.update_layout(
        xaxis=_axis("threads", palette, tickvals=ticks, range=[0.8, counts[-1] + 0.2], showgrid=False),
        yaxis=_axis("times as fast as one thread", palette, range=[0, top * 1.12], rangemode="tozero"),
    )
    return figure


def draw_second(points: Sequence[Point], findings: WorkersFindings, theme: Theme) -> go.Figure:
    """Return the GPU's staircase where its blocks were timed, else the same sum in four ways."""
    title = claim_second(findings)
    blocks = [p for p in usable(points) if p.series == BLOCKS and p.median_s]
    if blocks and findings.staircase is not None:
        return _draw_staircase(sorted(blocks, key=lambda p: p.x), findings.staircase, title, theme)
    if not findings.sums:
        return empty_figure(plain(title), HINT, theme)
    return _draw_sums(findings, title, theme)


def _draw_sums(findings: WorkersFindings, title: str, theme: Theme) -> go.Figure:
    palette, color = PALETTES[theme], ENTITY_STYLES[Entity.CPU].color(theme)
    ways = sorted(findings.sums, key=lambda way: -way.time_s)[::-1]
    times_s = [way.time_s for way in ways]
    span = (math.log10(min(times_s)) - 0.4, math.log10(max(times_s)) + 0.6)
    ticks = [10.0**e for e in range(math.ceil(span[0]), math.floor(span[1]) + 1)]
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=120, right=24))
    figure.add_scatter(
        x=times_s,
        y=list(range(len(ways))),
        mode="markers+text",
        marker={"size": 13, "color": color, "symbol": "circle"},
        text=[f"{format_time(way.time_s)}" for way in ways],
        textposition="top center",
        textfont={"color": palette.text, "size": 12},
        hovertext=[f"<b>{SUM_NAMES[w.series]}</b><br>{format_time(w.time_s)}<br>{_say_factor(w.factor)}" for w in ways],
        hoverinfo="text",
    )
    figure.update_layout(
        xaxis=_axis(
            "time of one sum (log)", palette, type="log", range=list(span), tickvals=ticks,
            ticktext=[format_time(t, 1) for t in ticks],
        ),
        yaxis={
            "tickvals": list(range(len(ways))),
            "ticktext": [SUM_NAMES[way.series] for way in ways],
            "range": [-0.6, len(ways) - 0.2],
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"color": palette.text},
        },
    )  # fmt: skip
    return figure


def _say_factor(factor: float) -> str:
    return "the loop itself" if factor == 1 else f"{format_factor(factor)} as fast as the loop"


def _draw_staircase(blocks: Sequence[Point], staircase: Staircase, title: str, theme: Theme) -> go.Figure:
    palette, color = PALETTES[theme], ENTITY_STYLES[Entity.GPU].color(theme)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=72, right=24))
    figure.add_scatter(
        x=[p.x for p in blocks],
        y=[p.median_s or 0.0 for p in blocks],
        mode="lines+markers",
        line={"color": color, "width": 2, "shape": "hv"},
        marker={"size": 7, "color": color},
        hovertext=[f"<b>{p.x:.0f} blocks</b><br>{format_time(p.median_s or 0.0)}" for p in blocks],
        hoverinfo="text",
    )
    width = staircase.multiprocessors
    rounds = [width * number for number in range(1, round(blocks[-1].x / width) + 1)] if width else []
    for at in rounds:
        figure.add_vline(at, line={"color": palette.muted, "dash": "dot", "width": 1})
    top_s = max(p.median_s or 0.0 for p in blocks)
    ticks = [top_s * share for share in (0, 0.25, 0.5, 0.75, 1)]
    figure.update_layout(
        xaxis=_axis("blocks (dotted: full rounds)", palette, tickvals=rounds, showgrid=False),
        yaxis=_axis(
            "time of the launch", palette, range=[0, top_s * 1.1], tickvals=ticks,
            ticktext=[format_time(t, 2) if t else "0" for t in ticks],
        ),
    )  # fmt: skip
    return figure


def _axis(title: str, palette: Any, **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"color": palette.muted}},
        "gridcolor": palette.line,
        "zeroline": False,
        "tickfont": {"color": palette.muted},
        "tickangle": 0,
        **more,
    }
