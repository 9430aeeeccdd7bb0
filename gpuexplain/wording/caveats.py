"""What a reader must know before trusting a result: flags, cases without a time, how small a difference shows."""

from collections.abc import Sequence

from gpuexplain.findings import NoiseFloor, NotFound
from gpuexplain.model import Flag, Status
from gpuexplain.units import format_percent
from gpuexplain.wording.markup import capitalise, term
from gpuexplain.wording.phrases import count_of


def say_here(is_provisional: bool) -> str:
    """Return how an answer about this machine begins."""
    # Every point of a measured series was taken beside other work.
    if is_provisional:
        return "On this machine, busy with other work meanwhile,"
    # The usual case: measured here.
    return "On this machine"


def tell_flag(who: str, flag: Flag, count: int) -> str:
    """Return what a flag on ``count`` points of a series (``who``: "the CPU") means for the reader."""
    which = f"{count_of(count, 'point')} of {who}"
    rest, be = ("rests", "is") if count == 1 else ("rest", "are")
    match flag:
        # Others used the machine meanwhile.
        case Flag.UNDER_LOAD:
            return f"{capitalise(which)} had to share the machine with other work. Run again when it is quiet."
        # The device was slowed down.
        case Flag.THROTTLED:
            return f"{capitalise(which)} ran slowed down (heat, power or a CPU quota)."
        # First and last samples differ.
        case Flag.DRIFTING:
            return f"{capitalise(which)} got faster or slower during the run."
        # Too few samples for an interval.
        case Flag.FEW_SAMPLES:
            return f"{capitalise(which)} {rest} on under six samples, so without an interval."
        # The interval is wider than the target.
        case Flag.NOT_CONVERGED:
            return f"{capitalise(which)} {be} less certain than ±2 %: more time narrows the band."
        # Another precision ran, by the error.
        case Flag.FALLBACK:
            return f"{capitalise(which)} ran in another precision, by the error of the result."
        # Told elsewhere, or not for a reader of this page.
        case _:
            return ""


def tell_failed(who: str, sizes: str, failed: Sequence[tuple[float, Status, str]]) -> str:
    """Return which sizes of a series have no time, and the first reason; "" when all have one.

    Args:
        who: The series, in words.
        sizes: The failed sizes, in words: "n = 64 and 128".
        failed: (size, status, reason) of each.
    """
    # Skipped, out of memory, unsupported or wrong.
    if not failed:
        return ""
    _, status, reason = failed[0]
    return f"{capitalise(who)} has no time at {sizes} ({str(status).replace('_', ' ')}): {reason}"


def tell_nothing(reasons: Sequence[str], otherwise: str) -> str:
    """Return the answer of a page without a single time: why there is none, or what to do.

    Args:
        reasons: Why each case failed, in the words of its point.
        otherwise: The answer where nothing was tried.
    """
    # Every case failed.
    if reasons:
        return f"Nothing could be measured here: {reasons[0].rstrip('.')}."
    # Nothing was tried yet.
    return otherwise


def tell_noise(noise: NoiseFloor | NotFound) -> str:
    """Return the smallest difference that a run can tell from chance; "" where that is not known."""
    # At least two points have intervals.
    if isinstance(noise, NoiseFloor):
        return (
            f"This run can tell apart differences of {format_percent(noise.median_difference)} at a typical point "
            f"({term('noise floor')}); nothing closer is ranked."
        )
    return ""
