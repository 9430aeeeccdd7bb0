"""Every parameter is bounded, in one place: its field. The same field serves form, address, command line and files."""

from enum import EnumType
from typing import Literal, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from gpuexplain.asked import SHOWN_CHARACTERS, allowed_text, check_params, shown
from gpuexplain.cli import asked
from gpuexplain.errors import InputError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.settings import Settings
from gpuexplain.ui.url_params import read_params
from tests.limits.hostile import bounds

FIELDS = [
    pytest.param(experiment, name, field, id=f"{experiment.id} {name}")
    for experiment in EXPERIMENTS.values()
    for name, field in experiment.params_type.model_fields.items()
]


@pytest.mark.parametrize(("experiment", "name", "field"), FIELDS)
def test_every_parameter_is_bounded(experiment: Experiment, name: str, field: FieldInfo) -> None:
    """Numbers from both sides, texts by a list or a pattern."""
    (kind, *_) = [k for k in (get_args(field.annotation) or (field.annotation,)) if k is not type(None)]
    if get_origin(field.annotation) is Literal or isinstance(kind, EnumType) or kind is bool:
        return
    if kind in (int, float):
        low, high, _ = bounds(field)
        assert low is not None
        assert high is not None
        assert low < high
    else:
        assert any(getattr(m, "pattern", None) for m in field.metadata), field


@pytest.mark.parametrize(("experiment", "name", "field"), FIELDS)
def test_every_parameter_says_what_is_allowed(experiment: Experiment, name: str, field: FieldInfo) -> None:
    """In words, with its bounds: that is what an error repeats."""
    words = allowed_text(experiment.params_type, name)
    assert words != "see the controls"
    low, high, _ = bounds(field)
    for bound in (low, high):
        assert bound is None or f"{bound:g}" in words.replace(",", "") or str(int(bound)) in words.replace(",", "")


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)
def test_unknown_parameters_are_refused(experiment: Experiment) -> None:
    """A typing error is not a silent default."""
    with pytest.raises(ValidationError):
        experiment.params_type.model_validate({"largest_siide": 64})
    with pytest.raises(InputError, match=r"'largest_siide' is no parameter here\. Allowed: .*preset"):
        asked.read_params(experiment, ["largest_siide=64"])


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)
def test_the_address_and_the_command_line_say_the_same(experiment: Experiment) -> None:
    """Of the same bad value."""
    problem = "budget_s='1e9' cannot be used. Allowed: seconds to spend, 0.5 to 3600; overrides the preset's."
    assert read_params(experiment.params_type, {"budget_s": "1e9"}).problems == (problem,)
    with pytest.raises(InputError) as refusal:
        asked.read_params(experiment, ["budget_s=1e9"])
    assert str(refusal.value) == problem


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)
def test_whatever_a_validator_blames_the_reading_ends(experiment: Experiment) -> None:
    """All values wrong at once still lead to the defaults."""
    fields = experiment.params_type.model_fields
    reading = check_params(experiment.params_type, dict.fromkeys(fields, "\x00"))
    assert reading.params == experiment.params_type()
    assert len(reading.problems) == len(fields)


def test_long_values_are_repeated_in_part() -> None:
    """A flood in the address is no flood on the page."""
    assert shown("ab") == "'ab'"
    assert shown("a" * 10_000) == f"'{'a' * SHOWN_CHARACTERS}'..."
    assert shown("\x00\n") == r"'\x00\n'"
    assert len(shown([0] * 10_000)) == SHOWN_CHARACTERS + 3


@pytest.mark.parametrize(("name", "largest"), [("max_budget_s", 3600), ("max_queue", 1000), ("max_upload_mb", 10)])
def test_caps_are_settings_with_a_bound_of_their_own(name: str, largest: float) -> None:
    """An operator may lower them; nobody may lift them out of reach."""
    field = Settings.model_fields[name]
    reader = TypeAdapter(field.rebuild_annotation())
    assert reader.validate_python(largest) == largest
    for bad in (largest + 1, 0, -1, float("nan")):
        with pytest.raises(ValidationError):
            reader.validate_python(bad)
