"""The batch slice as the registry lists it."""

from gpuexplain.experiments.batch.chart import describe_main, draw_main
from gpuexplain.experiments.batch.conclude import find_batch_findings, findings_json, flag_points
from gpuexplain.experiments.batch.guess import QUESTION
from gpuexplain.experiments.batch.headline import find_headline
from gpuexplain.experiments.batch.plan import plan_cases
from gpuexplain.experiments.batch.published import default_published, points_of_file, published_results
from gpuexplain.experiments.batch.second_chart import describe_second, draw_second
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.experiments.batch.snippet import write_snippet
from gpuexplain.experiments.batch.spec import (
    ARTICLE_PRESET,
    CEILING_PRESET,
    EXPERIMENT_ID,
    MEASURING_VERSION,
    TOUR_PARAMS,
    BatchParams,
)
from gpuexplain.experiments.batch.words import tell
from gpuexplain.experiments.contract import Example, Experiment
from gpuexplain.model import Point
from gpuexplain.units import format_rate_items


def _say_rate(point: Point) -> str:
    return format_rate_items(point.rate_items) if point.rate_items else ""


BATCH = Experiment(
    id=EXPERIMENT_ID,
    title="How many examples at a time?",
    nav_label="Batch size",
    icon=":material/stacks:",
    teaser="The same model with 1, 2, 4 ... examples a step: when more of them stop paying, and what they cost.",
    params_type=BatchParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.batch.measure",
    plan_cases=plan_cases,
    find=find_batch_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=say_batch,
    x_heading="batch",
    say_rate=_say_rate,
    headline=find_headline,
    tour_params=TOUR_PARAMS,
    points_of_file=points_of_file,
    published=published_results,
    default_published=default_published,
    question=QUESTION,
    examples=(
        Example("Article's example: 256 x 1024 x 1024 x 50", ARTICLE_PRESET),
        Example("Meet a memory ceiling of 512 MiB", CEILING_PRESET),
    ),
)
