"""Hand-made points of the stopwatch lab whose answers are obvious by eye."""

from gpuexplain.experiments.stopwatch.series import Lane
from gpuexplain.experiments.stopwatch.spec import Way
from gpuexplain.model import Clock, Dtype, Point, Source, Status


def make_point(way: str, median_s: float | None, **changes: object) -> Point:
    """Return a point of n = 512 on the CPU with an interval of 1 % either side and 40 equal samples."""
    fields: dict[str, object] = {
        "experiment": "stopwatch",
        "series": way,
        "x": 512.0,
        "shape": (512, 512, 512),
        "dtype": Dtype.FP32,
        "device": "cpu",
        "device_name": "Fake CPU",
        "clock": Clock.CALL,
        "threads": 2,
        "source": Source.MEASURED,
        "status": Status.OK,
        "median_s": median_s,
        "flops": 2.0 * 512**3,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "first_call_s": median_s}
        fields |= {"min_s": 0.98 * median_s, "max_s": 1.02 * median_s, "n_samples": 40}
        fields |= {"samples_s": (median_s,) * 40, "calls_per_sample": (1,) * 40, "warmup_s": (median_s,) * 3}
    return Point.model_validate({**fields, **changes})


def cpu_points(**changes: dict[str, object]) -> list[Point]:
    """Return all ways on a CPU, each 1 ms; ``changes`` by way, ``median_s`` among them."""
    ways = (Way.RIGHT, Way.SINGLE, Way.ITEM, Way.CONSTANTS, Way.DISTURBED, Way.ONE_THREAD)
    points = []
    for way in ways:
        own = dict(changes.get(way, {}))
        median_s = own.pop("median_s", 1e-3)
        points.append(make_point(way, median_s, **own))  # type: ignore[arg-type]
    return points


def gpu_points() -> list[Point]:
    """Return all ways on a GPU: the work takes 1 ms, queueing 10 us, the copies 3 ms."""
    here = {"device": "cuda:0", "device_name": "NVIDIA A100-SXM4-80GB", "threads": None}
    times = {
        Way.RIGHT: 1e-3, Way.NO_SYNC: 10e-6, Way.SINGLE: 1e-3, Way.ITEM: 1.02e-3, Way.CONSTANTS: 0.9e-3,
        Way.COPIES: 4e-3, Way.DISTURBED: 1.2e-3,
    }  # fmt: skip
    points = [make_point(way, time_s, **here) for way, time_s in times.items()]
    points[0] = points[0].model_copy(update={"first_call_s": 0.2})
    for waits in (True, False):
        points.append(make_lane(Lane.HOST, waits, 0.0, 10e-6, 0, **here))
        points.append(make_lane(Lane.DEVICE, waits, 20e-6, 1e-3, 1, **here))
    return points


def make_lane(lane: Lane, waits: bool, start_s: float, length_s: float, index: int, **changes: object) -> Point:
    """Return one stretch of a lane."""
    only = {"x": start_s, "shape": (index,), "samples_s": (), "n_samples": 1, "flops": None}
    return make_point(lane.series(waits=waits), length_s, **{**only, **changes})
