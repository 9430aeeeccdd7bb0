"""Which known part does a printed GPU name mean, and when must the answer be "cannot tell"?

Spaces, case and vendor words do not count, a parenthesis is a note, the longest known name wins.
A word that makes another part of it (Ti, SUPER, D, Laptop, a MIG slice, ...) refuses the match,
unless the known name has that very word.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

# Maker and product-line words that lists leave out. "Quadro" is not one of them: the Quadro
# RTX 6000 (2018) and the RTX 6000 Ada are different parts.
_VENDOR_WORD = re.compile("nvidia|amd|intel|apple|corporation|geforce|tesla|instinct|radeon|gpu")
# A slice or a mobile part, wherever the word stands, in a parenthesis too.
_OTHER_PART = re.compile("mig|laptop|mobile|notebook|maxq|vgpu|grid")
# Words that make another card of a model number, wherever they stand behind it.
_VARIANT = ("ti", "super", "gre", "xt", "sff")
_NOTE = re.compile(r"\([^)]*\)?")
_MAX_Q = re.compile(r"max[\s_-]*q(?![a-z])")
_VGPU_PROFILE = re.compile(r"-\d+[abcq]\b")  # "A10-24Q" is a share of an A10
_TOKEN = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class GpuName:
    """A name as its runs of letters and of digits ("A100-SXM4-40GB": a 100 sxm 4 40 gb)."""

    tokens: tuple[str, ...]
    other_parts: frozenset[str]  # words that name a slice or a mobile part, notes included

    @property
    def text(self) -> str:
        """The name without anything between its runs."""
        return "".join(self.tokens)


def parse_gpu_name(text: str) -> GpuName:
    """Return the runs of a name, without vendor words and notes in parentheses."""
    lowered = _MAX_Q.sub("maxq ", text.casefold())
    other = set(_OTHER_PART.findall(lowered))
    if _VGPU_PROFILE.search(lowered):
        other.add("vgpu")
    bare = _VENDOR_WORD.sub(" ", _NOTE.sub(" ", lowered))
    return GpuName(tuple(_TOKEN.findall(bare)), frozenset(other))


def find_named(name: GpuName, known: Iterable[tuple[GpuName, str]]) -> str | None:
    """Return the part whose known name is the longest within ``name``; None when refused or tied."""
    fits = [(len(entry.text), part, entry) for entry, part in known if any(_rests(name, entry))]
    longest = max((length for length, _, _ in fits), default=0)
    best = {part: entry for length, part, entry in fits if length == longest}
    if len(best) != 1:
        return None
    part, entry = next(iter(best.items()))
    return None if _is_other_part(name, entry) else part


def _rests(name: GpuName, entry: GpuName) -> Iterator[tuple[str, ...]]:
    """Yield what follows ``entry``, its own last run included, where it fills whole runs of ``name``."""
    ends = list(accumulate(len(token) for token in name.tokens))
    for first, start in enumerate([0, *ends[:-1]]):
        end = start + len(entry.text)
        if name.text.startswith(entry.text, start) and end in ends[first:]:
            yield (entry.tokens[-1], *name.tokens[ends.index(end) + 1 :])


def _is_other_part(name: GpuName, entry: GpuName) -> bool:
    if name.other_parts - entry.other_parts:
        return True
    _, *rest = next(_rests(name, entry))
    # One letter right behind a model number is another model: RTX 5090 D, A100X, T4G, A10M.
    is_suffixed = bool(rest) and len(rest[0]) == 1 and rest[0].isalpha()
    return is_suffixed or any(word.startswith(_VARIANT) for word in rest)
