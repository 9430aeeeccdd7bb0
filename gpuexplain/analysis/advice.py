"""What will a stack of layers take on this CPU and on a GPU, does it fit, and from how many passes do copies pay?

Pure arithmetic on times that were measured before (or on a data sheet's bounds); nothing here measures.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpuexplain.findings import NotFound
from gpuexplain.model import BYTES_PER_VALUE, Dtype

VALUE_BYTES = BYTES_PER_VALUE[Dtype.FP32]
# A product whose work differs by more than this from every one measured runs at a rate nobody measured.
FAR_FACTOR = 64.0
# Biases, nonlinearities, shapes that are not square, what the caches do: products alone miss a stack by this much.
MODEL_ERROR = 0.25
# What passes between two layers is written by the product, then read and written by the nonlinearity.
VALUE_PASSES = 3
# Inputs, outputs and one layer between are live at once.
LIVE_VALUES = 3


@dataclass(frozen=True, slots=True)
class Stack:
    """What is asked about: ``passes`` times a batch through ``depth`` square layers, its data copied in once."""

    batch: int
    width: int
    depth: int
    passes: int
    data_bytes: float

    @property
    def layer_flops(self) -> float:
        """Operations of one product: 2 x multiply-adds."""
        return 2.0 * self.batch * self.width * self.width

    @property
    def pass_flops(self) -> float:
        """Operations of one pass."""
        return self.depth * self.layer_flops

    @property
    def weight_bytes(self) -> float:
        """All weights in fp32."""
        return float(VALUE_BYTES * self.depth * self.width * self.width)

    @property
    def layer_value_bytes(self) -> float:
        """What one layer passes on."""
        return float(VALUE_BYTES * self.batch * self.width)

    @property
    def needed_bytes(self) -> float:
        """What must be in memory at once."""
        return self.weight_bytes + self.data_bytes + LIVE_VALUES * self.layer_value_bytes

    @property
    def copied_in_bytes(self) -> float:
        """Weights and data, once."""
        return self.weight_bytes + self.data_bytes


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds: between ``low`` and ``high``, most likely ``centre``. An endless ``high``: only a bound is known."""

    low: float
    centre: float
    high: float

    def times(self, factor: float) -> "Span":
        """Return this many of them."""
        return Span(self.low * factor, self.centre * factor, self.high * factor)

    def plus(self, other: "Span") -> "Span":
        """Return one after the other."""
        return Span(self.low + other.low, self.centre + other.centre, self.high + other.high)

    @property
    def is_bound(self) -> bool:
        """Whether it says only what cannot be undercut."""
        return math.isinf(self.high)


@dataclass(frozen=True, slots=True)
class Timed:
    """Work (operations or bytes) that was measured, and the seconds it took."""

    work: float
    span: Span


@dataclass(frozen=True, slots=True)
class Device:
    """What is known of one device. A data sheet gives ``peak_flops``, a measurement ``products``."""

    name: str
    products: tuple[Timed, ...] = ()
    peak_flops: float | None = None  # FLOP/s of a data sheet: nothing is faster
    bandwidth_bytes_s: float | None = None
    cache_bytes: int | None = None
    memory_bytes: int | None = None  # what one run may take


@dataclass(frozen=True, slots=True)
class Link:
    """What is known of the way to a GPU: copies that were measured, or the rate on paper."""

    copies: tuple[Timed, ...] = ()
    peak_bytes_s: float | None = None


class Fit(StrEnum):
    """Whether it fits the memory."""

    FITS = "fits"
    DOES_NOT_FIT = "does_not_fit"
    CANNOT_TELL = "cannot_tell"


class Pays(StrEnum):
    """Whether the GPU, copies included, is faster for all passes together."""

    PAYS = "pays"
    DOES_NOT_PAY = "does_not_pay"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Side:
    """One device: one pass, and all of them with the copies. ``is_far``: no product of about that size was timed."""

    name: str
    one_pass: Span | NotFound
    total: Span | NotFound
    fit: Fit
    memory_bytes: int | None
    is_far: bool = False


@dataclass(frozen=True, slots=True)
class BreakEvenPasses:
    """From how many passes on the copies are paid for; ``high`` is endless where that is not sure."""

    low: float
    centre: float
    high: float


@dataclass(frozen=True, slots=True)
class Advice:
    """What the adviser says, before it is put in words."""

    stack: Stack
    cpu: Side
    gpu: Side
    copies: Span | NotFound
    break_even: BreakEvenPasses | NotFound
    pays: Pays
    reason: str = ""  # why it cannot be told


def advise(stack: Stack, cpu: Device, gpu: Device, link: Link) -> Advice:
    """Return times, fit, verdict and break-even of a stack on both devices."""
    cpu_pass, cpu_far = predict_pass(stack, cpu)
    gpu_pass, gpu_far = predict_pass(stack, gpu)
    copies = predict_copies(stack, link)
    cpu_total = cpu_pass.times(stack.passes) if isinstance(cpu_pass, Span) else cpu_pass
    gpu_total = _total(gpu_pass, copies, stack.passes)
    cpu_side = Side(cpu.name, cpu_pass, cpu_total, find_fit(stack, cpu), cpu.memory_bytes, cpu_far)
    gpu_side = Side(gpu.name, gpu_pass, gpu_total, find_fit(stack, gpu), gpu.memory_bytes, gpu_far)
    pays, reason = judge(cpu_side, gpu_side)
    return Advice(stack, cpu_side, gpu_side, copies, find_break_even(cpu_pass, gpu_pass, copies), pays, reason)


def _total(gpu_pass: Span | NotFound, copies: Span | NotFound, passes: int) -> Span | NotFound:
    if isinstance(gpu_pass, NotFound):
        return gpu_pass
    return copies if isinstance(copies, NotFound) else copies.plus(gpu_pass.times(passes))


def predict_pass(stack: Stack, device: Device) -> tuple[Span | NotFound, bool]:
    """Return the seconds of one pass, and whether they are far from anything measured."""
    if device.products:
        layer, is_far = interpolate(stack.layer_flops, device.products)
        products = layer.times(stack.depth)
        uncertain = Span(products.low / (1 + MODEL_ERROR), products.centre, products.high * (1 + MODEL_ERROR))
        return _with_memory(uncertain, stack, device), is_far
    if device.peak_flops is None:
        return NotFound("one pass", f"no product was measured on {device.name}"), False
    least_s = max(stack.pass_flops / device.peak_flops, _weights_s(stack, device) or 0.0)
    return Span(least_s, least_s, math.inf), False


def interpolate(work: float, timed: Sequence[Timed]) -> tuple[Span, bool]:
    """Return the seconds of ``work`` by the nearest smaller and larger one measured, and whether both are far.

    Rates are interpolated between the two, over the logarithm of the work; the bounds are those of the slower and
    of the faster one. Beyond the largest its rate goes on; less work than the smallest may take as long as that one.
    """
    ordered = sorted(timed, key=lambda t: t.work)
    below = [t for t in ordered if t.work <= work]
    above = [t for t in ordered if t.work >= work]
    is_far = not any(max(t.work / work, work / t.work) <= FAR_FACTOR for t in ordered)
    if not below:
        smallest = ordered[0]
        scaled = smallest.span.times(work / smallest.work)
        return Span(scaled.low, smallest.span.centre, smallest.span.high), is_far
    lower = below[-1]
    upper = above[0] if above else lower
    share = math.log(work / lower.work) / math.log(upper.work / lower.work) if upper.work > lower.work else 0.0
    low = min(work / t.work * t.span.low for t in (lower, upper))
    high = max(work / t.work * t.span.high for t in (lower, upper))
    rates = [t.work / t.span.centre for t in (lower, upper)]
    return Span(low, work / (rates[0] ** (1 - share) * rates[1] ** share), high), is_far


def _with_memory(products: Span, stack: Stack, device: Device) -> Span:
    """Return the products' time with what the memory adds: values between layers, and weights that no cache holds."""
    if not device.bandwidth_bytes_s:
        return products
    values_s = stack.depth * VALUE_PASSES * stack.layer_value_bytes / device.bandwidth_bytes_s
    weights_s = _weights_s(stack, device)
    floor_s = weights_s or 0.0
    # Where the cache is not known, its holding the weights is only the better case.
    maybe_s = stack.weight_bytes / device.bandwidth_bytes_s if device.cache_bytes is None else floor_s
    return Span(
        max(products.low, floor_s),
        max(products.centre, floor_s) + values_s,
        max(products.high, maybe_s) + values_s,
    )


def _weights_s(stack: Stack, device: Device) -> float | None:
    """Return the seconds of reading all weights once; None where a cache may hold them, or nobody knows."""
    if not device.bandwidth_bytes_s or device.cache_bytes is None or stack.weight_bytes <= device.cache_bytes:
        return None
    return stack.weight_bytes / device.bandwidth_bytes_s


def predict_copies(stack: Stack, link: Link) -> Span | NotFound:
    """Return the seconds of copying weights and data in, and one batch of results out."""
    if link.copies:
        there, _ = interpolate(stack.copied_in_bytes, link.copies)
        back, _ = interpolate(stack.layer_value_bytes, link.copies)
        return there.plus(back)
    if link.peak_bytes_s is None:
        return NotFound("the copies", "no copy to a GPU was measured")
    least_s = (stack.copied_in_bytes + stack.layer_value_bytes) / link.peak_bytes_s
    return Span(least_s, least_s, math.inf)


def find_fit(stack: Stack, device: Device) -> Fit:
    """Return whether everything that must be in memory at once fits what a run may take."""
    if device.memory_bytes is None:
        return Fit.CANNOT_TELL
    return Fit.FITS if stack.needed_bytes <= device.memory_bytes else Fit.DOES_NOT_FIT


def judge(cpu: Side, gpu: Side) -> tuple[Pays, str]:
    """Return whether the GPU pays for all passes together, and why that cannot be told."""
    if gpu.fit is Fit.DOES_NOT_FIT:
        return Pays.DOES_NOT_PAY, "it does not fit the GPU's memory"
    for side in (cpu, gpu):
        if isinstance(side.total, NotFound):
            return Pays.CANNOT_TELL, side.total.reason
    for side in (cpu, gpu):
        if side.is_far:
            return Pays.CANNOT_TELL, f"no product of about this size was measured on {side.name}"
    assert isinstance(cpu.total, Span)
    assert isinstance(gpu.total, Span)
    if gpu.total.high < cpu.total.low:
        return Pays.PAYS, ""
    if gpu.total.low > cpu.total.high:
        return Pays.DOES_NOT_PAY, ""
    if gpu.total.is_bound:
        return Pays.CANNOT_TELL, "of the GPU only a bound is known, and that is no measurement"
    return Pays.CANNOT_TELL, "the two intervals overlap"


def find_break_even(
    cpu_pass: Span | NotFound, gpu_pass: Span | NotFound, copies: Span | NotFound
) -> BreakEvenPasses | NotFound:
    """Return from how many passes on the GPU is faster with its copies: copies / (CPU - GPU)."""
    for part in (cpu_pass, gpu_pass, copies):
        if isinstance(part, NotFound):
            return NotFound("break-even", part.reason)
    assert isinstance(cpu_pass, Span)
    assert isinstance(gpu_pass, Span)
    assert isinstance(copies, Span)
    if gpu_pass.centre >= cpu_pass.centre:
        return NotFound("break-even", "a pass on the GPU is not faster, so no number of passes pays for the copies")
    gain_s = cpu_pass.centre - gpu_pass.centre
    surest_s = cpu_pass.low - gpu_pass.high
    return BreakEvenPasses(
        low=copies.low / (cpu_pass.high - gpu_pass.low),
        centre=copies.centre / gain_s,
        high=copies.high / surest_s if surest_s > 0 else math.inf,
    )
