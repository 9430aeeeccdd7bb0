"""Hand-made points of the page of many workers."""

from gpuexplain.experiments.workers import spec
from gpuexplain.model import Clock, Dtype, Point, Source


def make_point(series: str, x: float, median_s: float | None, **changes: object) -> Point:
    """Return a measured point with an interval of 1 % either side."""
    on_gpu = series.startswith("gpu")
    shape = (1024, 1024, 1024, int(x)) if series == spec.THREADS else (int(x),)
    fields: dict[str, object] = {
        "experiment": "workers",
        "series": series,
        "x": x,
        "shape": shape,
        "dtype": Dtype.FP32,
        "device": "cuda:0" if on_gpu else "cpu",
        "device_name": "NVIDIA A100" if on_gpu else "Fake CPU",
        "clock": Clock.DEVICE if on_gpu else Clock.CALL,
        "source": Source.MEASURED,
        "median_s": median_s,
        "flops": 2.0 * 1024**3 if series == spec.THREADS else x,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def thread_points(*speedups: float, one_s: float = 0.02) -> list[Point]:
    """Return 1, 2, ... threads with these speed-ups."""
    return [make_point(spec.THREADS, float(i + 1), one_s / s) for i, s in enumerate(speedups)]


def sum_points() -> list[Point]:
    """Return the four ways: 40 ms, 200 us, 100 us, 60 us."""
    times = (40e-3, 200e-6, 100e-6, 60e-6)
    return [make_point(series, float(spec.N_NUMBERS), t) for series, t in zip(spec.SUMS, times, strict=True)]


def block_points(width: int = 108, step_s: float = 1e-3) -> list[Point]:
    """Return a perfect staircase: one step for every started round of ``width`` blocks."""
    return [one_block_point(n, step_s * -(-n // width), width) for n in spec.block_counts(width)]


def one_block_point(n: int, time_s: float, width: int = 108) -> Point:
    """Return the time of ``n`` equal blocks on a GPU of ``width`` multiprocessors."""
    return make_point(spec.BLOCKS, float(n), time_s, shape=(n, width))


def path_points(parted_s: float, together_s: float = 1e-3, **changes: object) -> list[Point]:
    """Return both paths."""
    size = float(spec.DIVERGENT_ELEMENTS)
    return [make_point(spec.UNIFORM, size, together_s), make_point(spec.DIVERGENT, size, parted_s, **changes)]
