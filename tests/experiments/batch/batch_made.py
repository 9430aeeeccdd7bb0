"""Hand-made points, findings and machines whose answers are obvious by eye."""

from collections.abc import Sequence

from gpuexplain.experiments.batch.conclude import BatchAt, BatchFindings, SeriesFinding
from gpuexplain.experiments.batch.series import read_series
from gpuexplain.findings import BatchKnee, MemoryFit, MemoryFitStatus, NotFound, Saturation
from gpuexplain.hardware.machine import Cpu, Gpu, GpuProblem, Machine, Memory, Platform, TorchDevice, TorchProbe
from gpuexplain.model import Dtype, Gauges, Point, Source, Status

GIB = 2**30
MIB = 2**20
CPU = "mlp_training_cpu"
GPU = "mlp_training_gpu"
BATCHES = tuple(2**power for power in range(13))
NOT_FOUND = NotFound("anything", "it was not asked for")
NO_FIT = MemoryFit(MemoryFitStatus.TOO_FEW_POINTS)


def make_knee(**changes: object) -> BatchKnee:
    """Return a knee at batch 64, the best 1,000 a second at 256, levelled off."""
    fields: dict[str, object] = {
        "best_throughput": 1000.0,
        "best_batch": 256,
        "knee_batch": 64,
        "knee_unstable": False,
        "saturated": True,
        "knee_low": 64,
        "knee_high": 64,
        "largest_ran": 256,
        "first_failed": None,
        "saturation": Saturation.SATURATED,
        "last_step_gain": 0.02,
    }
    return BatchKnee(**{**fields, **changes})  # type: ignore[arg-type]


def make_series(series: str = CPU, **changes: object) -> SeriesFinding:
    """Return what one measured series says: the knee of ``make_knee``, nothing else found."""
    is_cpu = read_series(series).is_cpu
    fields: dict[str, object] = {
        "series": series,
        "device": "cpu" if is_cpu else "cuda:0",
        "device_name": "Fake CPU" if is_cpu else "NVIDIA A100-SXM4-80GB",
        "source": Source.MEASURED,
        "source_note": "",
        "dtype": Dtype.FP32,
        "threads": 2 if is_cpu else None,
        "width": 512,
        "depth": 4,
        "knee": make_knee(),
        "smallest": BatchAt(1, 0.010, 100.0),
        "at_knee": BatchAt(64, 0.070, 914.0, 5e9),
        "best": BatchAt(256, 0.256, 1000.0, 6e9),
        "free": NOT_FOUND,
        "memory": NO_FIT,
        "ceiling": NOT_FOUND,
        "launch_limit": None,
        "alignment": NOT_FOUND,
        "cold_call": NOT_FOUND,
        "flagged": (),
        "failed": (),
    }
    return SeriesFinding(**{**fields, **changes})  # type: ignore[arg-type]


def make_findings(*series: SeriesFinding, crossover: object = None, noise: object = NOT_FOUND) -> BatchFindings:
    """Return findings of these series."""
    return BatchFindings(series, crossover, noise)  # type: ignore[arg-type]


def make_point(series: str, batch: int, median_s: float | None, **changes: object) -> Point:
    """Return a measured point with a 95 % interval of 1 % either side."""
    is_cpu = read_series(series).is_cpu
    fields: dict[str, object] = {
        "experiment": "batch",
        "series": series,
        "x": float(batch),
        "shape": (batch, 512, 4),
        "dtype": Dtype.FP32,
        "device": "cpu" if is_cpu else "cuda:0",
        "device_name": "Fake CPU" if is_cpu else "NVIDIA A100-SXM4-80GB",
        "threads": 2 if is_cpu else None,
        "n_samples": 20 if median_s else 0,
        "median_s": median_s,
        "flops": 5767168.0 * batch,
        "items": float(batch),
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "first_call_s": 2 * median_s}
        fields |= {"min_s": 0.9 * median_s, "max_s": 1.5 * median_s}
    return Point.model_validate({**fields, **changes})


def affine(series: str, fixed_s: float, per_example_s: float, batches: Sequence[int] = BATCHES, **changes: object):
    """Return points whose step takes a fixed time plus so much an example."""
    return [make_point(series, batch, fixed_s + per_example_s * batch, **changes) for batch in batches]


def cpu_points(batches: Sequence[int] = BATCHES) -> list[Point]:
    """Return a CPU: 4 ms a step and 40 us an example, 30 MiB held and 20 KiB an example, 8 GiB to fill."""
    return [
        point.model_copy(update={"gauges": resident(30 * MIB + 20 * 1024 * int(point.x))})
        for point in affine(CPU, 4e-3, 40e-6, batches)
    ]


def gpu_points(batches: Sequence[int] = BATCHES) -> list[Point]:
    """Return a GPU: 0.5 ms a step and 0.4 us an example, with allocated, reserved and context."""
    return [
        point.model_copy(update={"gauges": allocated(40 * MIB + 20 * 1024 * int(point.x))})
        for point in affine(GPU, 5e-4, 0.4e-6, batches)
    ]


def resident(held: int, limit: int = 8 * GIB) -> Gauges:
    """Return what a CPU process read of its memory."""
    return Gauges(memory_resident_bytes=held, memory_limit_bytes=limit)


def allocated(held: int, limit: int = 60 * GIB) -> Gauges:
    """Return what a GPU's allocator said: a quarter more reserved than allocated."""
    return Gauges(
        memory_allocated_bytes=held,
        memory_reserved_bytes=held + held // 4,
        memory_context_bytes=400 * MIB,
        memory_limit_bytes=limit,
    )


def out_of_memory(series: str, batch: int) -> Point:
    """Return the point of a batch that did not fit, recovery proven."""
    reason = "It needs more memory than the 512 MiB that this run may fill. Afterwards batch 1 ran again: only this size does not fit."
    return make_point(series, batch, None, status=Status.OOM, reason=reason)


def published_points() -> list[Point]:
    """Return a published GPU at another network: knee at 64, medians only."""
    rates = {1: 96, 2: 196, 4: 386, 8: 709, 16: 1023, 32: 1127, 64: 1200, 128: 1229, 256: 1261}
    origin = {
        "source": Source.PUBLISHED,
        "source_note": "a journal",
        "device": "published:V100",
        "device_name": "V100",
        "shape": (1,),
        "flops": None,
    }
    only = {"ci_low_s": None, "ci_high_s": None, "min_s": None, "max_s": None, "first_call_s": None, "n_samples": 1}
    return [make_point("resnet50_inference_gpu", b, b / rate, **{**origin, **only}) for b, rate in rates.items()]


def make_machine(
    *,
    threads: int = 2,
    memory_bytes: int = 16 * GIB,
    gpu_free_bytes: int | None = None,
    gpu_total_bytes: int = 80 * GIB,
    gpu_processes: int | None = 0,
    bf16_native: bool | None = True,
    capability: str = "8.0",
) -> Machine:
    """Return a machine with this much memory; with a GPU where its free memory is given."""
    gpu = Gpu(
        name="NVIDIA A100-SXM4-80GB",
        uuid="GPU-1",
        memory_free_bytes=gpu_free_bytes,
        memory_total_bytes=gpu_total_bytes,
        compute_processes=gpu_processes,
        compute_capability=capability,
        torch_device="cuda:0",
    )
    probed = TorchDevice(
        device="cuda:0",
        name=gpu.name,
        uuid="GPU-1",
        compute_capability=capability,
        total_bytes=gpu_total_bytes,
        multiprocessors=108,
        kernel_ran=True,
        bf16_native=bf16_native,
    )
    has_gpu = gpu_free_bytes is not None
    return Machine(
        cpu=Cpu(
            model="Fake CPU",
            architecture="x86_64",
            logical_cpus=threads,
            affinity_cpus=threads,
            usable_threads=threads,
        ),
        memory=Memory(total_bytes=memory_bytes, available_bytes=memory_bytes),
        platform=Platform(hostname="box", machine_id="0", system="Debian 12", kernel="Linux 6.1", python="3.12"),
        gpus=(gpu,) if has_gpu else (),
        torch=TorchProbe(version="2.13.0", devices=(probed,) if has_gpu else ()),
        gpu_problem=None
        if has_gpu
        else GpuProblem(rung="no_driver", explanation="No NVIDIA driver was found.", remedy="Install it."),
    )
