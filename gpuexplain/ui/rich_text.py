"""How a marked sentence is shown: series words in their colour, terms that open their definition."""

import html
import itertools
import re

from gpuexplain.charts.figure import Words
from gpuexplain.charts.theme import Entity
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import Span, parse

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_ENTITIES = frozenset(entity.value for entity in Entity)
_ids = itertools.count()
# Streamlit's names of the colours that the theme sets to those of the entities.
_MARKDOWN_COLORS = {
    Entity.CPU.value: "orange",
    Entity.GPU.value: "blue",
    Entity.TRANSFER.value: "violet",
    Entity.OVERHEAD.value: "green",
    Entity.THEORY.value: "gray",
    Entity.WARNING.value: "yellow",
}
_SPECIAL = re.compile(r"([\\`_\[\]$<>#~|&])")


def escape_markdown(text: str) -> str:
    """Return plain text so that Markdown shows it as it stands; bold stays."""
    return _SPECIAL.sub(r"\\\1", text)


def plain_markdown(text: str) -> str:
    """Return a text of somebody else (a file, an address, another program) so that Markdown shows it as it stands."""
    return escape_markdown(text).replace("*", r"\*")


def to_markdown(text: str) -> str:
    """Return a marked text as Markdown: native, so it is on screen before any HTML could be."""
    pieces = []
    for span in parse(text):
        color = _MARKDOWN_COLORS.get(span.entity or "")
        shown = escape_markdown(span.text)
        pieces.append(f":{color}[{shown}]" if color else shown)
    return "".join(pieces)


def to_html(text: str) -> str:
    """Return a marked text as HTML inside one paragraph or heading; everything else is escaped."""
    joined = "".join(_span_html(span) for span in parse(text))
    return _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<strong>\1</strong>", joined))


def words_html(words: Words) -> str:
    """Return a chart's title in pieces as HTML inside one heading."""
    return "".join(_span_html(Span(text, entity=entity)) for text, entity in words)


def paragraphs(text: str, lead: str = "") -> str:
    """Return a marked text as ``<p>`` elements; ``lead`` opens the first one in bold. Sources are small print."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    opening = f"<strong>{html.escape(lead)}</strong> " if lead else ""
    return "".join(
        f"{_opening_tag(part)}{opening if i == 0 else ''}{to_html(part)}</p>" for i, part in enumerate(parts)
    )


def _opening_tag(paragraph: str) -> str:
    return '<p class="gx-sources">' if paragraph.startswith(("Source: ", "Sources: ")) else "<p>"


def _span_html(span: Span) -> str:
    text = html.escape(span.text, quote=False)
    if span.term and span.term in GLOSSARY:
        return _term_html(text, GLOSSARY[span.term].definition)
    if span.entity in _ENTITIES:
        return f'<span class="gx-{span.entity}">{text}</span>'
    return text


def _term_html(text: str, definition: str) -> str:
    """Focusable, so that keyboard and touch reach it; the definition is its description."""
    name = f"gx-term-{next(_ids)}"
    # A span with a button's role: a real button would break the line around it.
    button = f'<span role="button" tabindex="0" class="gx-term" aria-describedby="{name}">{text}</span>'
    return (
        f'<span class="gx-termbox">{button}'
        f'<span role="tooltip" class="gx-def" id="{name}">{html.escape(definition)}</span></span>'
    )
