"""What is said of a verdict: which it is, unmistakably, with what it rests on and what is missing."""

from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Flag
from gpuexplain.store.run import RunState
from gpuexplain.trial.court import Answer, MythVerdict, Trial
from gpuexplain.trial.evidence import Exhibit
from gpuexplain.trial.ruling import Lack, Outcome
from gpuexplain.units import format_age
from gpuexplain.wording.markup import capitalise
from gpuexplain.wording.phrases import join_words, say_number

MYTH_OUTCOMES = {
    Outcome.HELD: "Myth holds here",
    Outcome.NOT_HELD: "Myth does not hold here",
    Outcome.CANNOT_TELL: "Too noisy to say",
    Outcome.UNTESTED: "Not tested yet",
    Outcome.UNTESTABLE: "Cannot be tested on this machine",
}
CLAIM_OUTCOMES = {
    Outcome.HELD: "Held here",
    Outcome.NOT_HELD: "Not on this machine",
    Outcome.CANNOT_TELL: "Too noisy to say",
    Outcome.UNTESTED: "Not tested yet",
    Outcome.UNTESTABLE: "Cannot be tested on this machine",
}
ILLUSTRATED = "Shown, not measured"
# A verdict must be told apart without its colour.
SIGNS = {
    Outcome.HELD: "✓",
    Outcome.NOT_HELD: "✗",
    Outcome.CANNOT_TELL: "≈",
    Outcome.UNTESTED: "○",
    Outcome.UNTESTABLE: "–",
}
_LACKING = {Lack.GPU: "it takes a GPU", Lack.DEVICES: "it takes two devices"}
_DISTURBED = {
    Flag.UNDER_LOAD: "beside other work",
    Flag.THROTTLED: "slowed down by heat, power or a quota",
    Flag.DRIFTING: "drifting",
}


_SUMMARIES = {
    Outcome.NOT_HELD: ("does not hold on this machine", "do not hold on this machine"),
    Outcome.HELD: ("holds on this machine", "hold on this machine"),
    Outcome.CANNOT_TELL: ("is too noisy to say", "are too noisy to say"),
    Outcome.UNTESTED: ("is not tested yet", "are not tested yet"),
    Outcome.UNTESTABLE: ("cannot be tested here", "cannot be tested here"),
}


def tell_summary(trial: Trial) -> str:
    """Return how many myths stand how, in one sentence."""
    counts = {outcome: sum(v.outcome is outcome for v in trial.myths) for outcome in _SUMMARIES}
    # All stand alike: usually none is tested yet.
    alike = next((outcome for outcome, count in counts.items() if count == len(trial.myths)), None)
    if alike is not None:
        return f"All {say_number(len(trial.myths))} myths {_SUMMARIES[alike][1]}."
    told = [f"{say_number(n)} {_SUMMARIES[outcome][n > 1]}" for outcome, n in counts.items() if n]
    return f"Of {say_number(len(trial.myths))} myths {join_words(told)}."


def tell_verdict(verdict: MythVerdict) -> str:
    """Return the verdict on a myth, with why it cannot be tested."""
    return MYTH_OUTCOMES[verdict.outcome] + _why_not(verdict.deciding)


def tell_claim_outcome(answer: Answer | None) -> str:
    """Return the verdict on a claim; a claim without a test is only shown."""
    if answer is None:
        return ILLUSTRATED
    return CLAIM_OUTCOMES[answer.ruling.outcome] + _why_not(answer)


def _why_not(answer: Answer) -> str:
    lack = answer.ruling.lack
    # The machine lacks what the test takes.
    return f" ({_LACKING[lack]})" if answer.ruling.outcome is Outcome.UNTESTABLE and lack is not None else ""


def tell_answer(answer: Answer) -> str:
    """Return what a test says, with its numbers; what a run can tell although it cannot decide is told, too."""
    told, lack = answer.ruling.told, answer.ruling.lack
    match answer.ruling.outcome:
        # The lab has no run.
        case Outcome.UNTESTED if answer.exhibit is None:
            return "Not tested yet."
        # The lab has a run that left out what this is about.
        case Outcome.UNTESTED if lack is None:
            return f"Not tested yet. {told}"
        # It left out the device.
        case Outcome.UNTESTED:
            return f"Not tested yet: the last run left out the device that this is about. {told}"
        # There is no run, and none would help.
        case Outcome.UNTESTABLE if answer.exhibit is None:
            return capitalise(f"{_LACKING[lack] if lack else 'it takes another machine'}, which this machine lacks.")
        # There is a run, but it cannot decide.
        case Outcome.UNTESTABLE:
            return f"Decides nothing here: {_LACKING[lack] if lack else 'it takes another machine'}. {told}"
        # Measured.
        case _:
            return told


def tell_condition(exhibit: Exhibit, now_s: float) -> str:
    """Return when a run was measured, with which settings, and what speaks against it."""
    told = "Measured"
    if exhibit.measured_at is not None:
        told += f" {format_age(max(0.0, now_s - exhibit.measured_at))}"
    if exhibit.settings:
        told += f", with {join_words([f'{name} = {chosen}' for name, chosen in exhibit.settings])}"
    # It was cancelled, or broke off.
    if exhibit.state is not RunState.DONE:
        told += f", incomplete ({exhibit.state})"
    # Some points were taken while something else went on.
    if exhibit.n_disturbed:
        how = join_words([_DISTURBED[flag] for flag in exhibit.flags])
        told += f", {exhibit.n_disturbed} of its {exhibit.n_timed} points {how}"
    # Most were: the numbers may change on a quiet machine.
    return f"{told}: provisional." if exhibit.is_disturbed else f"{told}."


def tell_published(experiment: Experiment) -> str:
    """Return what others published for a lab, called that; "" where nothing was."""
    published = experiment.default_published(experiment.params_type())
    if published is None:
        return ""
    # What the lab's page says of it, without the invitation to press its button.
    answer = experiment.tell(experiment.find(published.points)).answer.replace("; press Run to measure here", "")
    return f"Published, not of this machine: {answer} Source: {published.source}."
