"""The charts of a training step: its parts one after the other, and its memory by component."""

from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.figure import base_layout, empty_figure
from gpuexplain.charts.theme import BAND_OPACITY, ENTITY_STYLES, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step.conclude import StepFindings
from gpuexplain.experiments.step.spec import COPY, LOAD
from gpuexplain.experiments.step.words import PHASE_NAMES, claim_main, claim_second, component_name, rows_beside
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point
from gpuexplain.units import format_percent, format_size, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: a training step is taken apart, part by part."
GAP_ROWS = 0.6  # between the parts and the wholes
ROOM_FOR_SHARES = 1.55  # of the longest bar: time and share beside it, on a phone too
ROOM_FOR_TEXT = 1.35  # of the longest bar: what is written beside it


def draw_main(points: Sequence[Point], findings: StepFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the waterfall, every part beginning where the one before it ended, and the wholes under it."""
    title, palette = claim_main(findings), PALETTES[theme]
    if not findings.phases:
        return empty_figure(plain(title), HINT, theme)
    beside = rows_beside(findings)
    names = [*(PHASE_NAMES[p.name] for p in findings.phases), *(name for name, _ in beside)]
    rows = _rows(len(findings.phases), len(beside))
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=108, right=24))
    figure.add_trace(_waterfall(findings, rows, theme))
    if beside:
        figure.add_trace(_wholes(beside, rows[len(findings.phases) :], findings, theme))
    end_s = max(sum(p.time_s for p in findings.phases), *(time_s for _, time_s in beside), 0.0)
    ticks = [end_s * share for share in (0, 0.5, 1)]
    figure.update_layout(
        xaxis={
            "range": [0, end_s * ROOM_FOR_SHARES], "tickvals": ticks, "gridcolor": palette.line, "zeroline": False,
            "ticktext": [format_time(t, 2) if t else "0" for t in ticks], "tickangle": 0,
            "tickfont": {"color": palette.muted},
            "title": {"text": "time, one part after the other", "font": {"size": 12, "color": palette.muted}},
        },
        yaxis={
            "tickvals": rows, "ticktext": names, "showgrid": False,
            "zeroline": False, "ticklabelstandoff": 6, "range": [-0.7, rows[0] + 0.7],
            "tickfont": {"color": palette.text},
        },
    )  # fmt: skip
    return figure


def _rows(n_phases: int, n_beside: int) -> list[float]:
    """Return the heights of the bars, from the top; a gap sets the wholes apart from the parts."""
    gap = GAP_ROWS if n_beside else 0.0
    return [n_beside + gap + n_phases - 1 - i for i in range(n_phases)] + [n_beside - 1.0 - i for i in range(n_beside)]


def _waterfall(findings: StepFindings, rows: Sequence[float], theme: Theme) -> go.Bar:
    device = _device_entity(findings)
    colors = {LOAD: Entity.CPU if device is Entity.GPU else Entity.OVERHEAD, COPY: Entity.TRANSFER}
    starts, at_s = [], 0.0
    for phase in findings.phases:
        starts.append(at_s)
        at_s += phase.time_s
    return go.Bar(
        x=[phase.time_s for phase in findings.phases],
        base=starts,
        y=list(rows[: len(findings.phases)]),
        name="parts",
        orientation="h",
        width=0.6,
        marker={"color": [ENTITY_STYLES[colors.get(p.name, device)].color(theme) for p in findings.phases]},
        text=[f" {format_time(p.time_s)}, {format_percent(p.share)} " for p in findings.phases],
        textposition="outside",
        textfont={"color": PALETTES[theme].text, "size": 12},
        hovertext=[f"<b>{PHASE_NAMES[p.name]}</b><br>{format_time(p.time_s)}" for p in findings.phases],
        hoverinfo="text",
        cliponaxis=False,
    )


def _wholes(beside: Sequence[tuple[str, float]], rows: Sequence[float], findings: StepFindings, theme: Theme) -> go.Bar:
    """Return outlined bars from 0: they are no parts that add up."""
    color = ENTITY_STYLES[_device_entity(findings)].color(theme)
    return go.Bar(
        x=[time_s for _, time_s in beside],
        y=list(rows),
        name="wholes",
        orientation="h",
        width=0.6,
        marker={"color": with_alpha(color, BAND_OPACITY), "line": {"color": color, "width": 1.5}},
        text=[f" {format_time(time_s)} " for _, time_s in beside],
        textposition="outside",
        textfont={"color": PALETTES[theme].text, "size": 12},
        hovertext=[f"<b>{name}</b><br>{format_time(time_s)}" for name, time_s in beside],
        hoverinfo="text",
        cliponaxis=False,
    )


def _device_entity(findings: StepFindings) -> Entity:
    return Entity.CPU if findings.device == CPU else Entity.GPU


def draw_second(points: Sequence[Point], findings: StepFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the bytes of every component: measured as bars, counted from the shape as marks."""
    title, palette = claim_second(findings), PALETTES[theme]
    if not findings.components:
        return empty_figure(plain(title), HINT, theme)
    color = ENTITY_STYLES[_device_entity(findings)].color(theme)
    rows = list(range(len(findings.components)))[::-1]
    most = max(max(c.measured_bytes, c.predicted_bytes or 0.0) for c in findings.components) or 1.0
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=112, right=24))
    figure.add_bar(
        x=[c.measured_bytes for c in findings.components], y=rows, orientation="h", width=0.55, name="measured",
        marker={"color": color}, text=[f"   {format_size(c.measured_bytes)}" for c in findings.components],
        textposition="outside", textfont={"color": palette.text, "size": 12}, hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
    counted = [(row, c.predicted_bytes) for row, c in zip(rows, findings.components, strict=True) if c.predicted_bytes]
    figure.add_scatter(
        x=[size or 0.0 for _, size in counted], y=[row for row, _ in counted], mode="markers", name="counted",
        marker={"symbol": "line-ns", "size": 24, "line": {"width": 3, "color": palette.muted}},
        hovertext=[f"counted {format_size(size or 0.0)}" for _, size in counted], hoverinfo="text",
    )  # fmt: skip
    ticks = [most * share for share in (0, 0.5, 1)]
    figure.update_layout(
        margin_b=72,
        xaxis={
            "range": [0, most * ROOM_FOR_TEXT], "tickvals": ticks, "gridcolor": palette.line, "zeroline": False,
            "ticktext": [format_size(t) if t else "0" for t in ticks], "tickangle": 0,
            "tickfont": {"color": palette.muted},
            "title": {
                "text": _axis_title(findings), "standoff": 12, "font": {"size": 12, "color": palette.muted},
            },
        },
        yaxis={
            "tickvals": rows, "ticktext": [component_name(c.name) for c in findings.components], "showgrid": False,
            "zeroline": False, "ticklabelstandoff": 6, "range": [-0.7, len(rows) - 0.3],
            "tickfont": {"color": palette.text},
        },
    )  # fmt: skip
    return figure


def _axis_title(findings: StepFindings) -> str:
    of_all = ""
    if findings.device_bytes:
        share = format_percent(findings.kept_bytes / findings.device_bytes)
        of_all = f"<br>together {share} of {format_size(findings.device_bytes)}"
    return f"bytes (mark: counted from the shape){of_all}"
