"""The precision page, without a browser: what it shows, asks for and says, with a GPU and without."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "precision"))
from precision_made import GIB, GPU, cpu_points, failed, gpu_points, make_machine, make_steps

from gpuexplain.engine.jobs import JobState
from gpuexplain.experiments.precision.spec import Inputs, PrecisionParams, Selection
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point, Preset, Status
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.ui import engine_access
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]
CPU_ANSWER = "On this machine the CPU is fastest in fp32, 100 GFLOP/s at n = 1,024"
SUMS = "Add 4,096 small numbers, together 1, to a 1, one after the other: fp16 and bf16 lose all of them"


def figure(at: AppTest, number: int = 0) -> dict:
    """Return a figure of the page as JSON."""
    return json.loads(at.get("plotly_chart")[number].proto.spec)


def said(at: AppTest) -> str:
    """Return what the page shows: no tags, no definitions, no colours, ordinary spaces."""
    bare = re.sub(r'<span[^>]*class="gx-def"[^>]*>.*?</span>', "", html_of(at), flags=re.DOTALL)
    bare = re.sub("<[^>]+>", "", bare).replace("\\", "").replace(NBSP, " ")
    return re.sub(r":[a-z]+\[([^\]]*)\]", r"\1", bare)


def heard(at: AppTest) -> str:
    """Return the text alternatives of both charts."""
    return " ".join(chart.proto.alt for chart in at.get("plotly_chart")).replace(NBSP, " ")


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a precision run of this machine."""

    def save(points: list[Point], params: PrecisionParams | None = None, state: RunState = RunState.DONE) -> None:
        run_id = store.create_run(
            experiment="precision",
            measuring_version=1,
            key="k",
            params=(params or PrecisionParams()).model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, state, "")

    return save


def test_an_unmeasured_machine_sees_a_published_gpu(open_page: Open) -> None:
    """Never an empty page: four formats of a GPU, badged as not of this machine."""
    at = open_page("precision")
    assert not at.exception
    assert "published: NVIDIA GeForce RTX 4090" in html_of(at)
    assert "nothing measured here yet" in html_of(at)
    assert "reaches 168 TFLOP/s in fp16" in said(at)
    assert len(at.get("plotly_chart")) == 2
    assert "fp16 168 TFLOP/s" in heard(at)
    assert all(figure(at, number)["data"] for number in (0, 1))


def test_a_measured_cpu_stands_beside_the_published_gpu(open_page: Open, keep) -> None:
    """Its answer, what gets lost, and the part that is not in this machine."""
    keep(cpu_points())
    at = open_page("precision")
    assert not at.exception
    shown = said(at)
    assert CPU_ANSWER in shown
    assert SUMS in shown
    assert "measured here, just now" in shown
    assert "not in this machine" in shown
    names = {trace.get("name") for trace in figure(at)["data"]}
    assert {"Fake CPU", "NVIDIA GeForce RTX 4090"} <= names
    assert {trace.get("name") for trace in figure(at, 1)["data"]} >= {"speed over fp32", "lost in bf16"}


def test_compare_with_nothing_leaves_the_gpu_out(open_page: Open, keep) -> None:
    """One click less to look at."""
    keep(cpu_points())
    at = open_page("precision", compare="nothing")
    assert "NVIDIA GeForce RTX 4090" not in {trace.get("name") for trace in figure(at)["data"]}


def test_a_measured_gpu_tells_its_gain(open_page: Open, keep, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a published one beside it."""
    keep([*gpu_points(), *make_steps(1.8, device=GPU)])
    machine = make_machine(gpu_free_bytes=70 * GIB)
    machine = machine.model_copy(update={"platform": machine.platform.model_copy(update={"machine_id": "m1"})})
    monkeypatch.setattr(engine_access, "get_machine", lambda: machine)
    at = open_page("precision")
    assert not at.exception
    shown = said(at)
    assert "On this machine the GPU multiplies 13.9 × (± 2.0 %) as fast in bf16 or fp16 as in fp32" in shown
    assert "is 1.80 × (± 2.0 %) as fast with autocast to bf16" in shown
    assert "not in this machine" not in shown


def test_run_asks_for_what_the_controls_say(open_page: Open, runner: FakeRunner) -> None:
    """A deep link sets every control; a click submits it."""
    at = open_page("precision", preset="thorough", inputs="normal", largest_side="1024", dtypes="16_bit", budget_s="30")
    assert not at.error
    at.button(key="run").click().run()
    assert [params for params, _ in runner.submitted] == [
        PrecisionParams(
            preset=Preset.THOROUGH,
            inputs=Inputs.NORMAL,
            largest_side=1024,
            dtypes=Selection.SIXTEEN_BIT,
            budget_s=30,
        )
    ]


def test_what_overflows_is_one_click_away(open_page: Open, runner: FakeRunner) -> None:
    """The example sets the inputs."""
    at = open_page("precision")
    next(b for b in at.button if b.label.startswith("Numbers of very different size")).click().run()
    at.button(key="run").click().run()
    assert runner.submitted[0][0].inputs is Inputs.BADLY_SCALED


def test_other_inputs_are_another_question(open_page: Open, keep) -> None:
    """A run with uniform numbers does not answer for badly scaled ones."""
    keep(cpu_points())
    assert "nothing measured here yet" in html_of(open_page("precision", inputs="badly_scaled"))
    assert "measured here, just now" in html_of(open_page("precision", preset="quick"))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"inputs": "ones"}, "inputs='ones' cannot be used. Allowed: uniform, normal or badly_scaled"),
        ({"largest_side": "100"}, "largest_side='100' cannot be used. Allowed: largest square side n, 64 to 8192"),
        ({"dtypes": "fp7"}, "dtypes='fp7' cannot be used. Allowed: all, 16_bit"),
    ],
    ids=["inputs", "side", "formats"],
)
def test_a_bad_address_is_explained_and_the_page_works(open_page: Open, query: dict[str, str], text: str) -> None:
    """Field, value and what is allowed."""
    at = open_page("precision", **query)
    assert not at.exception
    assert any(text in error.value.replace("\\", "") for error in at.error), [error.value for error in at.error]
    assert figure(at)["data"]


def test_what_does_not_fit_blocks_the_run(open_page: Open, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anybody waits for it."""
    monkeypatch.setattr(engine_access, "get_machine", lambda: make_machine(memory_bytes=GIB))
    at = open_page("precision", largest_side="8192")
    assert any("The largest power of two that fits is 2,048" in error.value for error in at.error)
    assert at.button(key="run").disabled
    assert not runner.submitted


def test_points_of_a_running_job_are_drawn(open_page: Open, runner: FakeRunner) -> None:
    """As soon as there are any, before their results are checked."""
    at = open_page("precision")
    at.button(key="run").click().run()
    early = [
        p.model_copy(update={"rel_error": None, "gauges": None}) for p in cpu_points() if p.series in ("fp32", "bf16")
    ]
    runner.change("run-1", points=tuple(early))
    at.run()
    assert not at.exception
    assert "measuring here, now" in html_of(at)
    assert "only speeds can be compared" in said(at)
    assert "Fake CPU" in {trace.get("name") for trace in figure(at)["data"]}


@pytest.mark.parametrize("state", [JobState.CRASHED, JobState.FAILED, JobState.INTERRUPTED])
def test_a_broken_run_says_why_and_keeps_its_points(open_page: Open, runner: FakeRunner, state: JobState) -> None:
    """The reason stands where the progress was."""
    at = open_page("precision")
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(cpu_points()), state=state, reason="The worker was killed. Try again.")
    at.run()
    assert not at.exception
    assert any("The worker was killed" in warning.value for warning in at.warning)
    assert CPU_ANSWER in said(at)


def test_formats_that_did_not_run_are_listed_with_the_reason(open_page: Open, keep) -> None:
    """In the caveats, as crosses, and as rows without a bar."""
    keep([*cpu_points(), failed("fp8_e5m2", Status.UNSUPPORTED, "torch refuses fp8_e5m2 here: too old")])
    at = open_page("precision", compare="nothing")
    assert "A product in fp8 e5m2 has no time at n = 1,024 (unsupported): torch refuses fp8_e5m2 here" in said(at)
    assert "no speed to show" in {trace.get("name") for trace in figure(at)["data"]}
    assert "fp8 e5m2 not supported" in heard(at)


def test_a_run_in_which_nothing_could_be_measured_says_so(open_page: Open, keep) -> None:
    """Every case failed: reasons, no numbers, no traceback."""
    keep([failed(name, Status.FAILED, "The result is wrong.") for name in ("fp32", "bf16")])
    at = open_page("precision", compare="nothing")
    assert not at.exception
    assert "nothing could be measured that may be shown" in said(at)
    assert "The result is wrong." in said(at)


@pytest.mark.parametrize("tab", ["How it was measured", "Data", "Code", "Compare"])
def test_every_tab_opens(open_page: Open, keep, tab: str) -> None:
    """No tab fails on a stored result, sums and subnormals included."""
    keep(cpu_points())
    at = open_page("precision", tab=tab)
    assert not at.exception
    assert not at.error


def test_a_point_that_was_checked_and_not_timed_can_be_chosen(open_page: Open, keep) -> None:
    """It has no samples to show, and no traceback either."""
    keep(cpu_points())
    for tab in ("How it was measured", "Code"):
        at = open_page("precision", tab=tab)
        box = next(box for box in at.selectbox if box.label == "Point")
        box.set_value(next(option for option in box.options if option.startswith("sum bf16"))).run()
        assert not at.exception


def test_the_script_of_the_chosen_point_is_shown(open_page: Open, keep) -> None:
    """Of a product, in its format."""
    keep(cpu_points())
    at = open_page("precision", tab="Code")
    assert any(
        "torch.mm(left, right)" in code.value or "_scaled_mm" in code.value or "_int_mm" in code.value
        for code in at.code
    )


def test_a_guess_is_judged_by_its_factor(open_page: Open, runner: FakeRunner) -> None:
    """How many times as fast is bf16?"""
    at = open_page("precision")
    assert "How many times as fast as fp32 is bf16 on this CPU?" in html_of(at)
    at.select_slider[0].set_value(2.0)
    next(b for b in at.button if b.label == "Keep this guess").click().run()
    at.button(key="run").click().run()
    runner.change("run-1", points=tuple(cpu_points()), state=JobState.DONE)
    at.run()
    told = [text.value.replace(NBSP, " ") for text in at.success]
    assert told == ["You guessed 2.0 times; measured: 0.010 times. Too high by a factor of 200."]
