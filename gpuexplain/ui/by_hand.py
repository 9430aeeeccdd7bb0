"""One layer by hand: a worked sum to edit, and what a stack of such layers adds up to."""

import html

import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.by_hand.counting import Count, Output, work_out
from gpuexplain.model import Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui import engine_access as access
from gpuexplain.ui.result import find_result
from gpuexplain.units import format_count, format_flops, format_time

# The first sum of any lesson: three inputs, two outputs.
INPUTS = (1.0, 2.0, 3.0)
WEIGHTS = ((4.0, 5.0), (6.0, 7.0), (8.0, 9.0))
LARGEST = 1e6  # of a number that a visitor types


def show_worked_sum() -> None:
    """Write three inputs and six weights to edit, and the two sums they make."""
    with st.container(border=True, key="by-hand-sum"):
        st.markdown("**Three inputs, two outputs, by hand.** Change any number.")
        chosen = st.segmented_control("Highlight", ["y1", "y2"], default="y1", required=True, key="by_hand_output")
        with st.container(horizontal=True, key="by-hand-inputs"):
            inputs = [_number(f"input x{i}", value) for i, value in enumerate(INPUTS, start=1)]
        weights = []
        for i, row in enumerate(WEIGHTS, start=1):
            with st.container(horizontal=True, key=f"by-hand-row-{i}"):
                weights.append([_number(f"weight w{i}{j}", value) for j, value in enumerate(row, start=1)])
        st.html(_sums_html(work_out(inputs, weights), 0 if chosen == "y1" else 1))


def _number(label: str, value: float) -> float:
    key = f"by_hand_{label.split()[-1]}"
    typed = st.number_input(label, min_value=-LARGEST, max_value=LARGEST, value=value, step=1.0, format="%g", key=key)
    return float(typed if typed is not None else 0.0)


def _sums_html(outputs: tuple[Output, ...], chosen: int) -> str:
    rows = "".join(
        f'<li class="{"gx-chosen" if output.index == chosen else "gx-muted"}">'
        f"y{output.index + 1} = {html.escape(output.write())}</li>"
        for output in outputs
    )
    multiplications = sum(o.n_multiplications for o in outputs)
    additions = sum(o.n_additions for o in outputs)
    return (
        f'<ul class="gx-sums">{rows}</ul><p><strong>{multiplications} multiplications, {additions} additions.</strong> '
        f"The {multiplications} multiplications do not wait for each other; nor does one output wait for the other. "
        "Only the additions of one output follow each other.</p>"
    )


def show_forecast(batch: int, width: int, depth: int) -> None:
    """Write what the stack of the controls adds up to, and what the speeds measured so far predict for it."""
    count = Count(batch, width, depth)
    forecasts = _forecasts(count)
    told = "; ".join(f"{name} {format_time(time_s)}" for name, time_s in forecasts)
    predicted = f" From the products measured here so far: {told}." if told else " Run to predict and to measure it."
    st.markdown(
        f"{format_count(count.batch)} x {format_count(count.width)} x {format_count(count.width)} x "
        f"{format_count(count.depth)} = **{format_count(count.n_multiplications)} multiplications**, "
        f"{format_flops(count.flops)}.{predicted}"
    )


def _forecasts(count: Count) -> list[tuple[str, float]]:
    """Return (device in words, seconds) by the rate of the nearest square product that was measured here."""
    try:
        matmul = EXPERIMENTS["matmul"]
        result = find_result(matmul, matmul.params_type(), access.get_machine())
    except GpuExplainError:
        return []
    if result.source is not Source.MEASURED:
        return []
    side = (count.batch * count.width * count.width) ** (1 / 3)
    names = {"cpu": "the CPU", "gpu_call": "the GPU"}
    found = []
    for series, name in names.items():
        near = _nearest([p for p in result.points if p.series == series and p.rate_flops], side)
        if near is not None and near.rate_flops:
            found.append((name, count.flops / near.rate_flops))
    return found


def _nearest(points: list[Point], side: float) -> Point | None:
    return min(points, key=lambda p: abs(p.x - side), default=None)
