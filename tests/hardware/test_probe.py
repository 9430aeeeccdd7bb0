"""What torch is asked, in which order, and how its failures become text."""

from types import SimpleNamespace
from typing import Any

import pytest
from hardware_fakes import UUID, make_probe

from gpuexplain.measuring.probe import probe_torch

NO_KERNEL = "CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors ..."


class _Context:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class FakeCuda:
    """The part of ``torch.cuda`` that the probe asks."""

    def __init__(self, count: int, init_error: Exception | None, arch_list: list[str], bf16: Any) -> None:
        self.count, self.init_error, self.arch_list, self.bf16 = count, init_error, arch_list, bf16

    def is_available(self) -> bool:
        return self.count > 0

    def init(self) -> None:
        if self.init_error:
            raise self.init_error

    def device_count(self) -> int:
        return self.count

    def get_arch_list(self) -> list[str]:
        return self.arch_list

    def get_device_properties(self, index: int) -> Any:
        return SimpleNamespace(
            name="NVIDIA A100-SXM4-80GB",
            uuid=UUID.removeprefix("GPU-"),
            major=8,
            minor=0,
            total_memory=80 * 2**30,
            multi_processor_count=108,
        )

    def device(self, index: int) -> _Context:
        return _Context()

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        if isinstance(self.bf16, Exception):
            raise self.bf16
        return bool(self.bf16) or including_emulation


class FakeMatrix:
    """A matrix that is only its distance from the right answer; moving it may fail."""

    def __init__(self, torch: "FakeTorch", error: float = 0.0) -> None:
        self.torch, self.error = torch, error

    def __mul__(self, other: float) -> "FakeMatrix":
        return self

    def __sub__(self, other: Any) -> "FakeMatrix":
        return FakeMatrix(self.torch, self.error)

    def __matmul__(self, other: "FakeMatrix") -> "FakeMatrix":
        return FakeMatrix(self.torch, max(self.error, other.error))

    def to(self, device: str) -> "FakeMatrix":
        if self.torch.kernel_error:
            raise self.torch.kernel_error
        return FakeMatrix(self.torch, self.torch.wrong_by)

    def cpu(self) -> "FakeMatrix":
        return self

    def norm(self) -> float:
        return self.error or 1e-9

    def view(self, dtype: str) -> "FakeMatrix":
        return self


class FakeTorch:
    """A torch of any build; ``calls`` keeps the order of what must be ordered."""

    int32, float32 = "int32", "float32"

    def __init__(
        self,
        cuda_build: str | None = "12.6",
        count: int = 0,
        init_error: Exception | None = None,
        kernel_error: Exception | None = None,
        wrong_by: float = 1e-9,
        bf16: Any = True,
        denormals_left: int = 0,
    ) -> None:
        self.__version__ = "2.13.0"
        self.version = SimpleNamespace(cuda=cuda_build, hip=None)
        self.cuda = FakeCuda(count, init_error, ["sm_80", "sm_90"] if cuda_build else [], bf16)
        self.kernel_error, self.wrong_by, self.denormals_left = kernel_error, wrong_by, denormals_left
        self.calls: list[str] = []
        self.threads = 64

    def set_flush_denormal(self, on: bool) -> bool:
        self.calls.append("flush")
        return on

    def set_num_threads(self, threads: int) -> None:
        self.calls.append("threads")
        self.threads = threads

    def get_num_threads(self) -> int:
        return self.threads

    def full(self, shape: tuple[int, ...], bits: int, dtype: str) -> FakeMatrix:
        self.calls.append("operation")
        return FakeMatrix(self)

    def count_nonzero(self, matrix: FakeMatrix) -> int:
        return self.denormals_left

    def Generator(self) -> Any:
        return SimpleNamespace(manual_seed=lambda seed: None)

    def rand(self, rows: int, columns: int, generator: Any) -> FakeMatrix:
        self.calls.append("operation")
        # The reference is the size of the right product, so that an error of 1 is all of it.
        return FakeMatrix(self, 1.0)


def test_denormals_are_flushed_before_any_operation():
    """Later threads inherit the flag; earlier ones never get it."""
    torch = FakeTorch(count=1)
    probe = probe_torch(4, torch)
    assert torch.calls[:2] == ["flush", "threads"]
    assert (probe.threads, probe.flush_denormals) == (4, True)


def test_a_thread_that_keeps_denormals_is_noticed():
    """The flag is read back by what it does."""
    assert probe_torch(4, FakeTorch(denormals_left=1)).flush_denormals is False


@pytest.mark.parametrize(
    ("torch", "build", "error"),
    [
        (
            FakeTorch(cuda_build=None, init_error=AssertionError("Torch not compiled with CUDA enabled")),
            None,
            "Torch not compiled with CUDA enabled",
        ),
        (
            FakeTorch(init_error=RuntimeError("Found no NVIDIA driver on your system. Please check ...")),
            "12.6",
            "Found no NVIDIA driver on your system. Please check ...",
        ),
        (FakeTorch(), "12.6", ""),
    ],
    ids=["cpu build", "no driver", "silent"],
)
def test_a_torch_without_a_gpu_says_why(torch, build, error):
    """is_available() is silent; the reason comes from asking for the device."""
    probe = probe_torch(2, torch)
    assert (probe.cuda_build, probe.is_available, probe.devices, probe.error) == (build, False, (), error)


def test_a_working_gpu_is_described_and_its_kernel_ran():
    """The facts come from torch, the verdict from a product."""
    (device,) = probe_torch(2, FakeTorch(count=1)).devices
    assert (device.device, device.uuid, device.compute_capability) == ("cuda:0", UUID[4:], "8.0")
    assert (device.total_bytes, device.multiprocessors, device.bf16_native) == (80 * 2**30, 108, True)
    assert (device.kernel_ran, device.kernel_error) == (True, "")


@pytest.mark.parametrize(
    ("torch", "error"),
    [
        (
            FakeTorch(count=1, kernel_error=RuntimeError(NO_KERNEL)),
            "CUDA error: no kernel image is available for execution on the device",
        ),
        (
            FakeTorch(count=1, wrong_by=1.0),
            "wrong result: the product differs from the CPU's by 1 of its size",
        ),
        (
            FakeTorch(count=1, wrong_by=float("nan")),
            "wrong result: the product differs from the CPU's by nan of its size",
        ),
        (FakeTorch(count=1, kernel_error=RuntimeError()), "RuntimeError"),
    ],
    ids=["no kernel", "wrong", "nan", "no text"],
)
def test_a_gpu_whose_kernel_fails_keeps_the_reason(torch, error):
    """A device can be available while nothing runs on it, or runs wrong."""
    (device,) = probe_torch(2, torch).devices
    assert (device.kernel_ran, device.kernel_error) == (False, error)


@pytest.mark.parametrize(("bf16", "native"), [(True, True), (False, False), (TypeError("unexpected keyword"), None)])
def test_emulated_bf16_is_not_native(bf16, native):
    """A torch that cannot tell emulation apart answers nothing."""
    (device,) = probe_torch(2, FakeTorch(count=1, bf16=bf16)).devices
    assert device.bf16_native is native


def test_a_torch_that_cannot_be_imported_is_told(monkeypatch):
    """A broken installation is a reason, not a crash."""

    def fail(name: str) -> None:
        raise OSError("libcudnn.so.9: cannot open shared object file")

    monkeypatch.setattr("gpuexplain.measuring.probe.importlib.import_module", fail)
    probe = probe_torch(2)
    assert (probe.version, probe.error) == (
        "not importable",
        "libcudnn.so.9: cannot open shared object file",
    )


@pytest.mark.torch
def test_the_installed_torch_answers():
    """In a fresh process, as in the worker: denormals flushed in every thread, threads as asked."""
    import subprocess
    import sys

    code = "from gpuexplain.measuring.probe import probe_torch; print(probe_torch(2).model_dump_json())"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    probe = type(make_probe()).model_validate_json(answer.stdout)
    assert (probe.threads, probe.flush_denormals) == (2, True)
    assert probe.is_available or probe.error
