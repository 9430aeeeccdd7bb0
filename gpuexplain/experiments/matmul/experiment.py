"""The matmul slice as the registry lists it."""

from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.experiments.matmul.chart import describe_main, describe_second, draw_main, draw_second
from gpuexplain.experiments.matmul.conclude import find_matmul_findings, findings_json, flag_points
from gpuexplain.experiments.matmul.guess import QUESTION
from gpuexplain.experiments.matmul.headline import find_headline
from gpuexplain.experiments.matmul.published import default_published, points_of_file, published_results
from gpuexplain.experiments.matmul.snippet import write_snippet
from gpuexplain.experiments.matmul.spec import (
    ARTICLE_PRESET,
    EXPERIMENT_ID,
    MEASURING_VERSION,
    TOUR_PARAMS,
    MatmulParams,
    plan_cases,
)
from gpuexplain.experiments.matmul.words import tell
from gpuexplain.model import Point
from gpuexplain.units import format_rate_flops
from gpuexplain.wording.phrases import say_n


def _say_rate(point: Point) -> str:
    return format_rate_flops(point.rate_flops) if point.rate_flops else ""


MATMUL = Experiment(
    id=EXPERIMENT_ID,
    title="When does the GPU win?",
    nav_label="Matrix multiply",
    icon=":material/grid_on:",
    teaser="The same product on every device, from 16 to 8,192: where launches stop mattering and width starts to.",
    params_type=MatmulParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.matmul.measure",
    plan_cases=plan_cases,
    find=find_matmul_findings,
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
    examples=(Example("Article's example: 4000 x 4000 fp32", ARTICLE_PRESET),),
)
