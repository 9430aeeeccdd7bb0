"""Which claims does the article make, which lab tests each, and where in its findings does the verdict stand?"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuexplain.trial import judge_machines, judge_need, judge_precision, judge_runs, judge_transfer, judge_work
from gpuexplain.trial.ruling import Lack, Ruling
from gpuexplain.wording.markup import term


class Kind(StrEnum):
    """What a lab does with a claim."""

    TESTED = "T"
    ILLUSTRATED = "I"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to test a claim: a lab, the place of the verdict in its findings, and the judge that reads it."""

    lab: str  # experiment id
    where: str  # field of its findings
    judge: Callable[[Any], Ruling]  # findings -> ruling
    lack: Lack | None = None  # what a machine needs for it; None: nothing


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the article, in our own words, terms marked. ``reading`` is None where a lab only illustrates it.

    ``stance``: what the product says of a claim that is too simple; "" where the verdict says it all.
    """

    number: int
    text: str
    reading: Reading | None
    labs: tuple[str, ...]  # every lab that shows it, the one that tests it first
    stance: str = ""

    @property
    def kind(self) -> Kind:
        """Whether the claim is tested or illustrated."""
        return Kind.TESTED if self.reading is not None else Kind.ILLUSTRATED


def _tested(number: int, text: str, reading: Reading, *also: str, stance: str = "") -> Claim:
    return Claim(number, text, reading, (reading.lab, *also), stance)


def _illustrated(number: int, text: str, *labs: str) -> Claim:
    return Claim(number, text, None, labs)


CLAIMS: tuple[Claim, ...] = (
    _tested(
        1,
        f"A layer is a matrix product, a bias and a {term('nonlinearity')}, and the product is nearly all of its "
        f"cost: with 512 inputs and outputs, 512 x 512 {term('multiply-add', 'multiply-adds')} an example.",
        Reading("by_hand", "predictions[0].verdict", judge_work.judge_layer),
        "step",
    ),
    _tested(
        2,
        "Forward and backward over many batches add up to billions or trillions of multiply-adds.",
        Reading("batch", "series[].best: rate_flops x step_s", judge_work.judge_count),
        "by_hand",
    ),
    _illustrated(
        3, "Three inputs times a 3 x 2 matrix: six multiplications, four additions, and no output waits.", "by_hand"
    ),
    _tested(
        4,
        "256 examples through 50 layers of 1,024 x 1,024 are the same, scaled.",
        Reading("by_hand", "count, predictions[0].verdict", judge_work.judge_articles_stack),
        "batch",
    ),
    _illustrated(5, "Almost all of these operations are independent of each other.", "by_hand", "workers"),
    _tested(
        6,
        "A CPU has few, capable cores: work too small to share is done sooner by one of them than by a whole GPU.",
        Reading("matmul", "pairs: one thread against the GPU", judge_runs.judge_few_capable_cores, Lack.GPU),
        "workers",
    ),
    _tested(
        7,
        f"A GPU's many simple cores run {term('SIMT', 'one instruction over many threads')}, so paths that part "
        "cost time.",
        Reading("workers", "divergence.verdict", judge_machines.judge_in_step, Lack.GPU),
    ),
    _illustrated(8, "A few cooks and a whole brigade: a picture, and nothing to measure.", "workers"),
    _tested(
        9,
        "A CPU with n cores computes at most n values at once.",
        Reading("workers", "at_once.verdict", judge_machines.judge_values_at_once),
        stance=f"False as stated: the {term('vector unit', 'vector units')} of one core work on many values at once.",
    ),
    _tested(
        10,
        f"A GPU's cores are grouped in {term('multiprocessor', 'multiprocessors')}, and work is handed to them in "
        f"{term('block', 'blocks')}.",
        Reading("workers", "staircase.verdict", judge_machines.judge_blocks, Lack.GPU),
    ),
    _tested(
        11,
        f"{term('tensor core', 'Tensor cores')} multiply small matrices in one step: at 16 bits faster than fp32, "
        "and for less energy.",
        Reading("precision", "devices[].formats[bf16, fp16].speedup", judge_precision.judge_tensor_cores, Lack.GPU),
    ),
    _tested(
        12,
        "Mixed precision trades a little accuracy for speed, and nobody gets it without asking.",
        Reading("precision", "devices[].autocast, autocast_error", judge_precision.judge_mixed_precision),
        "step",
    ),
    _tested(
        13,
        f"The memory of the device is its own, and it caps model and {term('batch')}.",
        Reading("batch", "series[].ceiling.agrees", judge_runs.judge_memory_caps),
        "step",
    ),
    _tested(
        14,
        f"{term('bandwidth', 'Bandwidth')} decides how fast: a strong device can sit idle and wait for its memory.",
        Reading("memory", "free.up_to_k", judge_machines.judge_waiting),
    ),
    _tested(
        15,
        f"The link ({term('PCIe')}) from main memory is far slower than the GPU's own memory.",
        Reading("transfer", "series[].fit.plateau_gbps, device_memory_gbps", judge_transfer.judge_link, Lack.GPU),
    ),
    _tested(
        16,
        "Many small copies can eat the whole gain: copy a batch once, compute, bring back results only.",
        Reading("transfer", "pieces", judge_transfer.judge_small_copies, Lack.GPU),
    ),
    _tested(
        17,
        f"A step is forward, loss, backward and {term('optimiser')}, and both passes, mostly matrix products, are "
        "most of it.",
        Reading("step", "phases", judge_work.judge_products),
    ),
    _tested(
        18,
        "A batch turns many examples into one larger product, keeps the device busy and raises the "
        f"{term('throughput')}.",
        Reading("batch", "series[].knee: knee_low, knee_high", judge_runs.judge_batching),
        stance="Throughput levels off long before memory ends, and a larger batch does not make a better model.",
    ),
    _tested(
        19,
        f"{term('inference', 'Inference')} uses the same hardware, often with one example, and then leaves most of "
        "it idle.",
        Reading("step", "inference_s, step_s and their bounds", judge_work.judge_inference),
        "batch",
    ),
    _tested(
        20,
        f"Timing a product takes a synchronised clock; the {term('cold call', 'first call')} and a single sample "
        "mislead.",
        Reading("stopwatch", "traps[no_warm_up, single_call].verdict", judge_runs.judge_traps),
        "matmul",
    ),
    _tested(
        21,
        f"Launches are asynchronous: without {term('synchronise', 'synchronising')} one times the queueing.",
        Reading("stopwatch", "traps[no_sync].verdict", judge_runs.judge_asynchronous, Lack.GPU),
    ),
    _tested(
        22,
        f"With very small matrices {term('launch overhead', 'launches')} and copies outweigh the gain.",
        Reading("matmul", "pairs: the CPU against the GPU", judge_runs.judge_overhead, Lack.GPU),
    ),
    _tested(
        23,
        "Decision trees, random forests and regressions are not built on large products, and do well on a CPU.",
        Reading("need", "trainings[classical]", judge_need.judge_classical),
    ),
    _tested(
        24,
        "Small models on small data train in seconds or minutes on a CPU.",
        Reading("need", "trainings[networks]", judge_need.judge_small),
    ),
    _illustrated(25, "Early stages of a project belong on a CPU, GPU hours to the runs that need them.", "need"),
    _tested(
        26,
        "Several devices train faster than one.",
        Reading("scaling", "strong", judge_runs.judge_more_devices, Lack.DEVICES),
    ),
    _tested(
        27,
        "Mixed precision is one setting of the framework.",
        Reading("precision", "devices[].autocast_error", judge_precision.judge_configuring),
        "step",
    ),
    _tested(
        28,
        "A training loop can be starved by something other than arithmetic; measuring its parts tells.",
        Reading("step", "verdict", judge_work.judge_starved),
        "memory",
    ),
)
