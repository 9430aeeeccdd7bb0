"""The six misconceptions: what is believed, how it is tested here, and what is true instead."""

from dataclasses import dataclass

from gpuexplain.trial import judge_machines, judge_need, judge_precision, judge_runs, judge_transfer, judge_work
from gpuexplain.trial.claims import Reading
from gpuexplain.trial.ruling import Lack
from gpuexplain.wording.markup import term


@dataclass(frozen=True, slots=True)
class Question:
    """One test of a myth, as a reader is asked it."""

    asks: str
    reading: Reading


@dataclass(frozen=True, slots=True)
class Myth:
    """One misconception. ``counter`` is what the article holds against it.

    Each claims something of all cases, so one test in which it fails is enough.
    """

    id: str  # "M1"
    text: str
    counter: str
    questions: tuple[Question, ...]


MYTHS: tuple[Myth, ...] = (
    Myth(
        "M1",
        "A GPU always makes code faster.",
        f"Small, branchy or barely parallel work can be slower there, once {term('launch overhead', 'launches')} "
        "and copies count.",
        (
            Question(
                "Is the CPU faster at any size of a matrix product?",
                Reading("matmul", "pairs: the CPU against the GPU", judge_runs.judge_always_faster_product, Lack.GPU),
            ),
            Question(
                "Is the CPU faster at any batch of a model?",
                Reading("batch", "crossover", judge_runs.judge_always_faster_step, Lack.GPU),
            ),
            Question(
                "Does the GPU slow down any everyday work?",
                Reading("need", "on_gpu, by_batch", judge_need.judge_always_faster_work, Lack.GPU),
            ),
        ),
    ),
    Myth(
        "M2",
        "Copies do not matter.",
        "Repeated copies inside a training loop can take most of its time.",
        (
            Question(
                "Do small copies cost more than a large one, and does one use pay for a copy?",
                Reading("transfer", "pieces, break_even", judge_transfer.judge_copies, Lack.GPU),
            ),
            Question(
                "What share of a training step is copying?",
                Reading("step", "phases[copy]", judge_work.judge_copies_in_a_step, Lack.GPU),
            ),
        ),
    ),
    Myth(
        "M3",
        "More memory means faster.",
        f"Capacity decides what fits; {term('bandwidth')} and cores decide how fast it runs.",
        (
            Question(
                "Does a step that fills more memory do more examples a second?",
                Reading("batch", "series[].knee.saturation, memory", judge_runs.judge_more_memory),
            ),
            Question(
                "Does bandwidth limit work that waits for memory?",
                Reading("memory", "walk[k = 1]", judge_machines.judge_bandwidth_decides),
            ),
        ),
    ),
    Myth(
        "M4",
        "Two GPUs are twice as fast as one.",
        f"Exchanging {term('gradient', 'gradients')} eats a part of it, more or less by model and split.",
        (
            Question(
                "Does a training step shared by all devices reach the ideal speed-up?",
                Reading("scaling", "verdict", judge_runs.judge_twice_as_fast, Lack.DEVICES),
            ),
        ),
    ),
    Myth(
        "M5",
        "All deep learning code suits a GPU.",
        "Loading, text and irregular steps run on the CPU, and can be the bottleneck while the GPU idles.",
        (
            Question(
                "Does loading data hold up a training step?",
                Reading("step", "phases[load], workers", judge_work.judge_loading),
            ),
            Question(
                "Does preparing texts take longer than training on them?",
                Reading("need", "cpu[text, transformer], on_gpu", judge_need.judge_text),
            ),
        ),
    ),
    Myth(
        "M6",
        "Precision takes care of itself.",
        "Mixed precision is a choice with a price: somebody must make it.",
        (
            Question(
                f"Does {term('autocast')} change the speed or the exactness of a training step?",
                Reading("precision", "devices[].autocast, autocast_error", judge_precision.judge_by_itself),
            ),
        ),
    ),
)
