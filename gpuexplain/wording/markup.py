"""How a sentence names series and terms without knowing how it will be shown.

Two marks, both plain text: ``[[cpu:the CPU]]`` colours "the CPU" as the entity ``cpu``;
``[[term:crossover]]`` or ``[[term:crossover|overtakes]]`` shows the word with the definition of that
term. Everything around them is Markdown. Readers split the text with ``parse`` (to colour it) or
drop the marks with ``plain`` (a title, a text alternative, the command line).
"""

import re
from dataclasses import dataclass

TERM = "term"
_MARK = re.compile(r"\[\[(?P<kind>[a-z]+):(?P<body>[^\[\]]*)\]\]")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence: plain, in the colour of ``entity``, or a ``term`` of the glossary."""

    text: str
    entity: str | None = None
    term: str | None = None


def mark(entity: str, text: str) -> str:
    """Return ``text`` marked as naming an entity, a value of the chart's colour table."""
    return f"[[{entity}:{text}]]"


def term(name: str, shown: str | None = None) -> str:
    """Return a word marked as a term of the glossary; ``shown`` where the sentence bends it."""
    return f"[[{TERM}:{name}]]" if shown is None or shown == name else f"[[{TERM}:{name}|{shown}]]"


def parse(text: str) -> list[Span]:
    """Return the pieces of a marked text, in order; joined, their texts are ``plain(text)``."""
    spans, position = [], 0
    for found in _MARK.finditer(text):
        if found.start() > position:
            spans.append(Span(text[position : found.start()]))
        spans.append(_span(found["kind"], found["body"]))
        position = found.end()
    if position < len(text):
        spans.append(Span(text[position:]))
    return spans


def _span(kind: str, body: str) -> Span:
    if kind != TERM:
        return Span(body, entity=kind)
    name, _, shown = body.partition("|")
    return Span(shown or name, term=name)


def plain(text: str) -> str:
    """Return the text without marks and without Markdown's bold."""
    return "".join(span.text for span in parse(text)).replace("**", "")


def capitalise(text: str) -> str:
    """Return the text with its first shown letter in upper case, even inside a mark."""
    found = re.match(r"(\[\[[a-z]+:(?:[^\[\]|]*\|)?)?", text)
    at = found.end() if found else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]
