"""The page of more devices, without a browser: published runs, one device with a model, processes measured."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import html_of

sys.path.append(str(Path(__file__).parents[1] / "experiments" / "scaling"))
from scaling_made import exchanges, steps

from gpuexplain.experiments.scaling.spec import MEASURING_VERSION, ScalingParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Point
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP

Open = Callable[..., AppTest]


def said(at: AppTest) -> str:
    """Return what the page shows, without tags, with ordinary spaces."""
    return re.sub("<[^>]+>", "", html_of(at)).replace(NBSP, " ")


def traces(at: AppTest) -> dict[str, dict]:
    """Return the traces of the main chart by name."""
    return {t["name"]: t for t in json.loads(at.get("plotly_chart")[0].proto.spec)["data"]}


@pytest.fixture
def keep(store: RunStore, machine: Machine) -> Callable[..., None]:
    """Return a function that stores a run of this machine."""

    def save(given: list[Point]) -> None:
        run_id = store.create_run(
            experiment="scaling",
            measuring_version=MEASURING_VERSION,
            key="k",
            params=ScalingParams().model_dump(mode="json"),
            device="cpu",
            machine=machine,
        )
        store.save_points(run_id, given)
        store.finish_run(run_id, RunState.DONE, "")

    return save


def test_an_unmeasured_machine_sees_a_published_run(open_page: Open) -> None:
    """With its source, and badged as nobody's here."""
    at = open_page("scaling")
    assert not at.exception
    assert "published: ResNet-50 on V100, fp32" in html_of(at)
    assert "nothing measured here yet" in html_of(at)
    assert "In a published run, " in said(at)
    assert "train 15.2 × as fast as one" in said(at)
    assert set(traces(at)) == {"ideal", "published"}


def test_one_device_has_a_model_and_published_points_beside_it(open_page: Open, keep: Callable[..., None]) -> None:
    """Neither is drawn as measured."""
    keep(steps(0.1))
    at = open_page("scaling")
    assert not at.exception
    assert "there is one device only" in said(at)
    assert "A model, not a measurement" in said(at)
    drawn = traces(at)
    assert drawn["model"]["mode"] == "lines"
    assert drawn["published"]["line"]["dash"] == "dot"
    assert len(drawn["strong"]["x"]) == 1


def test_two_processes_are_told_and_drawn(open_page: Open, keep: Callable[..., None]) -> None:
    """Speed-up, efficiency, the share of the exchange, and the exchange by its size."""
    keep([*steps(0.1, 0.07, silent=0.056), *exchanges()])
    at = open_page("scaling")
    assert not at.exception
    shown = said(at)
    assert "are 1.43 × as fast as one, 20 % of the step being exchange" in shown
    assert "did not hold here: 1.43 × (1.40 to 1.46), 71 % of the ideal" in shown
    assert "An exchange costs 500 µs at once" in shown
    assert "published, not measured here" in shown
    assert len(at.get("plotly_chart")) == 2
