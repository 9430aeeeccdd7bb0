"""What can be asked of "many workers": threads, the same sum in four ways, and the blocks of a GPU (no torch)."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Case, Clock, Dtype, Params

EXPERIMENT_ID = "workers"
# 1: first release. 2: blocks carry the number of multiprocessors that they were planned for.
MEASURING_VERSION = 2

THREADS = "threads"  # one product, by the number of CPU threads
SUM_LOOP = "sum_python_loop"
SUM_NUMPY = "sum_numpy"
SUM_ONE = "sum_torch_1_thread"
SUM_ALL = "sum_torch_all_threads"
SUMS = (SUM_LOOP, SUM_NUMPY, SUM_ONE, SUM_ALL)
BLOCKS = "gpu_blocks"  # equal blocks of work, by their number
UNIFORM = "gpu_uniform"  # neighbouring threads take the same path
DIVERGENT = "gpu_divergent"  # neighbouring threads take different ones

N_NUMBERS = 2**20
MOST_THREAD_COUNTS = 8
# Blocks are tried up to this many full rounds of the multiprocessors, at these shares of a round.
BLOCK_ROUNDS = 4
BLOCK_SHARES = (0.25, 0.5, 0.75, 1.0)
# Multiply-adds per element that the two paths share out between them.
DIVERGENT_ELEMENTS = 2**20


class WorkersParams(Params):
    """Which product the threads share."""

    side: Literal["256", "512", "1024", "2048"] = Field(default="1024", title="n", description="256, 512, 1024 or 2048")


def thread_counts(most: int) -> list[int]:
    """Return the counts to try: every one up to eight, else powers of two and the last."""
    if most <= MOST_THREAD_COUNTS:
        return list(range(1, most + 1))
    powers = [2**e for e in range(most.bit_length()) if 2**e <= most]
    return sorted({*powers, most})


def block_counts(multiprocessors: int) -> list[int]:
    """Return the numbers of blocks to launch: parts of each round of the multiprocessors, and one more."""
    counts = {1}
    for done in range(BLOCK_ROUNDS):
        counts |= {done * multiprocessors + max(1, round(share * multiprocessors)) for share in BLOCK_SHARES}
        counts.add((done + 1) * multiprocessors + 1)  # one block too many: a whole further round
    return sorted(counts)


def plan_cases(params: WorkersParams, machine: Machine) -> Sequence[Case]:
    """Return the cases: threads and sums on the CPU; with a GPU its blocks and its two paths too.

    Raises:
        InputError: If the device cannot be used here.
    """
    device = resolve_device(params, machine)
    cases = [*_thread_cases(int(params.side), machine), *_sum_cases(machine)]
    if device != CPU:
        cases += _gpu_cases(device, machine)
    return cases


def _case(series: str, x: float, shape: tuple[int, ...], threads: int | None, flops: float, **more: object) -> Case:
    known: dict[str, object] = {
        "dtype": Dtype.FP32, "device": CPU, "clock": Clock.CALL, "bytes_moved": 0.0, "memory_bytes": 0,
        "explicit": True,  # few cases, each of them needed for the answer
    }  # fmt: skip
    return Case(series=series, x=x, shape=shape, threads=threads, flops=flops, **{**known, **more})  # type: ignore[arg-type]


def _thread_cases(side: int, machine: Machine) -> Iterator[Case]:
    for count in thread_counts(machine.cpu.usable_threads):
        yield _case(THREADS, float(count), (side, side, side, count), count, 2.0 * side**3, memory_bytes=12 * side**2)


def _sum_cases(machine: Machine) -> Iterator[Case]:
    threads = {SUM_ALL: machine.cpu.usable_threads}
    for series in SUMS:
        moved = {"bytes_moved": 4.0 * N_NUMBERS, "memory_bytes": 64 * N_NUMBERS}
        yield _case(series, float(N_NUMBERS), (N_NUMBERS,), threads.get(series, 1), float(N_NUMBERS - 1), **moved)


def _gpu_cases(device: str, machine: Machine) -> Iterator[Case]:
    gpu = machine.gpu(device)
    on_gpu = {"device": device, "clock": Clock.DEVICE}
    if gpu is not None and gpu.multiprocessors:
        for count in block_counts(gpu.multiprocessors):
            yield _case(BLOCKS, float(count), (count, gpu.multiprocessors), None, float(count), **on_gpu)
    for series in (UNIFORM, DIVERGENT):
        yield _case(series, float(DIVERGENT_ELEMENTS), (DIVERGENT_ELEMENTS,), None, float(DIVERGENT_ELEMENTS), **on_gpu)
