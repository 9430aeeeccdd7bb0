"""The contract every experiment keeps."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Dtype, Point
from gpuexplain.registry import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.id)


def test_its_defaults_can_be_planned_here(experiment: Experiment) -> None:
    """A visitor who changes nothing can press Run."""
    params = experiment.params_type()
    assert experiment.plan_cases(params, inspect_machine())
    assert experiment.params_type.model_validate(params.model_dump(mode="json")) == params


def test_it_has_words_figures_and_findings_without_points(experiment: Experiment) -> None:
    """A page is never empty."""
    findings = experiment.find([])
    assert experiment.tell(findings).answer
    for theme in ("light", "dark"):
        assert experiment.draw_main([], findings, theme).layout.annotations
        assert experiment.draw_second([], findings, theme).layout.annotations
    assert experiment.describe_main(findings)
    assert experiment.describe_second(findings)
    assert isinstance(experiment.findings_json(findings), dict)


def test_home_the_tour_and_tables_can_name_it(experiment: Experiment) -> None:
    """What Home, the tour and the command line ask of every experiment."""
    effort = {"preset", "budget_s"}
    if (tour := experiment.tour_params) is not None:
        assert tour.model_dump(exclude=effort) == experiment.params_type().model_dump(exclude=effort)
        assert 0 < tour.sweep_budget_s <= 12
    assert experiment.x_heading
    assert experiment.say_x(1024.0)
    assert experiment.headline(experiment.find([])) is None
    assert len({result.key for result in experiment.published()}) == len(experiment.published())
    for result in experiment.published():
        assert result.source
        assert experiment.tell(experiment.find(result.points)).answer
        assert all(point.source_note for point in result.points)
    if experiment.question is not None:
        assert experiment.question.ask(True)
        assert experiment.question.find_answer(experiment.find([])) is None


def test_a_run_from_elsewhere_with_foreign_series_breaks_nothing(experiment: Experiment) -> None:
    """An import may hold series that this release does not know: words and figures come all the same."""
    foreign = Point(
        experiment=experiment.id, series="from_the_future", x=8.0, shape=(8,), dtype=Dtype.FP32, device="cpu",
        median_s=0.1, ci_low_s=0.1, ci_high_s=0.1, first_call_s=0.1, n_samples=7, flops=10.0, bytes=10.0,
    )  # fmt: skip
    findings = experiment.find([foreign])
    points = experiment.flag_points([foreign], findings)
    assert experiment.tell(findings).answer
    experiment.draw_main(points, findings, "light")
    experiment.draw_second(points, findings, "dark")
    experiment.headline(findings)
    assert isinstance(experiment.findings_json(findings), dict)
    assert isinstance(experiment.write_snippet(experiment.params_type(), foreign), str)


def test_its_standalone_script_compiles_and_needs_only_torch(experiment: Experiment) -> None:
    """It runs where this package is not installed."""
    script = experiment.write_snippet(experiment.params_type(), None)
    compile(script, "snippet.py", "exec")
    assert "gpuexplain" not in script


def test_listing_it_does_not_load_torch(experiment: Experiment) -> None:
    """Only the worker loads the measuring module, by name."""
    code = "import sys, gpuexplain.registry; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert (ROOT / (experiment.measure_module.replace(".", "/") + ".py")).is_file()
