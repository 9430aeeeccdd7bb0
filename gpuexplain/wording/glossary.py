"""What the terms mean: one or two sentences each, plain words first."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field and its meaning."""

    name: str
    definition: str


_TERMS = (
    Term(
        "crossover",
        "The size from which one device is faster than another, at it and at every larger size measured.",
    ),
    Term(
        "launch floor",
        "The shortest time a GPU call takes however small its work: the price of sending it, about the same for "
        "every small size.",
    ),
    Term(
        "launch overhead",
        "What it costs to hand one piece of work to the GPU: the program, the driver and the card each do a "
        "little before any multiplication starts.",
    ),
    Term(
        "median",
        "The middle one of the sorted times: half took less, half took more. One slow sample does not move it.",
    ),
    Term(
        "95 % interval",
        "Where the true median lies in 95 of 100 repetitions of the measurement. A wide one means unsteady times.",
    ),
    Term(
        "cold call",
        "The very first call of a kind. It also loads libraries and fills caches, so it is kept apart.",
    ),
    Term(
        "FLOP/s",
        "Floating-point operations per second. A product of side n takes 2 n³ of them: a multiply and an add each.",
    ),
    Term(
        "peak",
        "The speed on a part's data sheet for one number format, without sparsity. Real work stays below it.",
    ),
    Term(
        "fp64",
        "64-bit numbers, about 16 digits: the format of scientific computing. Many GPUs are slow at it.",
    ),
    Term("fp32", "32-bit numbers, about 7 digits: the usual format of a program that asks for nothing else."),
    Term("tf32", "A way to multiply fp32 numbers with 10 bits of fraction: faster on some GPUs, about 3 digits."),
    Term("fp16", "16-bit numbers, about 3 digits, none above 65,504. Half the bytes of fp32."),
    Term("bf16", "16-bit numbers with the range of fp32 and 2 to 3 digits: the usual format for training."),
    Term("AMX", "Units of some server CPUs that multiply small blocks of 16-bit or 8-bit numbers in one step."),
    Term(
        "synchronise",
        "To wait until the GPU has finished. Calls return before the work is done, so a clock must wait on both sides.",
    ),
    Term("thread", "One of the strands of work a program runs at the same time, usually one per CPU core."),
    Term(
        "transfer",
        "Copying between the computer's memory and the GPU's own memory, in before the work and out after it.",
    ),
    Term("PCIe", "The link between the computer and its GPU, far slower than the GPU's own memory."),
    Term(
        "published series",
        "Times that others measured on their machine and published: shown to compare, never as this machine's.",
    ),
    Term("kernel", "One piece of work that runs on the GPU, started by a call of the program."),
    Term("noise floor", "The smallest difference that this run can tell from chance. Nothing closer is ranked."),
)

GLOSSARY: dict[str, Term] = {entry.name: entry for entry in _TERMS}


def define(name: str) -> str:
    """Return the definition of a term.

    Raises:
        KeyError: If the glossary has no such term; a test reads every explanation for this.
    """
    return GLOSSARY[name].definition
