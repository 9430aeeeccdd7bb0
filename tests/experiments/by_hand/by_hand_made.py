"""Hand-made points of one layer by hand: 256 examples, 1024 wide, 50 deep."""

from gpuexplain.experiments.by_hand import spec
from gpuexplain.model import Clock, Dtype, Point, Source


def make_point(series: str, median_s: float | None, depth: int = 1, **changes: object) -> Point:
    """Return a measured point with an interval of 1 % either side."""
    on_gpu = series.startswith("gpu")
    flops = 2.0 * 256 * 1024 * 1024 * depth
    fields: dict[str, object] = {
        "experiment": "by_hand",
        "series": series,
        "x": float(depth),
        "shape": (256, 1024, 1024, depth),
        "dtype": Dtype.FP32,
        "device": "cuda:0" if on_gpu else "cpu",
        "device_name": "NVIDIA A100" if on_gpu else "Fake CPU",
        "clock": Clock.CALL,
        "source": Source.MEASURED,
        "median_s": median_s,
        "flops": flops,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def cpu_points(product_s: float = 4e-3, stack_s: float = 0.21, **changes: object) -> list[Point]:
    """Return one product of 4 ms and a stack of 210 ms: 1.05 times the prediction of 200 ms."""
    return [make_point(spec.PRODUCT, product_s, **changes), make_point(spec.STACK, stack_s, 50, **changes)]


def gpu_points(stack_s: float = 4e-3) -> list[Point]:
    """Return one product of 40 us and a stack of 4 ms: twice the prediction of 2 ms."""
    return [make_point(spec.GPU_PRODUCT, 40e-6), make_point(spec.GPU_STACK, stack_s, 50)]
