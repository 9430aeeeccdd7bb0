"""The charts of more devices: speed-up with what is lost and a model of more; the time of an exchange by its size."""

from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.axes import log_range, value_axis
from gpuexplain.charts.figure import base_layout, empty_figure, note
from gpuexplain.charts.theme import BAND_OPACITY, ENTITY_STYLES, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.scaling.conclude import MODEL_COUNTS, Communication, ScalingFindings
from gpuexplain.experiments.scaling.spec import ALL_REDUCE
from gpuexplain.experiments.scaling.words import claim_main, claim_second
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import FitStatus
from gpuexplain.model import Point, Status
from gpuexplain.units import format_factor, format_percent, format_size, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: one training step, shared by one device, then by more."


def draw_main(points: Sequence[Point], findings: ScalingFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return the speed-up by number of devices: measured, ideal, and a model of more, labelled as one."""
    title = claim_main(findings)
    if not findings.strong:
        return empty_figure(plain(title), HINT, theme)
    palette = PALETTES[theme]
    color = ENTITY_STYLES[Entity.CPU if findings.is_cpu else Entity.GPU].color(theme)
    theory = ENTITY_STYLES[Entity.THEORY].color(theme)
    counts = [s.workers for s in findings.strong]
    model = _model(findings)
    end = max([*counts, *(x for x, _ in model)])
    figure = go.Figure(layout=base_layout(entity_words(title), theme, left=56, right=84))
    figure.add_scatter(
        x=[1, end], y=[1, end], mode="lines", name="ideal", hoverinfo="skip",
        line={"color": theory, "dash": "longdash", "width": 1.5},
    )  # fmt: skip
    figure.add_scatter(
        x=[*counts, *counts[::-1]], y=[*(s.factor for s in findings.strong), *counts[::-1]], mode="lines", name="lost",
        fill="toself", fillcolor=with_alpha(palette.muted, BAND_OPACITY), line={"width": 0}, hoverinfo="skip",
    )  # fmt: skip
    if model:
        figure.add_scatter(
            x=[x for x, _ in model], y=[y for _, y in model], mode="lines", name="model", hoverinfo="skip",
            line={"color": theory, "dash": "dot", "width": 1.5},
        )  # fmt: skip
        end_note = note("model", theory, theme, x=model[-1][0], y=model[-1][1], xanchor="left", xshift=6)
        figure.add_annotation(end_note)
    lines = ((findings.weak, "weak", "dashdot", "diamond"), (findings.strong, "strong", "solid", "circle"))
    for speedups, name, dash, symbol in lines:
        if len(speedups) < 2 and name == "weak":
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
        last = speedups[-1]
        text = "one batch,<br>shared out" if name == "strong" else "a batch<br>each"
        anchor = "top" if name == "strong" else "bottom"
        figure.add_annotation(
            note(
                text,
                color,
                theme,
                x=last.workers,
                y=last.factor,
                xanchor="left",
                xshift=8,
                yanchor=anchor,
                align="left",
            )
        )
    figure.update_layout(
        xaxis={
            "title": {"text": "processes" if findings.is_cpu else "GPUs", "font": {"color": palette.muted}},
            "tickvals": sorted({*counts, *(x for x, _ in model)}), "range": [0.8, end + 0.2], "showgrid": False,
            "zeroline": False, "tickfont": {"color": palette.muted},
        },
        yaxis={
            "title": {"text": "times as fast as one", "font": {"color": palette.muted}}, "range": [0, end * 1.1],
            "gridcolor": palette.line, "zeroline": False, "tickfont": {"color": palette.muted},
        },
    )  # fmt: skip
    return figure


def _model(findings: ScalingFindings) -> list[tuple[int, float]]:
    """Return what more devices would gain if computing shrank as 1 / n and the exchange stayed as measured."""
    most, exchange = findings.most, findings.communication
    if most is None or not isinstance(exchange, Communication):
        return []
    step = 1 / most.factor  # of the time of one device
    fixed = exchange.share * step
    counts = [n for n in MODEL_COUNTS if n >= most.workers]
    return [(n, 1 / ((step - fixed) * most.workers / n + fixed)) for n in counts] if len(counts) > 1 else []


def draw_second(points: Sequence[Point], findings: ScalingFindings, theme: Theme) -> go.Figure:
    """Return the time of an exchange by its size, with the fitted curve."""
    title = claim_second(findings)
    timed = sorted(
        (p for p in points if p.series == ALL_REDUCE and p.status is Status.OK and p.median_s), key=lambda p: p.x
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
