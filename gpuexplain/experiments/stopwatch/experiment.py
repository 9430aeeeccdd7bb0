"""The stopwatch slice as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.stopwatch.chart import draw_main, draw_second
from gpuexplain.experiments.stopwatch.conclude import find_stopwatch_findings, findings_json, flag_points
from gpuexplain.experiments.stopwatch.snippet import write_snippet
from gpuexplain.experiments.stopwatch.spec import EXPERIMENT_ID, MEASURING_VERSION, StopwatchParams, plan_cases
from gpuexplain.experiments.stopwatch.words import describe_main, describe_second, find_headline, tell
from gpuexplain.wording.phrases import say_n

STOPWATCH = Experiment(
    id=EXPERIMENT_ID,
    title="How wrong can a clock be?",
    nav_label="The stopwatch trap",
    icon=":material/timer_off:",
    teaser="The same product, timed right and in every wrong way: no wait, no warm-up, one sample.",
    params_type=StopwatchParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.stopwatch.measure",
    plan_cases=plan_cases,
    find=find_stopwatch_findings,
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
    say_rate=lambda _: "",
    headline=find_headline,
)
