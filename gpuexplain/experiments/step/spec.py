"""What can be asked of the anatomy of a training step: a model, its batch, and how its data are loaded (no torch)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from gpuexplain.errors import InputError
from gpuexplain.experiments.devices import CPU, half_dtype, memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.model_sizes import ModelSize, size_of
from gpuexplain.model import Case, Clock, Dtype, Params
from gpuexplain.units import format_size

EXPERIMENT_ID = "step"
# 1: first release. 2: idle time, slow data, the number of workers, the device's memory.
MEASURING_VERSION = 2

# The parts of a step, in the order in which they happen.
LOAD, COPY, FORWARD, LOSS, BACKWARD, OPTIMISER, IDLE = (
    "load", "copy", "forward", "loss", "backward", "optimiser", "idle",
)  # fmt: skip
PHASES = (LOAD, COPY, FORWARD, LOSS, BACKWARD, OPTIMISER)
STEP = "step"  # the whole, with nothing awaited between its parts
# IDLE is the part of STEP in which the device has nothing to do: it lies under the other parts, not beside them.
STEP_LOADED = "step_with_workers"  # the whole, its data loaded ahead by workers
INFERENCE = "inference_one"  # one example, forward only
PRODUCT = "product"  # one large product: how fast this device can compute
# Bytes by component: predicted (source model) and measured.
WEIGHTS, GRADIENTS, OPTIMISER_STATE, ACTIVATIONS = "weights", "gradients", "optimiser_state", "activations"
COMPONENTS = (WEIGHTS, GRADIENTS, OPTIMISER_STATE, ACTIVATIONS)
MEMORY_PREFIX = "memory_"
DEVICE_MEMORY = f"{MEMORY_PREFIX}device"  # what the device has in all

SHAPES: dict[str, tuple[int, int]] = {"mlp": (1024, 4), "convnet": (16, 2), "transformer": (256, 2)}
# Adam keeps two numbers for every weight.
ADAM_STATES = 2
MOST_WORKERS = 8
# How often an example is unpacked, by the kind of data: slow ones stand for large images or augmentation.
UNPACKINGS = {"ready": 0, "compressed": 1, "slow": 1000}
PRODUCT_SIDE = 1024


class StepParams(Params):
    """Which model is trained, with how many examples at once, in which precision, from what kind of data."""

    model: Literal["mlp", "convnet", "transformer"] = Field(
        default="mlp", title="Model", description="mlp, convnet or transformer"
    )
    dtype: Literal["fp32", "autocast"] = Field(default="fp32", title="Precision", description="fp32 or autocast")
    data: Literal["ready", "compressed", "slow"] = Field(
        default="compressed",
        title="Data",
        description="ready (in memory), compressed (each example is unpacked) or slow (unpacked 1,000 times over)",
    )
    batch: int = Field(default=64, ge=1, le=4096, title="Batch", description="examples of one step, 1 to 4096")
    workers: int = Field(
        default=2, ge=1, le=MOST_WORKERS, title="Loading workers", description="processes that load ahead, 1 to 8"
    )

    @property
    def shape(self) -> tuple[int, int]:
        """(width, depth) of the model."""
        return SHAPES[self.model]

    @property
    def size(self) -> ModelSize:
        """What the model costs, by hand."""
        return size_of(self.model, *self.shape)


def plan_cases(params: StepParams, machine: Machine) -> Sequence[Case]:
    """Return a case for every part of the step, for the whole, and for what it is compared with.

    Raises:
        InputError: If the device cannot be used, or the step does not fit its memory.
    """
    device = resolve_device(params, machine)
    half = half_dtype(device, machine)
    needed = params.size.step_bytes(params.batch, is_training=True, is_autocast=params.dtype == "autocast")
    limit = memory_limits(machine).get(device)
    if limit is not None and needed > limit:
        raise InputError(
            f"A step of {params.batch} examples needs about {format_size(needed)} on {device}, of which a run may take "
            f"{format_size(limit)}. Choose a smaller batch."
        )
    parts = [LOAD, *([COPY] if device != CPU else []), FORWARD, LOSS, BACKWARD, OPTIMISER]
    size = params.size
    forward, whole = (size.step_flops(params.batch, is_training=is_training) for is_training in (False, True))
    known = {FORWARD: forward, BACKWARD: whole - forward, STEP: whole, STEP_LOADED: whole}

    def case(series: str, flops: float, examples: int) -> Case:
        return _case(series, params, device, machine, half, flops, examples, needed)

    cases = [case(name, known.get(name, 0.0), params.batch) for name in (*parts, STEP, IDLE, STEP_LOADED)]
    cases.append(case(INFERENCE, size.step_flops(1, is_training=False), 1))
    cases.append(case(PRODUCT, 2.0 * PRODUCT_SIDE**3, 0))
    return cases


def device_memory_bytes(device: str, machine: Machine) -> int | None:
    """Return the memory that a device has in all: a GPU's own, else main memory or what a container may have of it."""
    if device != CPU:
        gpu = machine.gpu(device)
        return gpu.memory_total_bytes if gpu is not None else None
    limit = machine.memory.cgroup_limit_bytes
    return min(machine.memory.total_bytes, limit) if limit is not None else machine.memory.total_bytes


def _case(
    series: str,
    params: StepParams,
    device: str,
    machine: Machine,
    half: Dtype,
    flops: float,
    examples: int,
    needed: int,
) -> Case:
    on_gpu = device != CPU
    workers = (params.workers,) if series == STEP_LOADED else ()
    return Case(
        series=series,
        x=float(params.batch if examples != 1 else 1),
        shape=(max(examples, 1), *params.shape, *workers),
        dtype=Dtype.FP32 if params.dtype == "fp32" or series == PRODUCT else half,
        device=CPU if series == LOAD else device,
        clock=Clock.CALL,
        threads=None if on_gpu and series != LOAD else machine.cpu.usable_threads,
        flops=flops,
        bytes_moved=0.0,
        memory_bytes=needed,
        explicit=True,
        items=float(examples),
    )
