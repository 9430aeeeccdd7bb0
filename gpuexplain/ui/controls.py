"""The row of controls of a lab, made from the fields of the experiment's params and bound to the URL."""

from dataclasses import dataclass
from enum import EnumType
from types import UnionType
from typing import Any, Literal, cast, get_args, get_origin

import streamlit as st
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Preset
from gpuexplain.ui.examples import show_examples
from gpuexplain.ui.url_params import read_params

_UNSET = "automatic"
_NUMBER_WIDTH_PX = 78  # three of them and no list do
_WIDTH_PX = 138  # two of them, the presets, More and Run fit in one row at 1280 px
_SPECIAL = frozenset({"preset", "device", "budget_s"})


@dataclass(frozen=True, slots=True)
class Controls:
    """What the controls ask for, and what is wrong with it in words a visitor can act on."""

    params: Params
    problems: tuple[str, ...]
    blocked: str = ""  # why a run cannot start: this machine refuses the plan


def note_url_problems(experiment: Experiment) -> None:
    """Keep what is wrong with the address, before the widgets drop the values they cannot show."""
    given = {name: st.query_params[name] for name in st.query_params}
    seen = f"{experiment.id}:url"
    if st.session_state.get(seen) == given:
        return
    st.session_state[seen] = given
    problems = read_params(experiment.params_type, given).problems
    if problems:
        st.session_state[f"{experiment.id}:url_problems"] = problems


def show_controls(experiment: Experiment, machine: Machine) -> Controls:
    """Write the widgets and return what they ask for. Must run inside the controls' container."""
    fields = {n: f for n, f in experiment.params_type.model_fields.items() if n not in _SPECIAL}
    row = {name: field for name, field in fields.items() if _is_in_row(name, field)}
    given: dict[str, Any] = {"preset": _preset(experiment)}
    for name, field in row.items():
        if _choices(name, field):
            given[name] = _choice(name, field)
        else:
            with st.container(width=_NUMBER_WIDTH_PX):
                given[name] = _number(name, field)
    with st.popover("More", icon=":material/tune:", key="lab-more"):
        for name, field in fields.items():
            if name not in row:
                given[name] = _widget(name, field)
        given["budget_s"] = _number("budget_s", experiment.params_type.model_fields["budget_s"])
        given["device"] = _device(experiment, machine)
        show_examples(experiment)
    return _checked(experiment, machine, given)


def _checked(experiment: Experiment, machine: Machine, given: dict[str, Any]) -> Controls:
    reading = read_params(experiment.params_type, given)
    kept = f"{experiment.id}:url_problems"
    from_url = cast("tuple[str, ...]", st.session_state.get(kept, ()))
    problems = tuple(dict.fromkeys((*from_url, *reading.problems)))
    try:
        experiment.plan_cases(reading.params, machine)
    except GpuExplainError as error:
        return Controls(reading.params, problems, blocked=str(error))
    return Controls(reading.params, problems)


def _preset(experiment: Experiment) -> str | None:
    options = [preset.value for preset in Preset]
    return st.segmented_control(
        _label("preset", experiment.params_type.model_fields["preset"]),
        options,
        default=Preset.STANDARD.value,
        required=True,
        key="preset",
        bind="query-params",
    )


def _label(name: str, field: FieldInfo) -> str:
    return field.title or name.replace("_", " ")


def _is_in_row(name: str, field: FieldInfo) -> bool:
    """Return whether a field stands beside the presets: a list does, a number only where its field says so."""
    extra = field.json_schema_extra
    place = extra.get("place") if isinstance(extra, dict) else None
    return place == "row" or (bool(_choices(name, field)) and place != "more")


def _widget(name: str, field: FieldInfo) -> object:
    """Write the control of a field in the popover: a switch, a list or a number."""
    if field.annotation is bool:
        return st.toggle(
            _label(name, field), value=bool(field.default), help=field.description, key=name, bind="query-params"
        )
    return _choice(name, field) if _choices(name, field) else _number(name, field)


def _choices(name: str, field: FieldInfo) -> list[str]:
    """Return the values to choose among: those of a list, or the powers of two up to a largest size."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if isinstance(annotation, EnumType):
        return [str(member) for member in annotation.__members__.values()]
    if name.startswith("largest_"):
        low, high = _limits(field)
        powers = (2**exponent for exponent in range(int(high or 0).bit_length()))
        return [str(size) for size in powers if size >= (low or 1)]
    return []


def _choice(name: str, field: FieldInfo) -> str | None:
    options = _choices(name, field)
    if field.default is None:
        return st.selectbox(
            _label(name, field),
            options,
            index=None,
            placeholder=_UNSET,
            help="Automatic: as far as the time allows. Type any size, or choose one.",
            accept_new_options=True,
            key=name,
            bind="query-params",
            width=_WIDTH_PX,
        )
    default = options.index(str(field.default))
    return st.selectbox(_label(name, field), options, index=default, key=name, bind="query-params", width=_WIDTH_PX)


def _number(name: str, field: FieldInfo) -> float | None:
    low, high = _limits(field)
    cast_to = int if _holds_int(field) else float
    return st.number_input(
        _label(name, field),
        min_value=None if low is None else cast_to(low),
        max_value=None if high is None else cast_to(high),
        value=None if field.default is None else cast_to(field.default),
        step=cast_to(1),
        placeholder="not set",
        key=name,
        bind="query-params",
    )


def _holds_int(field: FieldInfo) -> bool:
    is_union = get_origin(field.annotation) is UnionType or get_args(field.annotation)
    return int in (get_args(field.annotation) if is_union else (field.annotation,))


def _limits(field: FieldInfo) -> tuple[float | None, float | None]:
    low = next((cast("float", m.ge) for m in field.metadata if isinstance(m, Ge)), None)
    high = next((cast("float", m.le) for m in field.metadata if isinstance(m, Le)), None)
    return low, high


def _device(experiment: Experiment, machine: Machine) -> str | None:
    """Offer devices only where there is a choice, or where the address asks for one."""
    asked = st.session_state.get("device") or st.query_params.get("device")
    options = list(dict.fromkeys(["auto", *machine.devices]))
    if len(machine.devices) < 2 and asked in (None, "auto"):
        return None
    if asked and asked not in options:
        options.append(str(asked))
    return st.selectbox(
        _label("device", experiment.params_type.model_fields["device"]),
        options,
        key="device",
        bind="query-params",
        help="auto takes the first GPU that works, else the CPU",
    )
