"""A standalone script that measures one point the way the page did, with nothing but torch."""

from gpuexplain.experiments.matmul.spec import CPU, MatmulParams, plan_shapes
from gpuexplain.measuring.sampling import BLOCK_S, UNTIMED_CALLS, WARMUP_MOST_CALLS
from gpuexplain.model import Clock, Dtype, Point

_TORCH_NAMES = {
    Dtype.FP64: "float64",
    Dtype.FP32: "float32",
    Dtype.BF16: "bfloat16",
    Dtype.FP16: "float16",
}
N_SAMPLES = 15

_HEAD = '''"""{title}

Needs only torch. Inputs are seeded and uniform in [-1, 1); the first call is reported apart and never
mixed into the samples; every sample is a block of at least {block_ms:g} ms; the median of {n_samples} is printed.
"""

import statistics
import time

import torch

torch.set_flush_denormal(True)  # before the first threaded operation
{setup}
m, k, n = {m}, {k}, {n}
generator = torch.Generator().manual_seed(0)
original = torch.{original}
left = (torch.rand(m, k, generator=generator, dtype=original) * 2 - 1).to(torch.{dtype})
right = (torch.rand(k, n, generator=generator, dtype=original) * 2 - 1).to(torch.{dtype})
{place}

def call() -> None:
    {call}


def time_calls(n_calls: int) -> float:
    """Return the seconds of n_calls."""
{timing}

first_s = time_calls(1)
for _ in range({warmup}):
    warm_s = time_calls(1)
n_calls = {n_calls}
samples_s = []
for _ in range({n_samples}):
    time_calls({untimed})
    samples_s.append(time_calls(n_calls) / n_calls)
median_s = statistics.median(samples_s)
print(f"first call {{first_s:.3e}} s, then median {{median_s:.4e}} s of {{len(samples_s)}} blocks of {{n_calls}} calls")
print(f"{{2 * m * k * n / median_s / 1e9:.2f}} GFLOP/s")
print(f"median_s={{median_s!r}}")
'''

_HOST = """    started_s = time.perf_counter()
    for _ in range(n_calls):
        call()
    return time.perf_counter() - started_s
"""
_SYNCHRONISED = """    total_s = 0.0
    for _ in range(n_calls):
        torch.cuda.synchronize()
        started_s = time.perf_counter()
        call()
        torch.cuda.synchronize()
        total_s += time.perf_counter() - started_s
    return total_s
"""
_DEVICE = """    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(20_000_000)  # keeps the device busy while the calls are queued behind it
    start.record()
    for _ in range(n_calls):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3
"""
_EXACT = 'torch.backends.cuda.matmul.fp32_precision = "ieee"  # no TF32'


def write_snippet(params: MatmulParams, point: Point | None) -> str:
    """Return the script for ``point``; without one for a usual size, on the GPU that ``params`` name or the CPU."""
    if point is not None and len(point.shape) == 3:
        m, k, n = point.shape
        dtype, device, clock, threads = point.dtype, point.device, point.clock, point.threads
    else:
        m, k, n = params.shape or _a_usual_shape(params)
        device = params.device if params.device.startswith("cuda") else CPU
        dtype, clock, threads = Dtype(params.dtype), Clock.CALL, None
    on_gpu = device.startswith("cuda")
    timing = _HOST if not on_gpu else _DEVICE if clock is Clock.DEVICE else _SYNCHRONISED
    fills_block = f"max(1, int({BLOCK_S} / warm_s) + 1)"
    return _HEAD.format(
        title=_title(m, k, n, dtype, device, clock, threads),
        block_ms=BLOCK_S * 1e3,
        n_samples=N_SAMPLES,
        setup=_EXACT if on_gpu else f"torch.set_num_threads({threads})" if threads else "",
        m=m,
        k=k,
        n=n,
        original="float64" if dtype is Dtype.FP64 else "float32",
        dtype=_TORCH_NAMES[dtype],
        place=_place(device, clock),
        call=_call(device, clock),
        timing=timing,
        warmup=WARMUP_MOST_CALLS,
        untimed=UNTIMED_CALLS,
        n_calls="1" if timing == _SYNCHRONISED else f"min(256, {fills_block})" if on_gpu else fills_block,
    )


def _a_usual_shape(params: MatmulParams) -> tuple[int, int, int]:
    fitting = [shape for shape, _ in plan_shapes(params) if shape[0] <= 1024]
    return fitting[-1]


def _title(m: int, k: int, n: int, dtype: Dtype, device: str, clock: Clock, threads: int | None) -> str:
    what = f"Time of one {m} x {k} by {k} x {n} product in {dtype}"
    where = f"on {device}" + (f" with {threads} thread{'s' if threads > 1 else ''}" if threads else "")
    clocks = {
        Clock.CALL: "call time",
        Clock.DEVICE: "device time",
        Clock.TRANSFER_INCLUSIVE: "both copies included",
        Clock.ENQUEUE: "enqueue time",
    }
    return f"{what} {where} ({clocks[clock]})."


def _place(device: str, clock: Clock) -> str:
    if not device.startswith("cuda"):
        return ""
    if clock is Clock.TRANSFER_INCLUSIVE:
        return f'torch.cuda.set_device("{device}")\n'
    return f'torch.cuda.set_device("{device}")\nleft, right = left.to("{device}"), right.to("{device}")\n'


def _call(device: str, clock: Clock) -> str:
    if device.startswith("cuda") and clock is Clock.TRANSFER_INCLUSIVE:
        return f'torch.mm(left.to("{device}"), right.to("{device}")).cpu()'
    return "torch.mm(left, right)"
