"""The matmul slice as the registry lists it."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.chart import describe_main, describe_second, draw_main, draw_second
from gpuexplain.experiments.matmul.conclude import find_matmul_findings, findings_json, flag_points
from gpuexplain.experiments.matmul.snippet import write_snippet
from gpuexplain.experiments.matmul.spec import EXPERIMENT_ID, MEASURING_VERSION, MatmulParams, plan_cases
from gpuexplain.experiments.matmul.words import tell

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
)
