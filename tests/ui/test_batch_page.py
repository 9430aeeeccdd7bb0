"""The batch page, without a browser: what it shows, asks for and says on a machine without a GPU."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "batch"))
from batch_made import cpu_points, out_of_memory

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.batch.spec import ARTICLE_PRESET, CEILING_PRESET, BatchParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]
ANSWER = "On this machine batch 1,024 already gives the CPU 90 % of its best throughput in MLP training"


def figure(at: AppTest, number: int = 0) -> dict:
    """Return a figure of the page as JSON."""
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def said(at: AppTest) -> str:
    """Return what the page shows, without tags, with ordinary spaces."""
    text = re.sub(r":[a-z]+\[([^\]]*)\]", r"\1", re.sub("<[^>]+>", "", html_of(at)))
    return text.replace("\\", "").replace(NBSP, " ")


def errors(at: AppTest) -> list[str]:
    """Return what the page complains about, without the escapes of Markdown."""
    return [error.value.replace("\\", "").replace(NBSP, " ") for error in at.error]


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a batch run of this machine."""

    def save(points: list[Point], params: BatchParams | None = None, state: RunState = RunState.DONE) -> None:
        run_id = store.create_run(
            experiment="batch",
            measuring_version=1,
            key="k",
            params=(params or BatchParams()).model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, state, "")

    return save


def test_an_unmeasured_machine_sees_a_published_sweep(open_page: Open) -> None:
    """Never an empty page: of which network and part is said, and that it is not this machine."""
    at = open_page("batch")
    assert not at.exception
    assert "published: V100, ResNet-50 inference" in html_of(at)
    assert "Batch 64 already gives the V100 90 % of its best throughput in ResNet-50 inference" in said(at)
    assert "not of this machine" in said(at)
    assert len(at.get("plotly_chart")) == 2
    assert all(chart.proto.alt for chart in at.get("plotly_chart"))
    assert all(figure(at, number)["data"] for number in (0, 1))


def test_autocast_shows_the_mixed_precision_sweep(open_page: Open) -> None:
    """The same part, in fp16."""
    assert "Batch 128 already gives the V100" in said(open_page("batch", dtype="autocast"))


def test_a_stored_run_answers(open_page: Open, keep: Callable[..., None]) -> None:
    """With its knee, its free batches, its memory; the published sweep stays beside it, faint."""
    keep(cpu_points())
    at = open_page("batch")
    assert not at.exception
    assert ANSWER in said(at)
    assert "the further examples are free" in said(at)
    assert "Each further example takes 20.0 KiB of memory" in said(at)
    assert "compare the shapes, not the heights" in said(at)
    assert "memory that the run was allowed to fill: 8.00 GiB" in said(at)
    assert at.button(key="run").label == "Run again"


def test_run_asks_for_what_the_controls_say(open_page: Open, runner: FakeRunner) -> None:
    """A deep link sets every control, and one click submits them."""
    at = open_page(
        "batch",
        preset="quick",
        model="convnet",
        mode="inference",
        dtype="autocast",
        largest_batch="64",
        width="8",
        depth="2",
        zoom="true",
        ceiling_mib="512",
    )
    assert not at.error, [error.value for error in at.error]
    at.button(key="run").click().run()
    (asked, fresh) = runner.submitted[0]
    assert not fresh
    assert asked == BatchParams(
        preset="quick",
        model="convnet",
        mode="inference",
        dtype="autocast",
        largest_batch=64,
        width=8,
        depth=2,
        zoom=True,
        ceiling_mib=512,
    )


def test_points_appear_while_it_measures(open_page: Open, runner: FakeRunner) -> None:
    """The knee moves as they come."""
    at = open_page("batch")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(cpu_points((1, 2, 4))))
    at.run()
    assert "measuring here, now" in html_of(at)
    assert "still rises at batch 4, the largest measured" in said(at)


def test_a_run_that_fails_says_why(open_page: Open, runner: FakeRunner) -> None:
    """And keeps what it has."""
    at = open_page("batch")
    at.button(key="run").click().run()
    runner.change("run-1", state=JobState.FAILED, points=tuple(cpu_points((1, 2))), reason="The device failed.")
    at.run()
    assert not at.exception
    assert any("The device failed." in warning.value for warning in at.warning)
    assert figure(at)["data"]


def test_out_of_memory_is_shown_and_told(open_page: Open, keep: Callable[..., None]) -> None:
    """A cross, the limit and the recovery."""
    keep([*cpu_points(), out_of_memory("mlp_training_cpu", 8192)])
    at = open_page("batch")
    assert "Batch 8,192 ran out of memory" in said(at)
    assert "Afterwards batch 1 ran again: only this size does not fit." in said(at)
    assert any(trace.get("name", "").startswith("not measured") for trace in figure(at)["data"])


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"model": "vgg"}, "model='vgg' cannot be used. Allowed: mlp, convnet or transformer."),
        ({"mode": "sleep"}, "mode='sleep' cannot be used. Allowed: training or inference."),
        ({"dtype": "fp16"}, "dtype='fp16' cannot be used. Allowed: fp32 or autocast."),
        ({"largest_batch": "0"}, "largest_batch='0' cannot be used. Allowed: largest batch, 1 to 4194304"),
        ({"width": "x"}, "width='x' cannot be used. Allowed: width: 8 to 16384 for mlp"),
        ({"depth": "999"}, "depth='999' cannot be used. Allowed: depth: 1 to 200 layers for mlp"),
        ({"ceiling_mib": "1"}, "ceiling_mib='1' cannot be used. Allowed: MiB that a ceiling search may fill, 64 to"),
        ({"model": "transformer", "width": "100"}, "the width of a model of kind transformer goes from 64 to 8192 in steps"),
    ],
    ids=["model", "mode", "precision", "batch", "width", "depth", "ceiling", "shape"],
)  # fmt: skip
def test_a_bad_address_is_explained_and_the_page_works(open_page: Open, query: dict[str, str], text: str) -> None:
    """The field, the value and what is allowed."""
    at = open_page("batch", **query)
    assert not at.exception
    assert any(text in error for error in errors(at)), errors(at)
    assert figure(at)["data"]


def test_a_model_that_does_not_fit_blocks_the_run(open_page: Open) -> None:
    """With one that does."""
    at = open_page("batch", width="8192", depth="200")
    assert any(error.endswith("At this width depth 2 fits.") for error in errors(at)), errors(at)
    assert at.button(key="run").disabled


@pytest.mark.parametrize(
    ("label", "params"), [("Article's example", ARTICLE_PRESET), ("Meet a memory ceiling", CEILING_PRESET)]
)
def test_examples_are_one_click(open_page: Open, runner: FakeRunner, label: str, params: BatchParams) -> None:
    """The button fills the controls."""
    at = open_page("batch")
    next(b for b in at.button if b.label.startswith(label)).click().run()
    assert not at.error, [error.value for error in at.error]
    at.button(key="run").click().run()
    assert runner.submitted[0][0] == params


@pytest.mark.parametrize("tab", ["How it was measured", "Data", "Code", "Compare"])
def test_every_tab_opens(open_page: Open, keep: Callable[..., None], tab: str) -> None:
    """No tab fails on a stored result."""
    keep(cpu_points())
    at = open_page("batch", tab=tab)
    assert not at.exception
    assert not at.error


def test_the_script_is_that_of_the_chosen_point(open_page: Open, keep: Callable[..., None]) -> None:
    """Model, shape and batch."""
    keep(cpu_points())
    at = open_page("batch", tab="Code")
    assert "network = build_network(Mlp, 512, 4)" in at.code[0].value


def test_a_guess_about_the_knee_is_judged(open_page: Open, runner: FakeRunner) -> None:
    """By its factor."""
    at = open_page("batch")
    assert "Which is the smallest batch that gives this CPU 90 % of its best throughput?" in said(at)
    at.select_slider[0].set_value(256.0)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(cpu_points()), state=JobState.DONE)
    at.run()
    assert any("Too low by a factor of 4.0" in text.value.replace(NBSP, " ") for text in at.success)
