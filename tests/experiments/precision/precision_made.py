"""Hand-made points and machines whose answers are obvious by eye."""

from collections.abc import Sequence

from gpuexplain.experiments.precision.spec import (
    STEP_AUTOCAST,
    STEP_FP32,
    SUBNORMAL,
    SUM_BF16_IN_FP32,
    Inputs,
    count_flops,
    count_step_flops,
    note_of,
)
from gpuexplain.hardware.machine import Cpu, Gpu, GpuProblem, Machine, Memory, Platform, TorchDevice, TorchProbe
from gpuexplain.model import Clock, Dtype, Flag, Gauges, Point, Source, Status

GIB = 2**30
GPU = "cuda:0"
GPU_NAME = "NVIDIA A100-SXM4-80GB"
SIZES = (1024, 2048)
ERRORS = {
    "fp64": 0.0,
    "fp32": 3e-7,
    "tf32": 3e-4,
    "fp16": 3.3e-4,
    "bf16": 2.7e-3,
    "int8": 5.6e-3,
    "fp8": 3.6e-2,
    "fp8_e5m2": 5.7e-2,
}
# TFLOP/s of a part that likes few bits, and of a CPU that has no units for them.
GPU_RATES = {"fp64": 9.0, "fp32": 18.0, "tf32": 120.0, "bf16": 250.0, "fp16": 245.0, "int8": 400.0}
CPU_RATES = {"fp64": 0.05, "fp32": 0.1, "bf16": 0.001, "fp16": 0.0011, "fp8": 0.03, "int8": 0.002}


def make_point(series: str, side: float, rate_tflops: float | None, **changes: object) -> Point:
    """Return a measured product with a 95 % interval of 1 % either side; on the CPU unless a device is given."""
    device = str(changes.get("device", "cpu"))
    flops = count_flops(int(side))
    median_s = flops / (rate_tflops * 1e12) if rate_tflops else None
    fields: dict[str, object] = {
        "experiment": "precision",
        "series": series,
        "x": float(side),
        "shape": (int(side),) * 3,
        "dtype": Dtype(series) if series in ERRORS else Dtype.FP32,
        "device": device,
        "device_name": "Fake CPU" if device == "cpu" else GPU_NAME,
        "clock": Clock.CALL if device == "cpu" else Clock.DEVICE,
        "threads": 2 if device == "cpu" else None,
        "timing": f"a clock; {note_of(Inputs.UNIFORM)}",
        "n_samples": 20 if median_s else 0,
        "median_s": median_s,
        "flops": flops,
        "rel_error": ERRORS.get(series) if median_s else None,
        "nan_count": 0 if median_s else None,
        "inf_count": 0 if median_s else None,
        "gauges": Gauges(clipped_count=0, zeroed_count=0) if median_s else None,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "first_call_s": 2 * median_s}
        fields |= {"min_s": 0.98 * median_s, "max_s": 1.5 * median_s}
    return Point.model_validate({**fields, **changes})


def make_formats(rates: dict[str, float], sizes: Sequence[int] = SIZES, **changes: object) -> list[Point]:
    """Return points of each format at its rate (TFLOP/s), whatever the size."""
    return [make_point(name, side, rate, **changes) for name, rate in rates.items() for side in sizes]


def make_steps(autocast_factor: float, side: int = 256, spread: float = 0.01, **changes: object) -> list[Point]:
    """Return a training step in fp32 of 10 ms, and one with autocast that is so many times as fast."""
    points = []
    for series, dtype, time_s in (
        (STEP_FP32, Dtype.FP32, 0.01),
        (STEP_AUTOCAST, Dtype.BF16, 0.01 / autocast_factor),
    ):
        times = {
            "median_s": time_s,
            "ci_low_s": time_s * (1 - spread),
            "ci_high_s": time_s * (1 + spread),
            "min_s": time_s * (1 - spread),
            "max_s": time_s * (1 + spread),
            "n_samples": 20,
            "first_call_s": time_s,
        }
        error = 4e-3 if series == STEP_AUTOCAST else 3e-7
        fields = {"dtype": dtype, "flops": count_step_flops(side), "rel_error": error, "clock": Clock.CALL, **times}
        points.append(make_point(series, side, None, **{**fields, **changes}))
    return points


def make_sums(**losses: Sequence[float]) -> list[Point]:
    """Return running sums of 16, 256 and 4,096 numbers: the share that each series lost."""
    return [
        make_point(series, count, None, rel_error=lost, dtype=_sum_dtype(series), shape=(count,), flops=None)
        for series, shares in losses.items()
        for count, lost in zip((16, 256, 4096), shares, strict=True)
    ]


def _sum_dtype(series: str) -> Dtype:
    return Dtype.BF16 if series == SUM_BF16_IN_FP32 else Dtype(series.removeprefix("sum_"))


USUAL_SUMS = make_sums(
    sum_fp32=(1e-7, 5e-7, 3e-6), sum_fp16=(1e-3, 5e-3, 1.0), sum_bf16=(1e-2, 0.04, 1.0), sum_bf16_in_fp32=(4e-4, 1e-4, 3e-5)
)  # fmt: skip


def make_subnormal(flushed: bool, **changes: object) -> Point:
    """Return the check of a subnormal number."""
    return make_point(SUBNORMAL, 1, None, rel_error=float(flushed), flops=None, **changes)


def gpu_points(**changes: object) -> list[Point]:
    """Return a GPU on which few bits pay."""
    return make_formats(GPU_RATES, **{"device": GPU, **changes})


def cpu_points(**changes: object) -> list[Point]:
    """Return a CPU on which they do not, 16 bits and fp8 marked as emulated, with sums and a training step."""
    why = "this CPU has no units for it (it has AVX2): each value is converted"
    marked = [
        point.model_copy(update={"flags": (*point.flags, Flag.EMULATED), "reason": why})
        if point.series in ("bf16", "fp16", "fp8")
        else point
        for point in make_formats(CPU_RATES, **changes)
    ]
    return [*marked, *make_steps(0.04), *USUAL_SUMS, make_subnormal(True)]


def published_points(**changes: object) -> list[Point]:
    """Return a published GPU: speeds only."""
    only = {"rel_error": None, "gauges": None, "ci_low_s": None, "ci_high_s": None, "min_s": None, "max_s": None}
    origin = {"source": Source.PUBLISHED, "source_note": "a journal", "device": "published:RTX 4090", "n_samples": 1}
    named = {"device_name": "NVIDIA GeForce RTX 4090", "timing": "as published", "first_call_s": None, "threads": None}
    return make_formats({"fp32": 50.0, "fp16": 160.0, "bf16": 155.0}, **{**only, **origin, **named, **changes})


def failed(series: str, status: Status, reason: str, side: int = 1024, **changes: object) -> Point:
    """Return a case without a time."""
    return make_point(series, side, None, status=status, reason=reason, **changes)


def make_machine(
    *,
    threads: int = 2,
    memory_bytes: int = 16 * GIB,
    gpu_free_bytes: int | None = None,
    units: tuple[str, ...] = ("AVX2",),
    kernel: str = "Linux 6.1",
    capability: str = "8.0",
    bf16_native: bool | None = True,
    rocm: str | None = None,
) -> Machine:
    """Return a machine with these CPU units; with a GPU of this capability where its free memory is given."""
    has_gpu = gpu_free_bytes is not None
    gpu = Gpu(name=GPU_NAME, uuid="GPU-1", memory_free_bytes=gpu_free_bytes, torch_device=GPU)
    probe = TorchDevice(
        device=GPU,
        name=GPU_NAME,
        uuid="GPU-1",
        compute_capability=capability,
        total_bytes=80 * GIB,
        multiprocessors=108,
        kernel_ran=True,
        bf16_native=bf16_native,
    )
    problem = GpuProblem(rung="no_driver", explanation="No NVIDIA driver was found.", remedy="Install it.")
    return Machine(
        cpu=Cpu(
            model="Fake CPU",
            architecture="x86_64",
            logical_cpus=threads,
            affinity_cpus=threads,
            usable_threads=threads,
            units=units,
        ),
        memory=Memory(total_bytes=memory_bytes, available_bytes=memory_bytes),
        platform=Platform(hostname="box", machine_id="0", system="Debian 12", kernel=kernel, python="3.12"),
        gpus=(gpu,) if has_gpu else (),
        gpu_problem=None if has_gpu else problem,
        torch=TorchProbe(version="2.13.0", devices=(probe,) if has_gpu else (), rocm_build=rocm),
    )
