"""One training step on real GPUs, by NCCL: one process a device."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.scaling import spec  # noqa: E402
from gpuexplain.experiments.scaling.conclude import Model, find_scaling_findings  # noqa: E402
from gpuexplain.experiments.scaling.measure import measure  # noqa: E402
from gpuexplain.model import Point, Source, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402


@pytest.fixture(scope="module")
def points() -> Iterator[list[Point]]:
    """What a run of ten seconds measures on all GPUs."""
    session = KeepingSession()
    measure({"device": "cuda:0", "budget_s": 10.0}, session)
    yield list(session.by_case.values())
    torch.cuda.empty_cache()


def test_every_case_has_its_time_and_all_weights_agree(points: list[Point]) -> None:
    """Whatever the number of GPUs."""
    assert {spec.STRONG, spec.WEAK} <= {p.series for p in points}
    for point in points:
        assert point.status is Status.OK, (point.series, point.x, point.reason)
        assert point.source is Source.MEASURED
        assert point.rel_error is None or point.rel_error < 1e-3


def test_one_gpu_has_a_model_and_no_second_point(points: list[Point]) -> None:
    """Nothing is measured that is not there."""
    if torch.cuda.device_count() > 1:
        pytest.skip("there are several GPUs")
    found = find_scaling_findings(points)
    assert [s.workers for s in found.strong] == [1]
    assert isinstance(found.model, Model)
    assert found.model.link
    assert not any(p.series in (spec.SILENT, spec.ALL_REDUCE) for p in points)


def test_several_gpus_have_a_speed_up_and_exchanges(points: list[Point]) -> None:
    """By NCCL, with the fit of the exchanges."""
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    found = find_scaling_findings(points)
    assert found.most is not None
    assert found.most.factor > 0
    assert found.exchange is not None
    assert found.exchange.plateau_gbps
