"""A standalone script that measures one point the way the page did, with nothing but torch."""

from gpuexplain.experiments.matmul.spec import CPU, MatmulParams, plan_shapes
from gpuexplain.experiments.script import ScriptClock, say_where, write_script
from gpuexplain.model import Clock, Dtype, Point

_TORCH_NAMES = {
    Dtype.FP64: "float64",
    Dtype.FP32: "float32",
    Dtype.BF16: "bfloat16",
    Dtype.FP16: "float16",
}

_WORK = """m, k, n = {m}, {k}, {n}
generator = torch.Generator().manual_seed(0)
original = torch.{original}
left = (torch.rand(m, k, generator=generator, dtype=original) * 2 - 1).to(torch.{dtype})
right = (torch.rand(k, n, generator=generator, dtype=original) * 2 - 1).to(torch.{dtype})
{place}

def call() -> None:
    {call}
"""
_DATA = "Inputs are seeded and uniform in [-1, 1)."
_RATE = 'print(f"{2 * m * k * n / median_s / 1e9:.2f} GFLOP/s")'
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
    work = _WORK.format(
        m=m,
        k=k,
        n=n,
        original="float64" if dtype is Dtype.FP64 else "float32",
        dtype=_TORCH_NAMES[dtype],
        place=_place(device, clock),
        call=_call(device, clock),
    )
    gpu_clock = ScriptClock.DEVICE if clock is Clock.DEVICE else ScriptClock.SYNCHRONISED
    return write_script(
        _title(m, k, n, dtype, device, clock, threads),
        work,
        clock=gpu_clock if on_gpu else ScriptClock.HOST,
        data=_DATA,
        setup=_EXACT if on_gpu else f"torch.set_num_threads({threads})" if threads else "",
        results=_RATE,
    )


def _a_usual_shape(params: MatmulParams) -> tuple[int, int, int]:
    fitting = [shape for shape, _ in plan_shapes(params) if shape[0] <= 1024]
    return fitting[-1]


def _title(m: int, k: int, n: int, dtype: Dtype, device: str, clock: Clock, threads: int | None) -> str:
    what = f"Time of one {m} x {k} by {k} x {n} product in {dtype}"
    clocks = {
        Clock.CALL: "call time",
        Clock.DEVICE: "device time",
        Clock.TRANSFER_INCLUSIVE: "both copies included",
        Clock.ENQUEUE: "enqueue time",
    }
    return f"{what} {say_where(device, threads)} ({clocks[clock]})."


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
