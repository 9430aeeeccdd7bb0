"""The state of torch that every measurement sets and restores: dtypes, exact fp32, threads, devices."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch

from gpuexplain.errors import UnsupportedError
from gpuexplain.measuring.cuda import limit_device_memory
from gpuexplain.model import Dtype
from gpuexplain.settings import load_settings

TORCH_DTYPES: dict[Dtype, torch.dtype] = {
    Dtype.FP64: torch.float64,
    Dtype.FP32: torch.float32,
    Dtype.BF16: torch.bfloat16,
    Dtype.FP16: torch.float16,
}


class exact_fp32:
    """fp32 products really run in fp32 inside; the process's own setting comes back afterwards.

    One family of switches only: mixing torch's legacy TF32 flags with these raises.
    """

    def __enter__(self) -> None:
        self._before = (
            torch.backends.cuda.matmul.fp32_precision,
            torch.backends.mkldnn.matmul.fp32_precision,  # type: ignore[attr-defined]
        )
        torch.backends.cuda.matmul.fp32_precision = "ieee"
        torch.backends.mkldnn.matmul.fp32_precision = "ieee"  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        torch.backends.cuda.matmul.fp32_precision = self._before[0]
        torch.backends.mkldnn.matmul.fp32_precision = self._before[1]  # type: ignore[attr-defined]


@contextmanager
def exact_convolutions() -> Iterator[None]:
    """fp32 convolutions really run in fp32 inside, as products do; the process's own setting comes back."""
    switches = (torch.backends.cudnn.conv, torch.backends.mkldnn.conv)  # type: ignore[attr-defined]
    before = [switch.fp32_precision for switch in switches]
    for switch in switches:
        switch.fp32_precision = "ieee"
    try:
        yield
    finally:
        for switch, precision in zip(switches, before, strict=True):
            switch.fp32_precision = precision


def use_threads(threads: int) -> None:
    """Let torch use this many CPU threads.

    Raises:
        UnsupportedError: If torch then uses another number.
    """
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
        if torch.get_num_threads() != threads:
            raise UnsupportedError(f"torch uses {torch.get_num_threads()} threads where {threads} were asked.")


def use_devices(devices: Iterable[str]) -> None:
    """Make each GPU current (events and the blocking kernel go there) and cap what a run may take of it."""
    for device in devices:
        if device != "cpu":
            torch.cuda.set_device(device)
            limit_device_memory(device, load_settings().max_device_memory)
