"""Every rung between a machine and a working GPU."""

import pytest
from hardware_fakes import MIG_UUIDS, make_device, make_gpu, make_machine, make_probe

from gpuexplain.hardware.architectures import covers_capability
from gpuexplain.hardware.ladder import Rung, explain_gpu, explain_no_gpu
from gpuexplain.hardware.machine import GpuTraces, Platform
from gpuexplain.hardware.remedies import REMEDIES

NO_LIBRARY = "NVML Shared Library Not Found"
CONTAINER = Platform(
    hostname="box", machine_id="0", system="Debian", kernel="Linux 6.1", python="3.11", container="docker"
)
DRIVER = {"driver_version": "550.54.15", "cuda_driver_version": "12.4"}


def _with_gpu(**changes):
    gpu = make_gpu(**changes.pop("gpu", {}))
    return make_machine(gpus=(gpu,), **DRIVER | changes)


def _failing(error: str, **changes):
    return make_probe(devices=(make_device(kernel_ran=False, kernel_error=error),), is_available=True, **changes)


def _with_failed(error: str, **gpu):
    return _with_gpu(gpu={"not_reported": {"torch_device": error}} | gpu)


@pytest.mark.parametrize(
    ("machine", "probe", "rung", "explanation"),
    [
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY),
            None,
            Rung.NO_DRIVER,
            "No NVIDIA driver and no NVIDIA card was found (NVML Shared Library Not Found).",
            id="nothing there",
        ),
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY, platform=CONTAINER),
            None,
            Rung.NO_DRIVER,
            "No NVIDIA driver and no NVIDIA card was found inside this container (docker) "
            "(NVML Shared Library Not Found).",
            id="nothing in a container",
        ),
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY, traces=GpuTraces(vendors=("NVIDIA",))),
            None,
            Rung.NO_DRIVER,
            "An NVIDIA card is in this machine, but its driver is not (NVML Shared Library Not Found).",
            id="card without driver",
        ),
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY, traces=GpuTraces(vendors=("AMD", "Intel"))),
            None,
            Rung.OTHER_VENDOR,
            "The GPU here is from AMD and Intel; the installed torch only uses NVIDIA's.",
            id="other vendor",
        ),
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY, platform=CONTAINER, traces=GpuTraces(driver_module="550.54.15")),
            make_probe(error="Found no NVIDIA driver on your system."),
            Rung.CONTAINER_WITHOUT_DEVICE,
            "The host runs NVIDIA driver 550.54.15, but this process is not given the GPU.",
            id="container without library",
        ),
        pytest.param(
            make_machine(platform=CONTAINER, **DRIVER),
            None,
            Rung.CONTAINER_WITHOUT_DEVICE,
            "The driver 550.54.15 answers, but this container is given no GPU.",
            id="container without device",
        ),
        pytest.param(
            make_machine(nvml_error="RM has detected an NVML/RM version mismatch."),
            None,
            Rung.DRIVER_BROKEN,
            "The NVIDIA driver does not answer: RM has detected an NVML/RM version mismatch.",
            id="mismatch",
        ),
        pytest.param(
            make_machine(**DRIVER),
            None,
            Rung.NO_DEVICE,
            "The NVIDIA driver answers, but it reports no GPU.",
            id="no device",
        ),
        pytest.param(
            _with_gpu(torch_version=None),
            None,
            Rung.NO_TORCH,
            "torch is not installed in this Python environment.",
            id="no torch",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(version="not importable", error="libc10.so: cannot open"),
            Rung.NO_TORCH,
            "torch cannot be loaded: libc10.so: cannot open.",
            id="torch broken",
        ),
        pytest.param(
            _with_gpu(torch_version="2.13.0+cpu"),
            None,
            Rung.CPU_BUILD,
            "The driver reports NVIDIA A100-SXM4-80GB, but torch 2.13.0+cpu is a CPU-only build.",
            id="cpu build by name",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(cuda_build=None, error="Torch not compiled with CUDA enabled"),
            Rung.CPU_BUILD,
            "The driver reports NVIDIA A100-SXM4-80GB, but torch 2.13.0 is a CPU-only build.",
            id="cpu build",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(cuda_build="13.0"),
            Rung.DRIVER_TOO_OLD,
            "The driver 550.54.15 serves CUDA up to 12.4, but torch 2.13.0 was built for CUDA 13.0.",
            id="driver too old by version",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(error="The NVIDIA driver on your system is too old (found version 11040)."),
            Rung.DRIVER_TOO_OLD,
            "The GPU cannot be used: The NVIDIA driver on your system is too old (found version 11040).",
            id="driver too old by text",
        ),
        pytest.param(
            _with_gpu(environment_overrides={"CUDA_VISIBLE_DEVICES": ""}),
            make_probe(error="No CUDA GPUs are available"),
            Rung.HIDDEN,
            "torch sees no GPU. CUDA_VISIBLE_DEVICES is set to ''.",
            id="hidden",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(),
            Rung.HIDDEN,
            "torch sees no GPU, although the driver reports one.",
            id="unseen without a text",
        ),
        pytest.param(
            _with_gpu(gpu={"name": "Tesla V100", "compute_capability": "7.0"}),
            _failing("no kernel image"),
            Rung.ARCH_NOT_IN_WHEEL,
            "Tesla V100 has compute capability 7.0; torch 2.13.0 carries code for sm_75, sm_80, sm_86, sm_90 only.",
            id="architecture by list",
        ),
        pytest.param(
            _with_failed("CUDA error: no kernel image is available for execution on the device"),
            _failing("CUDA error: no kernel image is available for execution on the device", arch_list=()),
            Rung.ARCH_NOT_IN_WHEEL,
            "NVIDIA A100-SXM4-80GB cannot be used: CUDA error: no kernel image is available for execution on "
            "the device.",
            id="architecture by text",
        ),
        pytest.param(
            _with_failed("CUDA-capable device(s) is/are busy or unavailable", exclusive_mode=True),
            _failing("CUDA-capable device(s) is/are busy or unavailable"),
            Rung.BUSY_EXCLUSIVE,
            "NVIDIA A100-SXM4-80GB is held by another process. It is in exclusive mode: one process at a "
            "time. "
            "torch says: CUDA-capable device(s) is/are busy or unavailable.",
            id="busy",
        ),
        pytest.param(
            _with_gpu(gpu={"exclusive_mode": True, "compute_processes": 1}),
            make_probe(),
            Rung.BUSY_EXCLUSIVE,
            "NVIDIA A100-SXM4-80GB is held by another process. It is in exclusive mode: one process at a time.",
            id="busy by mode",
        ),
        pytest.param(
            _with_gpu(gpu={"mig_enabled": True}),
            make_probe(),
            Rung.MIG,
            "NVIDIA A100-SXM4-80GB is split by MIG, and no instance is given to this process.",
            id="mig",
        ),
        pytest.param(
            _with_gpu(gpu={"mig_enabled": True}),
            None,
            Rung.MIG,
            "NVIDIA A100-SXM4-80GB is split by MIG, and no instance is given to this process.",
            id="mig unprobed",
        ),
        pytest.param(
            _with_failed("CUDA out of memory. Tried to allocate 2.00 MiB."),
            _failing("CUDA out of memory."),
            Rung.OUT_OF_MEMORY,
            "NVIDIA A100-SXM4-80GB cannot be used: CUDA out of memory. Tried to allocate 2.00 MiB.",
            id="memory",
        ),
        pytest.param(
            _with_gpu(),
            make_probe(error="Error 802: system not yet initialized"),
            Rung.FABRIC_NOT_READY,
            "The GPU cannot be used: Error 802: system not yet initialized.",
            id="fabric manager",
        ),
        pytest.param(
            _with_failed("wrong result: the product differs from the CPU's by 1 of its size"),
            _failing("wrong result"),
            Rung.KERNEL_FAILED,
            "NVIDIA A100-SXM4-80GB cannot be used: wrong result: the product differs from the CPU's by 1 of its size.",
            id="wrong result",
        ),
    ],
)
def test_each_rung_explains_itself_and_says_what_to_do(machine, probe, rung, explanation):
    """The explanation holds what we had; the remedy is the rung's."""
    problem = explain_no_gpu(machine, probe)
    assert problem is not None
    assert (problem.rung, problem.explanation) == (rung.value, explanation)
    assert problem.remedy == REMEDIES[rung.value]


@pytest.mark.parametrize(
    ("machine", "probe"),
    [
        pytest.param(_with_gpu(), make_probe(devices=(make_device(),)), id="a kernel ran"),
        pytest.param(_with_gpu(), None, id="not tried yet"),
        pytest.param(
            make_machine(nvml_error=NO_LIBRARY), make_probe(devices=(make_device(),)), id="works without NVML"
        ),
        pytest.param(_with_gpu(gpu={"mig_enabled": True, "mig_uuid": MIG_UUIDS[0]}), None, id="an instance is given"),
    ],
)
def test_no_problem_is_claimed_without_evidence(machine, probe):
    """A GPU that works, or that nothing speaks against, has no problem."""
    assert explain_no_gpu(machine, probe) is None


def test_one_gpu_of_two_can_have_a_problem_of_its_own():
    """The second card is too old for the wheel; the first works."""
    old = make_gpu(name="Tesla V100", uuid="GPU-old", compute_capability="7.0")
    machine = make_machine(gpus=(make_gpu(torch_device="cuda:0"), old), **DRIVER)
    probe = make_probe(devices=(make_device(),))
    assert explain_gpu(machine.gpus[0], machine, probe) is None
    problem = explain_gpu(old, machine, probe)
    assert problem is not None
    assert problem.rung == Rung.ARCH_NOT_IN_WHEEL


def test_every_rung_has_a_remedy_that_ends_in_something_to_do():
    """No rung without a remedy, no remedy without a rung."""
    assert set(REMEDIES) == {rung.value for rung in Rung}


@pytest.mark.parametrize(
    ("arch_list", "capability", "covered"),
    [
        (("sm_86",), "8.9", True),
        (("sm_86",), "8.6", True),
        (("sm_86",), "8.0", False),
        (("sm_80",), "9.0", False),
        (("sm_80", "compute_80"), "9.0", True),
        (("compute_90",), "8.9", False),
        (("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"), "7.0", False),
        (("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"), "12.0", True),
        (("sm_90a",), "9.0", True),
        (("sm_100a",), "10.3", False),
        (("sm_100f",), "10.3", True),
        (("gfx90a",), "9.0", False),
        ((), "8.0", False),
        (("sm_80",), "", False),
    ],
)
def test_code_runs_within_its_major_version_and_ptx_on_anything_newer(arch_list, capability, covered):
    """The rule of the CUDA programming guide."""
    assert covers_capability(arch_list, capability) is covered
