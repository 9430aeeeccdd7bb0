"""Equal requests on an equal machine share a key; anything else does not."""

from collections.abc import Callable

import pytest
from fake_measure import FakeParams

from gpuexplain.engine.key import compute_key, resolve_device
from gpuexplain.hardware.machine import Gpu, Machine, TorchProbe

Change = Callable[[Machine], Machine]


def _with_gpu(machine: Machine, torch_device: str | None, probe: TorchProbe | None) -> Machine:
    gpu = Gpu(name="GPU", uuid="GPU-1", torch_device=torch_device)
    return machine.model_copy(update={"gpus": (gpu,), "torch": probe})


def test_equal_requests_share_a_key(machine: Machine) -> None:
    """``auto`` is what it means here."""
    key = compute_key("fake", 1, FakeParams(tag="a"), machine)
    assert key == compute_key("fake", 1, FakeParams(tag="a", device="cpu"), machine.model_copy(deep=True))
    assert len(key) == 64


@pytest.mark.parametrize(
    ("experiment", "version", "params"),
    [("other", 1, FakeParams()), ("fake", 2, FakeParams()), ("fake", 1, FakeParams(budget_s=3))],
    ids=["experiment", "version", "params"],
)
def test_another_request_has_another_key(machine: Machine, experiment: str, version: int, params: FakeParams) -> None:
    """Each part counts."""
    assert compute_key(experiment, version, params, machine) != compute_key("fake", 1, FakeParams(), machine)


def test_another_machine_has_another_key(machine: Machine) -> None:
    """As does another torch."""
    other = machine.model_copy(update={"torch_version": "2.11.0"})
    assert compute_key("fake", 1, FakeParams(), other) != compute_key("fake", 1, FakeParams(), machine)


def test_auto_means_the_first_gpu_that_works(machine: Machine) -> None:
    """Else the CPU."""
    probe = TorchProbe(version="2.13.0")
    assert resolve_device("auto", machine) == "cpu"
    assert resolve_device("auto", _with_gpu(machine, "cuda:0", probe)) == "cuda:0"
    assert resolve_device("cpu", _with_gpu(machine, "cuda:0", probe)) == "cpu"


def test_a_cpu_result_does_not_answer_for_a_gpu_that_was_not_asked_yet(machine: Machine) -> None:
    """Before the probe nobody knows what ``auto`` means on a machine with a GPU."""
    unasked = _with_gpu(machine, None, None)
    auto, cpu = FakeParams(), FakeParams(device="cpu")
    assert compute_key("fake", 1, auto, unasked) != compute_key("fake", 1, cpu, unasked)
