"""Well-known settings, one click away."""

import streamlit as st

from gpuexplain.experiments.contract import Example, Experiment


def show_examples(experiment: Experiment) -> None:
    """Write one button per example."""
    for example in experiment.examples:
        st.button(example.label, on_click=_use, args=(example,), icon=":material/article:")


def _use(example: Example) -> None:
    """Set the controls to an example; the address follows, because they are bound to it."""
    for name, setting in example.params.model_dump(mode="json", exclude_unset=True).items():
        st.session_state[name] = setting
