"""What "Do you need a GPU?" says, from findings only."""

from collections.abc import Sequence

from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.need.conclude import (
    SOON_S,
    BreakEvenBatch,
    Comparison,
    NeedFindings,
    Training,
    Verdict,
)
from gpuexplain.experiments.need.spec import (
    CLASSICAL,
    CONVNET,
    FOREST,
    INFERENCE,
    LOGISTIC,
    MLP,
    NETWORKS,
    SERIES,
    TEXT,
    TRANSFORMER,
    TREE,
)
from gpuexplain.model import Status
from gpuexplain.units import format_count, format_factor, format_percent, format_significant, format_time
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import count_of, join_words, say_number

NOTHING_YET = "Nothing is measured yet"
# In a sentence, and as the row of a chart.
NAMES = {
    TREE: "the decision tree", FOREST: "the random forest", LOGISTIC: "the logistic regression",
    TEXT: "text preprocessing", INFERENCE: "inference with one example", MLP: "the MLP's step",
    CONVNET: "the convnet's step", TRANSFORMER: "the transformer's step",
}  # fmt: skip
SHORT_NAMES = {
    TREE: "decision tree", FOREST: "random forest", LOGISTIC: "logistic<br>regression", TEXT: "text",
    INFERENCE: "batch one", MLP: "MLP step", CONVNET: "convnet step", TRANSFORMER: "transformer<br>step",
}  # fmt: skip


def tell(findings: NeedFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if not findings.cpu and not findings.compared:
        return Explanation(
            answer="Nothing is measured yet. Press Run: eight kinds of everyday work are timed on what there is.",
            see="",
            why=_why(),
            so_what="",
            caveats=tuple(_failures(findings)),
        )
    return Explanation(
        answer=tell_answer(findings),
        see="\n\n".join(text for text in _see(findings) if text),
        why=_why(),
        so_what=tell_so_what(findings),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: NeedFindings) -> str:
    """Return the headline: for how much of this work the GPU pays; without one, what the CPU takes."""
    where = say_here(findings.is_provisional) if findings.is_measured else f"In a {findings.source} run,"
    paying = findings.with_verdict(Verdict.PAYS)
    tried = [c for c in findings.compared if c.ratio is not None]
    # No GPU to compare with: nothing may be said of one.
    if not findings.has_gpu:
        times = sorted(t.time_s for t in findings.cpu)
        took = f"take {format_time(times[0])} to {format_time(times[-1])} a call" if times else "have no time yet"
        comma = "" if where.endswith(",") else ","
        return (
            f"{where}{comma} without a GPU, {count_of(len(findings.cpu), 'kind')} of everyday work {took} on "
            f"{mark('cpu', 'the CPU')}; {tell_gain(findings)}. What a GPU would do to them was not measured."
        )
    # A GPU was tried, but no pair of times has come of it.
    if not tried:
        return f"{where} no work has a time on both devices yet; the points say why."
    # The usual case on a GPU.
    best = max(paying, key=lambda c: c.ratio or 0.0, default=None)
    most = f", most for {NAMES[best.workload]} ({format_factor(best.ratio or 0.0)})" if best else ""
    n_only = len(findings.compared) - len(tried)
    only = f"; {_number(n_only)} more {'runs' if n_only == 1 else 'run'} on the CPU only" if n_only else ""
    return f"{where} {tell_gain(findings)}, copies included{most}{only}."


def tell_gain(findings: NeedFindings) -> str:
    """Return for how much of the compared work the other way pays, and for how much that is open."""
    tried = [c for c in findings.compared if c.ratio is not None]
    n_paying = len(findings.with_verdict(Verdict.PAYS))
    n_open = sum(c.verdict is Verdict.CANNOT_TELL for c in tried)
    who, be = (mark("gpu", "the GPU"), "pays") if findings.has_gpu else ("more threads", "pay")
    # Too noisy, or too few samples: no verdict at all.
    if n_open == len(tried):
        return f"whether {who} {be} can be told for none of them"
    told = f"{who} {be} for {_number(n_paying)} of {count_of(len(tried), 'kind')} of work"
    # Some verdicts, some not.
    return f"{told}, and for {_number(n_open)} that cannot be told" if n_open else told


def _number(count: int) -> str:
    return "none" if count == 0 else say_number(count)


def _see(findings: NeedFindings) -> list[str]:
    return [
        *(tell_group(findings, verdict) for verdict in Verdict),
        tell_break_even(findings),
        tell_trainings(findings.trainings),
        tell_missing(findings.missing),
    ]


def tell_group(findings: NeedFindings, verdict: Verdict) -> str:
    """Return which kinds of work ended with one verdict; "" where none did."""
    group = [c for c in findings.with_verdict(verdict) if c.ratio is not None]
    if not group:
        return ""
    named = join_words([_name_with_ratio(c) for c in group])
    gpu, cpu = mark("gpu", "The GPU"), mark("cpu", "the CPU")
    zone = format_percent(findings.zone)
    match verdict, findings.has_gpu:
        # The whole interval lies above the noise zone.
        case Verdict.PAYS, True:
            return f"{gpu} pays for {named}."
        case Verdict.PAYS, False:
            return f"More threads pay for {named}: {_threads(findings)} over one."
        # The whole interval lies within it.
        case Verdict.NO_DIFFERENCE, True:
            return f"No difference beyond the noise ({zone}) for {named}."
        case Verdict.NO_DIFFERENCE, False:
            return f"More threads make no difference beyond the noise ({zone}) for {named}."
        # The whole interval lies below it.
        case Verdict.SLOWER, True:
            return f"{capitalise(cpu)} is faster for {named}: the launches and copies cost more than the GPU gains."
        case Verdict.SLOWER, False:
            return f"One thread is faster for {named}: sharing so little work costs more than it gains."
        # The interval reaches over an edge of the zone, or is missing.
        case _:
            return f"It cannot be told for {named}: the interval reaches over an edge of the noise zone, or is missing."


def _name_with_ratio(comparison: Comparison) -> str:
    ratio = format_factor(comparison.ratio or 0.0)
    if comparison.low is None or comparison.high is None:
        return f"{NAMES[comparison.workload]} ({ratio} as fast)"
    bounds = f"{format_significant(comparison.low)} to {format_significant(comparison.high)}"
    return f"{NAMES[comparison.workload]} ({ratio} as fast, {bounds})"


def _threads(findings: NeedFindings) -> str:
    return count_of(findings.threads, "thread") if findings.threads else "all threads"


def tell_break_even(findings: NeedFindings) -> str:
    """Return from how many examples on the same step pays; "" where that is not known."""
    found = findings.break_even
    who = mark("gpu", "the GPU") if findings.has_gpu else "more threads"
    be = "pays" if findings.has_gpu else "pay"
    if not isinstance(found, BreakEvenBatch):
        return ""
    # It pays from the smallest batch on.
    if found.low is None:
        return f"For the MLP's step {who} {be} at every batch measured, from {format_count(found.high)} on."
    # The usual case.
    return (
        f"For the MLP's step {who} {be} from a batch between {format_count(found.low)} and {format_count(found.high)} "
        "on: with less data, the same work does not gain."
    )


def tell_trainings(trainings: Sequence[Training]) -> str:
    """Return what trains on the CPU within a minute; "" where nothing was trained."""
    soon = [t for t in trainings if t.is_soon]
    # Nothing has an interval yet.
    if not soon:
        return ""
    fits = [f"{NAMES[t.workload]} in {format_time(t.time_s)}" for t in soon if t.workload in CLASSICAL]
    steps = [f"{NAMES[t.workload]} in {format_time(t.time_s)}" for t in soon if t.workload not in CLASSICAL]
    told = [f"{join_words(fits)}, whole fit"] if fits else []
    told += [f"{format_count(soon[-1].n_steps)} of {join_words(steps)}"] if steps else []
    return f"Trained on {mark('cpu', 'the CPU')} within {format_time(SOON_S, 2)}: {'; '.join(told)}."


def tell_missing(missing: Sequence[str]) -> str:
    """Return what has no point so far; "" where everything has one."""
    if not missing:
        return ""
    return f"Not measured so far, for want of time: {join_words([NAMES[name] for name in missing])}."


def _why() -> str:
    return (
        "A GPU pays where the same arithmetic is done to much data at once: large matrix products and convolutions. "
        "Trees decide step by step, text is cut up character by character, and a single example leaves most cores "
        f"without work. Each call on a GPU also pays {term('launch overhead')} and its copies, however small it is."
    )


def tell_so_what(findings: NeedFindings) -> str:
    """Return what to do about it."""
    # What the CPU does fast needs no GPU, whoever has one.
    early = "Write, debug and check that data loads on a CPU; take a GPU for the runs that need one."
    if findings.has_gpu:
        return f"Move to the GPU what lies right of the noise zone, and leave the rest where it is. {early}"
    return (
        "Work that gains nothing from a second thread gains little from thousands. For work that does, the adviser "
        f"below says what a GPU could do at best. {early}"
    )


def _failures(findings: NeedFindings) -> list[str]:
    found = []
    for series, status, why in findings.failed:
        work, _ = SERIES[series]
        # That a tree has no GPU version is told by its row, and is no failure.
        if status is not Status.UNSUPPORTED or work in NETWORKS or findings.of(work) is None or "install" in why:
            found.append(tell_failed(NAMES[work], "this size", [(0.0, status, why)]))
    return list(dict.fromkeys(found))


def _caveats(findings: NeedFindings) -> list[str]:
    found = [tell_flag("this work", flag, count) for flag, count in findings.flagged]
    # The GPU's times hold the copies.
    if findings.has_gpu:
        found.append("Times on the GPU hold the copy of the examples there and of the result back, every call.")
    else:
        found.append("This compares threads, not devices: it shows how much of the work can be shared out.")
    return [text for text in [*found, *_failures(findings)] if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: NeedFindings) -> str:
    """Return the finding of the dot plot."""
    tried = [c for c in findings.compared if c.ratio is not None]
    if not tried:
        return NOTHING_YET
    return capitalise(tell_gain(findings)) if findings.has_gpu else f"No GPU here; {tell_gain(findings)}"


def claim_second(findings: NeedFindings) -> str:
    """Return the finding of the chart by batch."""
    if not [c for c in findings.by_batch if c.ratio is not None]:
        return NOTHING_YET
    who, be = (mark("gpu", "The GPU"), "pays") if findings.has_gpu else ("More threads", "pay")
    found = findings.break_even
    # No batch from which on it pays for sure.
    if not isinstance(found, BreakEvenBatch):
        return f"{who} {be} at no batch for sure"
    if found.low is None:
        return f"{who} {be} at every batch measured"
    return f"{who} {be} from a batch of {format_count(found.high)} on"


def describe_main(findings: NeedFindings) -> str:
    """Return the text alternative of the dot plot."""
    told = [f"{NAMES[c.workload]} {format_factor(c.ratio)}" for c in findings.compared if c.ratio is not None]
    what = "the GPU over the CPU" if findings.has_gpu else "all threads over one"
    return f"Speed of {what}, above 1 is faster: {join_words(told) or NOTHING_YET.lower()}."


def describe_second(findings: NeedFindings) -> str:
    """Return the text alternative of the chart by batch."""
    told = [f"{format_factor(c.ratio)} at batch {format_count(c.x)}" for c in findings.by_batch if c.ratio is not None]
    what = "the GPU over the CPU" if findings.has_gpu else "all threads over one"
    return f"The MLP's step, {what}: {join_words(told) or NOTHING_YET.lower()}."


def find_headline(findings: NeedFindings) -> Headline | None:
    """Return for how much of the work the GPU, or more threads, pay."""
    tried = [c for c in findings.compared if c.ratio is not None]
    if not tried:
        return None
    label = "A GPU pays for" if findings.has_gpu else "More threads pay for"
    number = f"{len(findings.with_verdict(Verdict.PAYS))} of {len(tried)}"
    return Headline(label, number, detail="kinds of everyday work")
