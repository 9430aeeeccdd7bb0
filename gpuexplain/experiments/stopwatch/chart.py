"""The charts of the stopwatch page: lanes of host and device over what each mistake shows; samples in order."""

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.figure import base_layout, empty_figure, note
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.stopwatch.conclude import LaneEvent, StopwatchFindings, Trap, Verdict
from gpuexplain.experiments.stopwatch.series import Lane, entity_of
from gpuexplain.experiments.stopwatch.spec import MISTAKES, Way
from gpuexplain.experiments.stopwatch.words import claim_main, claim_second
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point, Source
from gpuexplain.units import format_factor, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: one product, timed right and in every wrong way."
HEIGHT_PX = 560
LANES_SHARE = 0.34  # of the height, where there are lanes
LEFT_PX = 128
MOST_TICKS = 4  # more would touch on a phone
_LANE_NAMES = {Lane.HOST: "program", Lane.WAIT: "program", Lane.DEVICE: "work"}


def draw_main(points: Sequence[Point], findings: StopwatchFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the lanes of host and device, above what each mistake shows beside the right figure."""
    title = claim_main(findings)
    traps = [t for t in findings.traps if t.factor and t.verdict is not Verdict.ABSENT]
    if findings.right_s is None or not traps:
        return empty_figure(plain(title), HINT, theme)
    has_lanes = bool(findings.lanes)
    layout = base_layout(entity_words(title), theme, left=LEFT_PX, right=64)
    layout["height"] = HEIGHT_PX
    split = 1 - LANES_SHARE if has_lanes else 1.0
    layout |= _factor_axes(traps, theme, split - 0.12 if has_lanes else 1.0)
    figure = go.Figure(layout=layout)
    figure.add_traces(_factor_traces(traps, findings, theme))
    if has_lanes:
        _add_lanes(figure, findings, theme, split)
    return figure


# -- what each mistake shows ----------------------------------------------------------------------


def _name(trap: Trap) -> str:
    return MISTAKES[trap.id].name.replace("`", "")


def _by_factor(traps: Sequence[Trap]) -> list[Trap]:
    return sorted(traps, key=lambda t: t.factor or 1.0)


def _factor_axes(traps: Sequence[Trap], theme: Theme, top: float) -> dict[str, Any]:
    palette = PALETTES[theme]
    values = [v for t in traps for v in (t.factor, t.factor_low, t.factor_high) if v] + [0.5, 2.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span = (math.log10(min(values)) - 0.25, math.log10(max(values)) + 0.25)
    ticks = [m * 10.0**e for e in range(low, high + 1) for m in (1, 2, 5)]
    ticks = [t for t in ticks if span[0] <= math.log10(t) <= span[1]]
    if len(ticks) > MOST_TICKS:  # powers of ten only, every second one where there are many
        step = 2 if high - low >= MOST_TICKS else 1
        ticks = [10.0**e for e in range(low, high + 1) if e % step == 0 and span[0] <= e <= span[1]]
    names = ["the right figure", *(_name(t) for t in _by_factor(traps))]
    return {
        "xaxis": {
            "type": "log",
            "range": list(span),
            "tickvals": ticks,
            "ticktext": [f"{tick:g} ×" for tick in ticks],
            "title": {"text": "multiple of the right figure (log)", "font": {"color": palette.muted}},
            "gridcolor": palette.line,
            "zeroline": False,
            "tickfont": {"color": palette.muted},
            "tickangle": 0,
        },
        "yaxis": {
            "domain": [0, top],
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "range": [-0.6, len(names) - 0.4],
            "zeroline": False,
            "showgrid": False,
            "tickfont": {"color": palette.text},
            "automargin": False,
        },
    }


def _factor_traces(traps: Sequence[Trap], findings: StopwatchFindings, theme: Theme) -> list[go.Scatter]:
    palette, ordered = PALETTES[theme], _by_factor(traps)
    colors = {
        Verdict.MISLEADS: ENTITY_STYLES[Entity.WARNING].color(theme),
        Verdict.HARMLESS: ENTITY_STYLES[entity_of(findings.device)].color(theme),
        Verdict.CANNOT_TELL: palette.muted,
    }
    bars = {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, (t.factor_high or t.factor or 1) - (t.factor or 1)) for t in ordered],
        "arrayminus": [max(0.0, (t.factor or 1) - (t.factor_low or t.factor or 1)) for t in ordered],
        "color": palette.muted,
        "thickness": 1.5,
        "width": 5,
    }
    wrong = go.Scatter(
        x=[t.factor for t in ordered],
        y=list(range(1, len(ordered) + 1)),
        mode="markers",
        name="what the mistake shows",
        marker={
            "size": 11,
            "symbol": ["diamond" if t.verdict is Verdict.MISLEADS else "circle-open" for t in ordered],
            "color": [colors[t.verdict] for t in ordered],
        },
        error_x=bars,
        hovertext=[_hover(t) for t in ordered],
        hoverinfo="text",
    )
    right = go.Scatter(
        x=[1.0],
        y=[0],
        mode="markers+text",
        name="the right figure",
        marker={"size": 11, "color": ENTITY_STYLES[entity_of(findings.device)].color(theme)},
        text=[f"  {format_time(findings.right_s or 0.0)}"],
        textposition="middle right",
        textfont={"color": palette.text, "size": 12},
        hoverinfo="skip",
    )
    line = go.Scatter(
        x=[1.0, 1.0],
        y=[0, len(ordered)],
        mode="lines",
        line={"color": palette.muted, "dash": "dot", "width": 1},
        hoverinfo="skip",
        name="1 ×",
    )
    return [line, right, wrong]


def _hover(trap: Trap) -> str:
    shown = f"{format_time(trap.wrong_s)}, " if trap.wrong_s else ""
    verdict = trap.verdict.replace("_", " ")
    return f"<b>{_name(trap)}</b><br>{shown}{format_factor(trap.factor or 1.0)} the right figure<br>{verdict}"


# -- the lanes ------------------------------------------------------------------------------------


def _add_lanes(figure: go.Figure, findings: StopwatchFindings, theme: Theme, bottom: float) -> None:
    """Draw who is busy when, on axes of their own above the factors."""
    palette = PALETTES[theme]
    rows = list(dict.fromkeys(_row(event, findings) for event in findings.lanes))[::-1]
    end_s = max(event.start_s + event.length_s for event in findings.lanes)
    for lane, color, name in _lane_looks(findings, theme):
        events = [event for event in findings.lanes if event.lane is lane]
        if events:
            figure.add_bar(
                x=[event.length_s for event in events],
                base=[event.start_s for event in events],
                y=[rows.index(_row(event, findings)) for event in events],
                orientation="h",
                name=name,
                marker={"color": color, "line": {"color": palette.background, "width": 1.5}},
                hovertext=[f"{name}: {format_time(e.length_s)} from {format_time(e.start_s)}" for e in events],
                hoverinfo="text",
                xaxis="x2",
                yaxis="y2",
            )
    ticks = [end_s * share for share in (0, 0.5, 1.0)]
    figure.update_layout(
        barmode="overlay",
        bargap=0.35,
        xaxis2={
            "anchor": "y2",
            "range": [0, end_s * 1.02],
            "tickvals": ticks,
            "ticktext": [format_time(t, 2) if t else "0" for t in ticks],
            "tickfont": {"color": palette.muted},
            "tickangle": 0,
            "gridcolor": palette.line,
            "zeroline": False,
        },
        yaxis2={
            "anchor": "x2",
            "domain": [bottom, 1],
            "tickvals": list(range(len(rows))),
            "ticktext": rows,
            "zeroline": False,
            "showgrid": False,
            "tickfont": {"color": palette.text},
        },
    )
    for words in _brackets(findings, rows, theme):
        figure.add_annotation(words)


def _row(event: LaneEvent, findings: StopwatchFindings) -> str:
    name = _LANE_NAMES[event.lane]
    if all(e.waits for e in findings.lanes):
        return name
    return f"{'waiting' if event.waits else 'queueing'}: {name}"


def _lane_looks(findings: StopwatchFindings, theme: Theme) -> list[tuple[Lane, str, str]]:
    palette, device = PALETTES[theme], ENTITY_STYLES[entity_of(findings.device)].color(theme)
    overhead = ENTITY_STYLES[Entity.OVERHEAD].color(theme)
    return [
        (Lane.WAIT, with_alpha(palette.muted, 0.35), "the program waits"),
        (Lane.HOST, overhead, "the program is in the call"),
        (Lane.DEVICE, device, "the work is done"),
    ]


def _brackets(findings: StopwatchFindings, rows: list[str], theme: Theme) -> list[dict[str, Any]]:
    """Name the naive and the true stretch of the first call that did not wait."""
    queued = [e for e in findings.lanes if not e.waits]
    host = next((e for e in queued if e.lane is Lane.HOST), None)
    work = next((e for e in queued if e.lane is Lane.DEVICE), None)
    if host is None or work is None:
        return []
    warning = ENTITY_STYLES[Entity.WARNING].color(theme)
    naive = f"naive clock: {format_time(host.length_s, 2)}"
    true = f"true: {format_time(work.start_s + work.length_s - host.start_s, 2)}"
    place = {"xref": "x2", "yref": "y2", "xanchor": "left", "yanchor": "middle", "xshift": 6}
    return [
        note(naive, warning, theme, x=host.start_s + host.length_s, y=rows.index(_row(host, findings)), **place),
        note(true, PALETTES[theme].text, theme, x=work.start_s, y=rows.index(_row(work, findings)), **place),
    ]


# -- every sample in order ------------------------------------------------------------------------


def draw_second(points: Sequence[Point], findings: StopwatchFindings, theme: Theme) -> go.Figure:
    """Return every call of the right way in order: the cold spike, the warm-up, the steady samples."""
    title = claim_second(findings)
    right = next((p for p in points if p.series == Way.RIGHT and p.samples_s and _is_shown(p, findings)), None)
    if right is None:
        return empty_figure(plain(title), HINT, theme)
    palette = PALETTES[theme]
    color = ENTITY_STYLES[entity_of(right.device)].color(theme)
    groups = [
        (
            "cold call",
            [right.first_call_s] if right.first_call_s else [],
            ENTITY_STYLES[Entity.WARNING].color(theme),
            "x",
        ),
        ("warm-up", list(right.warmup_s), palette.muted, "circle-open"),
        ("samples", list(right.samples_s), color, "circle"),
    ]
    figure, position = go.Figure(layout=base_layout(entity_words(title), theme, left=72, right=24)), 1
    for name, times_s, shade, symbol in groups:
        if times_s:
            x = list(range(position, position + len(times_s)))
            text = [f"{name}: {format_time(time_s)}" for time_s in times_s]
            marker = {"color": shade, "symbol": symbol, "size": 8}
            figure.add_scatter(
                x=x, y=times_s, mode="markers", name=name, marker=marker, hovertext=text, hoverinfo="text"
            )
            # Each name by its own points: the cold call's above, the few of the warm-up below, the many at the right.
            at, anchor = (x[-1], "right") if name == "samples" else (x[0], "left")
            below = name == "warm-up"
            place = {"x": at, "xanchor": anchor, "y": math.log10(min(times_s) if below else max(times_s))}
            place |= {"yanchor": "top", "yshift": -8} if below else {"yanchor": "bottom", "yshift": 8}
            figure.add_annotation(note(name, shade, theme, **place))
            position += len(times_s)
    figure.update_layout(_sample_axes([t for _, times, _, _ in groups for t in times], palette))
    return figure


def _is_shown(point: Point, findings: StopwatchFindings) -> bool:
    return (point.device, point.source) == (findings.device, findings.source) or point.source is Source.MEASURED


def _sample_axes(times_s: Sequence[float], palette: Any) -> dict[str, Any]:
    span = (math.log10(min(times_s)) - 0.3, math.log10(max(times_s)) + 0.3)
    marks = [m * 10.0**e for e in range(math.floor(span[0]), math.ceil(span[1]) + 1) for m in (1, 2, 5)]
    ticks = [t for t in marks if span[0] <= math.log10(t) <= span[1]]
    return {
        "xaxis": {
            "title": {"text": "call, in order", "font": {"color": palette.muted}},
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"color": palette.muted},
        },
        "yaxis": {
            "type": "log",
            "range": list(span),
            "tickvals": ticks,
            "ticktext": [format_time(t, 2) for t in ticks],
            "gridcolor": palette.line,
            "zeroline": False,
            "tickfont": {"color": palette.muted},
            "title": {"text": "time of one call (log)", "font": {"color": palette.muted}},
        },
    }
