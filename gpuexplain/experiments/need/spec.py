"""What can be asked of "Do you need a GPU?": everyday work of eight kinds, small or of medium size (no torch)."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import CPU, memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.model_sizes import IMAGE_SIDE, TOKENS, size_of
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params
from gpuexplain.units import format_size

EXPERIMENT_ID = "need"
# 1: first release.
MEASURING_VERSION = 1

TREE, FOREST, LOGISTIC = "decision_tree", "random_forest", "logistic_regression"
TEXT = "text"  # tokenise, hash, count: plain Python
INFERENCE = "inference_one"  # one picture through the convnet, forward only
MLP, CONVNET, TRANSFORMER = "mlp", "convnet", "transformer"  # one training step
CLASSICAL = (TREE, FOREST, LOGISTIC)  # scikit-learn's, one whole fit
TRAINED = (*CLASSICAL, MLP, CONVNET, TRANSFORMER)
NETWORKS = (INFERENCE, MLP, CONVNET, TRANSFORMER)
WORKLOADS = (TREE, FOREST, LOGISTIC, TEXT, INFERENCE, MLP, CONVNET, TRANSFORMER)

# The ways one workload is run; the name of a series is the workload's and the way's.
ALL_THREADS, ONE_THREAD, ON_GPU = "cpu", "cpu_1_thread", "gpu"
WAYS = (ALL_THREADS, ONE_THREAD, ON_GPU)
SERIES: dict[str, tuple[str, str]] = {f"{work}_{way}": (work, way) for work in WORKLOADS for way in WAYS}

VALUE_BYTES = BYTES_PER_VALUE[Dtype.FP32]
TOKEN_BYTES = 8  # a token is a 64-bit whole number
WORD_BYTES = 7  # of a generated text, with its space

# Examples, and what else makes up the size: features and trees, words a document, width and depth.
Shape = tuple[int, int, int]
SHAPES: dict[str, dict[str, Shape]] = {
    "small": {
        TREE: (1000, 20, 1), FOREST: (500, 20, 10), LOGISTIC: (2000, 20, 1), TEXT: (100, 80, 1),
        INFERENCE: (1, 16, 2), MLP: (64, 256, 3), CONVNET: (8, 8, 1), TRANSFORMER: (2, 128, 2),
    },
    "medium": {
        TREE: (10_000, 30, 1), FOREST: (4000, 30, 20), LOGISTIC: (20_000, 50, 1), TEXT: (1000, 100, 1),
        INFERENCE: (1, 32, 3), MLP: (256, 1024, 4), CONVNET: (32, 16, 2), TRANSFORMER: (8, 256, 4),
    },
}  # fmt: skip
# The same training step with fewer and with more examples: from how many on does a GPU pay?
MLP_BATCHES: dict[str, tuple[int, ...]] = {"small": (1, 8, 64, 512, 2048), "medium": (1, 16, 256, 1024, 4096)}


class NeedParams(Params):
    """How large the work is."""

    size: Literal["small", "medium"] = Field(
        default="small", title="Size of the work", description="small or medium (about ten times the work)"
    )


def stands_for_its_kind(case: Case) -> bool:
    """Whether a case is needed for the verdict of a workload, not only for the break-even by batch."""
    workload, _ = SERIES[case.series]
    return case.shape[0] in {shapes[workload][0] for shapes in SHAPES.values()}


def why_cpu_only(workload: str) -> str:
    """Return why a workload has no time on a GPU; "" where it can have one."""
    if workload in CLASSICAL:
        return "scikit-learn computes this on the CPU only."
    if workload == TEXT:
        return "Text is taken apart by plain Python, on the CPU only."
    return ""


def plan_cases(params: NeedParams, machine: Machine) -> Sequence[Case]:
    """Return every workload with all threads, and on the GPU; where there is none, with one thread instead.

    Raises:
        InputError: If the device cannot be used, or the work does not fit its memory.
    """
    device = resolve_device(params, machine)
    cases = list(_cases(params.size, device, machine))
    limits = memory_limits(machine)
    for case in cases:
        limit = limits.get(case.device)
        if limit is not None and case.memory_bytes > limit:
            raise InputError(
                f"{case.series} needs about {format_size(case.memory_bytes)} on {case.device}, of which a run may take "
                f"{format_size(limit)}. Choose the small size, or free some memory."
            )
    return cases


def _cases(size: str, device: str, machine: Machine) -> Iterator[Case]:
    threads = machine.cpu.usable_threads
    places = [(ALL_THREADS, CPU, threads), (ON_GPU, device, None) if device != CPU else (ONE_THREAD, CPU, 1)]
    for workload in WORKLOADS:
        examples, *rest = SHAPES[size][workload]
        batches = MLP_BATCHES[size] if workload == MLP else (examples,)
        for way, place, n_threads in places:
            for batch in batches:
                yield _case(workload, way, (batch, rest[0], rest[1]), place, n_threads)


def _case(workload: str, way: str, shape: Shape, device: str, threads: int | None) -> Case:
    moved = input_bytes(workload, shape)
    # What has no version for a GPU needs nothing there.
    flops, memory = 0.0, 0 if way == ON_GPU else 4 * moved
    if workload in NETWORKS:
        model = size_of(CONVNET if workload == INFERENCE else workload, shape[1], shape[2])
        is_training = workload != INFERENCE
        flops = model.step_flops(shape[0], is_training=is_training)
        memory = model.step_bytes(shape[0], is_training=is_training, is_autocast=False)
    return Case(
        series=f"{workload}_{way}",
        x=float(shape[0]),
        shape=shape,
        dtype=Dtype.FP32,
        device=device,
        clock=Clock.TRANSFER_INCLUSIVE if way == ON_GPU else Clock.CALL,
        threads=threads,
        flops=flops,
        bytes_moved=float(moved),
        memory_bytes=memory,
        items=float(shape[0]),
    )


def input_bytes(workload: str, shape: Shape) -> int:
    """Return the bytes of the examples of one call: what a GPU would have to be sent."""
    examples, second, _ = shape
    each = {
        MLP: VALUE_BYTES * second,
        CONVNET: VALUE_BYTES * 3 * IMAGE_SIDE * IMAGE_SIDE,
        INFERENCE: VALUE_BYTES * 3 * IMAGE_SIDE * IMAGE_SIDE,
        TRANSFORMER: TOKEN_BYTES * TOKENS,
        TEXT: WORD_BYTES * second,
    }
    return examples * each.get(workload, VALUE_BYTES * second)
