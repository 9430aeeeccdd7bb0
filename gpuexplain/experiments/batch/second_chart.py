"""What the second chart of the batch page draws: throughput against waiting."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpuexplain.charts.axes import Range, log_range, si_ticks, value_axis
from gpuexplain.charts.figure import base_layout, empty_figure
from gpuexplain.charts.labels import EndLabel, label_annotations, margin_for
from gpuexplain.charts.marks import Line, line_traces, read_time, split_lines
from gpuexplain.charts.theme import Theme
from gpuexplain.experiments.batch.chart import HINT, read_items
from gpuexplain.experiments.batch.claims import claim_second, has_knee
from gpuexplain.experiments.batch.conclude import BatchFindings
from gpuexplain.experiments.batch.panels import LEFT_MARGIN_PX, Part, say_line
from gpuexplain.experiments.batch.series import LOOKS
from gpuexplain.experiments.titles import entity_words
from gpuexplain.model import Point, Source
from gpuexplain.units import format_count, format_time
from gpuexplain.wording.markup import plain

MOST_TIME_TICKS = 4
MOST_LABELS = 9
KNEE_RING_PX = 18
RIGHT_OF_LABELS_PX = 40


def draw_second(points: Sequence[Point], findings: BatchFindings, theme: Theme) -> go.Figure:
    """Return examples per second against the time of one step, each point labelled by its batch."""
    lines = [line for line in split_lines(points, LOOKS) if line.readings(read_items)]
    if not lines:
        return empty_figure(plain(claim_second(findings)), HINT, theme)
    times = [reading.value for line in lines for _, reading in line.readings(read_time)]
    rates = [reading.value for line in lines for _, reading in line.readings(read_items)]
    x_range, y_range = log_range(times, pad=0.08), log_range(rates, pad=0.1)
    names = [_name_at_end(line, theme) for line in lines]
    layout = base_layout(
        entity_words(claim_second(findings)),
        theme,
        left=LEFT_MARGIN_PX,
        right=max(RIGHT_OF_LABELS_PX, margin_for(names)),
    )
    layout["xaxis"] = {**value_axis("time of one step", x_range, format_time, theme), **_few_ticks(x_range)}
    layout["yaxis"] = value_axis("examples per second", y_range, format_count, theme)
    layout["annotations"] = label_annotations(names, y_range)
    ring = _knee_ring(findings, theme)
    traces = [_trade_off(line, findings if ring is not None else None, theme) for line in lines]
    if ring is not None:
        traces.append(ring)
    return go.Figure(traces, layout)


def _few_ticks(span: Range) -> Part:
    """Return as many ticks of time as stand side by side on a phone."""
    times, texts = si_ticks(span, format_time)
    step = math.ceil(len(times) / MOST_TIME_TICKS) or 1
    return {"tickvals": times[::step], "ticktext": texts[::step], "tickangle": 0}


def _trade_off(line: Line, ringed: BatchFindings | None, theme: Theme) -> go.Scatter:
    """Return a line by time, each point with its batch; the ring of ``ringed`` names its own."""
    drawn = line.readings(read_items)
    trace = line_traces(line, read_items, theme)[-1]
    labels = [] if line.is_ghost else _labels([point.x for point, _ in drawn])
    series = ringed.headline_series if ringed is not None else None
    if series is not None and series.series == line.points[0].series:
        knee = series.knee.knee_batch
        labels = ["" if point.x == knee else label for (point, _), label in zip(drawn, labels, strict=False)]
    trace.update(
        x=[point.median_s for point, _ in drawn],
        error_y=None,
        mode="lines+markers+text" if labels else "lines+markers",
        text=labels or None,
        textposition="bottom right",
        textfont={"size": 12, "color": line.look.color(theme)},
        cliponaxis=False,
    )
    return trace


def _labels(batches: Sequence[float]) -> list[str]:
    """Return the batch beside its point: every power of two, or as many as a phone has room for."""
    powers = [int(batch).bit_length() - 1 for batch in batches if int(batch) & (int(batch) - 1) == 0]
    step = math.ceil(len(powers) / MOST_LABELS) or 1
    labelled = {2**power for power in powers if power % step == 0}
    return [format_count(b) if b in labelled or len(batches) <= MOST_LABELS else "" for b in batches]


def _name_at_end(line: Line, theme: Theme) -> EndLabel:
    point, reading = line.readings(read_items)[-1]
    x, y = math.log10(point.median_s or 1.0), math.log10(reading.value)
    # To the left: below the end stands its batch. A name of two lines would lie on the curve there.
    return EndLabel(say_line(line), line.look.color(theme), x, y, is_left=line.source is Source.MEASURED)


def _knee_ring(findings: BatchFindings, theme: Theme) -> go.Scatter | None:
    series = findings.headline_series
    if series is None or series.at_knee is None or not has_knee(series):
        return None
    color = LOOKS[series.series].color(theme)
    return go.Scatter(
        x=[series.at_knee.step_s],
        y=[series.at_knee.rate_items],
        name="knee",
        mode="markers+text",
        text=[f"knee {format_count(series.at_knee.batch)}"],
        textposition="top left",
        textfont={"size": 12, "color": color},
        marker={"symbol": "circle-open", "size": KNEE_RING_PX, "color": color, "line": {"width": 2, "color": color}},
        hoverinfo="skip",
        cliponaxis=False,
    )


def describe_second(findings: BatchFindings) -> str:
    """Return the text alternative of the second chart."""
    return (
        "Line chart, both axes logarithmic: examples per second against the time of one step, each point labelled by "
        f"its batch. {plain(claim_second(findings))}."
    )
