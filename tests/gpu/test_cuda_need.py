"""Everyday work on a real GPU: what it returns, what its time holds, and what the run says."""

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.need import spec  # noqa: E402
from gpuexplain.experiments.need.conclude import Verdict, find_need_findings  # noqa: E402
from gpuexplain.experiments.need.measure import GPU_TIMING, measure, prepare  # noqa: E402
from gpuexplain.experiments.need.networks import NetworkCall  # noqa: E402
from gpuexplain.experiments.need.spec import NeedParams, plan_cases  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_convolutions, exact_fp32, use_devices  # noqa: E402
from gpuexplain.model import Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"


@pytest.mark.parametrize("workload", spec.NETWORKS)
def test_a_network_on_the_device_agrees_with_float64_and_brings_its_result_back(workload: str) -> None:
    """Exact fp32: no TF32 in products or convolutions."""
    use_devices([DEVICE])
    with exact_fp32(), exact_convolutions():
        call = NetworkCall(workload, spec.SHAPES["small"][workload], DEVICE)
        assert call().device.type == "cpu"
        check = call.check()
    assert check.failure == ""
    assert check.ran_as == ""


def test_the_clock_holds_both_copies() -> None:
    """The longer the batch, the longer the call, and the timing says what is in it."""
    machine = inspect_machine(probe_torch(inspect_cpu().usable_threads))
    cases = [c for c in plan_cases(NeedParams(device=DEVICE), machine) if c.series == "mlp_gpu"]
    watch = prepare(cases[0])
    assert watch.timing == GPU_TIMING
    assert watch.most_calls == 1
    assert watch.call_once() > 0


@pytest.mark.parametrize("size", ["small", "medium"])
def test_a_run_leads_to_verdicts_on_the_gpu(size: str) -> None:
    """Networks are compared, trees and text have no version for it and say so."""
    session = KeepingSession()
    outcome = measure(NeedParams(device=DEVICE, size=size, budget_s=12.0).model_dump(mode="json"), session)
    assert not outcome.cancelled
    points = list(session.by_case.values())
    assert {p.series for p in points if p.status is Status.UNSUPPORTED} == {
        f"{work}_gpu" for work in (*spec.CLASSICAL, spec.TEXT)
    }
    assert [(p.series, p.reason) for p in points if p.status not in (Status.OK, Status.UNSUPPORTED)] == []
    findings = find_need_findings(points)
    assert findings.has_gpu
    assert findings.on_gpu
    for comparison in findings.on_gpu:
        if comparison.workload in spec.NETWORKS:
            assert comparison.ratio is not None
            assert comparison.ratio > 0
        else:
            assert comparison.verdict is Verdict.CANNOT_TELL
            assert "CPU only" in comparison.reason
