"""The page "Do you need a GPU?": the lab, the adviser, and its test run."""

import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, as_shown, html_of, make_points

from gpuexplain.adviser.params import AdviceParams
from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.by_hand.spec import ByHandParams
from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Clock, Dtype, Point
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]
NEED = EXPERIMENTS["need"]
STACK = AdviceParams()


def text_of(at: AppTest) -> str:
    """Return what the page says, without non-breaking spaces."""
    return as_shown(html_of(at)).replace(NBSP, " ")


def make_point(series: str, time_s: float, threads: int) -> Point:
    return Point(
        experiment="need", series=series, x=64.0, shape=(64, 256, 3), dtype=Dtype.FP32, device="cpu",
        device_name="Test CPU", clock=Clock.CALL, threads=threads, median_s=time_s, ci_low_s=0.99 * time_s,
        ci_high_s=1.01 * time_s, n_samples=9, items=64.0, first_call_s=time_s,
    )  # fmt: skip


@pytest.fixture
def keep_stack(store: RunStore, machine: Machine) -> Callable[[float], None]:
    """Return a function that stores a run of "One layer by hand" over the adviser's default stack."""

    def keep(time_s: float) -> None:
        shape = (STACK.batch, STACK.width, STACK.width, STACK.depth)
        point = make_point("mlp_cpu", time_s, 2).model_copy(
            update={"experiment": "by_hand", "series": "stack", "x": 8.0, "shape": shape}
        )
        run_id = store.create_run(
            experiment="by_hand", measuring_version=1, key="h", device="cpu", machine=machine,
            params=ByHandParams().model_dump(mode="json"),
        )  # fmt: skip
        store.save_points(run_id, [point])
        store.finish_run(run_id, RunState.DONE)

    return keep


def test_an_empty_page_says_what_to_do_and_claims_nothing_of_a_gpu(open_page: Open) -> None:
    """Both charts are empty, the adviser names what to measure first."""
    at = open_page("need")
    assert not at.exception
    shown = text_of(at)
    assert "Nothing is measured yet. Press Run: eight kinds of everyday work are timed on what there is." in shown
    assert "Whether a GPU pays cannot be told: no product was measured on Test CPU." in shown
    assert "Not measured yet: products on the CPU." in shown


def test_a_run_shows_what_threads_gain(open_page: Open, runner: FakeRunner, machine: Machine) -> None:
    """Live, on the controls' answer."""
    at = open_page("need")
    at.button(key="run").click().run()
    runner.change("run-1", points=(make_point("mlp_cpu", 10e-3, 2), make_point("mlp_cpu_1_thread", 15e-3, 1)))
    at.run()
    shown = text_of(at)
    assert "On this machine, without a GPU, one kind of everyday work take" in shown
    assert "more threads pay for one of one kind of work" in shown


def test_the_adviser_rests_on_the_stored_products(open_page: Open, keep_run: Callable[..., str]) -> None:
    """A pass at 100 GFLOP/s, a bound for the part chosen, and the run by name."""
    run_id = keep_run(MatmulParams(), make_points(64, 256, 1024))
    shown = text_of(open_page("need"))
    assert "NVIDIA GeForce RTX 4090" in shown
    assert "No GPU was measured here, so whether it pays cannot be told." in shown
    assert "a pass should take 43.0 ms" in shown
    assert f"run {run_id} of matmul, just now" in shown
    assert "a bound from its data sheet, not a measurement" in shown


def test_the_adviser_reads_its_address(open_page: Open, keep_run: Callable[..., str]) -> None:
    """The address bar is the share link."""
    keep_run(MatmulParams(), make_points(64, 256, 1024))
    shown = text_of(open_page("need", ask_width="512", ask_passes="1", ask_part="NVIDIA L4"))
    assert "512 x 512" in shown
    assert "one pass over data" in shown
    assert "published peak: 30.3" in shown


def test_test_mine_runs_the_very_stack(open_page: Open, runner: FakeRunner) -> None:
    """By the experiment of one layer by hand, in the shortest preset."""
    at = open_page("need", ask_width="512", ask_depth="3")
    at.button(key="test_mine").click().run()
    (asked,) = runner.submitted
    assert asked == (ByHandParams(batch=256, width=512, depth=3, preset="quick"), True)
    assert at.button(key="test_mine").disabled
    assert at.get("progress")


def test_its_result_stands_beside_the_prediction(
    open_page: Open, keep_run: Callable[..., str], keep_stack: Callable[[float], None]
) -> None:
    """Predicted from products, measured whole."""
    keep_run(MatmulParams(), make_points(64, 256, 1024))
    keep_stack(0.086)
    shown = text_of(open_page("need"))
    assert "the CPU</span>, just now: 86.0 ms a pass; predicted 43.0 ms" in shown
    assert "it was 2.00 × that, so trust the measurement." in shown


def test_a_failed_test_run_says_why(open_page: Open, runner: FakeRunner) -> None:
    """Where it was asked for."""
    at = open_page("need")
    at.button(key="test_mine").click().run()
    runner.change("run-1", state=JobState.CRASHED, reason="It ran out of memory.", finished_at=time.time())
    at.run()
    assert any("It ran out of memory." in box.value for box in at.warning)
    assert not at.button(key="test_mine").disabled


def test_a_server_that_only_shows_does_not_test(open_page: Open, runner: FakeRunner) -> None:
    """With the reason."""
    runner.read_only = True
    at = open_page("need")
    assert at.button(key="test_mine").disabled
    assert any("this server only shows" in caption.value for caption in at.caption)


def test_a_stack_too_large_to_test_is_not_started(open_page: Open) -> None:
    """The reason stands beside the button."""
    at = open_page("need", ask_width="16384", ask_depth="1000", ask_batch="65536")
    assert at.button(key="test_mine").disabled
    assert any("multiply-adds" in caption.value for caption in at.caption)
