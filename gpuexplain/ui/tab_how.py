"""How it was measured: the method, every sample in order, the conditions, the flags, the coverage."""

import math

import plotly.graph_objects as go
import streamlit as st

from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Conditions, Gauges, Point, Source
from gpuexplain.ui.method_words import FLAG_WORDS, method_summary, say_flag
from gpuexplain.ui.point_choice import choose_point
from gpuexplain.ui.result import Result
from gpuexplain.ui.session import current_theme
from gpuexplain.units import format_percent, format_plus_minus, format_size, format_time

_CONDITION_LABELS = {
    "other_cpu_cores": "CPU cores kept busy by others",
    "steal_share": "time given to other virtual machines",
    "quota_throttled_s": "seconds held back by the CPU quota",
    "involuntary_switches": "involuntary context switches",
    "sm_clock_mhz": "GPU clock, MHz",
    "memory_clock_mhz": "GPU memory clock, MHz",
    "power_w": "GPU power, W",
    "power_limit_w": "GPU power limit, W",
    "temperature_c": "GPU temperature, °C",
    "throttle_reasons": "throttle reasons",
    "pcie_generation": "PCIe generation under load",
    "pcie_width": "PCIe lanes under load",
    "other_gpu_processes": "other processes on the GPU",
    "gpu_utilisation": "share of the time in which the GPU ran a kernel",
}
_GAUGE_LABELS = {
    "memory_allocated_bytes": "peak memory of live tensors",
    "memory_reserved_bytes": "peak memory held by the allocator",
    "memory_context_bytes": "CUDA context, in no allocator's count",
    "memory_resident_bytes": "peak growth of the process in memory",
    "energy_j": "energy of one call, J",
    "clipped_count": "values beyond the format's largest number",
}


_APART = 0.3  # ticks closer than this factor (natural logarithm) would lie on each other


def show_how(result: Result) -> None:
    """Write the tab."""
    if result.source is Source.PUBLISHED:
        st.markdown("These times were published by others; how each was measured is theirs to say.")
        for note in dict.fromkeys(point.source_note for point in result.points):
            st.markdown(f"Source: {note}")
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
            st.info(point.reason)
    with right:
        st.markdown(_facts(point))
        for flag in point.flags:
            st.markdown(f"- **{say_flag(flag)}**: {FLAG_WORDS.get(flag, '')}")
        if point.gauges is not None:
            _show_known("**Read off once, outside the timed calls**", point.gauges, _GAUGE_LABELS)
        if point.conditions is not None:
            _show_known("**Meanwhile**", point.conditions, _CONDITION_LABELS)


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
    figure, position = go.Figure(), 1
    for name, times_s, shade, symbol in groups:
        x = list(range(position, position + len(times_s)))
        position += len(times_s)
        text = [f"{name}: {format_time(time_s)}" for time_s in times_s]
        marker = {"color": shade, "symbol": symbol, "size": 7}
        figure.add_scatter(x=x, y=times_s, mode="markers", name=name, marker=marker, hovertext=text, hoverinfo="text")
    if point.median_s:
        figure.add_hline(point.median_s, line={"color": color, "dash": "dot", "width": 1.5})
    return figure.update_layout(_samples_layout(palette.text, palette.line, point))


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
    return "\n".join(f"- {name}: **{text}**" for name, text in rows)


def _show_known(heading: str, readings: Conditions | Gauges, labels: dict[str, str]) -> None:
    known = readings.model_dump(exclude={"not_reported"}, exclude_none=True)
    rows = [f"- {labels.get(name, name)}: {_plain(name, value)}" for name, value in known.items() if value != ()]
    if rows:
        st.markdown(f"{heading}\n" + "\n".join(rows))
    if readings.not_reported:
        with st.expander("Not reported"):
            for name, reason in readings.not_reported.items():
                st.markdown(f"- {labels.get(name, name)}: {reason}")


def _plain(name: str, value: object) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return format_size(value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def say_coverage(coverage: Coverage) -> str:
    """Return where the time of a run went."""
    return (
        f"{coverage.rounds} rounds in {format_time(coverage.wall_s)} of {format_time(coverage.budget_s)}: "
        f"{format_time(coverage.timed_s)} in samples, {format_time(coverage.warmup_s)} in warm-up and "
        f"untimed calls, {format_time(coverage.prepare_s)} preparing, "
        f"{format_time(coverage.verify_s)} checking results; "
        f"{format_percent(coverage.sampling_share)} of the rest went into calls."
    )
