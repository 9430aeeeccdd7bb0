"""What torch's exceptions mean for a case; no GPU is needed to say so."""

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.measuring.cuda import explained_errors  # noqa: E402
from gpuexplain.measuring.stopwatch import DeviceLostError, LaunchLimitError, OutOfMemoryError  # noqa: E402

NO_MEMORY = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB"
CPU_NO_MEMORY = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried to allocate"
OUTCOMES = {
    "out of memory": (torch.OutOfMemoryError(NO_MEMORY), OutOfMemoryError, NO_MEMORY),
    "host memory": (RuntimeError(CPU_NO_MEMORY), OutOfMemoryError, CPU_NO_MEMORY),
    "python memory": (MemoryError(), OutOfMemoryError, "MemoryError"),
    "driver's own": (RuntimeError("CUDA error: out of memory"), OutOfMemoryError, "CUDA error: out of memory"),
    "cuBLAS workspace": (
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        OutOfMemoryError,
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
    "launch limit": (
        RuntimeError("CUDA error: invalid configuration argument"),
        LaunchLimitError,
        "The device refuses this launch (not for lack of memory): CUDA error: invalid configuration argument",
    ),
    "no such kernel": (
        RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'"),
        UnsupportedError,
        "Not supported here: \"addmm_impl_cpu_\" not implemented for 'Half'",
    ),
    "cuBLAS refuses": (
        RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx`"),
        UnsupportedError,
        "Not supported here: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx`",
    ),
    "CPU build": (
        AssertionError("Torch not compiled with CUDA enabled"),
        UnsupportedError,
        "Not supported here: Torch not compiled with CUDA enabled",
    ),
    "no backend": (
        NotImplementedError("aten::mm is not supported on this backend"),
        UnsupportedError,
        "Not supported here: aten::mm is not supported on this backend",
    ),
    "illegal access": (
        RuntimeError("CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronous"),
        DeviceLostError,
        "The device failed: CUDA error: an illegal memory access was encountered. The measuring process is restarted.",
    ),
    "no words": (
        RuntimeError(),
        DeviceLostError,
        "The device failed: RuntimeError. The measuring process is restarted.",
    ),
}


@pytest.mark.parametrize(("raised", "outcome", "text"), OUTCOMES.values(), ids=list(OUTCOMES))
def test_each_error_becomes_its_outcome(raised: Exception, outcome: type[Exception], text: str) -> None:
    """Memory, launch limit and "not supported" end a case; anything else ends the process."""
    with pytest.raises(outcome) as found, explained_errors():
        raise raised
    assert str(found.value) == text


def test_an_error_of_ours_passes_through() -> None:
    """A case that says itself that it is not supported keeps its words."""
    with pytest.raises(UnsupportedError, match=r"^torch uses 2 threads\.$"), explained_errors():
        raise UnsupportedError("torch uses 2 threads.")


def test_out_of_memory_does_not_keep_the_exception_that_holds_the_tensors() -> None:
    """Freeing and going on would be impossible while it lives."""
    with pytest.raises(OutOfMemoryError) as found, explained_errors():
        raise torch.OutOfMemoryError(NO_MEMORY)
    assert found.value.__cause__ is None


def test_real_exhaustion_of_host_memory_is_out_of_memory() -> None:
    """torch's own words for 1 PiB, not ours."""
    with pytest.raises(OutOfMemoryError, match="allocate"), explained_errors():
        torch.empty(2**50, dtype=torch.uint8)
