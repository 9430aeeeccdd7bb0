"""How a marked sentence becomes HTML that needs nothing else; everything from outside is escaped."""

import html
import re

from gpuexplain.charts.theme import Entity
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import Span, parse

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_ENTITIES = frozenset(entity.value for entity in Entity)


def escape(text: str) -> str:
    """Return plain text for the inside of an element or of a quoted attribute."""
    return html.escape(text, quote=True)


def to_html(text: str) -> str:
    """Return a marked text as the inside of a paragraph: entities in their colour, terms explained."""
    joined = "".join(_span(span) for span in parse(text))
    return _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<strong>\1</strong>", joined))


def paragraphs(text: str) -> str:
    """Return a marked text as ``<p>`` elements."""
    return "".join(f"<p>{to_html(part.strip())}</p>" for part in text.split("\n\n") if part.strip())


def bullets(texts: tuple[str, ...] | list[str]) -> str:
    """Return marked texts as a list; nothing where there are none."""
    return f"<ul>{''.join(f'<li>{to_html(text)}</li>' for text in texts)}</ul>" if texts else ""


def pairs(rows: list[tuple[str, str]]) -> str:
    """Return (label, plain text) as a description list; nothing where there are none."""
    cells = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in rows)
    return f"<dl>{cells}</dl>" if rows else ""


def _span(span: Span) -> str:
    text = html.escape(span.text, quote=False)
    if span.term and span.term in GLOSSARY:
        return f'<abbr title="{escape(GLOSSARY[span.term].definition)}">{text}</abbr>'
    if span.entity in _ENTITIES:
        return f'<span class="{span.entity}">{text}</span>'
    return text
