"""The glossary: every term that a page uses, defined once, in one list to read or to search."""

import html

import streamlit as st

from gpuexplain.ui.head import show_head
from gpuexplain.ui.rich_text import escape_markdown
from gpuexplain.wording.glossary import GLOSSARY, Term


def show_glossary() -> None:
    """Write the whole page."""
    show_head("About", "Glossary")
    st.markdown("Every term of these pages, in plain words. On a page, point at a dotted word, or focus it.")
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
    rows = "".join(f"<dt>{html.escape(term.name)}</dt><dd>{html.escape(term.definition)}</dd>" for term in found)
    st.html(f'<dl class="gx-facts gx-glossary">{rows}</dl>')


def find_terms(wanted: str) -> list[Term]:
    """Return the terms whose name or definition contains ``wanted``, by name; all of them for ""."""
    wanted = wanted.strip().casefold()
    found = [t for t in GLOSSARY.values() if wanted in t.name.casefold() or wanted in t.definition.casefold()]
    # Those named so come first: whoever asks for "copy" wants the copy, not what mentions it.
    return sorted(found, key=lambda t: (bool(wanted) and wanted not in t.name.casefold(), t.name.casefold()))
