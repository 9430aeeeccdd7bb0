"""What can be asked of the stopwatch trap: one product, timed right and in every wrong way (no torch)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from gpuexplain.experiments.devices import CPU, resolve_device
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import BYTES_PER_VALUE, Case, Clock, Dtype, Params

EXPERIMENT_ID = "stopwatch"
# 1: first release.
MEASURING_VERSION = 1


class Way(StrEnum):
    """How the clock is held around the same product; the series of this experiment."""

    RIGHT = "right"
    NO_SYNC = "no_sync"
    SINGLE = "single_call"
    ITEM = "item_each_call"
    CONSTANTS = "constant_inputs"
    COPIES = "copies_included"
    ONE_THREAD = "one_thread"
    DISTURBED = "caches_disturbed"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One way to get a wrong figure: its name, and why the figure is wrong."""

    name: str  # as a sentence names it: "no synchronise"
    why: str  # what the clock really saw
    why_less: str = ""  # where the figure is too small, and that needs another reason


# COLD is no series: it is the first call of RIGHT, taken for the answer.
COLD = "no_warm_up"
MISTAKES: dict[str, Mistake] = {
    Way.NO_SYNC: Mistake("no synchronise", "the clock stopped when the call was queued, not when the work was done"),
    COLD: Mistake(
        "no warm-up",
        "the first call also loads libraries, picks a kernel and touches fresh memory",
        "one call says little, whichever it is: this first one met a quieter moment than most",
    ),
    Way.SINGLE: Mistake("one sample", "a single call may meet cold caches or another program; the median does not"),
    Way.ITEM: Mistake("`.item()` in the loop", "every call also waits for one number to reach the program"),
    Way.CONSTANTS: Mistake(
        "constants as input", "equal bits switch fewer transistors, so a card at its power limit may clock higher"
    ),
    Way.COPIES: Mistake("copies included", "the time of the link was added to that of the product"),
    Way.ONE_THREAD: Mistake(
        "one CPU thread",
        "the other cores were idle: some timers set this without saying so",
        "here the threads were in each other's way, so fewer of them look better than what a program gets",
    ),
    Way.DISTURBED: Mistake("caches disturbed", "other data had pushed the operands out of the caches"),
}
_CPU_WAYS = (Way.RIGHT, Way.SINGLE, Way.ITEM, Way.CONSTANTS, Way.DISTURBED)
_GPU_WAYS = (Way.RIGHT, Way.NO_SYNC, Way.SINGLE, Way.ITEM, Way.CONSTANTS, Way.COPIES, Way.DISTURBED)
_CLOCKS = {Way.NO_SYNC: Clock.ENQUEUE, Way.COPIES: Clock.TRANSFER_INCLUSIVE}


class StopwatchParams(Params):
    """The product that is timed: side and device."""

    side: Literal["128", "256", "512", "1024", "2048", "4096"] = Field(
        default="512", title="n", description="128, 256, 512, 1024, 2048 or 4096"
    )


def ways_on(device: str, threads: int) -> tuple[Way, ...]:
    """Return the ways that exist on a device; those missing are told as "does not exist here"."""
    if device != CPU:
        return _GPU_WAYS
    return (*_CPU_WAYS, Way.ONE_THREAD) if threads > 1 else _CPU_WAYS


def plan_cases(params: StopwatchParams, machine: Machine) -> Sequence[Case]:
    """Return one case per way to hold the clock.

    Raises:
        InputError: If the device cannot be used here.
    """
    device, side = resolve_device(params, machine), int(params.side)
    all_threads = machine.cpu.usable_threads
    threads = {Way.ONE_THREAD: 1}
    return [
        Case(
            series=way,
            x=float(side),
            shape=(side, side, side),
            dtype=Dtype.FP32,
            device=device,
            clock=_CLOCKS.get(way, Clock.CALL),
            threads=threads.get(way, all_threads) if device == CPU else None,
            flops=2.0 * side**3,
            bytes_moved=3.0 * side**2 * BYTES_PER_VALUE[Dtype.FP32],
            memory_bytes=4 * side**2 * BYTES_PER_VALUE[Dtype.FP32],
            explicit=True,  # one size, chosen by the visitor: it is measured even where it is slow
        )
        for way in ways_on(device, all_threads)
    ]
