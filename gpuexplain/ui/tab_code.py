"""Code: a standalone script that reproduces the chosen point."""

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Params
from gpuexplain.ui.point_choice import choose_point
from gpuexplain.ui.result import Result


def show_code(experiment: Experiment, params: Params, result: Result) -> None:
    """Write the script, with a button to copy it and one to keep it."""
    point = choose_point(result, "code-point")
    script = experiment.write_snippet(params, point)
    st.caption("Runs on its own: it needs torch and nothing of this app.")
    st.download_button(
        "Download",
        script,
        file_name=f"{experiment.id}_point.py",
        mime="text/x-python",
        icon=":material/download:",
        on_click="ignore",
        key="code-download",
    )
    st.code(script, language="python", height=420)
