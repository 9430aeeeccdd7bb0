"""The charts of more devices: speed-up with what is lost and a model of more; the time of an exchange by its size."""

from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.analysis.scaling import find_speedups
from gpuexplain.charts.axes import log_range, value_axis
from gpuexplain.charts.figure import base_layout, empty_figure, note
from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import BAND_OPACITY, ENTITY_STYLES, GHOST_OPACITY, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.scaling.conclude import Model, PublishedSpeedups, ScalingFindings, find_published
from gpuexplain.experiments.scaling.spec import ALL_REDUCE, STRONG
from gpuexplain.experiments.scaling.words import claim_main, claim_second
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import FitStatus
from gpuexplain.model import Point, Source, Status
from gpuexplain.units import format_factor, format_percent, format_size, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: one training step, shared by one device, then by more."


def draw_main(points: Sequence[Point], findings: ScalingFindings, theme: Theme) -> go.Figure:
    """Return the speed-up by number of devices: measured, ideal, a model and what others published, each as such."""
    title = claim_main(findings)
    # What a visitor laid beside the result is not in its findings.
    beside = find_published([p for p in points if p.source is Source.PUBLISHED])
    if not findings.strong and not beside:
        return empty_figure(plain(title), HINT, theme)
    palette = PALETTES[theme]
    model = findings.model.speedups if isinstance(findings.model, Model) else ()
    counts = [s.workers for s in findings.strong]
    end = _last_count(findings, beside)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=56, right=92))
    figure.add_traces(_guides(findings, model, end, theme))
    for published in beside:
        _add_published(figure, published, end, theme)
    if model:
        _add_end_note(figure, "model", model[-1], ENTITY_STYLES[Entity.THEORY].color(theme), theme, "top")
    _add_earlier(figure, points, findings, theme)
    _add_measured(figure, findings, theme)
    reached = [end * 0.5, *(s.factor for s in (*findings.strong, *findings.weak))]
    shown = {*counts, *(x for x, _ in model), *(s.workers for p in beside for s in p.speedups)}
    what = "processes" if findings.strong and findings.is_cpu else "GPUs"
    figure.update_layout(
        xaxis={
            "title": {"text": what, "font": {"size": 12, "color": palette.muted}},
            "tickvals": sorted(x for x in shown if x <= end), "range": [1 - 0.04 * end, end * 1.04], "showgrid": False,
            "zeroline": False, "tickfont": {"color": palette.muted},
        },
        yaxis={
            "title": {"text": "times as fast as one", "font": {"size": 12, "color": palette.muted}},
            "range": [0, max(end, *reached) * 1.06],
            "gridcolor": palette.line, "zeroline": False, "tickfont": {"color": palette.muted},
        },
    )  # fmt: skip
    return figure


def _last_count(findings: ScalingFindings, beside: Sequence[PublishedSpeedups]) -> int:
    """Return where the axis of devices ends: not so far out that what was measured here shrinks to a dot."""
    own = [s.workers for s in findings.strong]
    model = [n for n, _ in findings.model.speedups] if isinstance(findings.model, Model) else []
    if own:
        return max([*own, *model, 2])
    return max(s.workers for published in beside for s in published.speedups)


def _guides(findings: ScalingFindings, model: Sequence[tuple[int, float]], end: int, theme: Theme) -> list[go.Scatter]:
    """Return the ideal, the model, and the area that was lost: no markers, for nothing was measured there."""
    theory = ENTITY_STYLES[Entity.THEORY].color(theme)
    counts = [s.workers for s in findings.strong]
    traces = [
        go.Scatter(
            x=[1, end], y=[1, end], mode="lines", name="ideal", hoverinfo="skip",
            line={"color": theory, "dash": "longdash", "width": 1.5},
        )
    ]  # fmt: skip
    if counts:
        lost = with_alpha(PALETTES[theme].muted, BAND_OPACITY)
        traces.append(
            go.Scatter(
                x=[*counts, *counts[::-1]], y=[*(s.factor for s in findings.strong), *counts[::-1]], mode="lines",
                name="lost", fill="toself", fillcolor=lost, line={"width": 0}, hoverinfo="skip",
            )
        )  # fmt: skip
    if model:
        traces.append(
            go.Scatter(
                x=[x for x, _ in model], y=[y for _, y in model], mode="lines", name="model", hoverinfo="skip",
                line={"color": theory, "dash": "dot", "width": 1.5},
            )
        )  # fmt: skip
    return traces


def _add_published(figure: go.Figure, published: PublishedSpeedups, end: int, theme: Theme) -> None:
    """Draw what others measured: faint, dotted, with open markers."""
    color = ENTITY_STYLES[Entity.GPU].color(theme)
    shown = [s for s in published.speedups if s.workers <= end]
    figure.add_scatter(
        x=[s.workers for s in shown],
        y=[s.factor for s in shown],
        mode="lines+markers",
        name="published",
        opacity=GHOST_OPACITY,
        line={"color": color, "dash": "dot", "width": 1.5},
        marker={"size": 8, "symbol": "square-open", "color": color},
        hovertext=[
            f"<b>{literal(published.name)}, published</b><br>{s.workers} GPUs, a batch each<br>"
            f"{format_factor(s.factor)}, {format_percent(s.efficiency)} of the ideal"
            for s in shown
        ],
        hoverinfo="text",
    )
    network = literal(published.name.split(" on ")[0])
    last = (shown[-1].workers, shown[-1].factor)
    _add_end_note(figure, f"{network},<br>published", last, PALETTES[theme].muted, theme)


def _add_earlier(figure: go.Figure, points: Sequence[Point], findings: ScalingFindings, theme: Theme) -> None:
    """Draw other runs of this experiment that were laid beside the result: faint and dotted."""
    ghosts = [p for p in points if _is_ghost(p, findings) and p.source is not Source.PUBLISHED and p.series == STRONG]
    for source_note in dict.fromkeys(p.source_note for p in ghosts):
        speedups = find_speedups([p for p in ghosts if p.source_note == source_note])
        if len(speedups) < 2:
            continue
        color = ENTITY_STYLES[Entity.CPU if findings.is_cpu else Entity.GPU].color(theme)
        figure.add_scatter(
            x=[s.workers for s in speedups],
            y=[s.factor for s in speedups],
            mode="lines+markers",
            name="earlier",
            opacity=GHOST_OPACITY,
            line={"color": color, "dash": "dot", "width": 1.5},
            marker={"size": 8, "symbol": "circle-open", "color": color},
            hovertext=[f"<b>{literal(source_note)}</b><br>{format_factor(s.factor)}" for s in speedups],
            hoverinfo="text",
        )


def _add_end_note(
    figure: go.Figure, text: str, at: tuple[float, float], color: str, theme: Theme, anchor: str = "bottom"
) -> None:
    x, y = at
    place = {"xanchor": "left", "xshift": 8, "yanchor": anchor, "align": "left"}
    figure.add_annotation(note(text, color, theme, x=x, y=y, **place))


def _add_measured(figure: go.Figure, findings: ScalingFindings, theme: Theme) -> None:
    """Draw both ways to use more devices, with their intervals."""
    color = ENTITY_STYLES[Entity.CPU if findings.is_cpu else Entity.GPU].color(theme)
    lines = ((findings.weak, "weak", "dashdot", "diamond"), (findings.strong, "strong", "solid", "circle"))
    for speedups, name, dash, symbol in lines:
        if not speedups or (len(speedups) < 2 and name == "weak"):
            continue
        figure.add_scatter(
            x=[s.workers for s in speedups],
            y=[s.factor for s in speedups],
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2.4 if name == "strong" else 1.5, "dash": dash},
            marker={"size": 9, "color": color, "symbol": symbol},
            error_y={
                "type": "data", "symmetric": False, "color": color, "thickness": 1.5, "width": 4,
                "array": [max(0.0, (s.high or s.factor) - s.factor) for s in speedups],
                "arrayminus": [max(0.0, s.factor - (s.low or s.factor)) for s in speedups],
            },
            hovertext=[
                f"<b>{s.workers}, {name} scaling</b><br>{format_factor(s.factor)}<br>"
                f"{format_percent(s.efficiency)} of the ideal"
                for s in speedups
            ],
            hoverinfo="text",
        )  # fmt: skip
        text = "one batch,<br>shared out" if name == "strong" else "a batch<br>each"
        if len(speedups) < 2:
            text = "measured"
        last = speedups[-1]
        others = [s[-1].factor for s, other, *_ in lines if other != name and len(s) > 1]
        anchor = "bottom" if all(last.factor >= factor for factor in others) else "top"
        place = {"xanchor": "left", "xshift": 8, "yanchor": anchor, "align": "left"}
        figure.add_annotation(note(text, color, theme, x=last.workers, y=last.factor, **place))


def draw_second(points: Sequence[Point], findings: ScalingFindings, theme: Theme) -> go.Figure:
    """Return the time of an exchange by its size, with the fitted curve."""
    title = claim_second(findings)
    timed = sorted(
        (
            p
            for p in points
            if p.series == ALL_REDUCE and p.status is Status.OK and p.median_s and not _is_ghost(p, findings)
        ),
        key=lambda p: p.x,
    )
    if not timed:
        return empty_figure(
            plain(title), HINT if not findings.strong else "With one device nothing is exchanged.", theme
        )
    palette, color = PALETTES[theme], ENTITY_STYLES[Entity.TRANSFER].color(theme)
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=72, right=24))
    fit = findings.exchange
    if fit is not None and fit.fit_status is FitStatus.OK and fit.latency_us is not None and fit.fit_gbps:
        figure.add_scatter(
            x=[p.x for p in timed],
            y=[fit.latency_us / 1e6 + p.x / (fit.fit_gbps * 1e9) for p in timed],
            mode="lines",
            name="fit",
            line={"color": ENTITY_STYLES[Entity.THEORY].color(theme), "dash": "longdash", "width": 1.5},
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=[p.x for p in timed],
        y=[p.median_s or 0.0 for p in timed],
        mode="lines+markers",
        name="all-reduce",
        line={"color": color, "width": 2},
        marker={"size": 8, "color": color, "symbol": "diamond"},
        hovertext=[f"<b>{format_size(p.x)}</b><br>{format_time(p.median_s or 0.0)}" for p in timed],
        hoverinfo="text",
    )
    span = log_range([p.x for p in timed])
    sizes = [p.x for p in timed][::2]
    figure.update_layout(
        xaxis={
            "type": "log", "range": list(span), "tickvals": sizes, "ticktext": [_bare(format_size(s)) for s in sizes],
            "title": {"text": "bytes exchanged (log)", "font": {"size": 12, "color": palette.muted}}, "tickangle": 0,
            "tickfont": {"size": 12, "color": palette.muted}, "showgrid": False, "zeroline": False,
        },
        yaxis=value_axis("time of one exchange", log_range([p.median_s or 0.0 for p in timed]), format_time, theme),
    )  # fmt: skip
    return figure


def _bare(text: str) -> str:
    return text.replace(".00", "").replace(".0", "")


def _is_ghost(point: Point, findings: ScalingFindings) -> bool:
    return point.source is not findings.source
