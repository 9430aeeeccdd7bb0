"""The slice of more devices as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.scaling.chart import draw_main, draw_second
from gpuexplain.experiments.scaling.conclude import find_scaling_findings, findings_json, flag_points
from gpuexplain.experiments.scaling.published import default_published, published_results
from gpuexplain.experiments.scaling.snippet import write_snippet
from gpuexplain.experiments.scaling.spec import EXPERIMENT_ID, MEASURING_VERSION, ScalingParams, plan_cases
from gpuexplain.experiments.scaling.words import describe_main, describe_second, find_headline, tell
from gpuexplain.model import Point
from gpuexplain.units import format_bandwidth, format_count, format_rate_items


def _say_rate(point: Point) -> str:
    if point.rate_items:
        return format_rate_items(point.rate_items)
    return format_bandwidth(point.rate_bytes) if point.rate_bytes else ""


SCALING = Experiment(
    id=EXPERIMENT_ID,
    title="Are two devices twice as fast?",
    nav_label="More devices",
    icon=":material/hub:",
    teaser="One training step shared by more and more devices, and what they must tell each other.",
    params_type=ScalingParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.scaling.measure",
    plan_cases=plan_cases,
    find=find_scaling_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=format_count,
    x_heading="devices or bytes",
    say_rate=_say_rate,
    headline=find_headline,
    published=published_results,
    default_published=default_published,
)
