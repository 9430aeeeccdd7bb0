"""What was asked for on the command line: params from ``--set`` and options."""

from pydantic import ValidationError

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
            raise InputError(f"--set {assignment!r} cannot be used. Allowed: NAME=VALUE, such as dtype=bf16.")
        asked[name.strip()] = text.strip()
    asked.update({name: option for name, option in options.items() if option is not None})
    try:
        return experiment.params_type.model_validate(asked)
    except ValidationError as error:
        raise InputError(_tell_bad_params(experiment, error)) from None


def read_seconds(text: str | None) -> float | str | None:
    """Return a number of seconds; anything else as it stands, for whoever says what is allowed."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _tell_bad_params(experiment: Experiment, error: ValidationError) -> str:
    lines = []
    fields = experiment.params_type.model_fields
    for problem in error.errors():
        name = str(problem["loc"][0]) if problem["loc"] else ""
        if problem["type"] == "extra_forbidden":
            lines.append(f"{name!r} is no parameter of {experiment.id}. Allowed: {', '.join(fields)}.")
        elif name in fields:
            allowed = fields[name].description or problem["msg"]
            lines.append(f"{name}={problem['input']!r} cannot be used. Allowed: {allowed}.")
        else:
            lines.append(str(problem["msg"]).removeprefix("Value error, ") + ".")
    return " ".join(lines)
