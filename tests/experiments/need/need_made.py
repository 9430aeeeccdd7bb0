"""Hand-made points of everyday work: 10 ms with all threads, 15 ms with one, and on a GPU what the test says."""

from gpuexplain.experiments.need import spec
from gpuexplain.model import Clock, Dtype, Point, Source, Status

MAIN = spec.SHAPES["small"]


def make_point(
    series: str, median_s: float | None, x: float | None = None, wide: float = 0.01, **changes: object
) -> Point:
    """Return a measured point with an interval of ``wide`` either side."""
    workload, way = spec.SERIES[series]
    shape = MAIN[workload]
    examples = int(x) if x is not None else shape[0]
    on_gpu = way == spec.ON_GPU
    fields: dict[str, object] = {
        "experiment": "need",
        "series": series,
        "x": float(examples),
        "shape": (examples, *shape[1:]),
        "dtype": Dtype.FP32,
        "device": "cuda:0" if on_gpu else "cpu",
        "device_name": "NVIDIA A100" if on_gpu else "Fake CPU",
        "clock": Clock.TRANSFER_INCLUSIVE if on_gpu else Clock.CALL,
        "threads": None if on_gpu else 1 if way == spec.ONE_THREAD else 2,
        "source": Source.MEASURED,
        "median_s": median_s,
        "items": float(examples),
    }
    if median_s:
        fields |= {"ci_low_s": (1 - wide) * median_s, "ci_high_s": (1 + wide) * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def cpu_points(one_thread_s: float = 15e-3, wide: float = 0.01) -> list[Point]:
    """Return every workload: 10 ms with two threads, ``one_thread_s`` with one."""
    return [
        make_point(f"{workload}_{way}", time_s, wide=wide)
        for workload in spec.WORKLOADS
        for way, time_s in ((spec.ALL_THREADS, 10e-3), (spec.ONE_THREAD, one_thread_s))
    ]


def gpu_points(**times: float) -> list[Point]:
    """Return every workload: 10 ms on the CPU; on the GPU the times given, 10 ms elsewhere, none for the CPU's own."""
    found = [make_point(f"{workload}_{spec.ALL_THREADS}", 10e-3) for workload in spec.WORKLOADS]
    for workload in spec.WORKLOADS:
        series = f"{workload}_{spec.ON_GPU}"
        if why := spec.why_cpu_only(workload):
            found.append(make_point(series, None, status=Status.UNSUPPORTED, reason=why))
        else:
            found.append(make_point(series, times.get(workload, 10e-3)))
    return found


def batch_points(**gpu_ms: float) -> list[Point]:
    """Return the MLP's step: 10 ms on the CPU at every batch, and on the GPU the milliseconds given as ``b64=5``."""
    found = []
    for name, ms in gpu_ms.items():
        x = float(name.removeprefix("b"))
        found += [make_point("mlp_cpu", 10e-3, x), make_point("mlp_gpu", ms / 1e3, x)]
    return found
