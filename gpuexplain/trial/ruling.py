"""What may a test say of a claim, and with which numbers?"""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a claim stands on this machine."""

    HELD = "held"
    NOT_HELD = "not_held"
    CANNOT_TELL = "cannot_tell"  # measured, and too noisy or too little to say
    UNTESTED = "not_tested"  # could be measured here, and has not been
    UNTESTABLE = "cannot_be_tested"  # this machine lacks what it takes


# Those that a measurement of this machine led to.
MEASURED = frozenset({Outcome.HELD, Outcome.NOT_HELD, Outcome.CANNOT_TELL})


class Lack(StrEnum):
    """What a machine would need for a test."""

    GPU = "gpu"
    DEVICES = "two_devices"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one test says; ``told`` has its numbers, as sentences with marks.

    ``lack`` says what was missing where nothing could be tested.
    """

    outcome: Outcome
    told: str
    lack: Lack | None = None


def held(told: str) -> Ruling:
    """Return that the claim held in this test."""
    return Ruling(Outcome.HELD, told)


def not_held(told: str) -> Ruling:
    """Return that the claim did not hold in this test."""
    return Ruling(Outcome.NOT_HELD, told)


def cannot_tell(told: str) -> Ruling:
    """Return that the numbers do not decide."""
    return Ruling(Outcome.CANNOT_TELL, told)


def untestable(lack: Lack, told: str) -> Ruling:
    """Return that the points lack what the claim is about."""
    return Ruling(Outcome.UNTESTABLE, told, lack)


def untested(told: str) -> Ruling:
    """Return that the run left out what the claim is about, although it could have had it."""
    return Ruling(Outcome.UNTESTED, told)
