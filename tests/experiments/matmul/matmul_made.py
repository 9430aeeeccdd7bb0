"""Hand-made points, findings and machines whose answers are obvious by eye."""

from collections.abc import Sequence

from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding, SeriesFinding
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER
from gpuexplain.findings import Crossover, CrossoverVerdict, MatmulPeak, NotFound
from gpuexplain.hardware.machine import Cpu, Gpu, GpuProblem, Machine, Memory, Platform
from gpuexplain.model import Clock, Dtype, Point, Source

GIB = 2**30
SIZES = (64, 128, 256, 512, 1024)
CLOCKS = {GPU_DEVICE: Clock.DEVICE, GPU_WITH_TRANSFER: Clock.TRANSFER_INCLUSIVE}
THREADS = {CPU: 2, CPU_ONE_THREAD: 1}
NOT_FOUND = NotFound("anything", "it was not asked for")
EMPTY_PEAK = MatmulPeak(None, None, None, (), (), None)


def make_peak(**changes: object) -> MatmulPeak:
    """Return a peak of 100 GFLOP/s at n = 1,024, the largest size."""
    fields: dict[str, object] = {
        "best_tflops": 0.1, "best_n": 1024.0, "n_at_90pct": 1024.0, "suspect_n": (), "dips_n": (), "decline_pct": 0.0,
    }  # fmt: skip
    return MatmulPeak(**{**fields, **changes})  # type: ignore[arg-type]


def make_series(series: str, **changes: object) -> SeriesFinding:
    """Return what one measured series says: the peak of ``make_peak``, nothing else found."""
    is_cpu = series in THREADS
    fields: dict[str, object] = {
        "series": series,
        "device": "cpu" if is_cpu else "cuda:0",
        "device_name": "Fake CPU" if is_cpu else "NVIDIA A100-SXM4-80GB",
        "source": Source.MEASURED,
        "source_note": "",
        "dtype": Dtype.FP32,
        "clock": CLOCKS.get(series, Clock.CALL),
        "threads": THREADS.get(series),
        "peak": make_peak(),
        "cold_call": NOT_FOUND,
        "launch_floor": NOT_FOUND,
        "smallest_n": 64.0,
        "largest_n": 1024.0,
        "flagged": (),
        "failed": (),
    }
    return SeriesFinding(**{**fields, **changes})  # type: ignore[arg-type]


def make_crossover(verdict: CrossoverVerdict, **changes: object) -> Crossover:
    """Return a crossover with no bracket and no factor unless given."""
    return Crossover(verdict, **changes)  # type: ignore[arg-type]


def make_findings(
    *series: SeriesFinding, crossover: Crossover | None = None, noise: object = NOT_FOUND, dtype: Dtype = Dtype.FP32
) -> MatmulFindings:
    """Return findings of these series; the first two are baseline and challenger of ``crossover``."""
    pairs = (PairFinding(series[0], series[1], crossover),) if crossover else ()
    return MatmulFindings(dtype if series else None, series, pairs, noise)  # type: ignore[arg-type]


def make_point(series: str, side: float, median_s: float | None, **changes: object) -> Point:
    """Return a measured point with a 95 % interval of 1 % either side."""
    is_cpu = series in THREADS
    m, k, n = changes.pop("shape", (int(side),) * 3)  # type: ignore[misc]
    fields: dict[str, object] = {
        "experiment": "matmul",
        "series": series,
        "x": side,
        "shape": (m, k, n),
        "dtype": Dtype.FP32,
        "device": "cpu" if is_cpu else "cuda:0",
        "device_name": "Fake CPU" if is_cpu else "NVIDIA A100-SXM4-80GB",
        "clock": CLOCKS.get(series, Clock.CALL),
        "threads": THREADS.get(series),
        "n_samples": 20 if median_s else 0,
        "median_s": median_s,
        "flops": 2.0 * m * k * n,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "first_call_s": 2 * median_s}
        fields |= {"min_s": 0.9 * median_s, "max_s": 1.5 * median_s}
    return Point.model_validate({**fields, **changes})


def cubic(series: str, rate_flops: float, floor_s: float = 0.0, sizes: Sequence[int] = SIZES, **changes: object):
    """Return points that take a floor plus 2 n^3 / rate."""
    return [make_point(series, n, floor_s + 2.0 * n**3 / rate_flops, **changes) for n in sizes]


def cpu_points(sizes: Sequence[int] = SIZES) -> list[Point]:
    """Return both CPU series: two threads cost 20 us more to start and are 1.9 times as fast."""
    return [*cubic(CPU, 190e9, 20e-6, sizes), *cubic(CPU_ONE_THREAD, 100e9, 0.0, sizes)]


def gpu_points(sizes: Sequence[int] = SIZES) -> list[Point]:
    """Return the three GPU series: a launch floor of 10 us, copies of 40 us and more."""
    return [
        *cubic(GPU_CALL, 15e12, 10e-6, sizes),
        *cubic(GPU_DEVICE, 15e12, 2e-6, sizes),
        *(make_point(GPU_WITH_TRANSFER, n, 40e-6 + 2.0 * n**3 / 15e12 + 12.0 * n**2 / 10e9) for n in sizes),
    ]


def published_points(sizes: Sequence[int] = (512, 1024, 2048)) -> list[Point]:
    """Return a published GPU: medians only."""
    origin = {"source": Source.PUBLISHED, "source_note": "a journal", "device": "published:NVIDIA GeForce RTX 3080"}
    only = {"ci_low_s": None, "ci_high_s": None, "min_s": None, "max_s": None, "first_call_s": None, "n_samples": 0}
    return cubic(GPU_CALL, 20e12, 0.0, sizes, **origin, **only, device_name="NVIDIA GeForce RTX 3080")


def make_machine(*, threads: int = 2, memory_bytes: int = 16 * GIB, gpu_free_bytes: int | None = None) -> Machine:
    """Return a machine with this many usable threads; with a GPU where its free memory is given."""
    gpu = Gpu(name="NVIDIA A100-SXM4-80GB", uuid="GPU-1", memory_free_bytes=gpu_free_bytes, torch_device="cuda:0")
    problem = GpuProblem(rung="no_driver", explanation="No NVIDIA driver was found.", remedy="Install it.")
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
        gpus=(gpu,) if gpu_free_bytes is not None else (),
        gpu_problem=None if gpu_free_bytes is not None else problem,
    )
