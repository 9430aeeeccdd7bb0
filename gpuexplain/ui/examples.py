"""Well-known settings, one click away."""

from dataclasses import dataclass

import streamlit as st

from gpuexplain.experiments.matmul.spec import ARTICLE_PRESET, EXPERIMENT_ID
from gpuexplain.model import Params


@dataclass(frozen=True, slots=True)
class Example:
    """A button's text and the settings it chooses."""

    label: str
    params: Params


_SHAPE = " x ".join(str(side) for side in (ARTICLE_PRESET.m, ARTICLE_PRESET.n))

EXAMPLES: dict[str, tuple[Example, ...]] = {
    EXPERIMENT_ID: (Example(f"Article's example: {_SHAPE} {ARTICLE_PRESET.dtype}", ARTICLE_PRESET),),
}


def use_example(example: Example) -> None:
    """Set the controls to an example; the address follows, because they are bound to it."""
    chosen = example.params.model_dump(mode="json", exclude_unset=True)
    for name, setting in chosen.items():
        st.session_state[name] = setting
