"""The slice of "Do you need a GPU?" as the registry lists it."""

from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.experiments.need.chart import draw_main, draw_second
from gpuexplain.experiments.need.conclude import find_need_findings, findings_json, flag_points
from gpuexplain.experiments.need.snippet import write_snippet
from gpuexplain.experiments.need.spec import EXPERIMENT_ID, MEASURING_VERSION, NeedParams, plan_cases
from gpuexplain.experiments.need.words import describe_main, describe_second, find_headline, tell
from gpuexplain.model import Point
from gpuexplain.units import format_count, format_rate_items


def _say_examples(x: float) -> str:
    return f"{format_count(x)} {'example' if x == 1 else 'examples'}"


def _say_rate(point: Point) -> str:
    return format_rate_items(point.rate_items) if point.rate_items else ""


NEED = Experiment(
    id=EXPERIMENT_ID,
    title="Do you need a GPU?",
    nav_label="Do you need a GPU?",
    icon=":material/help:",
    teaser="Trees, text, small networks: everyday work timed on what there is, and an adviser for your own.",
    params_type=NeedParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.need.measure",
    plan_cases=plan_cases,
    find=find_need_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=_say_examples,
    x_heading="examples",
    say_rate=_say_rate,
    headline=find_headline,
    examples=(Example("Ten times the work", NeedParams(size="medium")),),
)
