"""What the terms mean: one or two sentences each, plain words first."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field and its meaning; ``source`` where it says something of hardware or of a format."""

    name: str
    definition: str
    source: str = ""


_CUDA_GUIDE = "NVIDIA, CUDA C++ Programming Guide, Hardware Implementation"
_IEEE_754 = "IEEE 754, floating-point arithmetic"
_AMPERE = "NVIDIA, A100 Tensor Core GPU Architecture, white paper"
_INTEL_MANUAL = "Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1"
_CUDA_SEMANTICS = "PyTorch documentation, CUDA semantics"
_ROOFLINE = "Williams, Waterman and Patterson, Roofline, Communications of the ACM, 2009"

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
        "the source of each part in reference/gpus.csv",
    ),
    Term(
        "fp64",
        "64-bit numbers, about 16 digits: the format of scientific computing. Many GPUs are slow at it.",
        "IEEE 754; the rates of each part in reference/gpus.csv",
    ),
    Term(
        "fp32", "32-bit numbers, about 7 digits: the usual format of a program that asks for nothing else.", _IEEE_754
    ),
    Term(
        "tf32", "A way to multiply fp32 numbers with 10 bits of fraction: faster on some GPUs, about 3 digits.", _AMPERE
    ),
    Term("fp16", "16-bit numbers, about 3 digits, none above 65,504. Half the bytes of fp32.", _IEEE_754),
    Term(
        "bf16",
        "16-bit numbers with the range of fp32 and 2 to 3 digits: the usual format for training.",
        "Intel, BFLOAT16 Hardware Numerics Definition, 2018",
    ),
    Term(
        "fp8",
        "8-bit numbers, 1 to 2 digits: e4m3 keeps 3 bits of fraction, e5m2 keeps 2 and a wider range. They must be "
        "scaled first.",
        "Micikevicius et al., FP8 Formats for Deep Learning, 2022",
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
        "PyTorch documentation, Automatic Mixed Precision",
    ),
    Term(
        "subnormal",
        "A number so close to zero that it has lost digits: in fp32 below 1.2e-38. CPUs are many times slower with "
        "them.",
        "IEEE 754; Intel 64 and IA-32 Architectures Optimization Reference Manual (denormals)",
    ),
    Term(
        "tensor core",
        "A unit of a GPU that multiplies two small blocks of 16-bit or 8-bit numbers in one step.",
        _AMPERE,
    ),
    Term("emulated", "Computed without units of its own: every number is converted to a wider format and back."),
    Term(
        "AMX",
        "Units of some server CPUs that multiply small blocks of 16-bit or 8-bit numbers in one step.",
        _INTEL_MANUAL,
    ),
    Term(
        "synchronise",
        "To wait until the GPU has finished. Calls return before the work is done, so a clock must wait on both sides.",
        _CUDA_SEMANTICS,
    ),
    Term("thread", "One of the strands of work a program runs at the same time, usually one per CPU core."),
    Term(
        "transfer",
        "Copying between the computer's memory and the GPU's own memory, in before the work and out after it.",
    ),
    Term(
        "PCIe",
        "The link between the computer and its GPU, far slower than the GPU's own memory.",
        "PCI-SIG, PCI Express Base Specification; rates of each generation in reference/links.csv",
    ),
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
        "NVIDIA, CUDA C++ Programming Guide, Page-Locked Host Memory",
    ),
    Term(
        "pageable memory",
        "Memory as every program has it: the system may move it, so a GPU cannot fetch from it without help.",
        "NVIDIA, CUDA C++ Programming Guide, Page-Locked Host Memory",
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
    Term("kernel", "One piece of work that runs on the GPU, started by a call of the program.", _CUDA_GUIDE),
    Term(
        "Amdahl",
        "Gene Amdahl's law: the part of the work that cannot be shared out limits the speed-up, however many share "
        "the rest.",
        "Amdahl, Validity of the single processor approach, AFIPS, 1967",
    ),
    Term("vector unit", "Part of a CPU core that does one operation on 4, 8 or 16 numbers at a time.", _INTEL_MANUAL),
    Term(
        "multiprocessor",
        "One of the parts of a GPU that run blocks of work: many lanes that run one instruction together.",
        _CUDA_GUIDE,
    ),
    Term(
        "divergence",
        "When neighbouring GPU threads take different paths: their multiprocessor runs one path after the other.",
        _CUDA_GUIDE,
    ),
    Term(
        "ridge point",
        "The operations per byte at which arithmetic and memory take equally long: below it memory is what one waits "
        "for.",
        _ROOFLINE,
    ),
    Term(
        "arithmetic intensity",
        "How many operations are done for every byte that is moved from or to memory.",
        _ROOFLINE,
    ),
    Term(
        "all-reduce",
        "A sum over all devices that each of them gets: how they agree on their gradients after every step.",
    ),
    Term(
        "weak scaling",
        "More devices with as much work for each of them as for one: the work grows with the devices.",
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
    # -- the network and its training ---
    Term(
        "layer",
        "One stage of a network: every output is a weighted sum of the inputs, plus a bias, through a nonlinearity.",
    ),
    Term("weights", "The numbers that a network has learned: one for every pair of an input and an output of a layer."),
    Term("bias", "A number added to each output of a layer, whatever the inputs are."),
    Term(
        "nonlinearity",
        "A bend between two layers, such as ReLU: negative numbers become zero. Without it, all layers were one.",
    ),
    Term(
        "multiply-add",
        "One product added to a running sum: the step that layers are made of. It counts as two operations.",
    ),
    Term("forward pass", "From the examples to the outputs, layer by layer."),
    Term("loss", "One number that says how far the outputs are from what was wanted; training makes it smaller."),
    Term(
        "backward pass",
        "From the loss back to every weight: two products for each one of the forward pass. It yields the gradients.",
    ),
    Term("gradient", "How much the loss changes with a weight: the direction in which to change that weight."),
    Term("optimiser", "The rule that changes the weights by their gradients, often with a memory of earlier steps."),
    Term(
        "activations", "The outputs of every layer, kept from the forward pass until the backward pass has used them."
    ),
    Term("epoch", "One pass of the training through all of its examples."),
    Term("MLP", "A multilayer perceptron: layers one after the other, in which every input reaches every output."),
    Term("convnet", "A convolutional network: small filters slide over an image. The usual network for pictures."),
    Term("transformer", "A network in which every word of a text looks at every other one: that of language models."),
    Term("loading workers", "Processes that read and unpack the next batches while the current one is computed."),
    # -- the machine ---
    Term(
        "core",
        "A part of a processor that runs instructions by itself. A CPU has few, each good at branches; a GPU has "
        "thousands of simple lanes.",
        _CUDA_GUIDE,
    ),
    Term(
        "cache",
        "A small, fast memory beside the cores that keeps what was used last, so that it need not be fetched again.",
        _INTEL_MANUAL,
    ),
    Term("bandwidth", "How many bytes a memory or a link moves in a second."),
    Term(
        "block",
        "A group of GPU threads that one multiprocessor runs together. Work is cut into blocks to be handed out.",
        _CUDA_GUIDE,
    ),
    Term(
        "warp",
        "32 neighbouring threads of an NVIDIA GPU that run the same instruction at the same time.",
        _CUDA_GUIDE,
    ),
    Term("SIMT", "Single instruction, multiple threads: how a GPU runs one program over many numbers.", _CUDA_GUIDE),
    Term(
        "stream", "A queue of a GPU: what is in it runs in order; what is in two of them may overlap.", _CUDA_SEMANTICS
    ),
    Term("driver", "The program of the maker that lets others use the GPU. Too old a one cannot run today's torch."),
    Term("process", "A running program with memory of its own. Several of them share work by sending messages."),
    # -- what one waits for ---
    Term(
        "roofline", "A chart of the highest speed that memory and arithmetic allow, by operations per byte.", _ROOFLINE
    ),
    Term("memory-bound", "Waiting for numbers from memory: faster arithmetic would not help.", _ROOFLINE),
    Term("compute-bound", "Limited by arithmetic: faster memory would not help.", _ROOFLINE),
    Term("overhead-bound", "Limited by what every call costs, however little it does: fewer and larger calls help."),
    Term("launch-bound", "The GPU is done before the program has sent the next piece of work: larger pieces help."),
    Term("input-bound", "The device waits for its examples to be read and unpacked: faster loading helps."),
    Term("transfer-bound", "The device waits for its examples to be copied to it: fewer bytes or an early copy help."),
    Term("triad", "The operation a = b + s c on large arrays: a usual way to measure the bandwidth of memory."),
    Term("fused operation", "Several steps done while the numbers are still in the core: they are loaded only once."),
    Term(
        "captured graph",
        "A series of GPU calls recorded once and sent as one: the launches are paid once.",
        _CUDA_SEMANTICS,
    ),
    Term("strong scaling", "One piece of work shared by more and more devices: each of them has less to do."),
    # -- clocks ---
    Term("call time", "What a program waits for one call: the device has finished before and after the clock is read."),
    Term("device time", "What the work itself takes on the GPU, by the GPU's own clock.", _CUDA_SEMANTICS),
    Term(
        "enqueue time",
        "What a clock shows that stops when the work is queued, not done: the usual mistake.",
        _CUDA_SEMANTICS,
    ),
    Term("profiler", "A tool that notes when each part of a program begins and ends. It takes time itself."),
    Term("serial share", "The part of the work that cannot be shared out: one worker does it, the others wait."),
    Term("overflow", "A result beyond the largest number of its format: it becomes infinity.", _IEEE_754),
)

GLOSSARY: dict[str, Term] = {entry.name: entry for entry in _TERMS}


def define(name: str) -> str:
    """Return the definition of a term.

    Raises:
        KeyError: If the glossary has no such term; a test reads every explanation for this.
    """
    return GLOSSARY[name].definition
