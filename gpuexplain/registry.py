"""The experiments, in the order in which they are shown. Adding one: its folder, its page, a line here."""

from gpuexplain.experiments.batch.experiment import BATCH
from gpuexplain.experiments.by_hand.experiment import BY_HAND
from gpuexplain.experiments.contract import Experiment
from gpuexplain.experiments.matmul.experiment import MATMUL
from gpuexplain.experiments.memory.experiment import MEMORY
from gpuexplain.experiments.need.experiment import NEED
from gpuexplain.experiments.precision.experiment import PRECISION
from gpuexplain.experiments.scaling.experiment import SCALING
from gpuexplain.experiments.step.experiment import STEP
from gpuexplain.experiments.stopwatch.experiment import STOPWATCH
from gpuexplain.experiments.transfer.experiment import TRANSFER
from gpuexplain.experiments.workers.experiment import WORKERS

_LISTED = (MATMUL, BATCH, PRECISION, TRANSFER, BY_HAND, WORKERS, STOPWATCH, MEMORY, STEP, SCALING, NEED)
EXPERIMENTS: dict[str, Experiment] = {experiment.id: experiment for experiment in _LISTED}
# The experiments of the tour, which Home and the summary show.
CORE = tuple(experiment for experiment in EXPERIMENTS.values() if experiment.tour_params is not None)
