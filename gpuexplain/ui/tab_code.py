"""Code: a standalone script that reproduces the chosen point."""

import re

import streamlit as st

from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Params, Point
from gpuexplain.ui.point_choice import choose_point
from gpuexplain.ui.result import Result

_DEVICE = re.compile(r"cpu|cuda:\d{1,2}")


def _is_of_a_machine(point: Point) -> bool:
    """Whether a point names a device that torch knows: one of a file may hold any text, and a script is code."""
    return _DEVICE.fullmatch(point.device) is not None


def show_code(experiment: Experiment, params: Params, result: Result) -> None:
    """Write the script, with a button to copy it and one to keep it."""
    point = choose_point(result, "code-point")
    script = experiment.write_snippet(params, point if point is not None and _is_of_a_machine(point) else None)
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
