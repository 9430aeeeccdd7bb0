"""How it was measured: the method, every sample in order, the conditions, the flags, the coverage."""

import math

import plotly.graph_objects as go
import streamlit as st

from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity
from gpuexplain.model import Conditions, Gauges, Point, Source
from gpuexplain.report.condition_words import CONDITION_LABELS, GAUGE_LABELS, write_reading
from gpuexplain.report.method_words import FLAG_WORDS, method_summary, say_coverage, say_flag
from gpuexplain.ui.notices import show_info
from gpuexplain.ui.point_choice import choose_point
from gpuexplain.ui.result import Result
from gpuexplain.ui.rich_text import plain_markdown
from gpuexplain.ui.session import current_theme
from gpuexplain.units import format_plus_minus, format_time

_APART = 0.3  # ticks closer than this factor (natural logarithm) would lie on each other


def show_how(result: Result) -> None:
    """Write the tab."""
    if result.source is Source.PUBLISHED and result.points:
        st.markdown("These times were published by others; how each was measured is theirs to say.")
        for note in dict.fromkeys(point.source_note for point in result.points):
            st.markdown(f"Source: {plain_markdown(note)}")
        st.markdown(f"**How a run here will be measured.** {method_summary()}")
        return
    st.markdown(method_summary())
    if result.coverage is not None:
        st.caption(say_coverage(result.coverage))
    point = choose_point(result, "how-point")
    if point is not None:
        _show_point(point)


def _show_point(point: Point) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        if point.samples_s:
            st.plotly_chart(
                draw_samples(point),
                theme=None,
                key="samples",
                config={"displayModeBar": False},
                alt=describe_samples(point),
            )
        if point.reason:
            show_info(point.reason)
    with right:
        st.markdown(_facts(point))
        for flag in point.flags:
            st.markdown(f"- **{say_flag(flag)}**: {FLAG_WORDS.get(flag, '')}")
        if point.gauges is not None:
            _show_known("**Read off once, outside the timed calls**", point.gauges, GAUGE_LABELS)
        if point.conditions is not None:
            _show_known("**Meanwhile**", point.conditions, CONDITION_LABELS)


def describe_samples(point: Point) -> str:
    """Return the text alternative of the chart of samples."""
    cold = f", the cold call took {format_time(point.first_call_s)}" if point.first_call_s else ""
    median = format_time(point.median_s) if point.median_s else "not known"
    return f"{point.n_samples} samples in the order they were taken, median {median}{cold}."


def draw_samples(point: Point) -> go.Figure:
    """Return every call and sample of a point in order: cold, warm-up, samples, and the median."""
    theme = current_theme()
    palette, entity = PALETTES[theme], Entity.CPU if point.device == "cpu" else Entity.GPU
    color, warning = ENTITY_STYLES[entity].color(theme), ENTITY_STYLES[Entity.WARNING].color(theme)
    groups = [
        ("cold call", [point.first_call_s] if point.first_call_s else [], warning, "x"),
        ("warm-up", list(point.warmup_s), palette.muted, "circle-open"),
        ("sample", list(point.samples_s), color, "circle"),
    ]
    traces: list[go.Scatter] = []
    position = 1
    for name, times_s, shade, symbol in groups:
        x = list(range(position, position + len(times_s)))
        position += len(times_s)
        text = [f"{name}: {format_time(time_s)}" for time_s in times_s]
        marker = {"color": shade, "symbol": symbol, "size": 7}
        traces.append(
            go.Scatter(x=x, y=times_s, mode="markers", name=name, marker=marker, hovertext=text, hoverinfo="text")
        )
    # All at once: every later change of a figure costs as much as the figure.
    return go.Figure(traces, {**_samples_layout(palette.text, palette.line, point), "shapes": _median(point, color)})


def _median(point: Point, color: str) -> list[dict[str, object]]:
    """Return the line at the median, across the whole chart."""
    if not point.median_s:
        return []
    line = {"color": color, "dash": "dot", "width": 1.5}
    ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": point.median_s, "y1": point.median_s, "yref": "y"}
    return [{"type": "line", "line": line, **ends}]


def _samples_layout(text: str, line: str, point: Point) -> dict[str, object]:
    times_s = [*point.samples_s, *point.warmup_s, *([point.first_call_s] if point.first_call_s else [])]
    median_s = point.median_s or min(times_s)
    ticks = [median_s, *(t for t in (min(times_s), max(times_s)) if abs(math.log(t / median_s)) > _APART)]
    return {
        "template": None,
        "height": 280,
        "margin": {"l": 70, "r": 10, "t": 34, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": text, "size": 12, "family": "Inter, sans-serif"},
        "legend": {"orientation": "h", "y": 1.16, "x": 0},
        "xaxis": {"title": {"text": "call, in order"}, "showgrid": False, "zeroline": False},
        "yaxis": {
            "type": "log",
            "gridcolor": line,
            "zeroline": False,
            "tickvals": ticks,
            "ticktext": [format_time(tick, 2) for tick in ticks],
        },
    }


def _facts(point: Point) -> str:
    rows = [
        ("clock", point.timing or point.clock.value),
        ("samples", f"{point.n_samples}"),
        ("median", format_time(point.median_s) if point.median_s else "none"),
        ("95 % interval", format_plus_minus(point.half_width) if point.half_width is not None else "none"),
        ("cold call", format_time(point.first_call_s) if point.first_call_s else "none"),
        ("threads", f"{point.threads}" if point.threads else "not a CPU series"),
        ("error against float64", f"{point.rel_error:.1e}" if point.rel_error is not None else "not checked"),
    ]
    return "\n".join(f"- {name}: **{plain_markdown(text)}**" for name, text in rows)


def _show_known(heading: str, readings: Conditions | Gauges, labels: dict[str, str]) -> None:
    known = readings.model_dump(exclude={"not_reported"}, exclude_none=True)
    rows = [
        f"- {labels.get(name, name)}: {plain_markdown(write_reading(name, value))}"
        for name, value in known.items()
        if value != ()
    ]
    if rows:
        st.markdown(f"{heading}\n" + "\n".join(rows))
    if readings.not_reported:
        with st.expander("Not reported"):
            for name, reason in readings.not_reported.items():
                st.markdown(f"- {plain_markdown(labels.get(name, name))}: {plain_markdown(reason)}")
