"""What the memory wall says, from findings only."""

from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.memory.conclude import (
    Bound,
    ComputeRoof,
    FreeUses,
    MemoryFindings,
    MemoryRoof,
    PlacedPoint,
)
from gpuexplain.experiments.memory.spec import COPY, READ, TRIAD
from gpuexplain.findings import NotFound
from gpuexplain.model import Dtype
from gpuexplain.units import (
    format_bandwidth,
    format_count,
    format_percent,
    format_rate_flops,
    format_significant,
    format_time,
)
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag, tell_nothing
from gpuexplain.wording.markup import mark, term
from gpuexplain.wording.phrases import count_of, join_words, say_number

NOTHING_YET = "Nothing is measured yet"
STREAM_NAMES = {COPY: "a large copy", TRIAD: "a triad (a = b + s c)", READ: "reading a large array"}
_BOUND_WORDS = {
    Bound.MEMORY: "memory-bound",
    Bound.COMPUTE: "compute-bound",
    Bound.OVERHEAD: "overhead-bound",
}


def tell(findings: MemoryFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if isinstance(findings.memory, NotFound) and not findings.compute:
        yet = "Nothing is measured yet. Press Run: both roofs are measured, and work that walks between them."
        return Explanation(
            answer=tell_nothing([reason for *_, reason in findings.failed], yet),
            see="",
            why=_why(),
            so_what="",
            caveats=tuple(_failures(findings)),
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join(text for text in _see(findings) if text),
        why=_why(),
        so_what=_so_what(findings),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: MemoryFindings) -> str:
    """Return the headline: the ridge, and what it means."""
    where = _where(findings)
    roof, memory = findings.roof_of(Dtype.FP32), findings.memory
    # One of the roofs is missing.
    if roof is None or isinstance(memory, NotFound):
        return f"{where} only one of the two roofs could be measured; the points say why."
    return (
        f"{where} {_device(findings)} can do {format_significant(roof.ridge, 2)} operations in the time it takes to "
        "load one byte: work that does less per byte waits for memory."
    )


def _where(findings: MemoryFindings) -> str:
    # Recorded elsewhere, or from a file.
    if not findings.is_measured:
        return f"In a {findings.source} run,"
    return say_here(findings.is_provisional)


def _device(findings: MemoryFindings) -> str:
    return mark("cpu", "the CPU") if findings.device == CPU else mark("gpu", "the GPU")


def _see(findings: MemoryFindings) -> list[str]:
    return [
        tell_memory_roof(findings.memory),
        _tell_compute_roofs(findings),
        tell_free(findings.free),
        _tell_others(findings),
    ]


def tell_memory_roof(memory: MemoryRoof | NotFound) -> str:
    """Return the bandwidth and what reached it."""
    # No stream was timed.
    if isinstance(memory, NotFound):
        return f"The roof of memory is missing: {memory.reason}."
    text = f"The roof of memory is {format_bandwidth(memory.bytes_s)}, reached by {STREAM_NAMES[memory.series]}"
    # The data sheet of a known GPU.
    if memory.reference_bytes_s:
        share = format_percent(memory.bytes_s / memory.reference_bytes_s)
        reference = format_bandwidth(memory.reference_bytes_s)
        return f"{text}: {share} of the data sheet's {reference} (source: {memory.reference_source})."
    return f"{text}."


def _tell_compute_roofs(findings: MemoryFindings) -> str:
    # No product was timed.
    if not findings.compute:
        return "The roof of arithmetic is missing: no large product was timed."
    told = [
        f"{format_rate_flops(roof.flops_s)} in {term(str(roof.dtype))}{_of_reference(roof)} (the {term('ridge point')} "
        f"at {format_significant(roof.ridge, 2)} FLOP/byte)"
        for roof in findings.compute
    ]
    sources = dict.fromkeys(roof.reference_source for roof in findings.compute if roof.reference_source)
    cited = f" (Source of the peaks: {'; '.join(sources)}.)" if sources else ""
    return f"The roof of arithmetic is {join_words(told)}.{cited}"


def _of_reference(roof: ComputeRoof) -> str:
    # The data sheet of a known GPU.
    if not roof.reference_flops_s:
        return ""
    return f", {format_percent(roof.flops_s / roof.reference_flops_s)} of the data sheet's peak"


def tell_free(free: FreeUses | NotFound) -> str:
    """Return how often a loaded value can be used for nothing."""
    # The first sizes are too uncertain, or a roof is missing.
    if isinstance(free, NotFound):
        return f"How many uses of a loaded value are free cannot be said: {free.reason}."
    ridge = f"the ridge predicts the end of that near k = {format_significant(free.predicted_k, 2)}"
    # Two uses already cost.
    if free.up_to_k == 1:
        return f"Already a second use of every loaded value costs time; {ridge}."
    # The walk ended before the time rose.
    if free.rises_at_k is None:
        return (
            f"Using every loaded value {format_count(free.up_to_k)} times takes no longer than using it once, as far "
            f"as the walk goes; {ridge}."
        )
    return (
        f"Using every loaded value up to **{format_count(free.up_to_k)} times** takes no longer than using it once; at "
        f"{format_count(free.rises_at_k)} it does; {ridge}."
    )


def _tell_others(findings: MemoryFindings) -> str:
    # Runs of other experiments on this device are in the store.
    facts = [p for p in findings.others if p.is_fact]
    if not facts:
        return ""
    counts = {bound: sum(p.bound is bound for p in facts) for bound in Bound}
    told = [f"{say_number(n)} {_BOUND_WORDS[bound]}" for bound, n in counts.items() if n]
    are = "is" if len(facts) == 1 else "are"
    text = f"From other runs of this machine {count_of(len(facts), 'point')} {are} placed here: {join_words(told)}."
    if len(facts) < 2:
        return text
    best, worst = (choose(facts, key=lambda p: p.of_roof) for choose in (max, min))
    return (
        f"{text} Nearest to its roof is {name_point(best)} with {format_percent(best.of_roof)} of it, farthest "
        f"{name_point(worst)} with {format_percent(worst.of_roof)}."
    )


def name_point(point: PlacedPoint) -> str:
    """Return which operation a point is: "matmul, cpu at 1,024", or the step of the walk."""
    if not point.label:
        return f"the walk at k = {format_count(point.x)}"
    return f"{point.label.replace('_', ' ')}, {point.series.replace('_', ' ')} at {format_count(point.x)}"


def tell_point(point: PlacedPoint) -> str:
    """Return the verdict on one point: what binds it, and how near its roof it is."""
    # Above the roof: time, bytes or roof are wrong, or a cache served the data.
    if not point.is_fact:
        return "above its roof, so no fact: a cache served the data, or time, bytes or roof are wrong"
    return f"{_BOUND_WORDS[point.bound]}, {format_percent(point.of_roof)} of its roof"


def _why() -> str:
    return (
        "Every number must come from memory before anything can be done with it. The rate of arithmetic over the rate "
        f"of memory is the {term('ridge point')}: the {term('arithmetic intensity')} (operations per byte) from which "
        "a device can be busy. Multiplying one vector by a matrix uses each weight once and waits for memory; a batch "
        "of vectors uses each weight once per vector, and walks up the slope to the flat roof (the roofline model of "
        "Williams, Waterman and Patterson, 2009)."
    )


def _so_what(findings: MemoryFindings) -> str:
    # The free range is known.
    if isinstance(findings.free, FreeUses) and findings.free.up_to_k > 1:
        return (
            f"Batch: {format_count(findings.free.up_to_k)} columns cost what one costs. Fuse small operations, so "
            "that a loaded value is used again before it leaves; smaller number formats move the slope up."
        )
    return (
        "Fuse small operations, so that a loaded value is used again before it leaves; smaller number formats move "
        "fewer bytes."
    )


def _failures(findings: MemoryFindings) -> list[str]:
    return [
        tell_failed(series.replace("_", " "), "a size", [(0.0, status, reason)])
        for series, status, reason in dict.fromkeys(findings.failed)
    ]


def _caveats(findings: MemoryFindings) -> list[str]:
    found = [tell_flag("the memory wall", flag, count) for flag, count in findings.flagged]
    # Some points lie above a roof.
    above = sum(not p.is_fact for p in (*findings.walk, *findings.others))
    if above:
        lie, are = ("lies", "is") if above == 1 else ("lie", "are")
        found.append(
            f"{count_of(above, 'point').capitalize()} {lie} above the roof and {are} drawn hollow: caches served the "
            "data, or time, bytes or roof are wrong."
        )
    found += _failures(findings)
    # What a call costs that does nothing.
    if findings.overhead_s:
        found.append(f"A call that does almost nothing takes {format_time(findings.overhead_s)} here.")
    return [text for text in dict.fromkeys(found) if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: MemoryFindings) -> str:
    """Return the finding of the roofline."""
    roof = findings.roof_of(Dtype.FP32)
    # Both roofs are there.
    if roof is not None:
        return f"Below {format_significant(roof.ridge, 2)} operations per byte {_device(findings)} waits for memory"
    return NOTHING_YET if not findings.failed else "Nothing to draw: the points say why"


def claim_second(findings: MemoryFindings) -> str:
    """Return the finding of the time by uses per loaded value."""
    free = findings.free
    # The free range is known and ends inside the walk.
    if isinstance(free, FreeUses) and free.up_to_k > 1:
        return f"Up to {format_count(free.up_to_k)} uses of a loaded value are free"
    if isinstance(free, FreeUses):
        return "Every use of a loaded value costs"
    return NOTHING_YET if not findings.n_walked else "Where uses stop being free cannot be said"


def describe_main(findings: MemoryFindings) -> str:
    """Return the text alternative of the roofline."""
    if isinstance(findings.memory, NotFound) or not findings.compute:
        return f"{claim_main(findings)}: no roofs to draw."
    roofs = join_words([f"{format_rate_flops(r.flops_s)} in {r.dtype}" for r in findings.compute])
    return (
        f"Roofline: memory {format_bandwidth(findings.memory.bytes_s)}, arithmetic {roofs}; "
        f"{count_of(len(findings.walk), 'point')} of the walk and {say_number(len(findings.others))} of other runs "
        "under them."
    )


def describe_second(findings: MemoryFindings) -> str:
    """Return the text alternative of the time by uses."""
    return (
        f"Time of W x by number of columns k, which is how often each loaded weight is used. {claim_second(findings)}."
    )


def find_headline(findings: MemoryFindings) -> Headline | None:
    """Return the ridge; None while a roof is missing."""
    roof = findings.roof_of(Dtype.FP32)
    if roof is None:
        return None
    return Headline("Ridge point", f"{format_significant(roof.ridge, 2)} FLOP/byte", detail="in fp32")
