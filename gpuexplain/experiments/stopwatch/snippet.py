"""A standalone script that makes the mistakes, and then the right measurement, with nothing but torch."""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.stopwatch.spec import StopwatchParams
from gpuexplain.model import Point

N_SAMPLES = 30

_SCRIPT = '''"""One {n} x {n} fp32 product on {device}: the wrong figures, then the right one.

Needs only torch. Inputs are seeded and uniform in [-1, 1).
"""

import statistics
import time

import torch

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
n = {n}
generator = torch.Generator().manual_seed(0)
left = (torch.rand(n, n, generator=generator) * 2 - 1).to("{device}")
right = (torch.rand(n, n, generator=generator) * 2 - 1).to("{device}")


def wait() -> None:
    {wait}


def call() -> None:
    torch.mm(left, right)


wait()
started_s = time.perf_counter()
call()
wait()
print(f"no warm-up        {{time.perf_counter() - started_s:.3e}} s")

for _ in range(10):
    call()
wait()
started_s = time.perf_counter()
call()
print(f"no synchronise    {{time.perf_counter() - started_s:.3e}} s{same}")
wait()

samples_s = []
for _ in range({n_samples}):
    wait()
    for _ in range(2):  # untimed: they bring back the caches
        call()
    wait()
    started_s = time.perf_counter()
    call()
    wait()
    samples_s.append(time.perf_counter() - started_s)
print(f"one sample        {{min(samples_s):.3e}} to {{max(samples_s):.3e}} s")
print(f"median_s={{statistics.median(samples_s)!r}}")
'''


def write_snippet(params: StopwatchParams, point: Point | None) -> str:
    """Return the script for the product of ``point``; without one for that of ``params``."""
    n = point.shape[0] if point is not None and len(point.shape) == 3 else int(params.side)
    device = point.device if point is not None else params.device if params.device.startswith("cuda") else CPU
    on_gpu = device.startswith("cuda")
    threads = point.threads if point is not None else None
    setup = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32' if on_gpu else ""
    if threads and not on_gpu:
        setup = f"torch.set_num_threads({threads})"
    return _SCRIPT.format(
        n=n,
        device=device,
        setup=setup,
        wait=f'torch.cuda.synchronize("{device}")'
        if on_gpu
        else "pass  # a call on a CPU returns when its work is done",
        same="" if on_gpu else " (the same as one sample: a CPU has no queue)",
        n_samples=N_SAMPLES,
    )
