"""What the transfer page draws second: when the copies are paid for, else what small copies cost."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, size_axis, value_axis
from gpuexplain.charts.canvas import Part
from gpuexplain.charts.figure import base_layout, empty_figure, note, shaded_range, vertical_line
from gpuexplain.charts.labels import EndLabel, label_annotations, margin_for
from gpuexplain.charts.marks import read_time, split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity, SeriesLook, Theme
from gpuexplain.experiments.titles import entity_words
from gpuexplain.experiments.transfer.borrowed import BorrowedCopy
from gpuexplain.experiments.transfer.canvas import CopyCanvas, above_plot, air_above, room_above, side_of, within_reach
from gpuexplain.experiments.transfer.chart import HINT
from gpuexplain.experiments.transfer.claims import claim_second, say_reuses
from gpuexplain.experiments.transfer.conclude import TransferFindings
from gpuexplain.experiments.transfer.series import LOOKS, PIECES_LOOKS
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.findings import BreakEven, BreakEvenVerdict, PiecesCost
from gpuexplain.model import Point, Status
from gpuexplain.units import format_count, format_time
from gpuexplain.wording.markup import plain
from gpuexplain.wording.phrases import say_n

LEFT_MARGIN_PX = 64
USES_TITLE = "products with the same operands"
TOTAL_TITLE = "total time, copies included"
# The chart goes on to this many times the break-even, and at least to this many uses.
BEYOND_BREAK_EVEN = 8
FEWEST_USES = 16
MOST_USES = 2**20


def draw_second(points: Sequence[Point], findings: TransferFindings, theme: Theme) -> go.Figure:
    """Return total time against uses; without a break-even one total in pieces; without pieces the time of a copy."""
    if isinstance(findings.break_even, BreakEven):
        return _draw_break_even(findings, findings.break_even, theme)
    if has_pieces(findings):
        return _draw_times(points, findings, theme, PIECES_LOOKS)
    return _draw_times(points, findings, theme, LOOKS)


def has_pieces(findings: TransferFindings) -> bool:
    """Return whether many small copies and one large one can be compared."""
    return any(isinstance(cost, PiecesCost) for cost in (findings.pieces, findings.pinned_pieces))


def describe_second(findings: TransferFindings) -> str:
    """Return the text alternative of the second chart."""
    if isinstance(findings.break_even, BreakEven):
        what = "total time against the number of products with the same operands, on the CPU and on the GPU with copies"
    elif has_pieces(findings):
        what = "time of one total against the size of the pieces that it is copied in"
    else:
        what = "time of one copy against its size"
    return f"Line chart, both axes logarithmic: {what}. {plain(claim_second(findings))}."


# -- break-even -----------------------------------------------------------------------------------


def _draw_break_even(findings: TransferFindings, found: BreakEven, theme: Theme) -> go.Figure:
    uses = _uses(found)
    lines = {
        Entity.CPU: ("CPU", [n * found.cpu_s for n in uses]),
        Entity.GPU: ("GPU with<br>its copies", [found.copy_s + n * found.gpu_s for n in uses]),
    }
    x_range, y_range = log_range(uses), log_range([t for _, times in lines.values() for t in times])
    labels = [
        EndLabel(name, ENTITY_STYLES[entity].color(theme), math.log10(uses[-1]), math.log10(times[-1]))
        for entity, (name, times) in lines.items()
    ]
    layout = base_layout(entity_words(claim_second(findings)), theme, left=LEFT_MARGIN_PX, right=margin_for(labels))
    layout["xaxis"] = size_axis(USES_TITLE, x_range, theme)
    layout["yaxis"] = value_axis(TOTAL_TITLE, y_range, format_time, theme)
    shapes, notes = _mark_break_even(found, x_range, theme)
    layout["margin"]["t"] += room_above(notes)
    layout |= {
        "shapes": shapes,
        "annotations": [*label_annotations(labels, y_range, ground=PALETTES[theme].background), *notes],
    }
    return go.Figure([_line(entity, name, uses, times, theme) for entity, (name, times) in lines.items()], layout)


def _uses(found: BreakEven) -> list[float]:
    """Return powers of two from one product to well beyond the break-even."""
    wanted = BEYOND_BREAK_EVEN * (found.reuses or 1.0)
    last = min(MOST_USES, max(FEWEST_USES, 2 ** math.ceil(math.log2(max(1.0, wanted)))))
    return [float(2**power) for power in range(int(math.log2(last)) + 1)]


def _line(entity: Entity, name: str, uses: list[float], times: list[float], theme: Theme) -> go.Scatter:
    style = ENTITY_STYLES[entity]
    title = name.replace("<br>", " ")
    return go.Scatter(
        x=uses,
        y=times,
        name=title,
        mode="lines+markers",
        line={"color": style.color(theme), "dash": style.dash, "width": 2.4},
        marker={"symbol": style.marker, "size": 8, "color": style.color(theme)},
        hovertext=[
            f"<b>{title}</b><br>{format_count(n)} {'product' if n == 1 else 'products'}: {format_time(t)}"
            "<br>computed from times measured in this run"
            for n, t in zip(uses, times, strict=True)
        ],
        hoverinfo="text",
    )


def _mark_break_even(found: BreakEven, x_range: Range, theme: Theme) -> tuple[list[Part], list[Part]]:
    """Shade the number of products between the bounds; its words stand above the plot."""
    muted = PALETTES[theme].muted
    left: Part = {"xref": "paper", "x": 0.0, "xanchor": "left"}
    notes = [note("from three times of this run", muted, theme, **left, **above_plot(0))]
    if found.verdict is not BreakEvenVerdict.AFTER or not found.reuses or not found.reuses_low or not found.reuses_high:
        return [], notes
    color = ENTITY_STYLES[Entity.TRANSFER].color(theme)
    shapes = [shaded_range(found.reuses_low, found.reuses_high, color), vertical_line(found.reuses, color)]
    words = f"paid for after {say_reuses(found)}"
    notes.append(note(words, color, theme, **side_of(max(1.0, found.reuses), x_range), **above_plot(1)))
    return shapes, notes


# -- times ----------------------------------------------------------------------------------------


def _draw_times(
    points: Sequence[Point], findings: TransferFindings, theme: Theme, looks: dict[str, SeriesLook]
) -> go.Figure:
    """Return the time of one total in pieces, or of one copy, with levels to compare it with."""
    lines = split_lines(within_reach(points), looks)
    if not any(p.median_s or p.status is not Status.OK for line in lines for p in line.points):
        return empty_figure(plain(claim_second(findings)), HINT, theme)
    is_total = looks is PIECES_LOOKS
    levels = _compared_with(findings) if is_total else _fixed_price(findings)
    air = air_above(lines, read_time)
    canvas = CopyCanvas(lines, read_time, theme, extra_y=[*air, *(time_s for time_s, _, _ in levels)])
    shapes, notes = [], []
    for time_s, text, entity in levels:
        line, words = canvas.level(time_s, text, ENTITY_STYLES[entity].color(theme), ENTITY_STYLES[entity].dash)
        shapes.append(line)
        notes.append(words)
    total = say_bytes(lines[0].points[0].bytes or 0)
    titles = (f"time for {total}", "bytes of one piece") if is_total else ("time of one copy", "bytes of one copy")
    layout = canvas.layout(entity_words(claim_second(findings)), titles[0], format_time, titles[1])
    canvas.lay_out_bytes(layout)
    layout |= {"shapes": shapes, "annotations": [*canvas.name_notes(), *notes]}
    return go.Figure(canvas.traces(), layout)


def _compared_with(findings: TransferFindings) -> list[tuple[float, str, Entity]]:
    """Return the product on this CPU, and its copies over a published link: both times to compare pieces with."""
    borrowed = findings.borrowed
    if not isinstance(borrowed, BorrowedCopy):
        return []
    return [
        (borrowed.cpu_s, f"product {say_n(borrowed.side)}: {format_time(borrowed.cpu_s)}", Entity.CPU),
        (borrowed.copy_s, f"its copies, computed: {format_time(borrowed.copy_s)}", Entity.TRANSFER),
    ]


def _fixed_price(findings: TransferFindings) -> list[tuple[float, str, Entity]]:
    """Return the latency of the leading series."""
    leader = findings.headline
    if leader is None or leader.fit is None or leader.fit.latency_us is None:
        return []
    latency_s = leader.fit.latency_us / 1e6
    return [(latency_s, f"fixed price {format_time(latency_s)}", Entity.THEORY)]
