"""What does torch say about this machine, and does a real kernel run on each of its GPUs?

Call it first in the measuring process: denormals must be flushed before torch starts its threads.
"""

import importlib
import warnings
from typing import Any

from gpuexplain.hardware.machine import TorchDevice, TorchProbe

# What torch raises when asked about CUDA: RuntimeError (with its out-of-memory and accelerator
# errors), AssertionError in a CPU build, the others where a version lacks a function.
TORCH_ERRORS = (RuntimeError, AssertionError, AttributeError, TypeError, ValueError, OSError)

_DENORMAL_BITS = 71_362  # 1.0e-40 in fp32, written as bits because the flag would erase the number
_THREADED_LENGTH = 1 << 20  # far above torch's grain of 32,768 values per thread
_KERNEL_SIDE = 64
_KERNEL_TOLERANCE = 1e-2  # tf32 errs by 3e-4; a wrong kernel by about 1


def probe_torch(threads: int, torch: Any = None) -> TorchProbe:
    """Flush denormals, set the threads, and ask torch about its GPUs; every failure becomes text.

    Args:
        threads: CPU threads to use; read back into the result.
        torch: The torch module, or a stand-in in tests; imported when None.
    """
    if torch is None:
        try:
            torch = importlib.import_module("torch")
        except (ImportError, OSError) as error:
            return TorchProbe(version="not importable", error=_first_line(error))
    # First, before any operation starts the thread pool: later threads inherit the flag.
    torch.set_flush_denormal(True)
    torch.set_num_threads(max(1, threads))
    available, devices, why = _ask_cuda(torch)
    return TorchProbe(
        version=str(torch.__version__),
        cuda_build=torch.version.cuda,
        rocm_build=getattr(torch.version, "hip", None),
        arch_list=_read_arch_list(torch),
        is_available=available,
        threads=torch.get_num_threads(),
        flush_denormals=flushes_denormals(torch),
        devices=devices,
        error=why,
    )


def flushes_denormals(torch: Any) -> bool:
    """Return whether a threaded multiplication really turns denormals into zeros, in every thread."""
    try:
        bits = torch.full((_THREADED_LENGTH,), _DENORMAL_BITS, dtype=torch.int32)
        product = bits.view(torch.float32) * 1.0
        return int(torch.count_nonzero(product.view(torch.int32))) == 0
    except TORCH_ERRORS:
        return False


def _ask_cuda(torch: Any) -> tuple[bool, tuple[TorchDevice, ...], str]:
    """Return (is_available, devices, why there are none)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # torch tells of an old driver or a missing architecture this way
        try:
            available = bool(torch.cuda.is_available())
            if not available:
                torch.cuda.init()  # is_available() is silent; init() says what is wrong
            count = torch.cuda.device_count()
            devices = tuple(_probe_device(torch, index) for index in range(count))
        except TORCH_ERRORS as error:
            return False, (), _first_line(error)
    told = "" if devices else " ".join(str(warning.message) for warning in caught)
    return available, devices, told


def _read_arch_list(torch: Any) -> tuple[str, ...]:
    try:
        return tuple(torch.cuda.get_arch_list())
    except TORCH_ERRORS:
        return ()


def _probe_device(torch: Any, index: int) -> TorchDevice:
    device = f"cuda:{index}"
    try:
        properties = torch.cuda.get_device_properties(index)
    except TORCH_ERRORS as error:
        return _unknown_device(device, _first_line(error))
    error_text = _run_kernel(torch, device)
    return TorchDevice(
        device=device,
        name=str(properties.name),
        uuid=str(getattr(properties, "uuid", "")),
        compute_capability=f"{properties.major}.{properties.minor}",
        total_bytes=int(properties.total_memory),
        multiprocessors=int(properties.multi_processor_count),
        kernel_ran=not error_text,
        kernel_error=error_text,
        bf16_native=_has_native_bf16(torch, index),
    )


def _unknown_device(device: str, error: str) -> TorchDevice:
    return TorchDevice(
        device=device,
        name="unknown GPU",
        uuid="",
        compute_capability="",
        total_bytes=0,
        multiprocessors=0,
        kernel_ran=False,
        kernel_error=error,
    )


def _run_kernel(torch: Any, device: str) -> str:
    """Multiply two small matrices on ``device``; return "" if the CPU agrees, else what went wrong."""
    try:
        generator = torch.Generator().manual_seed(0)
        left = torch.rand(_KERNEL_SIDE, _KERNEL_SIDE, generator=generator) * 2 - 1
        right = torch.rand(_KERNEL_SIDE, _KERNEL_SIDE, generator=generator) * 2 - 1
        expected = left @ right
        got = (left.to(device) @ right.to(device)).cpu()
        error = float((got - expected).norm() / expected.norm())
    except TORCH_ERRORS as problem:
        return _first_line(problem)
    if not error <= _KERNEL_TOLERANCE:  # also true for NaN
        return f"wrong result: the product differs from the CPU's by {error:.2g} of its size"
    return ""


def _has_native_bf16(torch: Any, index: int) -> bool | None:
    """Return whether bf16 runs in hardware; None where torch does not tell emulation apart."""
    try:
        with torch.cuda.device(index):  # the question is about the current device
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    except TORCH_ERRORS:
        return None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
