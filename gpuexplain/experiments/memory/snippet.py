"""A standalone script of one step of the walk, with nothing but torch."""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.memory.spec import MATRIX_SIDE, WALK, MemoryParams, count_walk
from gpuexplain.model import Point

_SCRIPT = '''"""W x with k = {k} columns on {device}: every loaded weight is used {k} times.

Needs only torch. The weights rotate among enough matrices that none is in a cache when it comes again.
"""

import itertools
import statistics
import time

import torch

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
n, k, device = {n}, {k}, "{device}"
generator = torch.Generator().manual_seed(0)
weights = [(torch.rand(n, n, generator=generator) * 2 - 1).to(device) for _ in range({n_matrices})]
columns = (torch.rand(n, k, generator=generator) * 2 - 1).to(device)
turns = itertools.cycle(weights)


def wait() -> None:
    {wait}


def call() -> float:
    matrix = next(turns)
    wait()
    started_s = time.perf_counter()
    torch.mm(matrix, columns)
    wait()
    return time.perf_counter() - started_s


for _ in range({n_matrices}):
    call()
median_s = statistics.median(call() for _ in range(40))
print(f"{{{flops:.6g} / median_s / 1e9:.2f}} GFLOP/s, {{{moved:.6g} / median_s / 1e9:.2f}} GB/s")
print(f"median_s={{median_s!r}}")
'''
N_MATRICES = 12  # 192 MiB of weights: beyond the last-level cache of most CPUs


def write_snippet(params: MemoryParams, point: Point | None) -> str:
    """Return the script for the step of ``point``; without one for k = 1."""
    is_walk = point is not None and point.series == WALK
    k = int(point.x) if point is not None and is_walk else 1
    device = point.device if point is not None else params.device if params.device.startswith("cuda") else CPU
    on_gpu = device.startswith("cuda")
    threads = point.threads if point is not None else None
    setup = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32' if on_gpu else ""
    if threads and not on_gpu:
        setup = f"torch.set_num_threads({threads})"
    flops, moved = count_walk(k)
    return _SCRIPT.format(
        n=MATRIX_SIDE, k=k, device=device, setup=setup, n_matrices=N_MATRICES, flops=flops, moved=moved,
        wait=f'torch.cuda.synchronize("{device}")' if on_gpu else "pass  # a CPU call returns when its work is done",
    )  # fmt: skip
