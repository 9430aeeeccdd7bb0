"""What may stand in a file that somebody else made? Texts that a page, a terminal and a spreadsheet only show."""

import re
import unicodedata
from typing import Any

from gpuexplain.errors import InputError

# An id becomes part of file names and addresses.
# Names of devices and series become parts of scripts and keys of tables.
DEVICE = re.compile(r"cpu|cuda:(0|[1-9][0-9]?)")
SERIES = re.compile(r"[A-Za-z0-9_ .,:+-]{1,80}")
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LONGEST_TEXT = 4_000
_KEPT = "\n\t"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# A spreadsheet computes what begins so.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def clean_texts(content: Any, name: str) -> Any:
    """Return read JSON with every text fit to show: no control characters, none that turn the writing direction.

    Raises:
        InputError: If a text is longer than any of ours.
    """
    if isinstance(content, str):
        if len(content) > LONGEST_TEXT:
            raise InputError(f"Cannot read {name}: a text in it has more than {LONGEST_TEXT} characters.")
        return clean_text(content)
    if isinstance(content, dict):
        return {clean_texts(key, name): clean_texts(value, name) for key, value in content.items()}
    return [clean_texts(item, name) for item in content] if isinstance(content, list) else content


def clean_text(text: str) -> str:
    """Return a text in which control and direction characters are replaced; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_REPLACEMENT if _is_unfit(character) else character for character in text)


def _is_unfit(character: str) -> bool:
    if character in _KEPT:
        return False
    category = unicodedata.category(character)
    is_direction = unicodedata.bidirectional(character) in (
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "PDF",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
    )
    return category in ("Cc", "Cs") or is_direction


def as_cell(value: Any) -> Any:
    """Return a value of a CSV cell; a text that a spreadsheet would compute gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
