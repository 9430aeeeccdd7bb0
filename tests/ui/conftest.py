"""A runner, a store and a machine that need no worker, put in the place of the real ones."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import FakeRunner, make_machine

from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params, Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.ui import engine_access
from gpuexplain.ui.figures import SHARED

ROUTER = Path(engine_access.__file__).parent / "router.py"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A small machine without a GPU."""
    here = make_machine()
    monkeypatch.setattr(engine_access, "get_machine", lambda: here)
    return here


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    """An empty store of its own."""
    opened = RunStore(f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.setattr(engine_access, "get_store", lambda: opened)
    yield opened
    opened.close()


@pytest.fixture
def runner(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    """A runner that does what the test says."""
    fake = FakeRunner(store)
    monkeypatch.setattr(engine_access, "get_runner", lambda: fake)
    SHARED.clear()
    return fake


@pytest.fixture
def keep_run(store: RunStore, machine: Machine) -> Callable[..., str]:
    """Return a function that stores a run of this machine."""

    def keep(
        params: Params, points: list[Point], state: RunState = RunState.DONE, reason: str = "", key: str = "k"
    ) -> str:
        run_id = store.create_run(
            experiment="matmul",
            measuring_version=1,
            key=key,
            params=params.model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, points)
        store.finish_run(run_id, state, reason)
        return run_id

    return keep


@pytest.fixture
def open_page(machine: Machine, runner: FakeRunner) -> Callable[..., AppTest]:
    """Return a function that opens a page in the frame, with the query given."""

    def open_(name: str = "home", **query: str) -> AppTest:
        at = AppTest.from_file(str(ROUTER), default_timeout=20)
        at.run()
        for key, text in query.items():
            at.query_params[key] = text
        if name != "home":
            at.switch_page(f"../../pages/{name}.py")
        return at.run()

    return open_
