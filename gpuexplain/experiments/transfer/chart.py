"""What the transfer page draws first: speed against the size of a copy."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.canvas import Part
from gpuexplain.charts.figure import empty_figure, note, vertical_line
from gpuexplain.charts.marks import split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, SHADE_OPACITY, Entity, Theme, with_alpha
from gpuexplain.experiments.titles import entity_words
from gpuexplain.experiments.transfer.canvas import (
    AIR_ABOVE,
    CopyCanvas,
    above_plot,
    air_above,
    read_bandwidth,
    room_above,
    side_of,
    within_reach,
)
from gpuexplain.experiments.transfer.claims import claim_main, is_withheld
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series import LOOKS
from gpuexplain.experiments.transfer.series_finding import SeriesFinding
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.findings import FitStatus, LinkShare, TransferFit
from gpuexplain.model import Point, Status
from gpuexplain.units import format_bandwidth, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: the first points appear within a few seconds."
X_TITLE = "bytes of one copy"
Y_TITLE = "copied bytes per second"
FIT_NAME = "fitted: latency + bytes / rate"
# Points of the fitted curve: enough to look smooth over six decades.
CURVE_POINTS = 49


def draw_main(points: Sequence[Point], findings: TransferFindings, theme: Theme) -> go.Figure:
    """Return copied bytes per second against the size of a copy, log-log, with fit, link and device memory."""
    lines = split_lines(within_reach(points), LOOKS)
    if not any(p.rate_bytes or p.status is not Status.OK for line in lines for p in line.points):
        return empty_figure(plain(claim_main(findings)), HINT, theme)
    room = [*air_above(lines, read_bandwidth), *(AIR_ABOVE * rate for rate in _level_rates(findings))]
    canvas = CopyCanvas(lines, read_bandwidth, theme, extra_y=room)
    shapes, notes = _levels(canvas, findings)
    curve, words = _fit(canvas, findings)
    notes += words
    layout = canvas.layout(entity_words(claim_main(findings)), Y_TITLE, format_bandwidth, X_TITLE)
    canvas.lay_out_bytes(layout)
    layout["margin"]["t"] += room_above(notes)
    layout |= {"shapes": [*shapes, *_n_half(findings, theme)], "annotations": [*canvas.name_notes(), *notes]}
    return go.Figure([*curve, *canvas.traces()], layout)


def describe_main(findings: TransferFindings) -> str:
    """Return the text alternative of the rate chart."""
    return (
        "Line chart, both axes logarithmic: copied bytes per second against the size of one copy. "
        f"{plain(claim_main(findings))}."
    )


# -- the fitted curve -----------------------------------------------------------------------------


def _fitted(findings: TransferFindings) -> tuple[SeriesFinding, TransferFit] | None:
    """Return the headline's fit, where there is one that may be shown."""
    leader = findings.headline
    if leader is None or leader.fit is None or is_withheld(findings, leader):
        return None
    return (leader, leader.fit) if leader.fit.fit_status is FitStatus.OK else None


def _fit(canvas: CopyCanvas, findings: TransferFindings) -> tuple[list[go.Scatter], list[Part]]:
    """Return the fitted curve, and above the plot the line that it is."""
    found = _fitted(findings)
    if found is None:
        return [], []
    leader, fit = found
    latency_s, rate = (fit.latency_us or 0.0) / 1e6, (fit.fit_gbps or 1.0) * 1e9
    low = max(math.log2(leader.smallest_bytes), canvas.x_range[0] / math.log10(2))
    step = (math.log2(leader.largest_bytes) - low) / (CURVE_POINTS - 1)
    sizes = [2 ** (low + i * step) for i in range(CURVE_POINTS)]
    color = ENTITY_STYLES[Entity.THEORY].color(canvas.theme)
    curve = go.Scatter(
        x=sizes,
        y=[size / (latency_s + size / rate) for size in sizes],
        name=FIT_NAME,
        mode="lines",
        line={"color": color, "dash": ENTITY_STYLES[Entity.THEORY].dash, "width": 1.5},
        hoverinfo="skip",
    )
    text = f"dashed: {format_time(latency_s)} + bytes / {format_bandwidth(rate)}"
    place: Part = {"xref": "paper", "x": 0.0, "xanchor": "left", **above_plot(0)}
    notes = [note(text, canvas.muted, canvas.theme, **place)]
    if fit.n_half_bytes is not None and _is_inside(fit.n_half_bytes, canvas):
        half = f"half speed at {say_bytes(fit.n_half_bytes)}"
        notes.append(
            note(half, canvas.muted, canvas.theme, **side_of(fit.n_half_bytes, canvas.x_range), **above_plot(1))
        )
    return [curve], notes


def _is_inside(x: float, canvas: CopyCanvas) -> bool:
    return canvas.x_range[0] <= math.log10(x) <= canvas.x_range[1]


def _n_half(findings: TransferFindings, theme: Theme) -> list[Part]:
    found = _fitted(findings)
    if found is None or found[1].n_half_bytes is None:
        return []
    return [vertical_line(found[1].n_half_bytes, ENTITY_STYLES[Entity.THEORY].color(theme))]


# -- what the link and the GPU's memory could do ----------------------------------------------------


def _link(findings: TransferFindings) -> LinkShare | None:
    links = (findings.link, findings.link_back)
    return next((link for link in links if isinstance(link, LinkShare)), None)


def _level_rates(findings: TransferFindings) -> list[float]:
    link = _link(findings)
    rates = [link.theoretical_gbps] if link else []
    return [rate * 1e9 for rate in (*rates, *([findings.device_memory_gbps] if findings.device_memory_gbps else []))]


def _levels(canvas: CopyCanvas, findings: TransferFindings) -> tuple[list[Part], list[Part]]:
    """Return the band between typical and theoretical rate of the link, and the GPU's memory far above."""
    shapes, notes = [], []
    link = _link(findings)
    color = ENTITY_STYLES[Entity.THEORY].color(canvas.theme)
    if link is not None:
        top = link.theoretical_gbps * 1e9
        line, words = canvas.level(top, f"{link.link} {format_bandwidth(top)}", color, "longdash")
        shapes.append(line)
        notes.append({**words, "font": {"size": 12, "color": canvas.muted}})
        if link.typical_gbps is not None:
            shapes.append(_band(link.typical_gbps * 1e9, top, color))
    if findings.device_memory_gbps is not None:
        rate = findings.device_memory_gbps * 1e9
        gpu = ENTITY_STYLES[Entity.GPU].color(canvas.theme)
        line, words = canvas.level(rate, f"GPU memory {format_bandwidth(rate)}", gpu, "longdash")
        shapes.append(line)
        notes.append({**words, "bgcolor": "rgba(0,0,0,0)"})
    return shapes, notes


def _band(low: float, high: float, color: str) -> Part:
    return {
        "type": "rect",
        "xref": "paper",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": low,
        "y1": high,
        "fillcolor": with_alpha(color, 2 * SHADE_OPACITY),
        "line": {"width": 0},
        "layer": "below",
    }
