"""The second chart of the precision page: speed-ups over fp32, and what a running sum loses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, power_of_two_ticks
from gpuexplain.charts.figure import HEIGHT_PX, base_layout, empty_figure, note
from gpuexplain.charts.hover import STATUS_WORDS
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SHADE_OPACITY, Entity, Theme, with_alpha
from gpuexplain.experiments.precision.claims import FP32, claim_second
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.experiments.precision.series import entity_of, label_of
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import LostUpdates, Speedup, SpeedVerdict
from gpuexplain.model import Point
from gpuexplain.units import (
    NBSP,
    format_count,
    format_energy,
    format_error,
    format_factor,
    format_percent,
    format_significant,
)
from gpuexplain.wording.markup import plain
from gpuexplain.wording.phrases import say_n

HINT = "Press Run: the first points appear within a few seconds."
STEP_ROW = "step, autocast"
ROW_PX = 30
LEFT_MARGIN_PX = 96  # the longest row name
RIGHT_MARGIN_PX = 16
GAP_PX = 96  # between the two parts: an axis with its title above, a heading below
LOST_PX = 170
# Room beside the longest bars for their figures, in decades per decade of the axis.
TEXT_ROOM = 0.4
LOST_DASHES = {"fp32": "solid", "fp16": "dash", "bf16": "dot"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a name, a factor where there is one, else why not."""

    name: str
    speedup: Speedup | None
    text: str
    is_bent: bool = False


def draw_second(points: Sequence[Point], findings: PrecisionFindings, theme: Theme) -> go.Figure:  # noqa: ARG001
    """Return bars from 1 to each format's factor over fp32; under them the share of a running sum that is lost."""
    device = findings.headline
    rows = list_rows(device) if device else []
    if device is None or not rows:
        return empty_figure(plain(claim_second(findings)), HINT, theme)
    x_range = _factor_range(rows)
    layout = base_layout(entity_words(claim_second(findings)), theme, left=LEFT_MARGIN_PX, right=RIGHT_MARGIN_PX)
    layout["xaxis"] = _factor_axis(x_range, theme)
    layout["yaxis"] = _row_axis(rows, theme)
    layout["shapes"] = [_noise_zone(rows, theme), _one_line(theme)]
    layout["annotations"] = [_row_text(i, row, x_range, theme) for i, row in enumerate(rows)]
    layout["margin"]["b"] = 52
    traces: list[go.Bar | go.Scatter] = list(_bars(rows, device, theme))
    plot_px = ROW_PX * len(rows)
    if device.lost:
        share = plot_px / (plot_px + GAP_PX + LOST_PX)
        layout["yaxis"]["domain"] = [1 - share, 1]
        layout["xaxis"]["anchor"] = "y"
        _add_lost(layout, device, LOST_PX / (plot_px + GAP_PX + LOST_PX), theme)
        traces += _lost_lines(device, theme)
        plot_px += GAP_PX + LOST_PX
    layout["height"] = max(HEIGHT_PX * 2 // 3, plot_px + layout["margin"]["t"] + layout["margin"]["b"])
    return go.Figure(traces, layout)


def describe_second(findings: PrecisionFindings) -> str:
    """Return the text alternative: the finding, every factor, and what a running sum loses."""
    device = findings.headline
    rows = [f"{row.name} {row.text}" for row in (list_rows(device) if device else [])]
    lost = [_describe_lost(found) for found in (device.lost if device else ())]
    listed = f" {'; '.join(rows)}." if rows else ""
    below = f" Below, the share of a running sum that is lost: {'; '.join(lost)}." if lost else ""
    return f"Bar chart, logarithmic: speed over fp32. {plain(claim_second(findings))}.{listed}{below}"


def _describe_lost(found: LostUpdates) -> str:
    count, share = found.lost[-1]
    return f"{found.dtype} {format_error(share)} of {format_count(count)}"


# -- rows ---------------------------------------------------------------------------------------


def list_rows(device: DeviceFindings) -> list[Row]:
    """Return a row per format, most exact first, and one for the training step where it was measured."""
    rows = [_row_of(found) for found in device.formats]
    if isinstance(device.autocast, Speedup):
        rows.append(Row(STEP_ROW, device.autocast, _say_factor(device.autocast)))
    return rows


def _row_of(found: FormatFinding) -> Row:
    name, energy = label_of(found.dtype), ""
    if found.energy_j_per_flop is not None:
        energy = f", {format_energy(found.energy_j_per_flop)}"
    if found.dtype == FP32 and found.best and not found.ran_as:
        return Row(name, None, f"baseline{energy}")
    if found.ran_as:
        return Row(name, None, f"ran as {label_of(found.ran_as)}")
    if isinstance(found.speedup, Speedup) and not found.is_withheld:
        return Row(name, found.speedup, _say_factor(found.speedup) + energy, found.is_provisional)
    if found.is_withheld:
        return Row(name, None, "withheld: above the part's peak")
    return Row(name, None, STATUS_WORDS[found.failed[0][1]] if found.failed else "cannot be compared")


def _say_factor(speedup: Speedup) -> str:
    """Return ``12.3 ×``, or ``1/33`` of the speed."""
    if speedup.factor >= 1:
        return format_factor(speedup.factor)
    return f"1/{format_significant(1 / speedup.factor)}"


def _say_tick(factor: float) -> str:
    return f"{factor:g}{NBSP}×" if factor >= 1 else f"1/{1 / factor:g}"


# -- bars ---------------------------------------------------------------------------------------


def _factor_range(rows: Sequence[Row]) -> Range:
    factors = [v for row in rows if row.speedup for v in (row.speedup.factor, row.speedup.low, row.speedup.high) if v]
    low, high = log_range([1.0, *factors], pad=0.02, least=0.5)
    # Figures stand outside their bar, on the side that it grows to.
    room = TEXT_ROOM * (high - low)
    has_left = any(row.speedup and row.speedup.factor < 1 for row in rows)
    return (low - room * has_left, high + room)


def _factor_axis(span: Range, theme: Theme) -> dict[str, Any]:
    palette = PALETTES[theme]
    decades = range(math.floor(span[0]), math.ceil(span[1]) + 1)
    steps = (1.0,) if span[1] - span[0] > 1.8 else (1.0, 2.0, 5.0)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    inside = [tick for tick in ticks if span[0] <= math.log10(tick) <= span[1]]
    return {
        "type": "log",
        "range": list(span),
        "title": {
            "text": "speed over fp32 (log)",
            "font": {"size": 12, "color": palette.muted},
            "standoff": 8,
        },
        "tickvals": inside,
        "ticktext": [_say_tick(tick) for tick in inside],
        "tickfont": {"size": 12, "color": palette.muted},
        "tickangle": 0,
        "showgrid": True,
        "gridcolor": palette.line,
        "zeroline": False,
    }


def _row_axis(rows: Sequence[Row], theme: Theme) -> dict[str, Any]:
    return {
        "type": "linear",
        "range": [len(rows) - 0.5, -0.5],  # the first row on top
        "tickvals": list(range(len(rows))),
        "ticktext": [row.name for row in rows],
        "tickfont": {"size": 12, "color": PALETTES[theme].text},
        "showgrid": False,
        "zeroline": False,
    }


def _bars(rows: Sequence[Row], device: DeviceFindings, theme: Theme) -> list[go.Bar]:
    color = ENTITY_STYLES[entity_of(device.device)].color(theme)
    warning = ENTITY_STYLES[Entity.WARNING].color(theme)
    shown = [(i, row.speedup, row.is_bent) for i, row in enumerate(rows) if row.speedup is not None]
    if not shown:
        return []
    return [
        go.Bar(
            orientation="h",
            y=[i for i, _, _ in shown],
            x=[speedup.factor - 1 for _, speedup, _ in shown],
            base=1,
            width=0.56,
            name="speed over fp32",
            marker={
                # Neither faster nor slower for certain: outlined only.
                "color": [with_alpha(color, 0.15 if s.verdict is SpeedVerdict.TIE else 0.75) for _, s, _ in shown],
                "line": {"width": 1.5, "color": [warning if bent else color for _, _, bent in shown]},
            },
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [(s.high or s.factor) - s.factor for _, s, _ in shown],
                "arrayminus": [s.factor - (s.low or s.factor) for _, s, _ in shown],
                "color": PALETTES[theme].text,
                "thickness": 1.5,
                "width": 4,
            },
            hovertext=[_hover(rows[i].name, speedup) for i, speedup, _ in shown],
            hoverinfo="text",
        )
    ]


def _hover(name: str, speedup: Speedup) -> str:
    lines = [f"<b>{name}</b>", f"{format_factor(speedup.factor)} the speed of {speedup.baseline} at {say_n(speedup.n)}"]
    if speedup.low is not None and speedup.high is not None:
        lines.append(f"between {format_factor(speedup.low)} and {format_factor(speedup.high)}")
    return "<br>".join([*lines, f"verdict: {speedup.verdict}"])


def _row_text(i: int, row: Row, span: Range, theme: Theme) -> dict[str, Any]:
    """Write a row's figure beyond the end of its bar, or why there is none beside the line of 1."""
    muted = PALETTES[theme].muted
    if row.speedup is None:
        # Where the bars grow to the left there is more room on that side.
        is_left = -span[0] > span[1]
        return {
            **_text(row.text, muted),
            "x": 0.0,
            "y": i,
            "xanchor": "right" if is_left else "left",
            "xshift": -8 if is_left else 8,
        }
    ends = [row.speedup.factor, row.speedup.low or row.speedup.factor, row.speedup.high or row.speedup.factor]
    is_left = row.speedup.factor < 1
    end = math.log10(min(ends) if is_left else max(ends))
    place = {"x": max(span[0], end), "y": i, "xanchor": "right" if is_left else "left", "xshift": -8 if is_left else 8}
    # A factor that could be chance is no figure to remember.
    if row.speedup.verdict is SpeedVerdict.TIE:
        return {**_text(f"{row.text}, unsure", muted), **place}
    return {**_text(f"<b>{row.text}</b>", PALETTES[theme].text), **place}


def _text(text: str, color: str) -> dict[str, Any]:
    return {"text": text, "showarrow": False, "font": {"size": 12, "color": color}, "yanchor": "middle"}


def _noise_zone(rows: Sequence[Row], theme: Theme) -> dict[str, Any]:
    known = next((row.speedup for row in rows if row.speedup), None)
    low, high = (known.lose_below, known.win_above) if known else (1.0, 1.0)
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y domain",
        "x0": low,
        "x1": high,
        "y0": 0,
        "y1": 1,
        "fillcolor": with_alpha(ENTITY_STYLES[Entity.THEORY].color(theme), 2 * SHADE_OPACITY),
        "line": {"width": 0},
        "layer": "below",
    }


def _one_line(theme: Theme) -> dict[str, Any]:
    line = {"color": PALETTES[theme].muted, "width": 1}
    return {"type": "line", "xref": "x", "yref": "y domain", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "line": line}


# -- the running sum ----------------------------------------------------------------------------


def _add_lost(layout: dict[str, Any], device: DeviceFindings, height: float, theme: Theme) -> None:
    """Add the axes and the heading of the lower part."""
    palette = PALETTES[theme]
    counts = [count for found in device.lost for count, _ in found.lost]
    span = log_range(counts, pad=0.06)
    sizes, texts = power_of_two_ticks(span, most=5)
    layout["xaxis2"] = {
        "type": "log",
        "range": [span[0], span[1] + 0.14 * (span[1] - span[0])],
        "anchor": "y2",
        "title": {
            "text": "numbers that add up to 1 (log)",
            "font": {"size": 12, "color": palette.muted},
            "standoff": 8,
        },
        "tickvals": sizes,
        "ticktext": texts,
        "tickfont": {"size": 12, "color": palette.muted},
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
    }
    layout["yaxis2"] = {
        "domain": [0, height],
        "anchor": "x2",
        "range": [-0.06, 1.12],
        "tickvals": [0, 0.5, 1],
        "ticktext": ["0", f"50{NBSP}%", f"100{NBSP}%"],
        "tickfont": {"size": 12, "color": palette.muted},
        "gridcolor": palette.line,
        "zeroline": False,
    }
    heading = note("<b>Added to a 1 one by one: the share that is lost</b>", palette.text, theme)
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": height, "yanchor": "bottom"}
    layout["annotations"] += [{**heading, **place, "xshift": -LEFT_MARGIN_PX + 4, "yshift": 8}]
    layout["annotations"] += [_lost_name(found, theme) for found in device.lost]


def _lost_lines(device: DeviceFindings, theme: Theme) -> list[go.Scatter]:
    color = ENTITY_STYLES[entity_of(device.device)].color(theme)
    return [
        go.Scatter(
            x=[count for count, _ in found.lost],
            y=[share for _, share in found.lost],
            xaxis="x2",
            yaxis="y2",
            name=f"lost in {found.dtype}",
            mode="lines+markers",
            line={"color": color, "width": 2, "dash": LOST_DASHES[found.dtype]},
            marker={"size": 7, "color": color},
            hovertext=[
                f"<b>{label_of(found.dtype)}</b><br>{format_count(count)} numbers<br>{format_percent(share)} lost"
                for count, share in found.lost
            ],
            hoverinfo="text",
        )
        for found in device.lost
    ]


def _lost_name(found: LostUpdates, theme: Theme) -> dict[str, Any]:
    """Name a line where it is on its own: at its rise, or at its end where it never rises."""
    count, share = next(((c, s) for c, s in found.lost if s >= found.threshold), found.lost[-1])
    place = {"xref": "x2", "yref": "y2", "x": math.log10(count), "y": share, "yanchor": "bottom", "xanchor": "center"}
    return {**_text(f"<b>{label_of(found.dtype)}</b>", PALETTES[theme].text), **place, "yshift": 4}
