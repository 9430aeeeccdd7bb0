"""What the batch page says of memory: what an example takes, and where the memory ends."""

from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.findings import BatchCeiling, MemoryFit, MemoryFitStatus, NotFound
from gpuexplain.units import NBSP, format_percent, format_significant, format_size
from gpuexplain.wording.markup import capitalise, term

# No line is claimed to hold more closely than this.
FINEST_RESIDUAL = 0.01


def tell_memory(fit: MemoryFit) -> str:
    """Return what an example takes of the memory."""
    match fit.status:
        # A line describes the points.
        case MemoryFitStatus.OK if fit.bytes_per_example is not None and fit.fixed_bytes is not None:
            within = format_percent(max(fit.worst_residual or 0.0, FINEST_RESIDUAL), 1)
            return (
                f"Each further example takes **{format_size(fit.bytes_per_example)}** of memory, beside "
                f"{format_size(max(0.0, fit.fixed_bytes))} that the model holds whatever the batch (a straight line, "
                f"within {within})."
            )
        # Steps, another algorithm, or something left behind.
        case MemoryFitStatus.NOT_LINEAR:
            off = format_percent(fit.worst_residual or 0.0)
            return f"The memory does not grow in a straight line with the batch (off by {off})."
        # The growth is lost in the scatter.
        case MemoryFitStatus.TOO_NOISY:
            return "Over these batches the memory hardly grows: too little to tell what one example takes."
        # Under three batches with a reading, or none at all (published, or not reported).
        case _:
            return ""


def tell_ceiling(ceiling: BatchCeiling | NotFound) -> str:
    """Return where the memory ends: what ran, what did not, and what the line says."""
    # Nothing ran out and no line: nothing to add.
    if isinstance(ceiling, NotFound):
        return ""
    limit = f"the {format_size(ceiling.limit_bytes)} that a run may fill" if ceiling.limit_bytes else "the memory"
    line = ""
    if ceiling.predicted_batch is not None:
        predicted = f"about batch{NBSP}{format_significant(ceiling.predicted_batch, 2)}"
        line = f"by that line {limit} {'are' if ceiling.limit_bytes else 'is'} full at {predicted}"
    # Found, whatever was predicted.
    if ceiling.first_failed is not None:
        ran, failed = capitalise(say_batch(ceiling.largest_ran)), say_batch(ceiling.first_failed)
        found = f"{ran} ran, {failed} ran {term('out of memory')}"
        # Nothing to compare with.
        if ceiling.agrees is None:
            return f"{found} ({limit})." if ceiling.limit_bytes else f"{found}."
        # The prediction lies between the two, or beside them.
        return f"{found}; {line}, which {'agrees' if ceiling.agrees else 'does not agree'}."
    # Only predicted: nothing as large was tried.
    return f"{capitalise(line)}; nothing larger than {say_batch(ceiling.largest_ran)} was tried."
