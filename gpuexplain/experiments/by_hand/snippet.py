"""A standalone script of one product and the whole stack, with nothing but torch."""

from gpuexplain.experiments.by_hand.spec import ByHandParams
from gpuexplain.experiments.devices import CPU
from gpuexplain.measuring.sampling import UNTIMED_CALLS
from gpuexplain.model import Point

_SCRIPT = '''"""{batch} examples through {depth} layers of {width} x {width} on {device}: predicted, and measured.

Needs only torch. Weights are random and seeded.
"""

import statistics
import time

import torch

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
batch, width, depth, device = {batch}, {width}, {depth}, "{device}"
generator = torch.Generator().manual_seed(0)
examples = (torch.rand(batch, width, generator=generator) * 2 - 1).to(device)
first = torch.randn(width, width, generator=generator) * (2 / width) ** 0.5
weights = [first.roll(shifts=layer, dims=1).to(device) for layer in range(depth)]
bias = torch.zeros(width, device=device)


def wait() -> None:
    {wait}


def product() -> None:
    torch.mm(examples, weights[0])


def stack() -> None:
    values = examples
    for matrix in weights:
        values = torch.relu_(torch.addmm(bias, values, matrix))


def median_of(work, n_samples: int) -> float:
    samples_s = []
    for _ in range(n_samples):
        for _ in range({untimed}):
            work()
        wait()
        started_s = time.perf_counter()
        work()
        wait()
        samples_s.append(time.perf_counter() - started_s)
    return statistics.median(samples_s)


with torch.inference_mode():
    product_s, stack_s = median_of(product, 25), median_of(stack, 9)
print(f"one product {{product_s:.4e}} s, so the stack is predicted to take {{depth * product_s:.4e}} s")
print(f"the stack takes {{stack_s:.4e}} s, {{stack_s / (depth * product_s):.2f}} x")
print(f"median_s={{{printed}!r}}")
'''


def write_snippet(params: ByHandParams, point: Point | None) -> str:
    """Return the script for the stack of ``point``; without one for that of ``params``."""
    batch, width, depth = params.batch, params.width, params.depth
    if point is not None and len(point.shape) == 4:
        batch, width = point.shape[0], point.shape[1]
        depth = max(point.shape[3], 1)
    device = point.device if point is not None else params.device if params.device.startswith("cuda") else CPU
    on_gpu = device.startswith("cuda")
    threads = point.threads if point is not None else None
    setup = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32' if on_gpu else ""
    if threads and not on_gpu:
        setup = f"torch.set_num_threads({threads})"
    is_product = point is not None and point.series.endswith("product")
    return _SCRIPT.format(
        batch=batch, width=width, depth=depth, device=device, setup=setup, untimed=UNTIMED_CALLS,
        wait=f'torch.cuda.synchronize("{device}")' if on_gpu else "pass  # a CPU call returns when its work is done",
        printed="product_s" if is_product else "stack_s",
    )  # fmt: skip
