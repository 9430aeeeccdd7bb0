"""The transfer slice as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.transfer.chart import describe_main, draw_main
from gpuexplain.experiments.transfer.conclude import find_transfer_findings, findings_json, flag_points
from gpuexplain.experiments.transfer.guess import QUESTION
from gpuexplain.experiments.transfer.headline import find_headline
from gpuexplain.experiments.transfer.published import default_published, points_of_file, published_results
from gpuexplain.experiments.transfer.second_chart import describe_second, draw_second
from gpuexplain.experiments.transfer.series import say_rate
from gpuexplain.experiments.transfer.sizes import say_bytes
from gpuexplain.experiments.transfer.snippet import write_snippet
from gpuexplain.experiments.transfer.spec import (
    EXPERIMENT_ID,
    MEASURING_VERSION,
    TOUR_PARAMS,
    TransferParams,
    plan_cases,
)
from gpuexplain.experiments.transfer.words import tell

TRANSFER = Experiment(
    id=EXPERIMENT_ID,
    title="What does moving the data cost?",
    nav_label="Transfer",
    icon=":material/swap_horiz:",
    teaser="Copies from 1 KiB to 1 GiB: what each costs at once and per byte, and how much work pays for it.",
    params_type=TransferParams,
    measuring_version=MEASURING_VERSION,
    measure_module="gpuexplain.experiments.transfer.measure",
    plan_cases=plan_cases,
    find=find_transfer_findings,
    flag_points=flag_points,
    draw_main=draw_main,
    draw_second=draw_second,
    tell=tell,
    write_snippet=write_snippet,
    describe_main=describe_main,
    describe_second=describe_second,
    findings_json=findings_json,
    say_x=say_bytes,
    x_heading="bytes",
    say_rate=say_rate,
    headline=find_headline,
    tour_params=TOUR_PARAMS,
    points_of_file=points_of_file,
    published=published_results,
    default_published=default_published,
    question=QUESTION,
)
