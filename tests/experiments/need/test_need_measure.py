"""The work itself: generated data, checks, a missing library, and a real run on this CPU."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuexplain.experiments.need import spec
from gpuexplain.experiments.need.conclude import find_need_findings
from gpuexplain.experiments.need.spec import NeedParams, plan_cases
from gpuexplain.experiments.need.text import count_tokens, write_documents
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.measuring.session import Progress
from gpuexplain.model import Case, Point, Status

torch = pytest.importorskip("torch")

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.need import measure as measuring  # noqa: E402
from gpuexplain.experiments.need.networks import NetworkCall  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.torch


class KeepingSession:
    """Keeps the last point of every case."""

    def __init__(self) -> None:
        self.by_case: dict[str, Point] = {}

    def point(self, point: Point) -> None:
        self.by_case[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        assert progress.phase

    def cancelled(self) -> bool:
        return False


def case_of(workload: str, way: str = spec.ALL_THREADS) -> Case:
    """Return the case of a workload, as planned here."""
    return next(c for c in plan_cases(NeedParams(device="cpu"), inspect_machine()) if c.series == f"{workload}_{way}")


# -- data -----------------------------------------------------------------------------------------


def test_documents_are_generated_and_every_word_is_counted_once() -> None:
    """The same ones every time; frequent words are frequent."""
    documents = write_documents(3, 50)
    assert documents == write_documents(3, 50)
    counts = count_tokens(documents)
    assert [sum(count.values()) for count in counts] == [50, 50, 50]
    assert max(sum((count for count in counts), start=type(counts[0])()).values()) > 5
    assert count_tokens(["The cat, the CAT"])[0].most_common() == [
        (bucket, 2) for bucket, _ in count_tokens(["the cat"])[0].most_common()
    ]


def test_rows_are_generated_and_learnable() -> None:
    """Balanced classes; a fit is right more often than chance."""
    pytest.importorskip("sklearn")
    from gpuexplain.experiments.need import classical

    rows, classes = classical.make_rows(1000, 20)
    assert rows.shape == (1000, 20)
    assert 0.4 < classes.mean() < 0.6
    assert (rows == classical.make_rows(1000, 20)[0]).all()
    for workload in spec.CLASSICAL:
        shape = spec.SHAPES["small"][workload]
        assert classical.check_fit(classical.make_fit(workload, shape, 1), shape).failure == ""


def test_an_estimator_that_learned_nothing_fails() -> None:
    """However fast it is."""
    pytest.importorskip("sklearn")
    from gpuexplain.experiments.need import classical

    class Coin:
        def score(self, rows: object, classes: object) -> float:
            return 0.5

    assert classical.check_fit(Coin, (10, 2, 1)).failure == (
        "The estimator is right in only 50% of the rows it was trained on."
    )


def test_words_that_were_not_counted_fail() -> None:
    """A shortened document is seen."""
    documents = write_documents(2, 10)
    assert measuring._check_text(documents, (2, 10, 1)).failure == ""
    assert measuring._check_text(documents[:1], (2, 10, 1)).failure == "10 words were counted of 20."


@pytest.mark.parametrize("workload", spec.NETWORKS)
def test_networks_agree_with_float64_and_bring_their_result_back(workload: str) -> None:
    """A training step returns its loss, an inference its outputs, on the CPU."""
    call = NetworkCall(workload, spec.SHAPES["small"][workload], "cpu")
    result = call()
    assert result.device.type == "cpu"
    assert result.ndim == (2 if workload == spec.INFERENCE else 0)
    check = call.check()
    assert check.failure == ""
    assert check.rel_error is not None
    assert check.rel_error < 1e-5


def test_a_wrong_network_is_seen() -> None:
    """Its outputs differ from those of its copy in float64."""
    call = NetworkCall(spec.MLP, (4, 16, 2), "cpu")
    call._workload.network.register_forward_hook(
        lambda module, _, out: out * 1.5 if out.dtype == torch.float32 else out
    )
    assert "The result is wrong" in call.check().failure


# -- what cannot be measured ----------------------------------------------------------------------


@pytest.mark.parametrize("workload", [*spec.CLASSICAL, spec.TEXT])
def test_work_of_the_cpu_is_unsupported_on_a_gpu(workload: str) -> None:
    """With the reason, before anything is touched."""
    case = Case(
        f"{workload}_gpu", 1.0, (1, 1, 1), "fp32", "cuda:0", "transfer_inclusive", None, 0.0, 4.0, 4,
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="on the CPU only"):
        measuring.prepare(case)


def test_a_network_on_a_gpu_is_timed_from_idle_to_idle_with_its_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call at a time; the device is awaited before and after it."""
    log: list[str] = []

    class FakeCuda:
        def __init__(self, device: str) -> None:
            log.append(device)

        def synchronize(self) -> None:
            log.append("sync")

    class FakeCall:
        def __init__(self, workload: str, shape: spec.Shape, device: str) -> None:
            log.append(f"{workload} on {device}")

        def __call__(self) -> None:
            log.append("copy, step, copy")

        def check(self) -> None:
            log.append("check")

    monkeypatch.setattr(measuring, "TorchCuda", FakeCuda)
    monkeypatch.setattr(measuring, "NetworkCall", FakeCall)
    case = Case("mlp_gpu", 8.0, (8, 16, 2), "fp32", "cuda:0", "transfer_inclusive", None, 1.0, 4.0, 4)
    watch = measuring.prepare(case)
    assert (watch.most_calls, watch.timing) == (1, measuring.GPU_TIMING)
    watch.time_block(0, 1)
    watch.check()
    assert log == ["mlp on cuda:0", "cuda:0", "sync", "copy, step, copy", "sync", "check"]


def test_the_steps_other_batches_wait_until_every_kind_has_had_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the refinement of the sweep."""
    asked: dict[str, list[Case]] = {}

    class FakeSweep:
        def __init__(self, experiment: str, cases: list[Case], *_: object, refine: Callable, **__: object) -> None:
            asked["first"], asked["then"] = list(cases), list(refine([], cases))

        def run(self) -> None:
            return None

    monkeypatch.setattr(measuring, "Sweep", FakeSweep)
    measuring.measure(NeedParams(device="cpu").model_dump(mode="json"), KeepingSession())
    assert {spec.SERIES[c.series][0] for c in asked["first"]} == set(spec.WORKLOADS)
    assert len(asked["first"]) == 16
    assert {c.series for c in asked["then"]} == {"mlp_cpu", "mlp_cpu_1_thread"}
    assert {c.x for c in asked["then"]} == set(spec.MLP_BATCHES["small"]) - {64}


def test_without_scikit_learn_its_work_is_unsupported_and_the_rest_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for name in [name for name in sys.modules if name.startswith("sklearn.") or name.endswith("need.classical")]:
        monkeypatch.delitem(sys.modules, name)
    import gpuexplain.experiments.need as package

    monkeypatch.delattr(package, "classical", raising=False)
    with pytest.raises(UnsupportedError, match=r"scikit-learn cannot be loaded here .*pip install scikit-learn"):
        measuring.prepare(case_of(spec.TREE))
    assert measuring.prepare(case_of(spec.TEXT)).call_once() > 0
    with measuring._kept_blas_threads():
        pass


def test_listing_the_experiments_loads_neither_torch_nor_scikit_learn() -> None:
    """Only the worker does."""
    code = "import sys, gpuexplain.registry; sys.exit(any(n in sys.modules for n in ('torch', 'sklearn', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


# -- a real run -----------------------------------------------------------------------------------


def test_a_real_run_times_all_work_and_leads_to_verdicts() -> None:
    """Eight kinds both ways on this CPU; the threads of the libraries are as before."""
    pytest.importorskip("sklearn")
    from gpuexplain.experiments.need import classical

    before = [library["num_threads"] for library in classical._BLAS.info()]
    session = KeepingSession()
    outcome = measuring.measure(NeedParams(device="cpu", budget_s=8.0).model_dump(mode="json"), session)
    assert not outcome.cancelled
    points = list(session.by_case.values())
    assert [(p.series, p.status, p.reason) for p in points if p.status is not Status.OK] == []
    findings = find_need_findings(points)
    assert not findings.has_gpu
    # On a busy machine the time may be up before every kind had its turn; those are named.
    assert {c.workload for c in findings.by_threads} | set(findings.missing) == set(spec.WORKLOADS)
    assert any(c.ratio for c in findings.by_threads)
    assert [library["num_threads"] for library in classical._BLAS.info()] == before


def test_the_command_line_measures_and_tells(tmp_path: Path) -> None:
    """As JSON, one object a line, findings last."""
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, "-m", "gpuexplain", "run", "need", "--device", "cpu", "--budget", "4", "--json"],
        cwd=ROOT, env={**os.environ, "GPUEXPLAIN_HOME": str(tmp_path)}, capture_output=True, text=True,
        check=False, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout.splitlines()[-1])["findings"]
    assert {c["workload"] for c in findings["by_threads"]} <= set(spec.WORKLOADS)
    assert findings["by_threads"]
