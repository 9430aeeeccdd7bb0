"""What is a file of a stranger called on the page, in sentences and in charts?

HTML, Markdown and Plotly each escape what they are given where it is shown. Left to do here is what no
place of display can mend: characters that nobody sees, the marks of our own sentences, sheer length.
"""

import unicodedata
from collections.abc import Collection

LABEL_CHARACTERS = 60
TEXT_CHARACTERS = 200
_ELLIPSIS = "…"
_END_KEPT = 12  # of a long name: what tells files apart, and the extension
# Brackets, asterisks and backticks are marks in our own sentences: look-alikes stand in for them.
_UNMARKED = str.maketrans({"[": "(", "]": ")", "*": "∗", "`": "ʼ"})


def plain_label(text: str, most: int = LABEL_CHARACTERS) -> str:
    """Return a foreign text on one line, without invisible characters and marks, cut in its middle."""
    seen = "".join(character if character.isprintable() else " " for character in unicodedata.normalize("NFC", text))
    label = " ".join(seen.translate(_UNMARKED).split())
    if len(label) <= most:
        return label
    return label[: most - _END_KEPT - 1].rstrip() + _ELLIPSIS + label[-_END_KEPT:].lstrip()


def file_label(name: str, taken: Collection[str] = ()) -> str:
    """Return what a file is called here; a second one of a name that is ``taken`` gets a number."""
    label = plain_label(name) or "unnamed file"
    number = 2
    numbered = label
    while numbered in taken:
        numbered = f"{label} ({number})"
        number += 1
    return numbered
