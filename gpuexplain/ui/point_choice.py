"""Choosing one point of a result, for its samples and for its script."""

import streamlit as st

from gpuexplain.model import Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.result import Result
from gpuexplain.wording.phrases import say_n


def point_label(point: Point) -> str:
    """Return what a point is called in a list: its series, and its size in the words of its experiment."""
    series = point.series.replace("_", " ")
    experiment = EXPERIMENTS.get(point.experiment)
    return f"{series}, {(experiment.say_x if experiment else say_n)(point.x)}"


def choose_point(result: Result, key: str) -> Point | None:
    """Write a list of the result's points, the largest one chosen, and return the choice."""
    ordered = sorted(result.points, key=lambda point: (point.series, point.x))
    if not ordered:
        return None
    labels = {point_label(point): point for point in ordered}
    largest = max(range(len(ordered)), key=lambda i: (ordered[i].n_samples > 0, ordered[i].x))
    chosen = st.selectbox("Point", list(labels), index=largest, key=key)
    return labels.get(chosen)
