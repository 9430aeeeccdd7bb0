"""Which run can be gone on with, and what of it is known already?"""

from gpuexplain.engine.key import compute_key
from gpuexplain.engine.ticket import Measurable
from gpuexplain.errors import InputError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.store.run import RESUMABLE, StoredRun


def read_resumable_params(run: StoredRun, experiment: Measurable, machine: Machine) -> Params:
    """Return the params of a run that this machine can go on with.

    Raises:
        InputError: If the run is of another experiment, ended in another way, or was measured under other
            conditions (device, driver, torch, threads).
    """
    if run.experiment != experiment.id:
        raise InputError(f"Run {run.id} is one of {run.experiment}, not of {experiment.id}.")
    if run.state not in RESUMABLE:
        raise InputError(f"Run {run.id} is {run.state}: only an interrupted or crashed run can be resumed.")
    params: Params = experiment.params_type.model_validate(run.params)
    if compute_key(experiment.id, experiment.measuring_version, params, machine) != run.key:
        raise InputError(
            f"Run {run.id} cannot be resumed: the machine, its driver, torch or the number of threads is not "
            "what it was, so its points do not belong with new ones. Measure anew instead."
        )
    return params
