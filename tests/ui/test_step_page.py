"""The anatomy of a training step, without a browser: its controls, parts, idle time and memory."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "step"))
from step_made import MIB, make_point, memory, points

from gpuexplain.experiments.step import spec
from gpuexplain.experiments.step.spec import StepParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point, Status
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]


def said(at: AppTest) -> str:
    """Return what the page shows, without tags, with ordinary spaces."""
    return re.sub("<[^>]+>", "", html_of(at)).replace(NBSP, " ")


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a run of this machine."""

    def save(given: list[Point], state: RunState = RunState.DONE, reason: str = "") -> None:
        run_id = store.create_run(
            experiment="step",
            measuring_version=spec.MEASURING_VERSION,
            key="k",
            params=StepParams().model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, given)
        store.finish_run(run_id, state, reason)

    return save


def test_a_measured_step_is_told_part_by_part(open_page: Open, keep: Callable[..., None]) -> None:
    """What binds it, what is idle, the workers, inference, memory against the device's."""
    device = make_point(spec.DEVICE_MEMORY, None, bytes=16.0 * 1024 * MIB, shape=(4, 0))
    keep([*points(), make_point(spec.IDLE, 4e-3), *memory(), device])
    at = open_page("step")
    assert not at.exception
    shown = said(at)
    assert "this training step is memory-bound: backward takes 50 % of it" in shown
    assert "of the whole step the CPU's threads have nothing to do" in shown
    assert "With two loading workers the step is 1.14 × as fast" in shown
    assert "Inference with one example takes 1.00 ms" in shown
    assert "0.44 % of the 16.0 GiB that this computer has" in shown
    assert "First to try: Fuse operations" in shown
    assert len(at.get("plotly_chart")) == 2


def test_the_controls_offer_slow_data_and_workers(open_page: Open) -> None:
    """And the address takes both."""
    at = open_page("step", data="slow", workers="4")
    assert at.selectbox(key="data").value == "slow"
    assert at.number_input(key="workers").value == 4


def test_a_step_that_did_not_fit_says_why(open_page: Open, keep: Callable[..., None]) -> None:
    """No chart that pretends, and the reason."""
    keep([make_point(spec.FORWARD, None, status=Status.OOM, reason="Out of memory.")], RunState.FAILED, "It failed.")
    at = open_page("step")
    assert not at.exception
    assert "Forward has no time at this batch (oom): Out of memory." in said(at)
