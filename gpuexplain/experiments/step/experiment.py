"""The slice of a training step as the registry lists it."""

from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.experiments.step.chart import draw_main, draw_second
from gpuexplain.experiments.step.conclude import find_step_findings, findings_json, flag_points
from gpuexplain.experiments.step.snippet import write_snippet
from gpuexplain.experiments.step.spec import (
    EXPERIMENT_ID,
    IDLE,
    MEASURING_VERSION,
    MEMORY_PREFIX,
    PRODUCT,
    StepParams,
    plan_cases,
)
from gpuexplain.experiments.step.words import describe_main, describe_second, find_headline, tell
from gpuexplain.model import Point, Source
from gpuexplain.units import format_count, format_rate_flops, format_rate_items, format_size


def _say_batch(x: float) -> str:
    return f"batch {format_count(x)}"


def _say_rate(point: Point) -> str:
    if point.series.startswith(MEMORY_PREFIX) and point.bytes:
        counted = ", counted" if point.source is Source.MODEL else ""
        return f"{format_size(point.bytes)}{counted}"
    if point.rate_flops and point.series == PRODUCT:
        return format_rate_flops(point.rate_flops)
    return format_rate_items(point.rate_items) if point.rate_items and point.series != IDLE else ""


STEP = Experiment(
    id=EXPERIMENT_ID,
    title="What does a training step wait for?",
    nav_label="Anatomy of a training step",
    icon=":material/biotech:",
    teaser="Load, copy, forward, loss, backward, optimiser: which part takes the time, and which the memory.",
    params_type=StepParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.step.measure",
    plan_cases=plan_cases,
    find=find_step_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=_say_batch,
    x_heading="batch",
    say_rate=_say_rate,
    headline=find_headline,
    examples=(
        Example("Slow data, two loading workers", StepParams(data="slow", workers=2)),
        Example("Slow data, four loading workers", StepParams(data="slow", workers=4)),
        Example("A small batch in 16 bits", StepParams(dtype="autocast", batch=8)),
    ),
)
