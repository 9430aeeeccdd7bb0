"""How does every myth and every claim stand on this machine, with the runs there are?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuexplain.hardware.machine import Machine
from gpuexplain.trial.claims import CLAIMS, Claim, Reading
from gpuexplain.trial.evidence import Exhibit
from gpuexplain.trial.myths import MYTHS, Myth, Question
from gpuexplain.trial.ruling import Lack, Outcome, Ruling


@dataclass(frozen=True, slots=True)
class Answer:
    """What one reading says here; ``exhibit`` is None where its lab has no run."""

    reading: Reading
    ruling: Ruling
    exhibit: Exhibit | None


@dataclass(frozen=True, slots=True)
class MythVerdict:
    """How a myth stands: the verdict of its tests together, and each of them."""

    myth: Myth
    outcome: Outcome
    answers: tuple[tuple[Question, Answer], ...]

    @property
    def deciding(self) -> Answer:
        """The answer that made the verdict: the first with its outcome."""
        return next(answer for _, answer in self.answers if answer.ruling.outcome is self.outcome)


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """How a claim stands; ``answer`` is None where it is only illustrated."""

    claim: Claim
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything on trial."""

    myths: tuple[MythVerdict, ...]
    claims: tuple[ClaimVerdict, ...]


def hold_trial(exhibits: Mapping[str, Exhibit], machine: Machine) -> Trial:
    """Return the verdicts on all myths and claims."""
    return Trial(
        tuple(_judge_myth(myth, exhibits, machine) for myth in MYTHS),
        tuple(
            ClaimVerdict(claim, answer_of(claim.reading, exhibits, machine) if claim.reading else None)
            for claim in CLAIMS
        ),
    )


def _judge_myth(myth: Myth, exhibits: Mapping[str, Exhibit], machine: Machine) -> MythVerdict:
    answers = tuple((question, answer_of(question.reading, exhibits, machine)) for question in myth.questions)
    return MythVerdict(myth, weigh([answer.ruling.outcome for _, answer in answers]), answers)


# A myth claims something of all cases: one in which it fails is enough. One that nobody can decide leaves it open.
_ORDER = (Outcome.NOT_HELD, Outcome.CANNOT_TELL, Outcome.HELD, Outcome.UNTESTED, Outcome.UNTESTABLE)


def weigh(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the verdict on a myth from those of its tests."""
    return next(outcome for outcome in _ORDER if outcome in outcomes)


def answer_of(reading: Reading, exhibits: Mapping[str, Exhibit], machine: Machine) -> Answer:
    """Return what a reading says with the runs there are."""
    exhibit = exhibits.get(reading.lab)
    if exhibit is None:
        missing = reading.lack is not None and not _has(reading.lack, machine)
        return Answer(reading, Ruling(Outcome.UNTESTABLE, "", reading.lack) if missing else _UNTESTED, None)
    ruling = reading.judge(exhibit.findings)
    # The run left out what this machine has: another run of the lab can test it.
    if ruling.outcome is Outcome.UNTESTABLE and ruling.lack is not None and _has(ruling.lack, machine):
        ruling = Ruling(Outcome.UNTESTED, ruling.told, ruling.lack)
    return Answer(reading, ruling, exhibit)


_UNTESTED = Ruling(Outcome.UNTESTED, "")


def _has(lack: Lack, machine: Machine) -> bool:
    # Before torch has spoken nobody knows its names: a GPU without a known problem counts.
    asked = machine.torch is not None
    gpus = [gpu for gpu in machine.gpus if gpu.torch_device or (not asked and gpu.problem is None)]
    if lack is Lack.GPU:
        return bool(gpus)
    # A run takes the GPUs where there is one, else processes on the CPU.
    return len(gpus) > 1 if gpus else machine.cpu.usable_threads > 1
