"""The experiments, in the order in which they are shown. Adding one: its folder, its page, a line here."""

from gpuexplain.experiments.batch.experiment import BATCH
from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.experiment import MATMUL
from gpuexplain.experiments.transfer.experiment import TRANSFER

EXPERIMENTS: dict[str, Experiment] = {experiment.id: experiment for experiment in (MATMUL, BATCH, TRANSFER)}
# The experiments of the tour, which Home and the summary show.
CORE = tuple(experiment for experiment in EXPERIMENTS.values() if experiment.tour_params is not None)
