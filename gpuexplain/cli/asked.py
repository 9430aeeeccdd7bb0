"""What was asked for on the command line: params from ``--set`` and options."""

from gpuexplain.asked import check_params, shown
from gpuexplain.errors import InputError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Params


def read_params(experiment: Experiment, assignments: list[str], **options: object) -> Params:
    """Return the params of ``--set NAME=VALUE`` and of the options that were given.

    Raises:
        InputError: If one cannot be used; names it, its value and what is allowed.
    """
    asked: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {shown(assignment)} cannot be used. Allowed: NAME=VALUE, such as dtype=bf16.")
        asked[name.strip()] = text.strip()
    asked.update({name: option for name, option in options.items() if option is not None})
    reading = check_params(experiment.params_type, asked)
    if reading.problems:
        raise InputError(" ".join(reading.problems))
    return reading.params


def read_seconds(text: str | None) -> float | str | None:
    """Return a number of seconds; anything else as it stands, for whoever says what is allowed."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
