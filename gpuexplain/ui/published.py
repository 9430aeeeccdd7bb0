"""What others published for an experiment, found by its name in the address."""

from gpuexplain.experiments.contract import Experiment, PublishedResult


def find_published(experiment: Experiment, key: str) -> PublishedResult | None:
    """Return a published result by its key, None where there is no such one."""
    return next((result for result in experiment.published() if result.key == key), None)
