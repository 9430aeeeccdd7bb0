"""A standalone script that measures one point the way the page did, with nothing but torch."""

from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.precision import snippet_parts as parts
from gpuexplain.experiments.precision.series import label_of
from gpuexplain.experiments.precision.spec import (
    FORMATS,
    SCALE_EXPONENT,
    STEP_AUTOCAST,
    STEP_FP32,
    STEP_LAYERS,
    STEP_LEARNING_RATE,
    STEP_LOSS_SCALE,
    PrecisionParams,
)
from gpuexplain.experiments.script import ScriptClock, say_where, write_script
from gpuexplain.model import Clock, Dtype, Point

_USUAL_SIDE = 512
_FP8 = {Dtype.FP8: ("float8_e4m3fn", "float8_e4m3fn"), Dtype.FP8_E5M2: ("float8_e5m2", "float8_e4m3fn")}
_CLOCKS = {Clock.CALL: "call time", Clock.DEVICE: "device time"}


def write_snippet(params: PrecisionParams, point: Point | None) -> str:
    """Return the script for ``point``; without one for bf16 at a usual size, on the named GPU or the CPU."""
    if point is not None and point.series in (STEP_FP32, STEP_AUTOCAST):
        return _write_step(point)
    if point is not None and point.series in {str(dtype) for dtype in FORMATS}:
        where = point.device if point.device.startswith("cuda") else CPU
        return _write_product(params, int(point.x), point.dtype, where, point.clock, point.threads)
    where = params.device if params.device.startswith("cuda") else CPU
    side = min(_USUAL_SIDE, params.largest_side or _USUAL_SIDE)
    return _write_product(params, side, Dtype.BF16, where, Clock.CALL, None)


def _write_product(
    params: PrecisionParams, side: int, dtype: Dtype, device: str, clock: Clock, threads: int | None
) -> str:
    on_gpu = device != CPU
    wide = "float64" if dtype is Dtype.FP64 else "float32"
    work = parts.PRODUCT.format(
        n=side,
        inputs=parts.INPUTS[params.inputs].format(wide=wide, exponent=SCALE_EXPONENT),
        rounding=_rounding(dtype),
        place=_place(dtype, device) if on_gpu else "",
        call=_call(dtype),
    )
    unit = " * (left_unit.cpu().double() * right_unit.cpu().double())" if dtype is Dtype.INT8 else ""
    return write_script(
        _title(f"Time of one {side} x {side} by {side} x {side} product in {label_of(dtype)}", device, clock, threads),
        work,
        clock=_clock(on_gpu, clock),
        data="The error is against float64 of the unrounded inputs.",
        setup=_setup(dtype, on_gpu, threads),
        results=parts.PRODUCT_RESULTS.format(result_unit=unit),
    )


def _write_step(point: Point) -> str:
    on_gpu = point.device.startswith("cuda")
    kind = "cuda" if on_gpu else CPU
    side, is_mixed = int(point.x), point.series == STEP_AUTOCAST
    name = parts.TORCH_NAMES[point.dtype]
    how = f"with autocast to {point.dtype}" if is_mixed else "in fp32"
    what = f"Time of one training step of {STEP_LAYERS} layers, batch and width {side}, {how}"
    work = parts.STEP.format(
        n=side,
        device=point.device if on_gpu else CPU,
        n_layers=STEP_LAYERS,
        learning_rate=STEP_LEARNING_RATE,
        loss_scale=STEP_LOSS_SCALE if is_mixed and point.dtype is Dtype.FP16 else 1.0,
        casting=f'torch.autocast("{kind}", dtype=torch.{name})' if is_mixed else "contextlib.nullcontext()",
    )
    return write_script(
        _title(what, point.device if on_gpu else CPU, point.clock, point.threads),
        work,
        clock=_clock(on_gpu, point.clock),
        setup="torch.manual_seed(0)\n" + _setup(Dtype.FP32, on_gpu, point.threads),
        imports=("import contextlib", "from torch import nn"),
    )


def _title(what: str, device: str, clock: Clock, threads: int | None) -> str:
    return f"{what} {say_where(device, threads)} ({_CLOCKS.get(clock, str(clock))})."


def _setup(dtype: Dtype, on_gpu: bool, threads: int | None) -> str:
    mode = "tf32" if dtype is Dtype.TF32 else "ieee"
    backend = "cuda" if on_gpu else "mkldnn"
    lines = [f"torch.set_num_threads({threads})"] if threads and not on_gpu else []
    return "\n".join([*lines, f'torch.backends.{backend}.matmul.fp32_precision = "{mode}"  # how fp32 is multiplied'])


def _clock(on_gpu: bool, clock: Clock) -> ScriptClock:
    if not on_gpu:
        return ScriptClock.HOST
    return ScriptClock.DEVICE if clock is Clock.DEVICE else ScriptClock.SYNCHRONISED


def _rounding(dtype: Dtype) -> str:
    if dtype in _FP8:
        left, right = _FP8[dtype]
        return parts.FP8_ROUNDING.format(left=left, right=right)
    if dtype is Dtype.INT8:
        return parts.INT8_ROUNDING
    return parts.PLAIN_ROUNDING.format(dtype=parts.TORCH_NAMES[dtype])


def _place(dtype: Dtype, device: str) -> str:
    lines = [f'torch.cuda.set_device("{device}")', f'left, right = left.to("{device}"), right.to("{device}")']
    if dtype in _FP8 or dtype is Dtype.INT8:
        lines.append(f'left_unit, right_unit = left_unit.to("{device}"), right_unit.to("{device}")')
    return "\n".join(lines) + "\n"


def _call(dtype: Dtype) -> str:
    if dtype in _FP8:
        units = "scale_a=left_unit, scale_b=right_unit"
        return f"torch._scaled_mm(left, right, {units}, out_dtype=torch.bfloat16)"
    return "torch._int_mm(left, right)" if dtype is Dtype.INT8 else "torch.mm(left, right)"
