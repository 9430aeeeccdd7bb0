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
    Term(
        "fp8",
        "8-bit numbers, 1 to 2 digits: e4m3 keeps 3 bits of fraction, e5m2 keeps 2 and a wider range. They must be "
        "scaled first.",
    ),
    Term(
        "int8", "Whole numbers from -127 to 127, each standing for a step of the same size: 1 to 2 digits near the top."
    ),
    Term(
        "relative error",
        "How far a result is from the exact one, as a share of it; here the exact one is computed in fp64.",
    ),
    Term(
        "autocast",
        "A switch of the framework: products run in 16 bits, while weights, sums and what needs range stay in fp32.",
    ),
    Term(
        "subnormal",
        "A number so close to zero that it has lost digits: in fp32 below 1.2e-38. CPUs are many times slower with "
        "them.",
    ),
    Term("tensor core", "A unit of a GPU that multiplies two small blocks of 16-bit or 8-bit numbers in one step."),
    Term("emulated", "Computed without units of its own: every number is converted to a wider format and back."),
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
        "latency",
        "What a copy costs before its first byte moves: the part of its time that does not grow with its size.",
    ),
    Term(
        "n-half",
        "The size of a copy at which its fixed price equals the price of its bytes: half of the rate is reached there.",
    ),
    Term(
        "pinned memory",
        "Memory that the operating system promises not to move or swap out, so that a GPU can fetch from it by itself.",
    ),
    Term(
        "pageable memory",
        "Memory as every program has it: the system may move it, so a GPU cannot fetch from it without help.",
    ),
    Term(
        "break-even",
        "How often data must be used on the GPU until the time saved pays for copying it there and back.",
    ),
    Term(
        "page fault",
        "The first touch of new memory: the program stops until the kernel has found and cleared a page.",
    ),
    Term(
        "published series",
        "Times that others measured on their machine and published: shown to compare, never as this machine's.",
    ),
    Term("kernel", "One piece of work that runs on the GPU, started by a call of the program."),
    Term(
        "Amdahl",
        "Gene Amdahl's law: the part of the work that cannot be shared out limits the speed-up, however many share "
        "the rest.",
    ),
    Term("vector unit", "Part of a CPU core that does one operation on 4, 8 or 16 numbers at a time."),
    Term(
        "multiprocessor",
        "One of the parts of a GPU that run blocks of work: many lanes that run one instruction together.",
    ),
    Term(
        "divergence",
        "When neighbouring GPU threads take different paths: their multiprocessor runs one path after the other.",
    ),
    Term(
        "ridge point",
        "The operations per byte at which arithmetic and memory take equally long: below it memory is what one waits "
        "for.",
    ),
    Term("arithmetic intensity", "How many operations are done for every byte that is moved from or to memory."),
    Term(
        "all-reduce",
        "A sum over all devices that each of them gets: how they agree on their gradients after every step.",
    ),
    Term(
        "weak scaling",
        "More devices with as much work for each of them as for one; strong scaling shares one piece of work out.",
    ),
    Term("noise floor", "The smallest difference that this run can tell from chance. Nothing closer is ranked."),
    Term("batch", "The examples that one call works on together, as the rows of one larger product."),
    Term("knee", "The smallest batch measured that already gives 90 % of the best throughput."),
    Term("throughput", "Examples per second: the batch over the time of one step."),
    Term(
        "training step",
        "One turn of learning: forward pass, loss, backward pass for the gradients, and the optimiser's update.",
    ),
    Term("inference", "Using a trained model: the forward pass only, nothing is kept for a backward pass."),
    Term("out of memory", "A step asked for more memory than it may have. It fails; the smaller ones still run."),
)

GLOSSARY: dict[str, Term] = {entry.name: entry for entry in _TERMS}


def define(name: str) -> str:
    """Return the definition of a term.

    Raises:
        KeyError: If the glossary has no such term; a test reads every explanation for this.
    """
    return GLOSSARY[name].definition
