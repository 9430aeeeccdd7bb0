"""The precision slice as the registry lists it."""

from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.experiments.precision.bars import describe_second, draw_second
from gpuexplain.experiments.precision.chart import describe_main, draw_main
from gpuexplain.experiments.precision.conclude import find_precision_findings, findings_json, flag_points
from gpuexplain.experiments.precision.guess import QUESTION
from gpuexplain.experiments.precision.headline import find_headline
from gpuexplain.experiments.precision.published import default_published, points_of_file, published_results
from gpuexplain.experiments.precision.snippet import write_snippet
from gpuexplain.experiments.precision.spec import (
    EXPERIMENT_ID,
    MEASURING_VERSION,
    TOUR_PARAMS,
    Inputs,
    PrecisionParams,
    plan_cases,
)
from gpuexplain.experiments.precision.words import tell
from gpuexplain.model import Point
from gpuexplain.units import format_rate_flops
from gpuexplain.wording.phrases import say_n


def _say_rate(point: Point) -> str:
    return format_rate_flops(point.rate_flops) if point.rate_flops else ""


PRECISION = Experiment(
    id=EXPERIMENT_ID,
    title="How many bits does a number need?",
    nav_label="Precision",
    icon=":material/straighten:",
    teaser="The same product in eight number formats: what fewer bits gain in speed, and what they cost in exactness.",
    params_type=PrecisionParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.precision.measure",
    plan_cases=plan_cases,
    find=find_precision_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=say_n,
    x_heading="n",
    say_rate=_say_rate,
    headline=find_headline,
    tour_params=TOUR_PARAMS,
    points_of_file=points_of_file,
    published=published_results,
    default_published=default_published,
    question=QUESTION,
    examples=(
        Example("Numbers of very different size: see what overflows", PrecisionParams(inputs=Inputs.BADLY_SCALED)),
    ),
)
