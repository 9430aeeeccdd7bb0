"""Hand-made points of a training step of 64 examples."""

from gpuexplain.experiments.step import spec
from gpuexplain.model import Clock, Dtype, Point, Source

TIMES = {spec.LOAD: 1e-3, spec.FORWARD: 4e-3, spec.LOSS: 1e-3, spec.BACKWARD: 8e-3, spec.OPTIMISER: 2e-3}
FLOPS = {spec.FORWARD: 4e8, spec.BACKWARD: 8e8, spec.STEP: 12e8, spec.STEP_LOADED: 12e8, spec.PRODUCT: 2e9}
MIB = 2**20
BYTES = {spec.WEIGHTS: 16 * MIB, spec.GRADIENTS: 16 * MIB, spec.OPTIMISER_STATE: 32 * MIB, spec.ACTIVATIONS: 8 * MIB}


def make_point(series: str, median_s: float | None, **changes: object) -> Point:
    """Return a measured point of the CPU with an interval of 1 % either side."""
    fields: dict[str, object] = {
        "experiment": "step",
        "series": series,
        "x": 64.0,
        "shape": (64, 1024, 4),
        "dtype": Dtype.FP32,
        "device": "cpu",
        "device_name": "Fake CPU",
        "clock": Clock.CALL,
        "threads": 2,
        "source": Source.MEASURED,
        "median_s": median_s,
        "flops": FLOPS.get(series),
        "items": 64.0 if series in (spec.STEP, spec.STEP_LOADED) else None,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


def points(product_s: float = 10e-3, loaded_s: float = 14e-3, **times: float) -> list[Point]:
    """Return every part, the whole (16 ms), with workers, and a product of 200 GFLOP/s; ``times`` by part."""
    parts = [make_point(series, t) for series, t in (TIMES | times).items()]
    parts += [make_point(spec.STEP, 16e-3), make_point(spec.STEP_LOADED, loaded_s)]
    return [*parts, make_point(spec.INFERENCE, 1e-3, x=1.0, shape=(1, 1024, 4)), make_point(spec.PRODUCT, product_s)]


def memory(activations: int = 8 * MIB) -> list[Point]:
    """Return the components as measured, and as counted."""
    found = []
    for index, (component, size) in enumerate(BYTES.items()):
        measured = activations if component == spec.ACTIVATIONS else size
        known = {"series": f"{spec.MEMORY_PREFIX}{component}", "median_s": None}
        found.append(make_point(**known, bytes=float(measured), shape=(index, 0)))
        found.append(
            make_point(**known, bytes=float(size), shape=(index, 1), source=Source.MODEL, source_note="counted")
        )
    return found
