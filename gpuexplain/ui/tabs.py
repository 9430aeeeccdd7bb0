"""The four tabs under a chart; only the open one is computed."""

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Params
from gpuexplain.ui.compare import show_compare
from gpuexplain.ui.result import Result
from gpuexplain.ui.tab_code import show_code
from gpuexplain.ui.tab_data import show_data
from gpuexplain.ui.tab_how import show_how

_TITLES = ("How it was measured", "Data", "Code", "Compare")


def show_tabs(experiment: Experiment, params: Params, result: Result) -> None:
    """Write the tabs for the result on screen when the page last ran as a whole."""
    how, data, code, compare = st.tabs(_TITLES, key="tab", bind="query-params")
    with how:
        if how.open:
            show_how(result)
    with data:
        if data.open:
            show_data(experiment, result)
    with code:
        if code.open:
            show_code(experiment, params, result)
    with compare:  # always: the address keeps the choice only while its widget exists
        show_compare(experiment, params, result)
