"""How do values from the address bar or the controls become params, and what is said of bad ones?"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import EnumType
from typing import Any, Generic, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gpuexplain.model import Params

P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True)
class Reading(Generic[P]):
    """Usable params, and what had to be left out of the given values to get there."""

    params: P
    problems: tuple[str, ...]


def read_params(params_type: type[P], given: Mapping[str, Any]) -> Reading[P]:
    """Return params from loose values (text from an URL, or what widgets hold).

    Empty values count as not given, unknown names are ignored. A bad value is left out, and
    ``problems`` says which field, which value and what is allowed.
    """
    fields = params_type.model_fields
    values = {name: value for name, value in given.items() if name in fields and value not in (None, "")}
    problems: list[str] = []
    while True:
        try:
            return Reading(params_type.model_validate(values), tuple(problems))
        except ValidationError as error:
            for detail in error.errors():
                problems.append(_describe(params_type, detail, values))
                for name in _blamed(params_type, detail, values):
                    values.pop(name, None)


def _blamed(params_type: type[Params], detail: ErrorDetails, values: Mapping[str, Any]) -> list[str]:
    """Return the fields to leave out: the one named, else every optional one that was given."""
    if detail["loc"]:
        return [str(detail["loc"][0])]
    return [name for name in values if params_type.model_fields[name].default is None]


def _describe(params_type: type[Params], detail: ErrorDetails, values: Mapping[str, Any]) -> str:
    reason = detail["msg"].removeprefix("Value error, ")
    if not detail["loc"]:
        shown = ", ".join(f"{name}={values[name]}" for name in _blamed(params_type, detail, values))
        return f"{shown} cannot be used: {reason}."
    name = str(detail["loc"][0])
    return f"{name}={str(values.get(name))!r} cannot be used. Allowed: {allowed_text(params_type, name)}."


def allowed_text(params_type: type[Params], name: str) -> str:
    """Return what a field takes, in words."""
    field = params_type.model_fields[name]
    if field.description:
        return field.description
    if isinstance(field.annotation, EnumType):
        return ", ".join(str(member) for member in field.annotation.__members__.values())
    choices = get_args(field.annotation)
    return ", ".join(str(choice) for choice in choices) if choices else "see the controls"
