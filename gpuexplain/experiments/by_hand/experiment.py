"""The slice of one layer by hand as the registry lists it."""

from gpuexplain.experiments.by_hand.chart import draw_main, draw_second
from gpuexplain.experiments.by_hand.conclude import find_by_hand_findings, findings_json, flag_points
from gpuexplain.experiments.by_hand.snippet import write_snippet
from gpuexplain.experiments.by_hand.spec import ARTICLE, EXPERIMENT_ID, MEASURING_VERSION, ByHandParams, plan_cases
from gpuexplain.experiments.by_hand.words import describe_main, describe_second, find_headline, tell
from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.model import Point
from gpuexplain.units import format_count, format_rate_flops


def _say_layers(x: float) -> str:
    return f"{format_count(x)} {'layer' if x == 1 else 'layers'}"


def _say_rate(point: Point) -> str:
    return format_rate_flops(point.rate_flops) if point.rate_flops else ""


BY_HAND = Experiment(
    id=EXPERIMENT_ID,
    title="What is one layer made of?",
    nav_label="One layer by hand",
    icon=":material/calculate:",
    teaser="Six multiplications and four additions by hand; then billions of them, predicted and measured.",
    params_type=ByHandParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.by_hand.measure",
    plan_cases=plan_cases,
    find=find_by_hand_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=_say_layers,
    x_heading="layers",
    say_rate=_say_rate,
    headline=find_headline,
    examples=(Example("Article's example: 256 x 1024 x 1024 x 50", ARTICLE),),
)
