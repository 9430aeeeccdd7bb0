"""Points of every lab for each outcome of each claim, and exhibits made of points."""

from collections.abc import Mapping, Sequence

import batch_made
import by_hand_made
import matmul_made
import memory_made
import precision_made
import scaling_made
import step_made
import stopwatch_made
import transfer_made
import workers_made

from gpuexplain.experiments.matmul.spec import GPU_WITH_TRANSFER
from gpuexplain.experiments.step import spec as step_spec
from gpuexplain.experiments.stopwatch.spec import Way
from gpuexplain.experiments.transfer import spec as transfer_spec
from gpuexplain.experiments.workers import spec as workers_spec
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Clock, Dtype, Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.run import RunState
from gpuexplain.trial.evidence import Exhibit
from gpuexplain.trial.ruling import Outcome

HELD, NOT_HELD, CANNOT_TELL = Outcome.HELD, Outcome.NOT_HELD, Outcome.CANNOT_TELL
Points = Sequence[Point]
NO_GPU: Machine = matmul_made.make_machine()
WITH_GPU: Machine = matmul_made.make_machine(gpu_free_bytes=70 * matmul_made.GIB)
NOW_S = 1_000_000.0


def noisy(points: Points, factor: float = 1000.0) -> list[Point]:
    """Return the same medians with intervals that hold everything."""
    return [
        p.model_copy(update={"ci_low_s": p.median_s / factor, "ci_high_s": p.median_s * factor})
        if p.median_s is not None
        else p
        for p in points
    ]


def no_interval(points: Points) -> list[Point]:
    """Return the same medians without intervals."""
    return [p.model_copy(update={"ci_low_s": None, "ci_high_s": None}) for p in points]


def replaced(points: Points, series: str, **changes: object) -> list[Point]:
    """Return the points, those of a series changed; a new time brings its interval of 1 %."""
    if time_s := changes.get("median_s"):
        changes = {"ci_low_s": 0.99 * time_s, "ci_high_s": 1.01 * time_s, **changes}  # type: ignore[operator]
    return [p.model_copy(update=changes) if p.series == series else p for p in points]


def without(points: Points, *series: str) -> list[Point]:
    """Return the points of all other series."""
    return [p for p in points if p.series not in series]


def need_point(series: str, median_s: float | None, x: float = 64.0, **changes: object) -> Point:
    """Return one everyday work with an interval of 1 % either side."""
    on_gpu = series.endswith("_gpu")
    fields: dict[str, object] = {
        "experiment": "need",
        "series": series,
        "x": x,
        "shape": (int(x), 8, 1),
        "dtype": Dtype.FP32,
        "device": "cuda:0" if on_gpu else "cpu",
        "device_name": "NVIDIA A100" if on_gpu else "Fake CPU",
        "clock": Clock.TRANSFER_INCLUSIVE if on_gpu else Clock.CALL,
        "threads": None if on_gpu else 1 if series.endswith("1_thread") else 2,
        "source": Source.MEASURED,
        "median_s": median_s,
    }
    if median_s:
        fields |= {"ci_low_s": 0.99 * median_s, "ci_high_s": 1.01 * median_s, "n_samples": 20}
    return Point.model_validate({**fields, **changes})


CPU_WORK = {"decision_tree": 8e-3, "random_forest": 20e-3, "logistic_regression": 5e-3, "text": 64e-5,
            "inference_one": 1e-3, "mlp": 2e-3, "convnet": 10e-3, "transformer": 12.8e-3}  # fmt: skip


def need_points(gpu: Mapping[str, float] | None = None, **cpu: float) -> list[Point]:
    """Return all work of 64 examples on the CPU; with ``gpu`` times beside it, else one thread half as fast."""
    times = CPU_WORK | cpu
    points = [need_point(f"{work}_cpu", time_s) for work, time_s in times.items()]
    if gpu is None:
        return points + [need_point(f"{work}_cpu_1_thread", 2 * time_s) for work, time_s in times.items()]
    return points + [need_point(f"{work}_gpu", time_s) for work, time_s in gpu.items()]


# Claims -> the points that hold it, that do not, and that cannot tell.
_BATCHES = tuple(2**power for power in range(19))
_GPU_CLOCKS = matmul_made.gpu_points()
_LINK = transfer_made.copies(transfer_spec.H2D_PINNED, 8e-6, 25e9)
_FAST_LINK = transfer_made.copies(transfer_spec.H2D_PINNED, 1e-12, 1500e9)
_H2D = {"device": precision_made.GPU}
_WALK_AT_ROOF = [*memory_made.points(1), memory_made.walk_point(2, 2.0), memory_made.walk_point(4, 4.0)]
_STOPWATCH_GPU = stopwatch_made.gpu_points()
_BLOCKS = workers_made.block_points()


def _pieces(latency_s: float, noise: float = 0.01) -> list[Point]:
    return [*_LINK, *transfer_made.pieces(transfer_spec.H2D_PIECES, latency_s, 10e9, noise=noise)]


def _ceiling(first_failed: int) -> list[Point]:
    ran = [b for b in _BATCHES if b < first_failed]
    return [*batch_made.cpu_points(ran), batch_made.out_of_memory(batch_made.CPU, first_failed)]


CASES: dict[int, tuple[Points, Points, Points]] = {
    1: (by_hand_made.cpu_points(), by_hand_made.cpu_points(stack_s=0.4), no_interval(by_hand_made.cpu_points())),
    2: (
        batch_made.cpu_points(),
        batch_made.affine(batch_made.CPU, 4e-3, 40e-6, (1, 2), flops=100.0),
        batch_made.affine(batch_made.CPU, 4e-3, 40e-6, (1, 2), flops=None),
    ),
    4: (by_hand_made.cpu_points(), by_hand_made.cpu_points(stack_s=0.1), noisy(by_hand_made.cpu_points())),
    6: (
        [*matmul_made.cpu_points(), *_GPU_CLOCKS],
        [*matmul_made.cpu_points((512, 1024)), *matmul_made.gpu_points((512, 1024))],
        noisy([*matmul_made.cpu_points(), *_GPU_CLOCKS]),
    ),
    7: (workers_made.path_points(2e-3), workers_made.path_points(1e-3), workers_made.path_points(1.05e-3)),
    9: (
        workers_made.thread_points(1.0, 2.0, one_s=8.0),
        workers_made.thread_points(1.0, 2.0),
        workers_made.thread_points(1.0, 2.0, one_s=0.8),
    ),
    10: (_BLOCKS, replaced(_BLOCKS, workers_spec.BLOCKS, median_s=1e-3), _BLOCKS[:1]),
    11: (
        precision_made.gpu_points(),
        precision_made.make_formats({"fp32": 18.0, "fp16": 9.0, "bf16": 8.0}, **_H2D),
        noisy(precision_made.make_formats({"fp32": 18.0, "fp16": 18.5, "bf16": 18.2}, **_H2D)),
    ),
    12: (
        precision_made.make_steps(2.0, **_H2D),
        precision_made.make_steps(0.5, **_H2D),
        precision_made.make_steps(1.1, spread=0.3, **_H2D),
    ),
    13: (_ceiling(2**19), _ceiling(2**13), batch_made.affine(batch_made.CPU, 4e-3, 40e-6)),
    14: (memory_made.points(), _WALK_AT_ROOF, memory_made.points(1)),
    15: (_LINK, _FAST_LINK, transfer_made.copies(transfer_spec.H2D_PINNED, 1e-12, 500e9, noise=0.5)),
    16: (_pieces(9e-6), _pieces(0.0), _pieces(0.3e-6, noise=0.04)),
    17: (
        step_made.points(),
        step_made.points(forward=1e-3, backward=1e-3, loss=10e-3),
        step_made.points(forward=1e-3, backward=2e-3),
    ),
    18: (
        batch_made.cpu_points(),
        batch_made.affine(batch_made.CPU, 0.0, 1e-3),
        noisy(batch_made.cpu_points()),
    ),
    19: (
        step_made.points(),
        replaced(step_made.points(), step_spec.INFERENCE, median_s=85e-6),
        replaced(step_made.points(), step_spec.INFERENCE, median_s=120e-6),
    ),
    20: (
        stopwatch_made.cpu_points(**{Way.RIGHT: {"first_call_s": 0.1}}),
        stopwatch_made.cpu_points(),
        stopwatch_made.cpu_points(**{Way.RIGHT: {"first_call_s": None}}),
    ),
    21: (
        _STOPWATCH_GPU,
        replaced(_STOPWATCH_GPU, Way.NO_SYNC, median_s=1e-3),
        replaced(_STOPWATCH_GPU, Way.NO_SYNC, ci_low_s=None),
    ),
    22: (
        [*matmul_made.cpu_points(), *_GPU_CLOCKS],
        [*matmul_made.cpu_points(), *without(_GPU_CLOCKS, GPU_WITH_TRANSFER)],
        noisy([*matmul_made.cpu_points(), *_GPU_CLOCKS]),
    ),
    23: (need_points(), need_points(random_forest=2000.0), no_interval(need_points(random_forest=30.0))),
    24: (need_points(), need_points(mlp=2.0), without(need_points(), "convnet_cpu")),
    26: (scaling_made.steps(0.1, 0.06), scaling_made.steps(0.1, 0.1), scaling_made.steps(0.1, 0.096)),
    27: (
        precision_made.make_steps(0.5),
        precision_made.make_steps(1.0, rel_error=3e-7),
        precision_made.make_steps(2.0, rel_error=None),
    ),
    28: (
        step_made.points(load=40e-3),
        step_made.points(product_s=20e-3),
        without(step_made.points(), step_spec.PRODUCT),
    ),
}


def exhibit(lab: str, points: Points, **changes: object) -> Exhibit:
    """Return the points as what a whole run of a minute ago says."""
    fields: dict[str, object] = {
        "lab": lab, "run_id": f"run-{lab}", "findings": EXPERIMENTS[lab].find(list(points)),
        "measured_at": NOW_S - 600.0, "state": RunState.DONE, "n_timed": len(points),
    }  # fmt: skip
    return Exhibit(**{**fields, **changes})  # type: ignore[arg-type]


def exhibits(**points: Points) -> dict[str, Exhibit]:
    """Return an exhibit for each lab named."""
    return {lab: exhibit(lab, own) for lab, own in points.items()}
