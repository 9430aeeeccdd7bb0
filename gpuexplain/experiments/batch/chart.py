"""What the main chart of the batch page draws: throughput, step time and memory by batch."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range
from gpuexplain.charts.figure import empty_figure, level_line, note, shaded_range, vertical_line
from gpuexplain.charts.marks import Line, Reading, read_time, split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity, Theme
from gpuexplain.experiments.batch.claims import claim_main, has_knee
from gpuexplain.experiments.batch.conclude import BatchFindings, SeriesFinding, held_bytes
from gpuexplain.experiments.batch.panels import Overlay, Panel, Part, cross, stack
from gpuexplain.experiments.batch.series import LOOKS
from gpuexplain.findings import BatchCeiling, FreeBatch
from gpuexplain.model import Point, Status
from gpuexplain.units import NBSP, format_count, format_percent, format_size, format_time
from gpuexplain.wording.markup import plain

HINT = "Press Run: steps from batch 1 upwards appear here, each with its throughput, its time and its memory."
KNEE_SHARE = 0.9
# A ceiling further above what was measured than this would press the measured curve flat.
CEILING_SHOWN_WITHIN = 64
MOST_SIZE_TICKS = 4


def read_items(point: Point) -> Reading | None:
    """Return examples per second, with the interval of the time."""
    time = read_time(point)
    if time is None or not point.items:
        return None
    low = point.items / time.high if time.high else None
    high = point.items / time.low if time.low else None
    return Reading(point.items / time.value, low, high, time.is_interval)


def read_held(point: Point) -> Reading | None:
    """Return the peak memory of a step."""
    held = held_bytes(point)
    return Reading(float(held)) if held else None


def draw_main(points: Sequence[Point], findings: BatchFindings, theme: Theme) -> go.Figure:
    """Return throughput, step time and memory by batch, one panel each, with the knee and the free batches."""
    lines = split_lines(points, LOOKS)
    if not any(p.median_s or p.status is not Status.OK for line in lines for p in line.points):
        return empty_figure(plain(claim_main(findings)), HINT, theme)
    ended = [line for line in lines if any(_ended_otherwise(p) for p in line.points)]
    panels = [
        Panel("examples per second", read_items, format_count, theme, lines, crossed=ended),
        Panel("time of one step", read_time, format_time, theme, lines),
    ]
    memory = _memory_panel(lines, findings, theme)
    if memory is not None:
        panels.append(memory)
    _mark_rule(panels[0], findings, theme)
    return stack(panels, claim_main(findings), "batch: examples in one step", _overlays(findings, theme), theme)


def _ended_otherwise(point: Point) -> bool:
    return point.status not in (Status.OK, Status.OOM)


def _overlays(findings: BatchFindings, theme: Theme) -> list[Overlay]:
    series = findings.headline_series
    if series is None:
        return []
    return [overlay for overlay in (_free_overlay(series, theme), _knee_overlay(series, theme)) if overlay]


def _free_overlay(series: SeriesFinding, theme: Theme) -> Overlay | None:
    free = series.free
    if not isinstance(free, FreeBatch):
        return None
    color = ENTITY_STYLES[Entity.OVERHEAD].color(theme)
    share = format_percent(free.within - 1)
    text = f"shaded: free up to {format_count(free.largest)}, a step within +{share}"
    return Overlay(shaded_range(free.smallest, free.largest, color), text, color)


def _knee_overlay(series: SeriesFinding, theme: Theme) -> Overlay | None:
    knee = series.knee
    if not has_knee(series) or knee.knee_batch is None:
        return None
    color = LOOKS[series.series].color(theme)
    text = f"knee {format_count(knee.knee_batch)}: first with 90{NBSP}% of the best"
    if knee.knee_low is not None and knee.knee_high is not None and knee.knee_low < knee.knee_high:
        low, high = format_count(knee.knee_low), format_count(knee.knee_high)
        text = f"knee {format_count(knee.knee_batch)} ({low} – {high}): 90{NBSP}% of the best"
    return Overlay(vertical_line(knee.knee_batch, color), text, color)


def _mark_rule(panel: Panel, findings: BatchFindings, theme: Theme) -> None:
    """Draw the level that a knee must reach."""
    series = findings.headline_series
    if series is None or series.best is None or not has_knee(series):
        return
    level, color = KNEE_SHARE * series.best.rate_items, LOOKS[series.series].color(theme)
    panel.shapes.append(level_line(level, color, "dot", width=1))
    place: Part = {"xref": "paper", "x": 0.01, "xanchor": "left", "y": math.log10(level), "yanchor": "bottom"}
    panel.notes.append(note(f"90{NBSP}% of the best", color, theme, **place))


# -- memory ---------------------------------------------------------------------------------------


def _memory_panel(lines: Sequence[Line], findings: BatchFindings, theme: Theme) -> Panel | None:
    """Return the panel of peak memory; None where nothing was read and nothing ran out."""
    series = findings.headline_series
    if series is not None and series.is_measured:  # a process and a device do not hold the same things
        lines = [line for line in lines if line.is_ghost or line.points[0].series == series.series]
    held = [reading.value for line in lines for _, reading in line.readings(read_held)]
    full = [line for line in lines if any(p.status is Status.OOM for p in line.points)]
    if not held and not full:
        return None
    ceiling = series.ceiling if series is not None and isinstance(series.ceiling, BatchCeiling) else None
    limit_bytes = ceiling.limit_bytes if ceiling else None
    is_near = limit_bytes is not None and (bool(full) or limit_bytes <= CEILING_SHOWN_WITHIN * max(held))
    level = [float(limit_bytes)] if limit_bytes and is_near else []
    panel = Panel("peak memory of a step", read_held, format_size, theme, lines, extra_y=level, ticks=size_ticks)
    for line in lines:
        panel.more_traces += _reserved(line, theme)
    top = level[0] if level else max(held, default=2.0**20)
    for line in full:
        ended = [p for p in line.points if p.status is Status.OOM]
        panel.more_traces.append(cross(line, ended, [top] * len(ended), theme))
        panel.notes += [_out_of_memory(p, top, theme) for p in ended]
    if level:
        color = ENTITY_STYLES[Entity.THEORY].color(theme)
        panel.shapes.append(level_line(level[0], color, "longdash"))
        place: Part = {"xref": "paper", "x": 0.01, "xanchor": "left", "y": math.log10(level[0]), "yanchor": "top"}
        panel.notes.append(note(f"a run may fill {format_size(level[0])}", PALETTES[theme].muted, theme, **place))
    return panel


def _out_of_memory(point: Point, top: float, theme: Theme) -> Part:
    color = ENTITY_STYLES[Entity.WARNING].color(theme)
    place: Part = {"x": math.log10(point.x), "y": math.log10(top), "xanchor": "right", "yanchor": "top", "yshift": -8}
    return note(f"{format_count(point.x)} did not fit", color, theme, **place)


def _reserved(line: Line, theme: Theme) -> list[go.Scatter]:
    """Return what the allocator of a GPU held for the step, thin beside what was live."""
    known = [
        (p.x, p.gauges.memory_reserved_bytes)
        for p in line.points
        if p.status is Status.OK and p.gauges and p.gauges.memory_reserved_bytes
    ]
    if not known:
        return []
    return [
        go.Scatter(
            x=[x for x, _ in known],
            y=[held for _, held in known],
            name=f"held by the allocator, {line.look.name}",
            mode="lines",
            line={"color": line.look.color(theme), "dash": "dot", "width": 1.2},
            hoverinfo="skip",
        )
    ]


def size_ticks(span: Range) -> tuple[list[float], list[str]]:
    """Return powers of two of bytes inside a log10 range, written as binary sizes."""
    first, last = math.ceil(span[0] / math.log10(2)), math.floor(span[1] / math.log10(2))
    step = max(1, math.ceil((last - first + 1) / MOST_SIZE_TICKS))
    sizes = [2.0**power for power in range(first, last + 1) if power % step == 0]
    return sizes, [_say_power(size) for size in sizes]


def _say_power(size_bytes: float) -> str:
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.0f}{NBSP}{name}"
    return f"{size_bytes:.0f}{NBSP}B"


def describe_main(findings: BatchFindings) -> str:
    """Return the text alternative of the stacked chart."""
    return (
        "Three line charts over one logarithmic axis of batches: examples per second, time of one step and peak "
        f"memory. {plain(claim_main(findings))}."
    )
