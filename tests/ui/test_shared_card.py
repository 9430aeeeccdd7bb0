"""A GPU that others use, and a run that broke off: what the page asks, and what its buttons then do."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from tour_fakes import FakeGuide
from ui_fakes import FakeRunner, make_machine, make_points

from gpuexplain.experiments.matmul.spec import MatmulParams
from gpuexplain.hardware.machine import Gpu, TorchProbe
from gpuexplain.store.run import RunState
from gpuexplain.ui import engine_access
from gpuexplain.ui import tour as touring

Open = Callable[..., AppTest]
TOLD = "Another process computes on Some GPU (cuda:0) right now."


@pytest.fixture
def busy_gpu(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU on which somebody else computes."""
    gpu = Gpu(name="Some GPU", uuid="GPU-1", torch_device="cuda:0", compute_processes=1)
    shared = make_machine().model_copy(update={"gpus": (gpu,), "torch": TorchProbe(version="2.13.0")})
    monkeypatch.setattr(engine_access, "get_machine", lambda: shared)


def told(page: AppTest) -> bool:
    """Whether the page says who else computes there."""
    return any(TOLD in warning.value.replace("\\", "") for warning in page.warning)


def test_run_waits_until_the_visitor_agrees_to_disturb(open_page: Open, busy_gpu: None, runner: FakeRunner) -> None:
    """The box stands under the controls; ticked, the run goes ahead."""
    page = open_page("matmul")
    assert told(page)
    assert page.button(key="run").disabled
    page.checkbox(key="may_disturb").check().run()
    page.button(key="run").click().run()
    assert len(runner.submitted) == 1
    assert not page.exception


def test_the_cpu_is_nobody_elses(open_page: Open, busy_gpu: None) -> None:
    """No question where nobody is disturbed."""
    page = open_page("matmul", device="cpu")
    assert not told(page)
    assert not page.button(key="run").disabled


def test_the_tour_asks_as_well(
    open_page: Open, busy_gpu: None, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it begins, once for all of its parts."""
    guide = FakeGuide(runner)
    monkeypatch.setattr(touring, "get_guide", lambda: guide)
    page = open_page("home")
    assert told(page)
    assert page.button(key="run").disabled
    page.checkbox(key="may_disturb").check().run()
    page.button(key="run").click().run()
    assert len(guide.begun) == 1
    assert not page.exception


@pytest.mark.parametrize("state", [RunState.INTERRUPTED, RunState.CRASHED])
def test_a_run_that_broke_off_can_be_resumed(
    open_page: Open, keep_run: Callable[..., str], runner: FakeRunner, state: RunState
) -> None:
    """The new run begins with its points; while it runs there is nothing to resume."""
    run_id = keep_run(MatmulParams(), make_points(64, 128), state)
    page = open_page("matmul")
    page.button(key="resume").click().run()
    assert runner.resumed == [run_id]
    assert [button.key for button in page.button if button.key in ("run", "resume", "cancel")] == ["cancel"]
    assert not page.exception


@pytest.mark.parametrize("state", [RunState.DONE, RunState.CANCELLED, RunState.FAILED])
def test_other_runs_offer_no_resuming(open_page: Open, keep_run: Callable[..., str], state: RunState) -> None:
    """They ended as somebody wanted, or for a reason of their own."""
    keep_run(MatmulParams(), make_points(64, 128), state)
    assert "resume" not in [button.key for button in open_page("matmul").button]
