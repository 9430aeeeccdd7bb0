"""The slice of many workers as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.workers.chart import draw_main, draw_second
from gpuexplain.experiments.workers.conclude import find_workers_findings, findings_json, flag_points
from gpuexplain.experiments.workers.snippet import write_snippet
from gpuexplain.experiments.workers.spec import EXPERIMENT_ID, MEASURING_VERSION, WorkersParams, plan_cases
from gpuexplain.experiments.workers.words import describe_main, describe_second, find_headline, tell
from gpuexplain.model import Point
from gpuexplain.units import format_count, format_rate_flops


def _say_rate(point: Point) -> str:
    return format_rate_flops(point.rate_flops) if point.rate_flops and point.series == "threads" else ""


WORKERS = Experiment(
    id=EXPERIMENT_ID,
    title="What do many workers gain?",
    nav_label="Many workers",
    icon=":material/groups:",
    teaser="One product shared by more and more threads, one sum in four ways, and the rounds of a GPU.",
    params_type=WorkersParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.workers.measure",
    plan_cases=plan_cases,
    find=find_workers_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=format_count,
    x_heading="workers or numbers",
    say_rate=_say_rate,
    headline=find_headline,
)
