"""The experiments, in the order in which they are shown. Adding one: its folder, its page, a line here."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.experiment import MATMUL

EXPERIMENTS: dict[str, Experiment] = {experiment.id: experiment for experiment in (MATMUL,)}
