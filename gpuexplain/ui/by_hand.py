"""One layer by hand: a worked sum to edit, and what a stack of such layers adds up to."""

import html
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from gpuexplain.errors import GpuExplainError
from gpuexplain.experiments.by_hand.conclude import ByHandFindings
from gpuexplain.experiments.by_hand.counting import Count, Output, Round, list_rounds, work_out
from gpuexplain.experiments.by_hand.forecast import find_forecasts
from gpuexplain.experiments.by_hand.spec import EXPERIMENT_ID, ByHandParams
from gpuexplain.experiments.by_hand.words import tell_forecast
from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point
from gpuexplain.ui.pages import MATMUL
from gpuexplain.ui.result import load_points, runs_here
from gpuexplain.ui.rich_text import to_html
from gpuexplain.units import format_count, format_flops
from gpuexplain.wording.markup import capitalise
from gpuexplain.wording.phrases import count_of, say_number

# The first sum of any lesson: three inputs, two outputs.
INPUTS = (1.0, 2.0, 3.0)
WEIGHTS = ((4.0, 5.0), (6.0, 7.0), (8.0, 9.0))
LARGEST = 1e6  # of a number that a visitor types
_RUNS_TO_READ = 20  # of each experiment whose products have a rate
_RATED = ("matmul", EXPERIMENT_ID)


# -- the worked sum -------------------------------------------------------------------------------


def show_worked_sum() -> None:
    """Write three inputs and six weights to edit, and the two sums they make."""
    with st.container(border=True, key="by-hand-sum"):
        st.html("<h2>Three inputs, two outputs, by hand. Change any number.</h2>")
        numbers, worked = st.columns(2, gap="large")
        with numbers:
            inputs, weights = _ask_for_numbers()
        with worked:
            labels = ["y1", "y2"]
            chosen = st.segmented_control(
                "Show the products of", labels, default="y1", required=True, key="by_hand_output"
            )
            outputs = work_out(inputs, weights)
            st.html(_sums_html(outputs, labels.index(str(chosen))))
    st.html(_column_style(labels.index(str(chosen))))


def _ask_for_numbers() -> tuple[list[float], list[list[float]]]:
    """Write a row for every input: the input, and its weight for each output."""
    inputs, weights = [], []
    for i, (value, row) in enumerate(zip(INPUTS, WEIGHTS, strict=True), start=1):
        with st.container(horizontal=True, gap="small", key=f"by-hand-row-{i}"):
            inputs.append(_number(f"input x{i}", value))
            weights.append([_number(f"weight w{i}{j}", weight) for j, weight in enumerate(row, start=1)])
    return inputs, weights


def _number(label: str, value: float) -> float:
    key = f"by_hand_{label.split()[-1]}"
    typed = st.number_input(label, min_value=-LARGEST, max_value=LARGEST, value=value, step=1.0, format="%g", key=key)
    return float(typed if typed is not None else 0.0)


def _column_style(chosen: int) -> str:
    """Return the rule that marks the inputs and the chosen output's weights, whose products are shown."""
    names = [f"x{i}" for i in range(1, len(INPUTS) + 1)]
    names += [f"w{i}{chosen + 1}" for i in range(1, len(INPUTS) + 1)]
    fields = ",".join(f".st-key-by_hand_{name} [data-testid=stNumberInputContainer]" for name in names)
    return f"<style>{fields}{{box-shadow:0 0 0 2px var(--gx-gpu)}}</style>"


def _sums_html(outputs: tuple[Output, ...], chosen: int) -> str:
    sums = "".join(_sum_html(output, is_chosen=output.index == chosen) for output in outputs)
    multiplications = sum(o.n_multiplications for o in outputs)
    additions = sum(o.n_additions for o in outputs)
    rounds = list_rounds(outputs)
    rows = "".join(_round_html(number, step, chosen) for number, step in enumerate(rounds, start=1))
    return (
        f'<div class="gx-words"><ul class="gx-sums">{sums}</ul>'
        f"<p><strong>{capitalise(say_number(multiplications))} multiplications, {say_number(additions)} "
        "additions.</strong> "
        f"No multiplication needs another, and neither output needs the other: with enough workers it takes "
        f"{say_number(len(rounds))} rounds, however many outputs there are.</p>"
        f'<ol class="gx-rounds">{rows}</ol></div>'
    )


def _sum_html(output: Output, *, is_chosen: bool) -> str:
    terms, _, total = output.write().rpartition(" = ")
    products = " + ".join(f'<span class="gx-product">{html.escape(term)}</span>' for term in terms.split(" + "))
    return (
        f'<li class="{"gx-chosen" if is_chosen else "gx-muted"}"{" aria-current=true" if is_chosen else ""}>'
        f"y{output.index + 1} = {products} = <strong>{html.escape(total)}</strong></li>"
    )


def _round_html(number: int, together: Round, chosen: int) -> str:
    what = "multiplication" if together.name == "multiply" else "addition"
    steps = " ".join(
        f'<span class="gx-step{" gx-chosen" if output == chosen else ""}">{html.escape(step)}</span>'
        for output, step in together.steps
    )
    return f"<li><span>Round {number}: {count_of(len(together.steps), what)} at the same time</span> {steps}</li>"


# -- the stack ------------------------------------------------------------------------------------


def make_forecast_panel(params: Params, machine: Machine) -> Callable[[ByHandFindings], None]:
    """Return what writes the counters of the stack, and what its time should be by the rates stored so far."""
    assert isinstance(params, ByHandParams)
    try:
        device = resolve_device(params, machine)
    except GpuExplainError:  # said above, beside the controls
        device = CPU
    devices = [CPU, *([device] if device != CPU else [])]
    forecasts = find_forecasts(params.count, devices, _points_before(params, machine))

    def show_forecast(findings: ByHandFindings) -> None:
        measured = {p.device: p for p in findings.predictions}
        told = "".join(f"<li>{to_html(tell_forecast(f, measured.get(f.device)))}</li>" for f in forecasts)
        if all(name == CPU for name in machine.devices):
            told += "<li>On a GPU: no prediction, for none works here.</li>"
        st.html(f'<section class="gx-words gx-panel">{_counters_html(params.count)}<ul>{told}</ul></section>')
        if all(f.time_s is None for f in forecasts):
            st.page_link(MATMUL.script, label="Measure a rate first: Matrix multiply", icon=MATMUL.icon)

    return show_forecast


def _points_before(params: ByHandParams, machine: Machine) -> list[Point]:
    """Return what this machine measured of other questions, newest first: a run must not predict itself."""
    runs = [run for experiment_id in _RATED for run in runs_here(experiment_id, machine)[:_RUNS_TO_READ]]
    others = [run for run in runs if not (run.experiment == EXPERIMENT_ID and _is_of(params, run.params))]
    newest_first = sorted(others, key=lambda run: run.created_at, reverse=True)
    return [point for run in newest_first for point in load_points(run).points]


def _is_of(params: ByHandParams, measured: Mapping[str, Any]) -> bool:
    return all(measured.get(name) == getattr(params, name) for name in ("batch", "width", "depth"))


def _counters_html(count: Count) -> str:
    """Return the same counters as of the worked sum, for the whole stack."""
    rows = (
        ("Multiplications", format_count(count.n_multiplications)),
        ("Additions, biases too", format_count(count.n_additions)),
        ("Together", f"{format_flops(count.flops)}, two for each multiply-add"),
        ("Do not need each other", f"{format_count(count.n_independent)} outputs of a layer"),
        ("Must follow one another", f"{format_count(count.n_in_a_row)} layers"),
    )
    facts = "".join(f"<dt>{name}</dt><dd>{html.escape(fact)}</dd>" for name, fact in rows)
    size = " x ".join(format_count(n) for n in (count.batch, count.width, count.width, count.depth))
    stack = f'<h2>A stack of such layers: {size}</h2><dl class="gx-facts">{facts}</dl>'
    return f"{stack}<h2>Predicted by the rates stored so far</h2>"
