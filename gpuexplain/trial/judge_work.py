"""What do the labs say of the work itself: layers, counts, the parts of a training step?"""

from gpuexplain.experiments.batch.conclude import BatchFindings
from gpuexplain.experiments.by_hand.conclude import ByHandFindings, Prediction
from gpuexplain.experiments.by_hand.conclude import Verdict as Predicted
from gpuexplain.experiments.by_hand.spec import ARTICLE
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.step.conclude import BOUND_BY_SHARE, Bound, Idle, Phase, StepFindings, WorkersGain
from gpuexplain.experiments.step.spec import BACKWARD, COPY, FORWARD, LOAD, LOSS, OPTIMISER
from gpuexplain.findings import NotFound
from gpuexplain.trial.ruling import Lack, Ruling, cannot_tell, held, not_held, untestable, untested
from gpuexplain.trial.say import THE_GPU, say_device, say_factor, say_share, say_span
from gpuexplain.units import format_count, format_percent, format_rate_items, format_significant, format_time
from gpuexplain.wording.markup import capitalise

# "Many batches": an epoch of 64,000 examples in batches of 64.
MANY_BATCHES = 1_000
BILLION = 1e9
# "Mostly": more than half.
MOSTLY = 0.5
# Training one example is about three forward passes: forward, and twice as much backward.
TRAINING_PASSES = 3
# One example at a time leaves the device mostly idle under this share of its speed, and busy above the other.
IDLE_UNDER, BUSY_ABOVE = 0.5, 0.9
# Copies that take less than this of a step are not worth a thought; more than twice that they are.
COPY_NEGLIGIBLE, COPY_MATTERS = 0.05, 0.10

_BOUND_WORDS = {
    Bound.INPUT: "loading its data",
    Bound.TRANSFER: "the copies to the device",
    Bound.LAUNCH: "the launches",
    Bound.COMPUTE: "arithmetic",
    Bound.MEMORY: "memory",
}


# -- a layer, and stacks of them ----------------------------------------------------------------


def judge_layer(findings: ByHandFindings) -> Ruling:
    """Judge that a stack of layers costs what its matrix products cost."""
    prediction = next(iter(findings.predictions), None)
    # Nothing of the stack was timed.
    if prediction is None:
        return untested("No stack of layers was timed.")
    return _weigh_prediction(prediction)


def judge_articles_stack(findings: ByHandFindings) -> Ruling:
    """Judge the same of the article's own stack; another one says nothing of it."""
    if findings.count is not None and findings.count != ARTICLE.count:
        count = findings.count
        shape = f"{format_count(count.batch)} x {format_count(count.width)} x {format_count(count.depth)}"
        return untested(f"Another stack was measured: batch x width x depth = {shape}.")
    return judge_layer(findings)


def _weigh_prediction(p: Prediction) -> Ruling:
    # One side has no time.
    if p.predicted_s is None or p.measured_s is None or p.factor is None:
        return cannot_tell(f"On {say_device(p.device)} the stack cannot be compared with one product: {p.reason}.")
    predicted = say_span(p.predicted_s, p.predicted_low_s, p.predicted_high_s, format_time)
    measured = say_span(p.measured_s, p.measured_low_s, p.measured_high_s, format_time)
    told = f"On {say_device(p.device)} one product predicts {predicted} for the stack; measured are {measured}"
    match p.verdict:
        # Within a quarter.
        case Predicted.HELD:
            return held(f"{told}, within {format_percent(p.near)}.")
        # Beyond it.
        case Predicted.NOT_HELD:
            return not_held(f"{told}, {say_factor(p.factor, None, None)} as much.")
        # No interval, or one that holds both.
        case _:
            return cannot_tell(f"{told}; {p.reason}.")


def judge_count(findings: BatchFindings) -> Ruling:
    """Judge that training over many batches is billions of multiply-adds, by the operations of a measured step."""
    series = next((s for s in findings.series if s.name.mode == "training" and s.best is not None), None)
    # No training step was timed.
    if series is None or series.best is None:
        return untested("No training step was measured.")
    # A step from a file, whose operations nobody counted.
    if not series.best.rate_flops:
        return cannot_tell("The operations of the training step are not known.")
    per_step = series.best.rate_flops * series.best.step_s / 2
    told = (
        f"A training step of {format_count(series.best.batch)} examples is {_say_number(per_step)} multiply-adds; "
        f"{format_count(MANY_BATCHES)} such steps are {_say_number(MANY_BATCHES * per_step)}."
    )
    return held(told) if MANY_BATCHES * per_step >= BILLION else not_held(told)


def _say_number(count: float) -> str:
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{format_significant(count / size)} {word}"
    return format_count(round(count))


# -- the parts of a training step ---------------------------------------------------------------


def judge_products(findings: StepFindings) -> Ruling:
    """Judge that forward and backward, which are mostly products, are most of what a step computes."""
    share, low, high = _share_of(findings, (FORWARD, BACKWARD), (FORWARD, LOSS, BACKWARD, OPTIMISER))
    # No step was taken apart, or a part of it failed.
    if share is None:
        return untested("Forward or backward has no time.")
    told = f"Forward and backward are {say_share(share, low, high)} of the computing of a step."
    # Few samples: no bounds.
    if low is None or high is None:
        return cannot_tell(f"{told} Without an interval that decides nothing.")
    if low > MOSTLY:
        return held(told)
    return not_held(told) if high < MOSTLY else cannot_tell(told)


def judge_inference(findings: StepFindings) -> Ruling:
    """Judge that inference with one example leaves the device that trains mostly idle."""
    one_s, step_s, batch = findings.inference_s, findings.step_s, findings.batch
    # One of the two has no time.
    if not one_s or not step_s or not batch:
        return untested("Inference with one example, or the training step, has no time.")
    share = step_s / (TRAINING_PASSES * batch * one_s)
    low, high = None, None
    if findings.step_low_s and findings.step_high_s and findings.inference_low_s and findings.inference_high_s:
        low = findings.step_low_s / (TRAINING_PASSES * batch * findings.inference_high_s)
        high = findings.step_high_s / (TRAINING_PASSES * batch * findings.inference_low_s)
    told = (
        f"On {say_device(findings.device)} one example at a time is {format_rate_items(1 / one_s)}: "
        f"{say_share(share, low, high)} of the speed of training {format_count(batch)} at once, a step counted as "
        "three passes."
    )
    # Few samples: no bounds.
    if low is None or high is None:
        return cannot_tell(f"{told} Without an interval that decides nothing.")
    if high < IDLE_UNDER:
        return held(told)
    return not_held(told) if low > BUSY_ABOVE else cannot_tell(told)


def judge_starved(findings: StepFindings) -> Ruling:
    """Judge that a training loop is starved by something other than arithmetic."""
    verdict = findings.verdict
    # No step was taken apart.
    if not findings.phases:
        return untested("No training step was measured.")
    # The parts do not say what binds the step.
    if isinstance(verdict, NotFound):
        return cannot_tell(f"What the step waits for cannot be told: {verdict.reason}.")
    of = "of the step" if verdict.bound in (Bound.INPUT, Bound.TRANSFER) else "of the speed of one large product"
    told = f"The step waits for {_BOUND_WORDS[verdict.bound]} ({format_percent(verdict.share)} {of})."
    return not_held(told) if verdict.bound is Bound.COMPUTE else held(told)


# -- myths --------------------------------------------------------------------------------------


def judge_copies_in_a_step(findings: StepFindings) -> Ruling:
    """Judge "copies do not matter" by the share of a training step that they take."""
    share, low, high = _share_of(findings, (COPY,), tuple(phase.name for phase in findings.phases))
    # On a CPU nothing is copied.
    if share is None:
        return untestable(Lack.GPU, "A training step on a CPU copies nothing to a device.")
    told = f"Copying takes {say_share(share, low, high)} of a training step."
    # Few samples: no bounds.
    if low is None or high is None:
        return cannot_tell(f"{told} Without an interval that decides nothing.")
    if low > COPY_MATTERS:
        return not_held(told)
    return held(told) if high < COPY_NEGLIGIBLE else cannot_tell(told)


def judge_loading(findings: StepFindings) -> Ruling:
    """Judge "all deep learning code suits a GPU" by the loading of data, which runs on the CPU."""
    share, low, high = _share_of(findings, (LOAD,), tuple(phase.name for phase in findings.phases))
    # Loading or computing has no time.
    if share is None or not {FORWARD, BACKWARD} <= {phase.name for phase in findings.phases}:
        return untested("Loading, or the rest of the step, has no time.")
    told = f"Loading, which runs on the CPU, takes {say_share(share, low, high)} of a training step."
    if isinstance(findings.idle, Idle) and findings.device != CPU:
        idle = say_share(findings.idle.share, findings.idle.low, findings.idle.high)
        told += f" {capitalise(THE_GPU)} is idle for {idle} of it."
    gain = findings.workers if isinstance(findings.workers, WorkersGain) else None
    # Loading alone is enough to bind the step.
    if low is not None and low >= BOUND_BY_SHARE:
        return not_held(f"{told}{_faster_device(findings)}")
    # Loading ahead makes the whole step faster: the device had waited.
    if gain is not None and gain.helps:
        gained = say_factor(gain.factor, gain.low, gain.high)
        return not_held(f"{told} Loaded ahead by workers, the whole step is {gained} as fast: it had waited.")
    # Few samples, or the intervals hold both answers.
    if high is None or high >= BOUND_BY_SHARE or gain is None or gain.helps is None:
        return cannot_tell(f"{told} The numbers do not say whether the rest had to wait.")
    # A CPU computes so slowly that loading hardly shows.
    if findings.device == CPU:
        why = "A GPU would shorten the rest, and not the loading."
        return untestable(Lack.GPU, f"{told} {why}")
    return held(f"{told} Workers that load ahead gain nothing: {say_device(findings.device)} is kept busy.")


def _faster_device(findings: StepFindings) -> str:
    # What holds with a slow device holds with a faster one all the more.
    return " A faster device would shorten the rest only." if findings.device == CPU else ""


def _share_of(
    findings: StepFindings, wanted: tuple[str, ...], among: tuple[str, ...]
) -> tuple[float | None, float | None, float | None]:
    """Return the share of some parts among others, with the bounds that all intervals allow; None without a time."""
    phases = {phase.name: phase for phase in findings.phases}
    if not all(name in phases for name in wanted):
        return None, None, None
    ours = [phases[name] for name in wanted]
    rest = [phases[name] for name in among if name in phases and name not in wanted]
    share = _total(ours) / (_total(ours) + _total(rest))
    if not all(phase.low_s and phase.high_s for phase in (*ours, *rest)):
        return share, None, None
    least, most = sum(p.low_s or 0.0 for p in ours), sum(p.high_s or 0.0 for p in ours)
    rest_least, rest_most = sum(p.low_s or 0.0 for p in rest), sum(p.high_s or 0.0 for p in rest)
    return share, least / (least + rest_most), most / (most + rest_least)


def _total(phases: list[Phase]) -> float:
    return sum(phase.time_s for phase in phases)
