"""A standalone script that shares one product among threads, with nothing but torch."""

from gpuexplain.experiments.workers.spec import THREADS, WorkersParams
from gpuexplain.measuring.sampling import UNTIMED_CALLS
from gpuexplain.model import Point

_SCRIPT = '''"""One {n} x {n} fp32 product, shared by {what}.

Needs only torch. Inputs are seeded and uniform in [-1, 1); every sample follows untimed calls.
"""

import os
import statistics
import time

import torch

torch.set_flush_denormal(True)  # before the first threaded operation
n = {n}
generator = torch.Generator().manual_seed(0)
left = torch.rand(n, n, generator=generator) * 2 - 1
right = torch.rand(n, n, generator=generator) * 2 - 1
counts = {counts}
for threads in counts:
    torch.set_num_threads(threads)
    samples_s = []
    for _ in range(15):
        for _ in range({untimed}):
            torch.mm(left, right)
        started_s = time.perf_counter()
        torch.mm(left, right)
        samples_s.append(time.perf_counter() - started_s)
    median_s = statistics.median(samples_s)
    if threads == counts[0]:
        first_s = median_s
    print(f"{{threads}} threads: {{median_s:.4e}} s, {{first_s / median_s:.2f}} x")
print(f"median_s={{median_s!r}}")
'''
_ALL = "sorted({1, *range(1, min(9, 1 + len(os.sched_getaffinity(0)))), len(os.sched_getaffinity(0))})"


def write_snippet(params: WorkersParams, point: Point | None) -> str:
    """Return the script: for the threads of ``point``, else for one thread up to all."""
    is_one = point is not None and point.series == THREADS and point.threads
    n = point.shape[0] if point is not None and is_one else int(params.side)
    counts = f"[{point.threads}]" if point is not None and is_one else _ALL
    what = f"{point.threads} threads" if point is not None and is_one else "one thread up to all"
    return _SCRIPT.format(n=n, what=what, counts=counts, untimed=UNTIMED_CALLS)
