"""The exact words about a machine."""

import pytest

from gpuexplain.hardware.machine import (
    Cpu,
    Gpu,
    GpuProblem,
    Machine,
    Memory,
    Platform,
    TorchDevice,
    TorchProbe,
)
from gpuexplain.wording import machine_words
from gpuexplain.wording.gpu_words import tell_gpu_line, tell_gpu_rows, tell_reference_peak
from gpuexplain.wording.machine_words import (
    CPU_GOES_ON,
    UNVERIFIED,
    VERIFIED,
    doctor_rows,
    tell_cache,
    tell_machine_card,
    tell_memory,
    tell_threads,
)

GIB = 2**30
CPU = Cpu(
    model="AMD EPYC 7763",
    architecture="x86_64",
    logical_cpus=64,
    affinity_cpus=64,
    usable_threads=64,
    units=("AVX2",),
    last_level_cache_bytes=256 * 2**20,
    not_reported={"max_mhz": "the kernel does not show a frequency range"},
)
A100 = Gpu(
    name="NVIDIA A100-SXM4-80GB",
    uuid="GPU-1",
    memory_total_bytes=80 * GIB,
    compute_capability="8.0",
    torch_device="cuda:0",
)
PROBLEM = GpuProblem(rung="no_driver", explanation="No NVIDIA driver was found.", remedy="Install it.")
MACHINE = Machine(
    cpu=CPU,
    memory=Memory(total_bytes=64 * GIB, available_bytes=48 * GIB),
    platform=Platform(hostname="box", machine_id="0", system="Debian 12", kernel="Linux 6.1", python="3.11.7"),
    torch_version="2.13.0",
    nvml_error="NVML Shared Library Not Found",
    gpu_problem=PROBLEM,
)
PROBE = TorchProbe(version="2.13.0", cuda_build="12.6", arch_list=("sm_80",), threads=64, flush_denormals=True)
PROBED = TorchDevice(
    device="cuda:0",
    name="A100",
    uuid="1",
    compute_capability="8.0",
    total_bytes=1,
    multiprocessors=108,
    kernel_ran=True,
    bf16_native=True,
)


def _plain(text: str) -> str:
    """Return the text with ordinary spaces, as the eye reads it."""
    return text.replace("\u00a0", " ")


def _with(**changes) -> Machine:
    return MACHINE.model_copy(update=changes)


def _rows(machine: Machine, title: str) -> dict[str, str]:
    section = next(section for section in doctor_rows(machine) if section.title == title)
    return {label: _plain(text) for label, text in section.rows}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "64, one for each logical CPU"),
        (
            {"affinity_cpus": 8, "usable_threads": 8},
            "8 of 64, because this process may run on 8 of them",
        ),
        (
            {"quota_cpus": 4.5, "usable_threads": 4},
            "4 of 64, because the CPU quota of this group is 4.5 CPUs",
        ),
        (
            {"quota_cpus": 1.0, "usable_threads": 1},
            "1 of 64, because the CPU quota of this group is 1 CPU",
        ),
        ({"quota_cpus": 100.0}, "64, one for each logical CPU"),
    ],
    ids=["all", "affinity", "quota", "quota of one", "quota above the machine"],
)
def test_the_number_of_threads_comes_with_its_reason(changes, words):
    """Nobody should wonder why not all CPUs are used."""
    assert tell_threads(CPU.model_copy(update=changes)) == words


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (Memory(total_bytes=64 * GIB, available_bytes=48 * GIB), "64.0 GiB, 48.0 GiB available"),
        (
            Memory(
                total_bytes=64 * GIB,
                available_bytes=48 * GIB,
                cgroup_limit_bytes=4 * GIB,
                cgroup_free_bytes=3 * GIB,
            ),
            "3.00 GiB usable under a limit of 4.00 GiB (the machine has 64.0 GiB)",
        ),
    ],
    ids=["no limit", "limit"],
)
def test_memory_names_its_limit(memory, words):
    """The room left counts, not the machine's memory."""
    assert _plain(tell_memory(memory)) == words


def test_a_virtual_machines_cache_is_told_with_doubt():
    """It may be the whole host's."""
    assert _plain(tell_cache(CPU, in_virtual_machine=False)) == "256 MiB"
    assert _plain(tell_cache(CPU, in_virtual_machine=True)) == (
        "256 MiB (as the virtual machine reports it; our share may be far smaller)"
    )


def test_the_card_of_a_machine_without_a_gpu_says_why_and_what_works():
    """The reason comes before the comfort."""
    card = tell_machine_card(MACHINE)
    assert card.headline == "AMD EPYC 7763, 64 threads · no usable GPU"
    assert [_plain(line) for line in card.lines] == [
        "CPU: AMD EPYC 7763",
        "Threads: 64, one for each logical CPU",
        "Memory: 64.0 GiB, 48.0 GiB available",
        "Vector and matrix units: AVX2",
        "No GPU to measure with: No NVIDIA driver was found.",
        CPU_GOES_ON,
    ]
    assert card.problem == PROBLEM


def test_without_torch_no_comfort_is_offered():
    """Then the CPU cannot measure either."""
    problem = GpuProblem(rung="no_torch", explanation="torch is not installed.", remedy="Install it.")
    lines = tell_machine_card(_with(gpu_problem=problem)).lines
    assert lines[-1] == "No GPU to measure with: torch is not installed."


def test_a_reason_that_belongs_to_one_gpu_is_told_once():
    """The GPU's own line carries it."""
    gpu = A100.model_copy(update={"torch_device": None, "problem": PROBLEM})
    lines = tell_machine_card(_with(gpus=(gpu,), torch=PROBE)).lines
    assert sum(PROBLEM.explanation in line for line in lines) == 1
    assert lines[-1] == CPU_GOES_ON


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({"gpus": (A100,), "gpu_problem": None}, "AMD EPYC 7763, 64 threads · NVIDIA A100-SXM4-80GB"),
        (
            {"gpus": (A100, A100), "gpu_problem": None},
            "AMD EPYC 7763, 64 threads · 2 × NVIDIA A100-SXM4-80GB",
        ),
        (
            {"gpus": (A100.model_copy(update={"torch_device": None}),), "gpu_problem": None},
            "AMD EPYC 7763, 64 threads · NVIDIA A100-SXM4-80GB (not tried yet)",
        ),
        (
            {"cpu": CPU.model_copy(update={"model": None, "usable_threads": 1})},
            "x86_64 CPU, 1 thread · no usable GPU",
        ),
    ],
    ids=["one", "two equal", "untried", "unnamed cpu"],
)
def test_the_headline_fits_every_machine(changes, headline):
    """CPU, threads, GPU."""
    assert tell_machine_card(_with(**changes)).headline == headline


@pytest.mark.parametrize(
    ("changes", "probed", "line"),
    [
        ({}, True, "GPU cuda:0: NVIDIA A100-SXM4-80GB, 80.0 GiB, compute capability 8.0"),
        (
            {"torch_device": None},
            False,
            "GPU not tried yet: NVIDIA A100-SXM4-80GB, 80.0 GiB, compute capability 8.0",
        ),
        (
            {"torch_device": None},
            True,
            "GPU not usable: NVIDIA A100-SXM4-80GB, 80.0 GiB, compute capability 8.0",
        ),
        (
            {
                "torch_device": None,
                "problem": PROBLEM,
                "memory_total_bytes": None,
                "compute_capability": None,
            },
            True,
            "GPU not usable: NVIDIA A100-SXM4-80GB. No NVIDIA driver was found.",
        ),
        (
            {"torch_device": None, "not_reported": {"torch_device": "not offered: GPUEXPLAIN_DEVICES=cpu"}},
            True,
            "GPU not used: NVIDIA A100-SXM4-80GB, 80.0 GiB, compute capability 8.0 "
            "(not offered: GPUEXPLAIN_DEVICES=cpu)",
        ),
    ],
    ids=["usable", "untried", "unusable", "problem", "not offered"],
)
def test_a_gpus_line_says_whether_it_can_be_used(changes, probed, line):
    """Seen is not used."""
    assert _plain(tell_gpu_line(A100.model_copy(update=changes), probed)) == line


def test_doctor_shows_every_section_in_order():
    """One section for each GPU."""
    titles = [section.title for section in doctor_rows(_with(gpus=(A100,)))]
    assert titles == [
        "System",
        "CPU",
        "Memory",
        "GPU support",
        "GPU 0: NVIDIA A100-SXM4-80GB",
        "Environment",
    ]


def test_doctor_says_what_is_not_reported_and_why():
    """Never 0, never an empty cell."""
    assert _rows(MACHINE, "CPU") == {
        "Model": "AMD EPYC 7763",
        "Architecture": "x86_64",
        "Threads": "64, one for each logical CPU",
        "Vector and matrix units": "AVX2",
        "Last-level cache": "256 MiB",
        "Highest clock": "not reported (the kernel does not show a frequency range)",
    }


def test_doctor_says_why_there_is_no_gpu(monkeypatch):
    """Without a recording the CUDA path is called unverified."""
    monkeypatch.setattr(machine_words, "cuda_path_verified", lambda: False)
    assert _rows(MACHINE, "GPU support") == {
        "NVIDIA driver": "not reported (NVML Shared Library Not Found)",
        "CUDA of the driver": "not reported (NVML Shared Library Not Found)",
        "torch": "2.13.0 (not started yet)",
        "CUDA measuring path": UNVERIFIED,
        "Why no GPU": "No NVIDIA driver was found.",
        "What to do": "Install it.",
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "2.13.0, built for CUDA 12.6: sm_80"),
        ({"cuda_build": None}, "2.13.0, built for the CPU only"),
        ({"cuda_build": None, "rocm_build": "6.4"}, "2.13.0, built for ROCm 6.4"),
    ],
    ids=["cuda", "cpu", "rocm"],
)
def test_doctor_names_the_build_of_torch(monkeypatch, changes, words):
    """With a recording the CUDA path is verified."""
    monkeypatch.setattr(machine_words, "cuda_path_verified", lambda: True)
    rows = _rows(_with(torch=PROBE.model_copy(update=changes), gpu_problem=None), "GPU support")
    assert rows["torch"] == words
    assert rows["CUDA measuring path"] == VERIFIED
    assert rows["Denormal numbers"] == "flushed to zero in every thread"
    assert rows["Threads in the worker"] == "64"


def test_doctor_tells_every_fact_of_a_gpu():
    """Facts the driver refused carry its reason."""
    gpu = A100.model_copy(
        update={
            "pcie_generation": 1,
            "pcie_width": 16,
            "pcie_generation_max": 4,
            "pcie_width_max": 16,
            "power_limit_w": 400.0,
            "mig_enabled": False,
            "exclusive_mode": False,
            "compute_processes": 0,
            "not_reported": {"temperature_c": "NVML: Not Supported"},
        }
    )
    rows = {label: _plain(text) for label, text in tell_gpu_rows(gpu, PROBED)}
    assert rows["torch device"] == "cuda:0, a real kernel ran"
    assert rows["Power limit"] == "400 W"
    assert rows["Temperature"] == "not reported (NVML: Not Supported)"
    assert rows["Exclusive mode"] == "no"
    assert rows["Other compute processes"] == "0"
    assert rows["PCIe link"] == ("generation 1 x16 now (an idle link reports less), at most generation 4 x16")
    assert rows["MIG"] == "off"
    assert rows["bf16"] == "native"
    assert rows["Reference peak"].startswith("fp32 19.5 TFLOP/s, tf32 156 TFLOP/s, bf16 312 TFLOP/s, dense; ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mig_enabled": True, "mig_uuid": "MIG-1"}, "on; this is an instance"),
        ({"mig_enabled": True}, "on, without an instance for this process"),
        ({}, "not reported"),
    ],
)
def test_mig_is_told(changes, words):
    """A split card without an instance cannot work."""
    assert dict(tell_gpu_rows(A100.model_copy(update=changes), None))["MIG"] == words


def test_an_unknown_gpu_cannot_be_judged():
    """No peak is guessed from a similar name."""
    assert tell_reference_peak("Mystery 9000") == ("not known for this name: rates cannot be judged against a peak")


def test_variables_that_change_results_are_listed():
    """An empty one is set, too."""
    assert _rows(MACHINE, "Environment") == {"Variables that change results": "none set"}
    machine = _with(environment_overrides={"OMP_NUM_THREADS": "4", "CUDA_VISIBLE_DEVICES": ""})
    assert _rows(machine, "Environment") == {
        "CUDA_VISIBLE_DEVICES": "set, but empty",
        "OMP_NUM_THREADS": "4",
    }
