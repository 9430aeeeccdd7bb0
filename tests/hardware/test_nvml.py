"""What the driver says of each GPU, and what it refuses."""

import os

import pynvml
import pytest
from hardware_fakes import MIG_UUIDS, UUID, FakeGpu, FakeNvml

from gpuexplain.hardware import gpu_processes
from gpuexplain.hardware.gpu_processes import HIDDEN_BY_NAMESPACE, count_foreign_processes
from gpuexplain.hardware.nvml import normalise_uuid, read_nvml

FOREIGN_PID = 2**22 + 1  # above the largest process number Linux gives


@pytest.fixture(autouse=True)
def _host_namespace(monkeypatch):
    monkeypatch.setattr(gpu_processes, "in_pid_namespace", lambda root: False)


def test_every_value_of_a_healthy_gpu_is_read(one_gpu):
    """Units are bytes, watts, MHz and degrees Celsius."""
    report = read_nvml(one_gpu)
    (gpu,) = report.gpus
    assert (report.driver_version, report.cuda_driver_version, report.error) == ("550.54.15", "12.4", "")
    assert (gpu.name, gpu.uuid, gpu.pci_bus_id) == ("NVIDIA A100-SXM4-80GB", UUID, "00000000:31:00.0")
    assert (gpu.memory_total_bytes, gpu.memory_free_bytes) == (80 * 2**30, 40 * 2**30)
    assert (gpu.compute_capability, gpu.power_limit_w, gpu.temperature_c) == ("8.0", 400.0, 55.0)
    assert (gpu.pcie_generation, gpu.pcie_generation_max, gpu.pcie_width, gpu.pcie_width_max) == (
        1,
        4,
        16,
        16,
    )
    assert (gpu.exclusive_mode, gpu.mig_enabled, gpu.compute_processes) == (False, False, 0)
    assert gpu.sm_clock_max_mhz == 1410
    assert gpu.torch_device is None
    assert gpu.not_reported == {"multiprocessors": "NVML does not tell it for a whole GPU; torch does"}
    assert one_gpu.open_count == 0


@pytest.mark.parametrize(
    ("refused", "fields"),
    [
        ("PciInfo", {"pci_bus_id"}),
        ("MemoryInfo", {"memory_total_bytes", "memory_free_bytes"}),
        ("Capability", {"compute_capability"}),
        ("ComputeMode", {"exclusive_mode"}),
        ("PowerLimit", {"power_limit_w"}),
        ("Pcie", {"pcie_generation", "pcie_generation_max", "pcie_width", "pcie_width_max"}),
        ("Temperature", {"temperature_c"}),
        ("MaxClockInfo", {"sm_clock_max_mhz"}),
        ("Processes", {"compute_processes"}),
        ("MigMode", {"mig_enabled"}),
    ],
)
def test_a_refused_value_is_not_reported_with_nvmls_reason(refused, fields):
    """A missing value is None, never 0, and says why."""
    (gpu,) = read_nvml(FakeNvml([FakeGpu(refuses={refused})])).gpus
    for field in fields:
        assert getattr(gpu, field) is None
        assert gpu.not_reported[field] == "NVML: Not Supported"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "NVML Shared Library Not Found"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "RM has detected an NVML/RM version mismatch."),
    ],
)
def test_a_driver_that_does_not_answer_leaves_its_reason(code, text):
    """Without a driver there are no GPUs, only the reason."""
    report = read_nvml(FakeNvml(init_error=code))
    assert (report.gpus, report.driver_version, report.error) == ((), None, text)


def test_a_lost_gpu_is_listed_without_facts():
    """A GPU that fell off the bus is still named by its number."""
    lost = FakeGpu(refuses={"HandleByIndex"}, error=pynvml.NVML_ERROR_GPU_IS_LOST)
    gpus = read_nvml(FakeNvml([lost, FakeGpu()])).gpus
    assert [gpu.name for gpu in gpus] == ["GPU 0", "NVIDIA A100-SXM4-80GB"]
    assert gpus[0].not_reported["uuid"] == "NVML: GPU is lost"


def test_mig_instances_replace_their_parent():
    """Each instance has its own UUID, memory and processors, and the parent's UUID and link."""
    gpus = read_nvml(FakeNvml([FakeGpu(mig=True, instances=list(MIG_UUIDS))])).gpus
    assert tuple(gpu.mig_uuid for gpu in gpus) == MIG_UUIDS
    assert {gpu.uuid for gpu in gpus} == {UUID}
    assert {(gpu.memory_total_bytes, gpu.multiprocessors) for gpu in gpus} == {(10 * 2**30, 14)}
    assert {gpu.pcie_generation_max for gpu in gpus} == {4}
    assert "multiprocessors" not in gpus[0].not_reported


def test_a_split_gpu_without_an_instance_stays_as_itself():
    """MIG is on and nothing is given: the parent shows that."""
    (gpu,) = read_nvml(FakeNvml([FakeGpu(mig=True)])).gpus
    assert (gpu.mig_enabled, gpu.mig_uuid) == (True, None)


@pytest.mark.parametrize(
    ("mode", "exclusive"),
    [
        (pynvml.NVML_COMPUTEMODE_DEFAULT, False),
        (pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS, True),
        (pynvml.NVML_COMPUTEMODE_EXCLUSIVE_THREAD, True),
    ],
)
def test_exclusive_mode_is_told(mode, exclusive):
    """Both exclusive modes keep a second process out."""
    (gpu,) = read_nvml(FakeNvml([FakeGpu(compute_mode=mode)])).gpus
    assert gpu.exclusive_mode is exclusive


def test_our_own_process_is_not_foreign():
    """Two processes on the device, one of them us."""
    (gpu,) = read_nvml(FakeNvml([FakeGpu(pids=[os.getpid(), FOREIGN_PID])])).gpus
    assert gpu.compute_processes == 1


@pytest.mark.parametrize(
    ("pids", "answer"),
    [
        ([], (None, HIDDEN_BY_NAMESPACE)),
        ([FOREIGN_PID], (None, HIDDEN_BY_NAMESPACE)),
        ([os.getpid()], (None, HIDDEN_BY_NAMESPACE)),
        ([os.getpid(), FOREIGN_PID], (1, "")),
    ],
    ids=["none listed", "unknown number", "only us", "us and another"],
)
def test_in_a_container_only_a_sure_foreign_process_is_counted(monkeypatch, pids, answer):
    """The driver may list the host's numbers there, among them our own."""
    monkeypatch.setattr(gpu_processes, "in_pid_namespace", lambda root: True)
    assert count_foreign_processes(pids) == answer


@pytest.mark.parametrize("text", [UUID, UUID.removeprefix("GPU-"), UUID.upper(), f" {UUID}\n"])
def test_the_uuids_of_torch_and_nvml_compare_equal(text):
    """PyTorch prints it without the prefix."""
    assert normalise_uuid(text) == "3a3d9b1e-0000-1111-2222-abcdefabcdef"
