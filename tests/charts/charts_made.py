"""Hand-made points and looks for the shared marks."""

from gpuexplain.charts.theme import Entity, SeriesLook
from gpuexplain.model import Clock, Dtype, Point

LOOKS = {
    "cpu": SeriesLook(Entity.CPU, "CPU", "CPU"),
    "gpu": SeriesLook(Entity.GPU, "GPU", "GPU", dash="dashdot", marker="pentagon"),
}


def make_point(series: str = "cpu", x: float = 64.0, **changes: object) -> Point:
    """Return a point of 1 ms with an interval of 10 % either side, 2 GFLOP/s."""
    fields: dict[str, object] = {
        "experiment": "any", "series": series, "x": x, "dtype": Dtype.FP32, "device": series, "clock": Clock.CALL,
        "median_s": 1e-3, "ci_low_s": 0.9e-3, "ci_high_s": 1.1e-3, "min_s": 0.8e-3, "max_s": 2e-3, "n_samples": 24,
        "flops": 2e6,
    }  # fmt: skip
    return Point.model_validate({**fields, **changes})


NO_INTERVAL: dict[str, object] = {"ci_low_s": None, "ci_high_s": None}
NO_TIME: dict[str, object] = {**NO_INTERVAL, "median_s": None, "min_s": None, "max_s": None, "n_samples": 0}
