"""The glossary: every term that a page uses, defined once, in one list to read or to search."""

import html
from urllib.parse import urlencode

import streamlit as st

from gpuexplain.ui.head import show_head
from gpuexplain.ui.rich_text import escape_markdown
from gpuexplain.wording.glossary import GLOSSARY, Term


def show_glossary() -> None:
    """Write the whole page."""
    show_head("About", "Glossary")
    st.markdown("Every term of these pages, in plain words. On a page, point at a dotted word, or focus it with Tab.")
    wanted = st.text_input(
        "Search",
        key="term",
        bind="query-params",
        placeholder="a word, such as crossover or bf16",
        max_chars=60,
        icon=":material/search:",
    )
    found = find_terms(wanted or "")
    if not found:
        st.info(
            f"No term contains “{escape_markdown(wanted)}”. Clear the search to see all of them.",
            icon=":material/info:",
        )
        return
    st.html(f'<dl class="gx-facts gx-glossary">{"".join(_row_html(term) for term in found)}</dl>')


def _row_html(term: Term) -> str:
    """Return a term that keyboards reach: a link to the address under which it stands alone."""
    link = f'<a href="?{html.escape(urlencode({"term": term.name}))}">{html.escape(term.name)}</a>'
    source = f' <span class="gx-muted">Source: {html.escape(term.source)}.</span>' if term.source else ""
    return f"<dt>{link}</dt><dd>{html.escape(term.definition)}{source}</dd>"


def find_terms(wanted: str) -> list[Term]:
    """Return the terms whose name or definition contains ``wanted``, by name; all of them for ""."""
    wanted = wanted.strip().casefold()
    found = [t for t in GLOSSARY.values() if wanted in t.name.casefold() or wanted in t.definition.casefold()]
    # Those named so come first: whoever asks for "copy" wants the copy, not what mentions it.
    return sorted(found, key=lambda t: (bool(wanted) and wanted not in t.name.casefold(), t.name.casefold()))
