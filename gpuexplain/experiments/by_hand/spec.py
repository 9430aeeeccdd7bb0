"""What can be asked of one layer by hand: a batch through a stack of square layers (no torch)."""

from collections.abc import Iterator, Sequence

from pydantic import Field
from pydantic.config import JsonDict

from gpuexplain.errors import InputError
from gpuexplain.experiments.by_hand.counting import Count
from gpuexplain.experiments.devices import CPU, memory_limits, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params
from gpuexplain.units import format_size

EXPERIMENT_ID = "by_hand"
# 1: first release.
MEASURING_VERSION = 1

PRODUCT = "product"  # one product of the batch with one matrix of weights
STACK = "stack"  # the whole: products, biases and nonlinearities, one layer after the other
GPU_PRODUCT = "gpu_product"
GPU_STACK = "gpu_stack"

LARGEST_WORK = 2**44  # multiply-adds: hours on a CPU; a typing mistake
_IN_ROW: JsonDict = {"place": "row"}  # beside the presets, not behind "More"
VALUE_BYTES = BYTES_PER_VALUE[Dtype.FP32]


class ByHandParams(Params):
    """The stack: how many examples, how wide, how deep. The defaults are the article's."""

    batch: int = Field(
        default=256, ge=1, le=65_536, title="Batch", description="examples, 1 to 65536", json_schema_extra=_IN_ROW
    )
    width: int = Field(
        default=1024, ge=1, le=16_384, title="Width", description="inputs and outputs, 1 to 16384",
        json_schema_extra=_IN_ROW,
    )  # fmt: skip
    depth: int = Field(
        default=50, ge=1, le=1_000, title="Depth", description="layers, 1 to 1000", json_schema_extra=_IN_ROW
    )

    @property
    def count(self) -> Count:
        """What the stack adds up to."""
        return Count(self.batch, self.width, self.depth)


ARTICLE = ByHandParams(batch=256, width=1024, depth=50)


def plan_cases(params: ByHandParams, machine: Machine) -> Sequence[Case]:
    """Return one product and the whole stack, on the CPU and on the GPU where there is one.

    Raises:
        InputError: If the device cannot be used, the weights do not fit, or the work is out of all bounds.
    """
    device = resolve_device(params, machine)
    if params.count.n_multiplications > LARGEST_WORK:
        raise InputError(
            f"batch={params.batch}, width={params.width}, depth={params.depth} are "
            f"{params.count.n_multiplications:.1e} multiply-adds; at most {LARGEST_WORK:.1e} here. Make one smaller."
        )
    needed = VALUE_BYTES * (params.depth * params.width**2 + 3 * params.batch * params.width)
    for name, limit in memory_limits(machine).items():
        if name in (CPU, device) and needed > limit:
            raise InputError(
                f"{params.depth} layers of width {params.width} need {format_size(needed)} on {name}, of which a run "
                f"may take {format_size(limit)}. Make them fewer or narrower."
            )
    return list(_cases(params, device, machine, needed))


def _cases(params: ByHandParams, device: str, machine: Machine, needed_bytes: int) -> Iterator[Case]:
    places = [(CPU, PRODUCT, STACK), *([(device, GPU_PRODUCT, GPU_STACK)] if device != CPU else [])]
    batch, width, depth = params.batch, params.width, params.depth
    for where, product, stack in places:
        for series, layers in ((product, 1), (stack, depth)):
            yield Case(
                series=series,
                x=float(layers),
                shape=(batch, width, width, layers),
                dtype=Dtype.FP32,
                device=where,
                clock=Clock.CALL,
                threads=machine.cpu.usable_threads if where == CPU else None,
                flops=2.0 * batch * width * width * layers,
                bytes_moved=float(VALUE_BYTES * layers * (width * width + 2 * batch * width)),
                memory_bytes=needed_bytes,
                explicit=True,
                items=float(batch),
            )
