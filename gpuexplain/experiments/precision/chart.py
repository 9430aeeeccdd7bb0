"""The main chart of the precision page: speed against error, a point per format."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, value_axis
from gpuexplain.charts.callouts import Callout, callout_annotation, place_callouts
from gpuexplain.charts.figure import base_layout, empty_figure, note, vertical_line
from gpuexplain.charts.hover import STATUS_WORDS, hover_text
from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import ENTITY_STYLES, GHOST_OPACITY, PALETTES, Entity, Theme, with_alpha
from gpuexplain.experiments.precision.claims import claim_main
from gpuexplain.experiments.precision.conclude import find_precision_findings
from gpuexplain.experiments.precision.found import DeviceFindings, FormatFinding, PrecisionFindings
from gpuexplain.experiments.precision.series import entity_of, label_of, look_of
from gpuexplain.experiments.titles import entity_words
from gpuexplain.findings import TradeOff
from gpuexplain.measuring.correctness import EXPECTED_ERROR
from gpuexplain.model import Point, Source
from gpuexplain.units import NBSP, format_error, format_rate_flops
from gpuexplain.wording.markup import plain
from gpuexplain.wording.phrases import join_words

HINT = "Press Run: the first points appear within a few seconds."
# fp64 is the yardstick itself: its error has no place on a log axis, so it stands at the left edge.
X_RANGE: Range = (-8.6, 0.35)
EXACT_X = -8.3
ERROR_TICKS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
# More would touch on a phone.
LABELLED_TICKS = {1e-6: "10⁻⁶", 1e-4: f"0.01{NBSP}%", 1e-2: f"1{NBSP}%", 1.0: f"100{NBSP}%"}
MARKER_PX = {8: 17, 4: 14, 2: 11, 1: 8}  # by bytes a value: wider numbers are larger dots
CROSS_ROW = 0.06  # of the height, under the lowest point
TOP_ROOM = 0.08
LEFT_MARGIN_PX = 64
RIGHT_MARGIN_PX = 16
NOTE_ROW_PX = 17
PREDECESSOR = "earlier run"  # how the page notes points of this machine that a new run replaces


@dataclass(frozen=True, slots=True)
class Dot:
    """One format of one device in the chart, with the point that its hover tells."""

    device: DeviceFindings
    found: FormatFinding
    point: Point
    is_ghost: bool

    @property
    def rate_flops(self) -> float:
        """Operations per second."""
        assert self.found.best is not None
        return self.found.best.rate * 1e12

    @property
    def bounds_flops(self) -> tuple[float, float]:
        """The interval of the rate."""
        assert self.found.best is not None
        return self.found.best.low * 1e12, self.found.best.high * 1e12

    @property
    def error(self) -> float:
        """The error, or the usual one of the format where none is reported."""
        return self.found.rel_error if self.found.rel_error is not None else EXPECTED_ERROR[self.found.dtype]

    @property
    def is_predecessor(self) -> bool:
        """Whether it is of an earlier run of the same machine."""
        return self.is_ghost and PREDECESSOR in self.device.source_note

    @property
    def log_x(self) -> float:
        """Where it stands, in decades; what is finer than the axis at its edge."""
        return max(EXACT_X, math.log10(self.error)) if self.error > 0 else EXACT_X


def draw_main(points: Sequence[Point], findings: PrecisionFindings, theme: Theme) -> go.Figure:
    """Return speed against error, both logarithmic, with the front and the error that may be spent."""
    dots = collect_dots(points, findings)
    if not dots:
        return empty_figure(plain(claim_main(findings)), HINT, theme)
    missing = [f for f in (findings.headline.formats if findings.headline else ()) if not _is_shown(f)]
    y_range = _y_range(dots, has_crosses=bool(missing))
    layout = base_layout(entity_words(claim_main(findings)), theme, left=LEFT_MARGIN_PX, right=RIGHT_MARGIN_PX)
    layout["xaxis"] = _error_axis(theme)
    layout["yaxis"] = value_axis("speed", y_range, format_rate_flops, theme)
    notes = [*_names(dots, y_range, theme), *_notes_above(findings, dots, missing, theme)]
    layout["margin"]["t"] += NOTE_ROW_PX * sum("yshift" in words for words in notes)
    layout |= {"annotations": notes, "shapes": _shapes(findings, theme)}
    traces = [
        *_front(findings, dots, theme),
        *_dot_traces(dots, theme),
        *_crosses(missing, findings, points, y_range, theme),
    ]
    return go.Figure(traces, layout)


def collect_dots(points: Sequence[Point], findings: PrecisionFindings) -> list[Dot]:
    """Return every format with a speed to show, the headline's device first.

    What is not from here is a ghost, but for a result of others that the words are about as long as nothing
    was measured.
    """
    known = {(d.device, d.source, d.source_note) for d in findings.devices}
    others = [p for p in points if (p.device, p.source, p.source_note) not in known]
    devices = [*findings.devices, *find_precision_findings(others).devices]
    has_measured = any(device.is_measured for device in devices)
    told = findings.headline
    told_of = (told.source, told.source_note) if told and not has_measured else None
    by_place = {(p.device, p.source, p.source_note, p.series, p.x): p for p in points}
    dots = []
    for device in devices:
        for found in device.formats:
            if found.best is None or found.is_withheld:
                continue
            key = (device.device, device.source, device.source_note, str(found.dtype), found.best.n)
            if key in by_place:
                is_ghost = not device.is_measured and (device.source, device.source_note) != told_of
                dots.append(Dot(device, found, by_place[key], is_ghost))
    return dots


def describe_main(findings: PrecisionFindings) -> str:
    """Return the text alternative: what is drawn, the finding, and every format's speed and error."""
    device = findings.headline
    told = [_describe(found) for found in (device.formats if device else ()) if _is_shown(found)]
    listed = f" {'; '.join(told)}." if told else ""
    return f"Scatter chart, both axes logarithmic: speed against relative error. {plain(claim_main(findings))}.{listed}"


def _describe(found: FormatFinding) -> str:
    assert found.best is not None
    error = f" with an error of {format_error(found.rel_error)}" if found.rel_error is not None else ""
    return f"{label_of(found.dtype)} {format_rate_flops(found.best.rate * 1e12)}{error}"


def _is_shown(found: FormatFinding) -> bool:
    return found.best is not None and not found.is_withheld


# -- axes ---------------------------------------------------------------------------------------


def _y_range(dots: Sequence[Dot], *, has_crosses: bool) -> Range:
    low, high = log_range([v for dot in dots for v in (dot.rate_flops, *dot.bounds_flops)], pad=TOP_ROOM)
    return (low - CROSS_ROW * has_crosses * (high - low), high)


def _error_axis(theme: Theme) -> dict[str, Any]:
    palette = PALETTES[theme]
    return {
        "type": "log",
        "range": list(X_RANGE),
        "title": {
            "text": "relative error, exact on the left (log)",
            "font": {"size": 12, "color": palette.muted},
            "standoff": 8,
        },
        "tickvals": [*LABELLED_TICKS, 10**EXACT_X],
        "ticktext": [*LABELLED_TICKS.values(), "finer"],
        "tickfont": {"size": 12, "color": palette.muted},
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": palette.muted,
        "tickangle": 0,
        "minor": {"tickvals": list(ERROR_TICKS), "ticks": "outside", "ticklen": 3, "tickcolor": palette.line},
        "showgrid": False,
        "showline": True,
        "linecolor": palette.muted,
        "zeroline": False,
    }


# -- marks --------------------------------------------------------------------------------------


def _dot_traces(dots: Sequence[Dot], theme: Theme) -> list[go.Scatter]:
    groups: dict[tuple[str, str, str], list[Dot]] = {}
    for dot in dots:
        groups.setdefault((dot.device.device, dot.device.source, dot.device.source_note), []).append(dot)
    # Ghosts below: the last trace lies on top.
    return [_dot_trace(own, theme) for own in sorted(groups.values(), key=lambda own: not own[0].is_ghost)]


def _dot_trace(dots: Sequence[Dot], theme: Theme) -> go.Scatter:
    color, first = _color(dots[0], theme), dots[0]
    inside = PALETTES[theme].background
    warning = ENTITY_STYLES[Entity.WARNING].color(theme)
    if first.is_ghost:
        warning = with_alpha(warning, GHOST_OPACITY)
    is_open = not first.device.is_measured
    return go.Scatter(
        x=[10**dot.log_x for dot in dots],
        y=[dot.rate_flops for dot in dots],
        name=literal(first.device.device_name),
        mode="markers",
        marker={
            "symbol": ENTITY_STYLES[entity_of(first.device.device)].marker,
            "size": [MARKER_PX[dot.found.bytes_per_value] for dot in dots],
            "opacity": 1,
            "color": [inside if is_open or dot.found.is_provisional else color for dot in dots],
            "line": {"width": 2, "color": [warning if dot.found.is_provisional else color for dot in dots]},
        },
        error_y=_intervals(dots, color),
        hovertext=[hover_text(dot.point, look_of(dot.point)) + _say_error(dot) for dot in dots],
        hoverinfo="text",
    )


def _color(dot: Dot, theme: Theme) -> str:
    color = ENTITY_STYLES[entity_of(dot.device.device)].color(theme)
    return with_alpha(color, GHOST_OPACITY) if dot.is_ghost else color


def _intervals(dots: Sequence[Dot], color: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [dot.bounds_flops[1] - dot.rate_flops for dot in dots],
        "arrayminus": [dot.rate_flops - dot.bounds_flops[0] for dot in dots],
        "color": color,
        "thickness": 1.5,
        "width": 4,
    }


def _say_error(dot: Dot) -> str:
    if dot.found.rel_error is None:
        return f"<br>error not reported; usual for the format: {format_error(dot.error)}"
    return f"<br>relative error {format_error(dot.found.rel_error)}"


def _front(findings: PrecisionFindings, dots: Sequence[Dot], theme: Theme) -> list[go.Scatter]:
    """Join the formats that no other beats in both; it ends where the last one stands."""
    device = findings.headline
    if device is None or not isinstance(device.trade_off, TradeOff):
        return []
    own = {str(dot.found.dtype): dot for dot in dots if dot.device is device}
    on_front = [own[dtype] for dtype in device.trade_off.front if dtype in own]
    if len(on_front) < 2:
        return []
    return [
        go.Scatter(
            x=[10**dot.log_x for dot in on_front],
            y=[dot.rate_flops for dot in on_front],
            name="best for their error",
            mode="lines",
            line={"color": ENTITY_STYLES[Entity.THEORY].color(theme), "dash": "dash", "width": 1.5},
            hoverinfo="skip",
        )
    ]


def _crosses(
    missing: Sequence[FormatFinding],
    findings: PrecisionFindings,
    points: Sequence[Point],
    y_range: Range,
    theme: Theme,
) -> list[go.Scatter]:
    """Return a cross at the bottom for each format without a speed, at its usual error, the reason in the hover."""
    device = findings.headline
    if device is None or not missing:
        return []
    failed = [next(p for p in reversed(points) if p.device == device.device and p.series == f.dtype) for f in missing]
    height = 10 ** (y_range[0] + CROSS_ROW / 2 * (y_range[1] - y_range[0]))
    return [
        go.Scatter(
            x=[10 ** max(EXACT_X, math.log10(EXPECTED_ERROR[p.dtype])) for p in failed],
            y=[height] * len(failed),
            name="no speed to show",
            mode="markers",
            marker={
                "symbol": "x-thin",
                "size": 8,
                "line": {"width": 2, "color": ENTITY_STYLES[entity_of(device.device)].color(theme)},
            },
            hovertext=[hover_text(p, look_of(p)) for p in failed],
            hoverinfo="text",
        )
    ]


# -- words in the chart -------------------------------------------------------------------------


def _names(dots: Sequence[Dot], y_range: Range, theme: Theme) -> list[dict[str, Any]]:
    """Name every dot but those of an earlier run, which lie beside their successors."""
    named = [dot for dot in dots if not dot.is_predecessor]
    callouts = [
        Callout(_label(dot), PALETTES[theme].muted if dot.is_ghost else _color(dot, theme), *_shares(dot, y_range))
        for dot in named
    ]
    others = [_shares(dot, y_range) for dot in dots if dot not in named]
    offsets = place_callouts(callouts, others)
    colors = {"line_color": PALETTES[theme].muted, "ground": with_alpha(PALETTES[theme].background, 0.7)}
    return [
        callout_annotation(callout, offset, (dot.log_x, math.log10(dot.rate_flops)), **colors)
        for dot, callout, offset in zip(named, callouts, offsets, strict=True)
    ]


def _label(dot: Dot) -> str:
    name = label_of(dot.found.dtype)
    return name if dot.is_ghost else f"<b>{name}</b> {dot.found.bytes_per_value}{NBSP}B"


def _shares(dot: Dot, y_range: Range) -> tuple[float, float]:
    x = (dot.log_x - X_RANGE[0]) / (X_RANGE[1] - X_RANGE[0])
    return x, (math.log10(dot.rate_flops) - y_range[0]) / (y_range[1] - y_range[0])


def _shapes(findings: PrecisionFindings, theme: Theme) -> list[dict[str, Any]]:
    bound = _error_bound(findings)
    return [vertical_line(bound, ENTITY_STYLES[Entity.THEORY].color(theme))] if bound else []


def _error_bound(findings: PrecisionFindings) -> float | None:
    device = findings.headline
    return device.trade_off.error_bound if device and isinstance(device.trade_off, TradeOff) else None


def _notes_above(
    findings: PrecisionFindings, dots: Sequence[Dot], missing: Sequence[FormatFinding], theme: Theme
) -> list[dict[str, Any]]:
    """Say above the plot what the dotted line, the open dots and the crosses are."""
    rows = []
    bound = _error_bound(findings)
    if bound:
        rows.append(f"dotted: an error of {format_error(bound)}")
    faint = list(dict.fromkeys(_say_ghost(dot) for dot in dots if dot.is_ghost))
    if faint:
        rows.append(f"faint: {join_words(faint)}")
    if any(dot.found.rel_error is None for dot in dots):
        which = "all" if all(dot.found.rel_error is None for dot in dots) else "published ones"
        rows.append(f"{which} at the usual error of their format")
    if missing:
        rows.append(f"crosses: {join_words([_say_missing(found) for found in missing])}")
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "bottom"}
    place |= {"xshift": 4 - LEFT_MARGIN_PX}  # under the title: a phone has no room beside the axis
    muted = PALETTES[theme].muted
    return [note(text, muted, theme, **place, yshift=NOTE_ROW_PX * i) for i, text in enumerate(reversed(rows))]


def _say_ghost(dot: Dot) -> str:
    if dot.is_predecessor:
        return "an earlier run"
    name = literal(dot.device.device_name.removeprefix("NVIDIA ").removeprefix("GeForce "))
    # A run of another machine is known by its id, what others published by its part.
    note = dot.device.source_note if dot.device.source is Source.RECORDED else dot.device.source
    return f"{name} ({literal(note)})"


def _say_missing(found: FormatFinding) -> str:
    why = STATUS_WORDS[found.failed[0][1]] if found.failed else "withheld" if found.is_withheld else "disturbed"
    return f"{label_of(found.dtype)} ({why})"
