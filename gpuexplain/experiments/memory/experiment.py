"""The slice of the memory wall as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.memory.chart import draw_main, draw_second
from gpuexplain.experiments.memory.conclude import find_memory_findings, findings_json, flag_points
from gpuexplain.experiments.memory.snippet import write_snippet
from gpuexplain.experiments.memory.spec import EXPERIMENT_ID, LENDERS, MEASURING_VERSION, MemoryParams, plan_cases
from gpuexplain.experiments.memory.words import describe_main, describe_second, find_headline, tell
from gpuexplain.model import Point
from gpuexplain.units import format_bandwidth, format_count


def _say_rate(point: Point) -> str:
    return format_bandwidth(point.rate_bytes) if point.rate_bytes else ""


MEMORY = Experiment(
    id=EXPERIMENT_ID,
    title="What waits for memory?",
    nav_label="The memory wall",
    icon=":material/landscape:",
    teaser="Two measured roofs, and work that walks from waiting for memory to being busy.",
    params_type=MemoryParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.memory.measure",
    plan_cases=plan_cases,
    find=find_memory_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=format_count,
    x_heading="k or bytes",
    say_rate=_say_rate,
    headline=find_headline,
    borrows_from=tuple(LENDERS),
)
