"""Hand-made points of more devices: one step of 100 ms, shared out."""

from gpuexplain.experiments.scaling import spec
from gpuexplain.model import Clock, Dtype, Point, Source


def make_point(series: str, x: float, median_s: float | None, **changes: object) -> Point:
    """Return a measured point of processes on a CPU with an interval of 1 % either side."""
    shape = (2, int(x)) if series == spec.ALL_REDUCE else (int(x), 256, 512, 4)
    fields: dict[str, object] = {
        "experiment": "scaling",
        "series": series,
        "x": x,
        "shape": shape,
        "dtype": Dtype.FP32,
        "device": "cpu",
        "device_name": "Fake CPU",
        "clock": Clock.CALL,
        "threads": 1,
        "source": Source.MEASURED,
        "median_s": median_s,
        "bytes": x if series == spec.ALL_REDUCE else 4.0 * 512 * 512 * 4,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def steps(*strong: float, silent: float | None = None, weak: float = 0.11, **changes: object) -> list[Point]:
    """Return the strong times of 1, 2, 4 ... devices, the silent time of the last, and the weak ones."""
    counts = [2**i for i in range(len(strong))]
    points = [make_point(spec.STRONG, float(n), t, **changes) for n, t in zip(counts, strong, strict=True)]
    points.append(make_point(spec.WEAK, 1.0, 0.1, **changes))
    if len(counts) > 1:
        points.append(make_point(spec.WEAK, float(counts[-1]), weak, **changes))
    if silent is not None:
        points.append(make_point(spec.SILENT, float(counts[-1]), silent, **changes))
    return points


def exchanges(latency_s: float = 500e-6, rate_bytes_s: float = 1e9) -> list[Point]:
    """Return exchanges that take a latency and a rate."""
    return [make_point(spec.ALL_REDUCE, float(size), latency_s + size / rate_bytes_s) for size in spec.MESSAGE_BYTES]
