"""What a point says when a reader points at it."""

from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import SeriesLook
from gpuexplain.model import Clock, Point, Source, Status
from gpuexplain.units import (
    NBSP,
    format_bandwidth,
    format_count,
    format_plus_minus,
    format_rate_flops,
    format_rate_items,
    format_time,
)

CLOCK_WORDS: dict[Clock, str] = {
    Clock.CALL: "host clock around each call, synchronised",
    Clock.DEVICE: "device events, without the launch",
    Clock.TRANSFER_INCLUSIVE: "host clock, both copies included",
    Clock.ENQUEUE: "host clock without synchronising",
}
STATUS_WORDS: dict[Status, str] = {
    Status.OK: "measured",
    Status.OOM: "out of memory",
    Status.UNSUPPORTED: "not supported",
    Status.LAUNCH_LIMIT: "over a launch limit",
    Status.SKIPPED: "skipped",
    Status.FAILED: "failed",
}


def hover_text(point: Point, look: SeriesLook) -> str:
    """Return the lines of a point's hover: size, time with interval, speed, samples, origin."""
    lines = [f"<b>{_title(point, look)}</b>", (look.say_size or _size)(point)]
    if point.status is not Status.OK:
        lines.append(f"{STATUS_WORDS[point.status]}: {literal(point.reason) or 'no reason given'}")
    elif point.median_s is not None:
        lines += _timing(point)
    lines += _origin(point)
    return "<br>".join(line for line in lines if line)


def _title(point: Point, look: SeriesLook) -> str:
    if not point.threads:
        return look.name
    return f"{look.name}, {point.threads}{NBSP}{'thread' if point.threads == 1 else 'threads'}"


def _size(point: Point) -> str:
    shape = f", {' × '.join(format_count(side) for side in point.shape)}" if len(set(point.shape)) > 1 else ""
    return f"n = {format_count(point.x)}{shape}, {point.dtype}"


def _timing(point: Point) -> list[str]:
    assert point.median_s is not None
    width = point.half_width
    lines = [f"median {format_time(point.median_s)}" + (f" {format_plus_minus(width)}" if width is not None else "")]
    if point.ci_low_s is not None and point.ci_high_s is not None:
        lines.append(f"95 % interval {format_time(point.ci_low_s)} – {format_time(point.ci_high_s)}")
    elif point.min_s is not None and point.max_s is not None:
        lines.append(f"min – max {format_time(point.min_s)} – {format_time(point.max_s)}")
    if point.rate_items is not None:
        lines.append(format_rate_items(point.rate_items))
    if point.rate_flops is not None:
        lines.append(format_rate_flops(point.rate_flops))
    elif point.rate_bytes is not None:
        lines.append(format_bandwidth(point.rate_bytes))
    if point.n_samples:
        lines.append(f"{format_count(point.n_samples)} {'sample' if point.n_samples == 1 else 'samples'}")
    return lines


def _origin(point: Point) -> list[str]:
    flags = ", ".join(flag.replace("_", " ") for flag in point.flags)
    note = f" ({literal(point.source_note)})" if point.source_note else ""
    return [
        f"flags: {flags}" if flags else "",
        CLOCK_WORDS[point.clock],
        literal(point.device_name),
        "" if point.source is Source.MEASURED else f"{point.source}{note}",
    ]
