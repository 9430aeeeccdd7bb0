"""What the anatomy of a training step says, from findings only."""

from gpuexplain.experiments.contract import Explanation, Headline
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step.conclude import (
    Bound,
    Component,
    Idle,
    StepFindings,
    Verdict,
    WorkersGain,
)
from gpuexplain.experiments.step.spec import BACKWARD, COPY, FORWARD, LOAD, LOSS, OPTIMISER, OPTIMISER_STATE
from gpuexplain.findings import NotFound
from gpuexplain.units import (
    format_count,
    format_factor,
    format_percent,
    format_rate_items,
    format_significant,
    format_size,
    format_time,
)
from gpuexplain.wording.caveats import say_here, tell_failed, tell_flag, tell_nothing
from gpuexplain.wording.markup import capitalise, mark, term
from gpuexplain.wording.phrases import count_of, join_words

NOTHING_YET = "Nothing is measured yet"
PHASE_NAMES = {
    LOAD: "loading", COPY: "copying", FORWARD: "forward", LOSS: "loss", BACKWARD: "backward", OPTIMISER: "optimiser",
}  # fmt: skip
_COMPONENT_NAMES = {
    "weights": "weights", "gradients": "gradients", "optimiser_state": "optimiser state", "activations": "activations",
}  # fmt: skip
_BOUND_NAMES = {
    Bound.INPUT: "input-bound", Bound.TRANSFER: "transfer-bound", Bound.LAUNCH: "launch-bound",
    Bound.COMPUTE: "compute-bound", Bound.MEMORY: "memory-bound",
}  # fmt: skip
_FIRST_TO_TRY = {
    Bound.INPUT: "Load ahead with workers, or unpack the data once instead of in every epoch.",
    Bound.TRANSFER: "Pin the memory that is copied from, copy the next batch during this one, send fewer bytes.",
    Bound.LAUNCH: "Give every launch more to do: a larger batch, fused operations, a captured graph.",
    Bound.COMPUTE: "Lower precision where the model allows it; then a faster device is the only thing left.",
    Bound.MEMORY: "Fuse operations and use a 16-bit format: the products wait for numbers, not for multipliers.",
}


def tell(findings: StepFindings) -> Explanation:
    """Return the words of the page."""
    # Nothing was measured anywhere.
    if not findings.phases:
        yet = "Nothing is measured yet. Press Run: a training step is taken apart, part by part."
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
        so_what=tell_first_to_try(findings.verdict),
        caveats=tuple(_caveats(findings)),
    )


def tell_answer(findings: StepFindings) -> str:
    """Return the headline: what binds the step, and its largest part."""
    where = say_here(findings.is_provisional) if findings.is_measured else f"In a {findings.source} run,"
    largest = max(findings.phases, key=lambda phase: phase.share)
    part = f"{PHASE_NAMES[largest.name]} takes {format_percent(largest.share)} of it"
    # What binds the step is known.
    if isinstance(findings.verdict, Verdict):
        return f"{where} this training step is {_BOUND_NAMES[findings.verdict.bound]}: {part}."
    return f"{where} what binds this training step cannot be told; {part}."


def _see(findings: StepFindings) -> list[str]:
    return [
        _tell_phases(findings),
        tell_idle(findings.idle, findings.device),
        tell_verdict(findings.verdict, findings.device),
        tell_workers(findings.workers),
        _tell_inference(findings),
        _tell_memory(findings),
    ]


def _tell_phases(findings: StepFindings) -> str:
    told = [f"{PHASE_NAMES[p.name]} {format_time(p.time_s)}" for p in findings.phases]
    whole = ""
    if findings.step_s and findings.examples_s and findings.batch:
        whole = (
            f" The whole step of {format_count(findings.batch)} examples takes {format_time(findings.step_s)}, "
            f"{format_rate_items(findings.examples_s)}."
        )
    matrix = ""
    if findings.matrix_share is not None:
        share = format_percent(findings.matrix_share)
        matrix = f" Forward and backward, mostly matrix products, are {share} of the computing."
    return f"{capitalise(join_words(told))}.{whole}{matrix}"


def tell_idle(idle: Idle | NotFound, device: str) -> str:
    """Return for how much of a step the device has nothing to do; "" where that was not measured."""
    # Not measured, as in a run of an older release.
    if isinstance(idle, NotFound):
        return ""
    who = mark("cpu", "the CPU's threads have") if device == CPU else mark("gpu", "the GPU has")
    return f"For {_say_share(idle)} of the whole step {who} nothing to do."


def tell_verdict(verdict: Verdict | NotFound, device: str) -> str:
    """Return what binds the step, with the number that decides it."""
    # A part is missing.
    if isinstance(verdict, NotFound):
        return f"What binds the step cannot be told: {verdict.reason}."
    name = _BOUND_NAMES[verdict.bound]
    where = mark("cpu", "the CPU") if device == CPU else mark("gpu", "the GPU")
    match verdict.bound:
        # Loading or copying takes a large share.
        case Bound.INPUT:
            return f"It is {name}: {where} waits {_say_share(verdict)} of the step for its data."
        case Bound.TRANSFER:
            return f"It is {name}: {_say_share(verdict)} of the step is the way to {where}."
        # Computing dominates: how near it is to a large product says what limits it.
        case Bound.COMPUTE:
            return f"It is {name}: it computes at {_say_share(verdict)} of the speed of one large product."
        case Bound.LAUNCH:
            return (
                f"It is {name}: at {_say_share(verdict)} of the speed of one large product {where} mostly "
                "waits to be told what to do."
            )
        case _:
            return (
                f"It is {name}: at {_say_share(verdict)} of the speed of one large product its "
                f"multipliers wait for numbers ({term('arithmetic intensity')})."
            )


def _say_share(found: Verdict | Idle) -> str:
    share = format_percent(found.share)
    if found.low is None or found.high is None:
        return share
    low, high = format_percent(found.low), format_percent(found.high)
    # An interval narrower than the digits says nothing.
    return share if low == high else f"{share} ({low} to {high})"


def tell_workers(gain: WorkersGain | NotFound) -> str:
    """Return whether loading ahead pays."""
    # One of the two was not timed.
    if isinstance(gain, NotFound):
        return f"Whether workers help cannot be said: {gain.reason}."
    workers = count_of(gain.n_workers, "loading worker")
    bounds = f" ({format_significant(gain.low)} to {format_significant(gain.high)})" if gain.low and gain.high else ""
    # Faster beyond chance.
    if gain.helps:
        return f"With {workers} the step is {format_factor(gain.factor)} as fast{bounds}."
    # Not faster, or slower: they need cores, too.
    if gain.helps is False:
        do, factor = "does" if gain.n_workers == 1 else "do", format_factor(gain.factor)
        return f"{capitalise(workers)} {do} not help here ({factor}{bounds}): loading needs cores, too."
    return f"Whether loading ahead with {workers} helps cannot be told ({format_factor(gain.factor)}{bounds})."


def _tell_inference(findings: StepFindings) -> str:
    # One example was timed, forward only.
    if not findings.inference_s:
        return ""
    one = f"Inference with one example takes {format_time(findings.inference_s)}"
    if findings.examples_s and findings.batch:
        per_example_s = 1 / findings.examples_s
        return (
            f"{one}; in a training step of {format_count(findings.batch)}, every example costs "
            f"{format_time(per_example_s)}, forward, backward and all."
        )
    return f"{one}."


def _tell_memory(findings: StepFindings) -> str:
    # Memory was counted.
    if not findings.components:
        return ""
    told = [f"{_COMPONENT_NAMES[c.name]} {format_size(c.measured_bytes)}" for c in findings.components]
    off = [c for c in findings.components if c.agrees is False]
    counted = "as counted from the shape" if not off else f"the count is off for {join_words([_off(c) for c in off])}"
    return f"It keeps {join_words(told)}; {counted}.{_of_device(findings)}"


def _of_device(findings: StepFindings) -> str:
    # The device says how much memory it has.
    if not findings.device_bytes:
        return ""
    whose = "this computer" if findings.device == CPU else "the GPU"
    kept, share = format_size(findings.kept_bytes), format_percent(findings.kept_bytes / findings.device_bytes)
    return f" Together {kept}, {share} of the {format_size(findings.device_bytes)} that {whose} has."


def _off(component: Component) -> str:
    return f"{_COMPONENT_NAMES[component.name]} (counted {format_size(component.predicted_bytes or 0.0)})"


def _why() -> str:
    return (
        "A step loads a batch, copies it to the device, computes outputs (forward), compares them with what was wanted "
        "(loss), computes how every weight should change (backward, twice the work of forward) and changes them "
        "(optimiser). One after the other, every part makes the step longer, and a device that waits for data or "
        "launches is idle. Loaded ahead, the data are there when they are needed."
    )


def tell_first_to_try(verdict: Verdict | NotFound) -> str:
    """Return the first thing to try."""
    if isinstance(verdict, NotFound):
        return "Run Standard or Thorough before deciding: these points do not decide it."
    return f"First to try: {_FIRST_TO_TRY[verdict.bound]}"


def _failures(findings: StepFindings) -> list[str]:
    found = [tell_failed(s.replace("_", " "), "this batch", [(0.0, status, why)]) for s, status, why in findings.failed]
    return list(dict.fromkeys(found))


def _caveats(findings: StepFindings) -> list[str]:
    found = [tell_flag("these parts", flag, count) for flag, count in findings.flagged]
    # The parts are timed one after the other, the whole is not.
    found.append("The parts are awaited one after the other, so together they can take longer than the whole step.")
    return [text for text in [*found, *_failures(findings)] if text]


# -- titles, text alternatives, Home --------------------------------------------------------------


def claim_main(findings: StepFindings) -> str:
    """Return the finding of the waterfall."""
    # Nothing was tried, or nothing worked.
    if not findings.phases:
        return NOTHING_YET if not findings.failed else "Nothing to draw: the points say why"
    largest = max(findings.phases, key=lambda phase: phase.share)
    return f"{capitalise(PHASE_NAMES[largest.name])} takes {format_percent(largest.share)} of the step"


def claim_second(findings: StepFindings) -> str:
    """Return the finding of the chart of memory."""
    if not findings.components:
        return NOTHING_YET
    largest = max(findings.components, key=lambda c: c.measured_bytes)
    total = sum(c.measured_bytes for c in findings.components)
    share = format_percent(largest.measured_bytes / total) if total else ""
    be = "is" if largest.name == OPTIMISER_STATE else "are"
    return f"{capitalise(_COMPONENT_NAMES[largest.name])} {be} {share} of {format_size(total)}"


def component_name(name: str) -> str:
    """Return a component in words."""
    return _COMPONENT_NAMES[name]


def describe_main(findings: StepFindings) -> str:
    """Return the text alternative of the waterfall."""
    told = [f"{PHASE_NAMES[p.name]} {format_time(p.time_s)}" for p in findings.phases]
    beside = [f"{name} {format_time(time_s)}" for name, time_s in rows_beside(findings)]
    rest = f" Beside them: {join_words(beside)}." if beside else ""
    return f"Parts of one training step in order: {join_words(told) or NOTHING_YET.lower()}.{rest}"


def rows_beside(findings: StepFindings) -> list[tuple[str, float]]:
    """Return (name, seconds) of what stands under the waterfall: wholes and what lies inside them."""
    idle = findings.idle.time_s if isinstance(findings.idle, Idle) else None
    gain = findings.workers
    ahead = count_of(gain.n_workers, "worker") if isinstance(gain, WorkersGain) else "workers"
    rows = [
        ("whole step", findings.step_s),
        ("idle in it", idle),
        (f"with {ahead}", findings.loaded_s),
        ("inference, one", findings.inference_s),
    ]
    return [(name, time_s) for name, time_s in rows if time_s is not None]


def describe_second(findings: StepFindings) -> str:
    """Return the text alternative of the chart of memory."""
    told = [f"{_COMPONENT_NAMES[c.name]} {format_size(c.measured_bytes)}" for c in findings.components]
    return f"Memory of one training step by component: {join_words(told) or NOTHING_YET.lower()}."


def find_headline(findings: StepFindings) -> Headline | None:
    """Return the examples a second of the whole step."""
    if not findings.examples_s or not findings.batch:
        return None
    return Headline(
        "Training step", format_rate_items(findings.examples_s), detail=f"batch {format_count(findings.batch)}"
    )
