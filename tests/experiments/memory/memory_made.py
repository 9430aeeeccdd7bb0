"""Hand-made points of the memory wall: 10 GB/s of memory, 100 GFLOP/s of fp32, 300 of bf16."""

from gpuexplain.experiments.memory import spec
from gpuexplain.model import Clock, Dtype, Point, Source

BYTES_S, FLOPS_S, BF16_FLOPS_S = 10e9, 100e9, 300e9


def make_point(series: str, x: float, median_s: float | None, flops: float, moved: float, **changes: object) -> Point:
    """Return a measured point with an interval of 1 % either side."""
    fields: dict[str, object] = {
        "experiment": "memory",
        "series": series,
        "x": x,
        "shape": (int(x),),
        "dtype": Dtype.FP32,
        "device": "cpu",
        "device_name": "Fake CPU",
        "clock": Clock.CALL,
        "threads": 2,
        "source": Source.MEASURED,
        "median_s": median_s,
        "flops": flops,
        "bytes": moved,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def stream(series: str, bytes_s: float, **changes: object) -> Point:
    """Return an array operation of 1 GB at this rate."""
    return make_point(series, 1e9, 1e9 / bytes_s, 0.0, 1e9, **changes)


def compute(dtype: Dtype, flops_s: float, **changes: object) -> Point:
    """Return a large product at this rate."""
    work = 2.0 * 1024**3
    return make_point(spec.COMPUTE[dtype], 1024.0, work / flops_s, work, 12.0 * 1024**2, dtype=dtype, **changes)


def walk_point(k: int, factor: float = 1.0, **changes: object) -> Point:
    """Return a step of the walk that takes ``factor`` times what the roofs allow."""
    flops, moved = spec.count_walk(k)
    time_s = factor * max(flops / FLOPS_S, moved / BYTES_S)
    return make_point(spec.WALK, float(k), time_s, flops, moved, shape=(2048, 2048, k), **changes)


def points(largest_k: int = 512, **changes: object) -> list[Point]:
    """Return both roofs, the price of a call (10 us) and a walk that follows the roofs."""
    return [
        make_point(spec.EMPTY, 1.0, 10e-6, 1.0, 8.0, **changes),
        stream(spec.COPY, 8e9, **changes),
        stream(spec.TRIAD, BYTES_S, **changes),
        stream(spec.READ, 9e9, **changes),
        compute(Dtype.FP32, FLOPS_S, **changes),
        compute(Dtype.BF16, BF16_FLOPS_S, **changes),
        *(walk_point(k, **changes) for k in spec.uses(largest_k)),
    ]
