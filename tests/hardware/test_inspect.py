"""The whole machine, put together."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from hardware_fakes import MIG_UUIDS, UUID, FakeGpu, FakeNvml, make_device, make_gpu, make_machine, make_probe

from gpuexplain.hardware.environment import read_environment_overrides
from gpuexplain.hardware.identity import measuring_identity
from gpuexplain.hardware.inspect import (
    inspect_machine,
    match_torch_devices,
    offer_devices,
    read_torch_version,
)
from gpuexplain.hardware.receipts import cuda_path_verified


def test_this_machine_is_described_quickly_and_sanely():
    """Real files, real driver or none: at least one thread, some memory, and a reason for no GPU."""
    inspect_machine()
    started = time.perf_counter()
    machine = inspect_machine()
    elapsed_s = time.perf_counter() - started
    assert 1 <= machine.cpu.usable_threads <= machine.cpu.affinity_cpus <= machine.cpu.logical_cpus
    assert 2**28 < machine.memory.usable_bytes <= machine.memory.total_bytes
    assert machine.platform.python == sys.version.split()[0]
    assert len(machine.platform.machine_id) == 16
    assert machine.torch_version
    assert machine.devices == ("cpu",)
    assert machine.gpus or machine.gpu_problem
    if not machine.gpus:
        assert elapsed_s < 0.3


def test_inspecting_never_loads_torch():
    """The Streamlit process must stay without it."""
    code = "import sys, gpuexplain.hardware.inspect as i; i.inspect_machine(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("uuid", [UUID, UUID.removeprefix("GPU-")])
def test_torch_and_nvml_meet_by_uuid_never_by_index(uuid):
    """The driver's second card is torch's first."""
    gpus = (make_gpu(name="other", uuid="GPU-other"), make_gpu())
    matched = match_torch_devices(gpus, (make_device(uuid=uuid),))
    assert [gpu.torch_device for gpu in matched] == [None, "cuda:0"]
    assert matched[1].multiprocessors == 108


def test_an_instance_is_matched_by_its_own_uuid():
    """Two instances share their parent's UUID."""
    gpus = tuple(make_gpu(mig_uuid=uuid, mig_enabled=True) for uuid in MIG_UUIDS)
    matched = match_torch_devices(gpus, (make_device(uuid=MIG_UUIDS[1]),))
    assert [gpu.torch_device for gpu in matched] == [None, "cuda:0"]


def test_the_parents_uuid_only_matches_a_single_instance():
    """With two candidates nothing is guessed: torch's device stands for itself."""
    gpus = tuple(make_gpu(mig_uuid=uuid) for uuid in MIG_UUIDS)
    assert match_torch_devices(gpus[:1], (make_device(),))[0].torch_device == "cuda:0"
    assert [gpu.torch_device for gpu in match_torch_devices(gpus, (make_device(),))] == [None, None, "cuda:0"]


def test_a_gpu_that_only_torch_sees_is_added():
    """NVML may be missing while torch works."""
    (gpu,) = match_torch_devices((), (make_device(),))
    assert (gpu.name, gpu.torch_device, gpu.memory_total_bytes) == (
        "NVIDIA A100-SXM4-80GB",
        "cuda:0",
        80 * 2**30,
    )


def test_a_gpu_whose_kernel_failed_is_listed_but_not_offered():
    """The reason stays with the GPU and becomes the machine's problem."""
    error = "CUDA error: out of memory"
    probe = make_probe(devices=(make_device(kernel_ran=False, kernel_error=error),), is_available=True)
    machine = inspect_machine(probe, nvml=FakeNvml([FakeGpu()]))
    assert machine.devices == ("cpu",)
    assert machine.gpus[0].not_reported["torch_device"] == error
    assert machine.gpus[0].problem == machine.gpu_problem
    assert machine.gpu_problem is not None
    assert machine.gpu_problem.rung == "out_of_memory"


def test_a_working_gpu_is_offered_after_the_cpu():
    """Once a kernel ran, nothing is in the way."""
    machine = inspect_machine(make_probe(devices=(make_device(),)), nvml=FakeNvml([FakeGpu()]))
    assert machine.devices == ("cpu", "cuda:0")
    assert machine.gpu_problem is None


@pytest.mark.parametrize(
    ("wanted", "devices"),
    [(None, ("cpu", "cuda:0")), ("cpu", ("cpu",)), ("cuda:0", ("cuda:0",)), ("cuda:7", ("cpu",))],
)
def test_only_the_devices_of_the_operator_are_offered(wanted, devices):
    """Where none of them works, the CPU stays."""
    machine = offer_devices(make_machine(gpus=(make_gpu(torch_device="cuda:0"),)), wanted)
    assert machine.devices == devices


def test_only_variables_that_change_results_are_kept():
    """An empty CUDA_VISIBLE_DEVICES hides every GPU, so it counts as set."""
    environment = {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_TF32_OVERRIDE": "0", "HOME": "/root"}
    assert read_environment_overrides(environment) == {
        "CUDA_VISIBLE_DEVICES": "",
        "NVIDIA_TF32_OVERRIDE": "0",
    }


def test_the_identity_of_a_cpu_result_has_no_gpu_in_it():
    """A new driver does not make CPU results stale."""
    assert measuring_identity(make_machine(driver_version="550.54.15"), "cpu") == {
        "device": "cpu",
        "hardware": "0123456789abcdef AMD EPYC 7763",
        "host": "0123456789abcdef AMD EPYC 7763",
        "driver": "",
        "torch": "2.13.0",
        "threads": "8",
        "power_limit_w": "",
        "precision_mode": "as each point asks",
        "environment": "",
    }


def test_the_identity_is_the_same_before_and_after_torch_was_asked():
    """Else the first result of a start would never answer again."""
    assert measuring_identity(make_machine(), "cpu") == measuring_identity(
        make_machine(torch=make_probe(version="2.13.0+cu126")), "cpu"
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [("__version__ = '2.13.0+cu126'\n", "2.13.0+cu126"), ("", "2.13.0")],
    ids=["stated by torch", "only in the metadata"],
)
def test_the_version_of_torch_names_its_build(monkeypatch, tmp_path, text, version):
    """A wheel from PyPI leaves the build out of its metadata."""
    (tmp_path / "version.py").write_text(text)
    package = SimpleNamespace(version="2.13.0", locate_file=lambda name: tmp_path / "version.py")
    monkeypatch.setattr("gpuexplain.hardware.inspect.distribution", lambda name: package)
    assert read_torch_version() == version


@pytest.mark.parametrize(
    "change",
    [
        {"driver_version": "560.1"},
        {"torch_version": "2.11.0"},
        {"environment_overrides": {"NVIDIA_TF32_OVERRIDE": "0"}},
        {"gpus": (make_gpu(torch_device="cuda:0", power_limit_w=300.0),)},
        {"gpus": (make_gpu(torch_device="cuda:0", power_limit_w=400.0, mig_uuid=MIG_UUIDS[0]),)},
    ],
    ids=["driver", "torch", "environment", "power limit", "instance"],
)
def test_whatever_changes_a_gpu_result_changes_its_identity(change):
    """Each alone makes an earlier result stale."""
    facts = {"driver_version": "550", "gpus": (make_gpu(torch_device="cuda:0", power_limit_w=400.0),)}
    before = measuring_identity(make_machine(**facts), "cuda:0")
    assert measuring_identity(make_machine(**facts | change), "cuda:0") != before


@pytest.mark.parametrize(
    ("name", "text", "verified"),
    [
        ("run.json", '{"points": [{"device": "cuda:0"}]}', True),
        ("run.json", '{"points": [{"device": "cpu"}]}', False),
        ("notes.txt", '"device": "cuda:0"', False),
    ],
)
def test_the_cuda_path_is_verified_by_a_recording_from_a_gpu(tmp_path, name, text, verified):
    """A CPU run, or a note, proves nothing."""
    (tmp_path / name).write_text(text)
    assert cuda_path_verified(tmp_path) is verified


def test_without_a_folder_of_recordings_nothing_is_verified(tmp_path):
    """The package may carry none."""
    assert cuda_path_verified(tmp_path / "missing") is False
