"""What to know before trusting a batch result: what did not run, cold calls, flags, precision, noise."""

from gpuexplain.experiments.batch.claims import name_device
from gpuexplain.experiments.batch.conclude import BatchFindings, SeriesFinding
from gpuexplain.experiments.batch.series import say_batch
from gpuexplain.findings import ColdCall
from gpuexplain.model import Flag, Status
from gpuexplain.units import format_count, format_factor, format_time
from gpuexplain.wording.caveats import tell_failed, tell_flag, tell_noise
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import join_words, say_number

# A cold call this many times its warm ones is worth a sentence.
NOTABLE_COLD_FACTOR = 3.0


def list_caveats(findings: BatchFindings) -> tuple[str, ...]:
    """Return the caveats, each a sentence or two, without repeats."""
    found = []
    for series in findings.series:
        found += [tell_out_of_memory(series), tell_launch_limit(series), tell_other_failures(series)]
        found.append(tell_cold_call(series))
        found += [tell_flag(who(series), flag, count) for flag, count in series.flagged if flag is not Flag.FALLBACK]
        found.append(tell_fallback(series))
    found.append(tell_noise(findings.noise))
    return tuple(text for text in dict.fromkeys(found) if text)


def who(series: SeriesFinding) -> str:
    """Return a series in words, with its threads."""
    if series.threads is None:
        return name_device(series)
    threads = f"{say_number(series.threads)} {'thread' if series.threads == 1 else 'threads'}"
    return f"{name_device(series)} on {threads}"


def say_batches(batches: list[float]) -> str:
    """Return ``batch 512 and 1,024``."""
    return f"batch {join_words([format_count(batch) for batch in batches])}"


def tell_out_of_memory(series: SeriesFinding) -> str:
    """Return what did not fit, and that the process went on."""
    batch = next((x for x, status, _ in series.failed if status is Status.OOM), None)
    # A step asked for more than it may have; the reason says whether a small batch ran again.
    if batch is None:
        return ""
    reason = series.ran_out_of_memory.rstrip(".")
    return f"{capitalise(say_batch(batch))} ran {term('out of memory')} on {who(series)}. {reason}."


def tell_launch_limit(series: SeriesFinding) -> str:
    """Return that a launch was refused for its shape."""
    # The driver refuses a grid this large: no lack of memory.
    if series.launch_limit is None:
        return ""
    batch = capitalise(say_batch(series.launch_limit))
    return f"{batch} was refused by {name_device(series)} for its shape, not for lack of memory: split the batch."


def tell_other_failures(series: SeriesFinding) -> str:
    """Return which batches have no time for another reason, and the first of the reasons."""
    # Skipped, unsupported or wrong.
    others = [f for f in series.failed if f[1] not in (Status.OOM, Status.LAUNCH_LIMIT)]
    return tell_failed(who(series), say_batches([batch for batch, _, _ in others]), others)


def tell_cold_call(series: SeriesFinding) -> str:
    """Return what the first call cost, where that is worth a sentence."""
    cold = series.cold_call
    # The first step of all loads libraries and chooses kernels.
    if isinstance(cold, ColdCall) and series.is_measured and cold.factor >= NOTABLE_COLD_FACTOR:
        return (
            f"At {say_batch(cold.x)} the first step ({term('cold call')}) took {format_time(cold.first_call_s)} on "
            f"{name_device(series)}, {format_factor(cold.factor)} the median; it is in no median."
        )
    return ""


def tell_fallback(series: SeriesFinding) -> str:
    """Return that the outputs show another precision than the one asked for."""
    # By the error of the outputs, TF32 or fp32 ran instead.
    if any(flag is Flag.FALLBACK for flag, _ in series.flagged):
        return (
            f"By the error of its outputs {name_device(series)} did not compute in {term(str(series.dtype))}; the How "
            "tab says what ran."
        )
    return ""
