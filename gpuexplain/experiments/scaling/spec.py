"""What can be asked of more devices: one training step on 1, 2, 4 ... of them, and what they exchange (no torch)."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params

EXPERIMENT_ID = "scaling"
# 1: first release.
MEASURING_VERSION = 1

STRONG = "strong"  # one batch, shared out
WEAK = "weak"  # the same batch on every device
SILENT = "strong_silent"  # as STRONG, gradients not exchanged: what the computing alone takes
ALL_REDUCE = "all_reduce"  # the exchange alone, by its size

MOST_DEVICES = 8
MESSAGE_BYTES = tuple(2**e for e in range(10, 25, 2))  # 1 KiB to 16 MiB
VALUE_BYTES = BYTES_PER_VALUE[Dtype.FP32]


class ScalingParams(Params):
    """The training step that is shared out."""

    batch: int = Field(default=256, ge=8, le=65_536, title="Batch", description="examples in all, 8 to 65536")
    width: int = Field(default=512, ge=8, le=8192, title="Width", description="inputs and outputs, 8 to 8192")
    depth: int = Field(default=4, ge=1, le=64, title="Depth", description="layers, 1 to 64")


def device_counts(device: str, machine: Machine) -> list[int]:
    """Return how many devices to use in turn: powers of two of the GPUs, or of processes on the CPU's threads."""
    most = len([name for name in machine.devices if name != CPU]) if device != CPU else machine.cpu.usable_threads
    most = max(1, min(most, MOST_DEVICES))
    return sorted({*(2**e for e in range(most.bit_length()) if 2**e <= most), most})


def threads_per_process(device: str, machine: Machine) -> int:
    """Return the CPU threads of one process: the same for every count, so that only the count changes."""
    return max(1, machine.cpu.usable_threads // max(device_counts(device, machine)))


def plan_cases(params: ScalingParams, machine: Machine) -> Sequence[Case]:
    """Return the steps on every count of devices, and the exchanges on all of them.

    Raises:
        InputError: If the device cannot be used here.
    """
    return list(_cases(params, resolve_device(params, machine), machine))


def _cases(params: ScalingParams, device: str, machine: Machine) -> Iterator[Case]:
    counts, threads = device_counts(device, machine), threads_per_process(device, machine)
    where = CPU if device == CPU else device
    weights = params.depth * params.width * params.width

    def case(series: str, x: float, shape: tuple[int, ...], flops: float, moved: float, items: float) -> Case:
        return Case(
            series=series, x=x, shape=shape, dtype=Dtype.FP32, device=where, clock=Clock.CALL,
            threads=threads if device == CPU else None, flops=flops, bytes_moved=moved,
            memory_bytes=4 * VALUE_BYTES * weights, explicit=True, items=items,
        )  # fmt: skip

    # The step of one device comes last: before it there is nothing to compare with, and nothing to say.
    for count in reversed(counts):
        for series in (WEAK, SILENT, STRONG):
            if series == SILENT and count == 1:
                continue  # one device has nobody to talk to
            per_device = params.batch if series == WEAK else -(-params.batch // count)
            examples = per_device * count
            shape = (count, per_device, params.width, params.depth)
            yield case(
                series, float(count), shape, 6.0 * weights * examples, float(VALUE_BYTES * weights), float(examples)
            )
    if counts[-1] > 1:
        for size in MESSAGE_BYTES:
            yield case(ALL_REDUCE, float(size), (counts[-1], size), 0.0, float(size), 0.0)
