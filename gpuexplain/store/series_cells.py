"""What does one cell say: a number, how a case ended, or something that must not be guessed at?"""

import re

from gpuexplain.asked import shown
from gpuexplain.model import Status

# Plain decimal notation only; float() would also take 1_000, ١٢ or "infinity".
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d[\d.,'\s\u00a0\u202f_]*", re.ASCII)
# No time, size or rate is outside; beyond, cubes and ratios leave the range of a float.
_SMALLEST, _LARGEST = 1e-30, 1e30
# What people and programs write where a figure is missing.
_STATUS_WORDS: dict[str, Status] = {
    "oom": Status.OOM,
    "out of memory": Status.OOM,
    "cuda out of memory": Status.OOM,
    "n/a": Status.UNSUPPORTED,
    "na": Status.UNSUPPORTED,
    "not supported": Status.UNSUPPORTED,
    "skip": Status.SKIPPED,
    "fail": Status.FAILED,
    "error": Status.FAILED,
    "timeout": Status.FAILED,
    "launch limit": Status.LAUNCH_LIMIT,
    **{status.value: status for status in Status if status is not Status.OK},
}


class CellError(ValueError):
    """A cell that cannot be used; its two arguments are the problem and the remedy."""


def read_status(text: str) -> Status | None:
    """Return the status that a cell names, if it names one."""
    return _STATUS_WORDS.get(text.casefold().strip())


def read_positive(text: str, *, zero_allowed: bool = False) -> float:
    """Return the number in a cell.

    Raises:
        CellError: If it is empty, no plain number, not finite, negative or (unless allowed) zero.
    """
    if not text:
        raise CellError("the cell is empty", "Write a number, or OOM or N/A where there is none.")
    if _NOT_FINITE.fullmatch(text):
        raise CellError(f"{shown(text)} is no measurement", "Write N/A where there is none, or drop the row.")
    if not _NUMBER.fullmatch(text):
        raise CellError(f"{shown(text)} is not a plain number", _remedy(text))
    number = float(text)
    if number < 0 or (number == 0 and not zero_allowed):
        raise CellError(f"{shown(text)} must be above zero", "Drop the row, or correct the figure.")
    if number > _LARGEST or (number < _SMALLEST and not zero_allowed):
        raise CellError(f"{shown(text)} is out of range", "Check the unit.")
    return number


def _remedy(text: str) -> str:
    if _GROUPED.fullmatch(text):
        return "Write 1024.5: no thousands separators, no decimal comma."
    return "Write a number such as 1024.5, or a status such as OOM."
