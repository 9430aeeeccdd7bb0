"""What was asked for, and what is said of values that cannot be used?

Form, address bar, command line and imported files all come here, so that the bounds of a parameter stand in
one place (its field of ``Params``) and a bad value is told in the same words everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import EnumType
from typing import Any, Generic, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gpuexplain.model import Params

P = TypeVar("P", bound=Params)

# Of a value that somebody gave, this much is repeated in an error.
SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Reading(Generic[P]):
    """Usable params, and what had to be left out of the given values to get there."""

    params: P
    problems: tuple[str, ...]


def shown(given: object) -> str:
    """Return a given value as an error repeats it: quoted, on one line, cut when long."""
    if isinstance(given, str):
        cut = given[:SHOWN_CHARACTERS]
        return repr(cut) if cut == given else f"{cut!r}..."
    text = repr(given)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def check_params(params_type: type[P], given: Mapping[str, Any]) -> Reading[P]:
    """Return params from loose values: text, or what widgets and JSON hold.

    A bad value is left out, and ``problems`` says which field, which value and what is allowed.
    """
    fields = params_type.model_fields
    values = {name: value for name, value in given.items() if name in fields}
    allowed = ", ".join(fields)
    problems = {
        f"{shown(name)} is no parameter here. Allowed: {allowed}.": None for name in given if name not in fields
    }
    while True:
        try:
            return Reading(params_type.model_validate(values), tuple(problems))
        except ValidationError as error:
            left_out: set[str] = set()
            for detail in error.errors(include_url=False):
                blamed = _blamed(params_type, detail, values)
                problems[_tell(params_type, detail, values, blamed)] = None
                left_out.update(blamed)
            values = {name: value for name, value in values.items() if name not in left_out}


def allowed_text(params_type: type[Params], name: str) -> str:
    """Return what a field takes, in words."""
    field = params_type.model_fields[name]
    if field.description:
        return field.description
    if isinstance(field.annotation, EnumType):
        return ", ".join(str(member) for member in field.annotation.__members__.values())
    choices = get_args(field.annotation)
    return ", ".join(str(choice) for choice in choices) if choices else "see the controls"


def _blamed(params_type: type[Params], detail: ErrorDetails, values: Mapping[str, Any]) -> list[str]:
    """Return the given values to leave out: the one named, else the optional ones, else all of them."""
    if detail["loc"] and detail["loc"][0] in values:
        return [str(detail["loc"][0])]
    optional = [name for name in values if params_type.model_fields[name].default is None]
    return optional or list(values)


def _tell(params_type: type[Params], detail: ErrorDetails, values: Mapping[str, Any], blamed: list[str]) -> str:
    name = blamed[0]
    if detail["loc"]:
        return f"{name}={shown(values[name])} cannot be used. Allowed: {allowed_text(params_type, name)}."
    together = ", ".join(f"{name}={str(values[name])[:SHOWN_CHARACTERS]}" for name in blamed)
    return f"{together} cannot be used: {detail['msg'].removeprefix('Value error, ')}."
