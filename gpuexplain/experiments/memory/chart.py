"""The charts of the memory wall: the roofline with what lies under it, and the time by uses per loaded value."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.charts.axes import log_range, power_of_two_ticks, value_axis
from gpuexplain.charts.figure import base_layout, empty_figure, note
from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import ENTITY_STYLES, GHOST_OPACITY, PALETTES, Entity, Theme
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.memory.conclude import FreeUses, MemoryFindings, PlacedPoint
from gpuexplain.experiments.memory.spec import EXPERIMENT_ID, WALK
from gpuexplain.experiments.memory.words import claim_main, claim_second, name_point, tell_point
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import NotFound
from gpuexplain.model import Dtype, Point
from gpuexplain.units import format_count, format_rate_flops, format_significant, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: both roofs, and work that walks between them."
# How far the roofs are drawn beyond the ridge and the points, as a factor.
BEYOND = 4.0
MOST_TICKS = 5
_DASHES = {Dtype.FP32: "solid", Dtype.BF16: "dashdot"}


def draw_main(points: Sequence[Point], findings: MemoryFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the roofline: measured roofs solid, reference dashed, one roof per number format."""
    title, memory = claim_main(findings), findings.memory
    if isinstance(memory, NotFound) or not findings.compute:
        return empty_figure(plain(title), HINT, theme)
    placed = [*findings.walk, *findings.others]
    x_range = _x_span(findings)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=72, right=84))
    figure.add_traces(_roofs(findings, x_range, theme))
    figure.add_traces(_dots(placed, findings, theme))
    rates = [p.rate_flops for p in placed] + [roof.flops_s for roof in findings.compute]
    rates += [x_range[0] * memory.bytes_s]
    y_range = log_range(rates, pad=0.12)  # the names under the lowest points
    ticks = _intensity_ticks(x_range)
    figure.update_layout(
        xaxis=_log_axis("operations per byte", (math.log10(x_range[0]), math.log10(x_range[1])), theme, ticks),
        yaxis=value_axis("speed", y_range, format_rate_flops, theme),
        annotations=_names(findings, x_range, theme),
    )
    return figure


def _intensity_ticks(x_range: tuple[float, float]) -> list[float]:
    """Return powers of four inside a range, or of sixteen where all of them would touch on a phone."""
    first, last = math.ceil(math.log(x_range[0], 4)), math.floor(math.log(x_range[1], 4))
    step = 1 if last - first < MOST_TICKS else 2
    return [4.0**e for e in range(first, last + 1) if e % step == 0]


def _x_span(findings: MemoryFindings) -> tuple[float, float]:
    intensities = [p.intensity for p in (*findings.walk, *findings.others)]
    ridges = [roof.ridge for roof in findings.compute]
    return min([*intensities, *ridges]) / BEYOND**0.5, max([*intensities, *ridges]) * BEYOND


def _device_entity(findings: MemoryFindings) -> Entity:
    return Entity.CPU if findings.device == CPU else Entity.GPU


def _roofs(findings: MemoryFindings, x_range: tuple[float, float], theme: Theme) -> list[go.Scatter]:
    assert not isinstance(findings.memory, NotFound)
    color = ENTITY_STYLES[_device_entity(findings)].color(theme)
    theory = ENTITY_STYLES[Entity.THEORY].color(theme)
    low, high = x_range
    traces = []
    for roof in findings.compute:
        traces.append(
            _line(
                [low, roof.ridge, high],
                [low * findings.memory.bytes_s, roof.flops_s, roof.flops_s],
                color,
                _DASHES.get(roof.dtype, "dash"),
                f"measured roof, {roof.dtype}",
            )
        )
        if roof.reference_flops_s and findings.memory.reference_bytes_s:
            peak, bandwidth = roof.reference_flops_s, findings.memory.reference_bytes_s
            traces.append(
                _line(
                    [low, peak / bandwidth, high],
                    [low * bandwidth, peak, peak],
                    theory,
                    "longdash",
                    f"reference, {roof.dtype}",
                )
            )
    return traces


def _line(x: list[float], y: list[float], color: str, dash: str, name: str) -> go.Scatter:
    return go.Scatter(
        x=x, y=y, mode="lines", name=name, line={"color": color, "dash": dash, "width": 2.2}, hoverinfo="skip"
    )


def _dots(placed: Sequence[PlacedPoint], findings: MemoryFindings, theme: Theme) -> list[go.Scatter]:
    palette, warning = PALETTES[theme], ENTITY_STYLES[Entity.WARNING].color(theme)
    color = ENTITY_STYLES[_device_entity(findings)].color(theme)
    traces = []
    for label in dict.fromkeys(p.label for p in placed):
        own = [p for p in placed if p.label == label]
        traces.append(
            go.Scatter(
                x=[p.intensity for p in own],
                y=[p.rate_flops for p in own],
                mode="markers",
                name=label or "the walk",
                marker={
                    "size": 9 if not label else 7,
                    "symbol": "circle" if not label else "diamond",
                    "opacity": 1 if not label else 0.7,
                    "color": [
                        (color if not label else palette.muted) if p.is_fact else palette.background for p in own
                    ],
                    "line": {"width": 2, "color": [color if p.is_fact else warning for p in own]},
                },
                hovertext=[_hover(p) for p in own],
                hoverinfo="text",
            )
        )
    return traces


def _hover(point: PlacedPoint) -> str:
    return (
        f"<b>{literal(name_point(point))}</b>, {point.dtype}<br>"
        f"{format_significant(point.intensity)} operations per byte<br>"
        f"{format_rate_flops(point.rate_flops)}<br>{tell_point(point)}"
    )


def _names(findings: MemoryFindings, x_range: tuple[float, float], theme: Theme) -> list[dict[str, Any]]:
    """Name each flat roof at its right end, and the ridge of fp32 under its corner."""
    color, muted = ENTITY_STYLES[_device_entity(findings)].color(theme), PALETTES[theme].muted
    place = {"xanchor": "left", "yanchor": "middle", "xshift": 4}
    names = [
        note(
            f"{roof.dtype}<br>{format_rate_flops(roof.flops_s)}",
            color,
            theme,
            x=math.log10(x_range[1]),
            y=math.log10(roof.flops_s),
            align="left",
            **place,
        )
        for roof in findings.compute
    ]
    names += _group_names(findings, theme)
    roof = findings.roof_of(Dtype.FP32)
    if roof is not None:
        text = f"ridge {format_significant(roof.ridge, 2)}"
        names.append(
            note(text, muted, theme, x=math.log10(roof.ridge), y=math.log10(roof.flops_s), yanchor="bottom", yshift=6)
        )
    return names


def _group_names(findings: MemoryFindings, theme: Theme) -> list[dict[str, Any]]:
    """Name the walk and every other experiment at its lowest point, where no roof is."""
    color, muted = ENTITY_STYLES[_device_entity(findings)].color(theme), PALETTES[theme].muted
    names = []
    for label in dict.fromkeys(p.label for p in (*findings.walk, *findings.others)):
        own = [p for p in (*findings.walk, *findings.others) if p.label == label]
        lowest = min(own, key=lambda p: p.of_roof)
        place = {"x": math.log10(lowest.intensity), "y": math.log10(lowest.rate_flops)}
        names.append(
            note(
                label.replace("_", " ") or "the walk",
                muted if label else color,
                theme,
                yanchor="top",
                yshift=-7,
                **place,
            )
        )
    return names


def draw_second(points: Sequence[Point], findings: MemoryFindings, theme: Theme) -> go.Figure:
    """Return the time of W x by the number of columns: flat while memory is the limit, then rising."""
    title = claim_second(findings)
    own = [p for p in points if (p.experiment, p.series, p.source) == (EXPERIMENT_ID, WALK, findings.source)]
    walk = sorted((p for p in most_trustworthy(own)[0] if p.median_s), key=lambda p: p.x)
    if not walk:
        return empty_figure(plain(title), HINT, theme)
    color = ENTITY_STYLES[_device_entity(findings)].color(theme)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=72, right=24))
    figure.add_traces(_earlier_walks(points, findings, color))
    figure.add_scatter(
        x=[p.x for p in walk],
        y=[p.median_s or 0.0 for p in walk],
        mode="lines+markers",
        line={"color": color, "width": 2.4},
        marker={"size": 8, "color": color},
        hovertext=[f"<b>k = {format_count(p.x)}</b><br>{format_time(p.median_s or 0.0)}" for p in walk],
        hoverinfo="text",
    )
    span = log_range([p.x for p in walk])
    sizes, texts = power_of_two_ticks(span)
    if isinstance(findings.free, FreeUses):
        figure.add_vrect(
            x0=walk[0].x, x1=findings.free.up_to_k, line_width=0, layer="below",
            fillcolor=ENTITY_STYLES[Entity.OVERHEAD].color(theme), opacity=0.12,
        )  # fmt: skip
        if span[0] <= math.log10(findings.free.predicted_k) <= span[1]:
            figure.add_vline(
                findings.free.predicted_k, line={"color": PALETTES[theme].muted, "dash": "dot", "width": 1.5}
            )
            figure.add_annotation(
                note(
                    "ridge",
                    PALETTES[theme].muted,
                    theme,
                    x=math.log10(findings.free.predicted_k),
                    y=1,
                    yref="paper",
                    yanchor="bottom",
                )
            )
    axis = _log_axis("uses per loaded value, k", span, theme, sizes)
    figure.update_layout(
        xaxis={**axis, "ticktext": texts},
        yaxis=value_axis("time of W x", log_range([p.median_s or 0.0 for p in walk]), format_time, theme),
    )
    return figure


def _earlier_walks(points: Sequence[Point], findings: MemoryFindings, color: str) -> list[go.Scatter]:
    """Return other runs that a visitor laid beside the result: faint and dotted."""
    ghosts = [
        p for p in points if (p.experiment, p.series) == (EXPERIMENT_ID, WALK) and p.source is not findings.source
    ]
    traces = []
    for source_note in dict.fromkeys(p.source_note for p in ghosts):
        own = sorted((p for p in ghosts if p.source_note == source_note and p.median_s), key=lambda p: p.x)
        traces.append(
            go.Scatter(
                x=[p.x for p in own],
                y=[p.median_s or 0.0 for p in own],
                mode="lines+markers",
                name="earlier",
                opacity=GHOST_OPACITY,
                line={"color": color, "width": 1.5, "dash": "dot"},
                marker={"size": 7, "color": color, "symbol": "circle-open"},
                hovertext=[f"<b>{literal(source_note)}</b><br>{format_time(p.median_s or 0.0)}" for p in own],
                hoverinfo="text",
            )
        )
    return traces


def _log_axis(title: str, span: tuple[float, float], theme: Theme, ticks: Sequence[float]) -> dict[str, Any]:
    palette = PALETTES[theme]
    return {
        "type": "log",
        "range": list(span),
        "tickvals": list(ticks),
        "ticktext": [format_significant(tick, 2) if tick < 1 else format_count(tick) for tick in ticks],
        "title": {"text": f"{title} (log)", "font": {"size": 12, "color": palette.muted}},
        "tickfont": {"size": 12, "color": palette.muted},
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
    }
