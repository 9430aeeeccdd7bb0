"""The page of one layer by hand: the worked sum, what is predicted, and what was measured."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of, make_points

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "by_hand"))
from by_hand_made import cpu_points

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.by_hand.spec import ByHandParams
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]


def said(at: AppTest) -> str:
    """Return what the page shows: no tags, ordinary spaces."""
    return re.sub("<[^>]+>", "", html_of(at)).replace(NBSP, " ")


def test_the_sum_is_worked_out_and_counted_before_anything_is_measured(open_page: Open) -> None:
    """Six multiplications and four additions, above the answer."""
    at = open_page("by_hand")
    shown = said(at)
    assert "y1 = 1 x 4 + 2 x 6 + 3 x 8 = 40" in shown
    assert "Six multiplications, four additions." in shown
    bodies = [element.proto.body for element in at.get("html")]
    worked = next(i for i, body in enumerate(bodies) if "gx-sums" in body)
    stack = next(i for i, body in enumerate(bodies) if "A stack of such layers" in body)
    assert worked < stack


def test_changing_a_number_changes_the_sums(open_page: Open) -> None:
    """The first input goes into both outputs."""
    at = open_page("by_hand")
    at.number_input(key="by_hand_x1").set_value(10.0).run()
    shown = said(at)
    assert "10 x 4 + 2 x 6 + 3 x 8 = 76" in shown
    assert "10 x 5 + 2 x 7 + 3 x 9 = 91" in shown


def test_an_output_can_be_highlighted(open_page: Open) -> None:
    """Its products and its weights stand out; the other one steps back."""
    at = open_page("by_hand")
    at.segmented_control(key="by_hand_output").set_value("y2").run()
    shown = html_of(at)
    assert '<li class="gx-chosen" aria-current=true>y2 = <span class="gx-product">1 x 5</span>' in shown
    assert '<li class="gx-muted">y1' in shown
    assert ".st-key-by_hand_w12 [data-testid=stNumberInputContainer]" in shown
    assert ".st-key-by_hand_w11 [data-testid=stNumberInputContainer]" not in shown


def test_what_does_not_need_each_other_stands_in_one_round(open_page: Open) -> None:
    """Three rounds, with their sums."""
    shown = said(open_page("by_hand"))
    assert "Round 1: six multiplications at the same time" in shown
    assert "Round 2: two additions at the same time 4 + 12 = 16 5 + 14 = 19" in shown


def test_the_stack_has_the_same_counters(open_page: Open) -> None:
    """256 x 1024 x 1024 x 50."""
    shown = said(open_page("by_hand"))
    assert "A stack of such layers: 256 x 1,024 x 1,024 x 50" in shown
    assert "13,421,772,800" in shown
    assert "262,144 outputs of a layer" in shown


def test_without_a_stored_rate_nothing_is_predicted_and_it_says_so(open_page: Open) -> None:
    """With the way to one; and no word of a GPU that is not there."""
    shown = said(open_page("by_hand"))
    assert "On the CPU: no rate is stored yet, so nothing predicts it." in shown
    assert "On a GPU: no prediction, for none works here." in shown


def test_the_stored_rate_predicts_before_anything_of_the_stack_is_measured(open_page: Open, keep_run) -> None:
    """26.8 GFLOP at 100 GFLOP/s."""
    keep_run(MatmulParams(), make_points(64, 512, 2048))
    shown = said(open_page("by_hand"))
    assert "On the CPU: 269 ms predicted" in shown
    assert "that a product of 512 x 512 by 512 x 512 reached here." in shown
    assert "the prediction." not in shown


def test_a_run_stands_beside_what_was_predicted(open_page: Open, keep_run, runner: FakeRunner) -> None:
    """Measured 210 ms where 269 ms were predicted, while the run goes on."""
    keep_run(MatmulParams(), make_points(64, 512, 2048))
    at = open_page("by_hand")
    at.button(key="run").click().run()
    assert [type(params) for params, _ in runner.submitted] == [ByHandParams]
    runner.change("run-1", points=tuple(cpu_points()))
    at.run()
    assert "Measured: 210 ms, 0.782 × the prediction." in said(at)


def test_a_run_does_not_predict_itself(open_page: Open, store: RunStore, machine: Machine) -> None:
    """Its product says nothing of its own stack beforehand, but of another depth's."""
    params = ByHandParams()
    run_id = store.create_run(
        experiment="by_hand", measuring_version=1, key="k", params=params.model_dump(mode="json"), device="cpu",
        machine=machine,
    )  # fmt: skip
    store.save_points(run_id, cpu_points())
    store.finish_run(run_id, RunState.DONE, "")
    assert "On the CPU: no rate is stored yet, so nothing predicts it. Measured: 210 ms." in said(open_page("by_hand"))
    assert "On the CPU: 40.0 ms predicted" in said(open_page("by_hand", depth="10"))


def test_a_failed_run_keeps_the_sum_and_the_forecast(open_page: Open, runner: FakeRunner) -> None:
    """And says why it failed."""
    at = open_page("by_hand")
    at.button(key="run").click().run()
    runner.change("run-1", state=JobState.FAILED, reason="The memory is full. Choose fewer layers.")
    at.run()
    assert not at.exception
    assert any("The memory is full" in warning.value for warning in at.warning)
    assert "Six multiplications" in said(at)


@pytest.mark.parametrize("query", [{"device": "cuda:0"}, {"batch": "many"}, {"depth": "1000", "width": "16384"}])
def test_a_bad_address_leaves_the_page_whole(open_page: Open, query: dict[str, str]) -> None:
    """What is wrong is said; the sum and the counters stay."""
    at = open_page("by_hand", **query)
    assert not at.exception
    assert at.error
    assert "A stack of such layers" in said(at)
