"""The words beside a chart: what you see, why it is so, what to do about it."""

import streamlit as st

from gpuexplain.experiments.contract import Explanation
from gpuexplain.ui.badges import Badge, badges_markdown
from gpuexplain.ui.rich_text import paragraphs, to_html, to_markdown

_CAVEATS_SHOWN = 3
_PARTS = (("see", "What you see"), ("why", "Why"), ("so_what", "So what"))


def show_answer(explanation: Explanation, badges: tuple[Badge, ...]) -> None:
    """Write the computed answer and where it is from, in native Markdown: it must be there at once."""
    st.markdown(f"{to_markdown(explanation.answer)}\n\n{badges_markdown(badges)}")


def show_words(explanation: Explanation) -> None:
    """Write the three paragraphs."""
    texts = [(title, getattr(explanation, name)) for name, title in _PARTS]
    parts = (f"<h2>{title}</h2>{paragraphs(text)}" for title, text in texts if text)
    st.html(f'<div class="gx-words">{"".join(parts)}</div>')


def show_caveats(explanation: Explanation) -> None:
    """Write what to know before trusting the numbers: the first ones at once, the rest on demand."""
    items = [f"<li>{to_html(caveat)}</li>" for caveat in explanation.caveats]
    if not items:
        return
    first, rest = items[:_CAVEATS_SHOWN], items[_CAVEATS_SHOWN:]
    more = f"<details><summary>{len(rest)} more</summary><ul>{''.join(rest)}</ul></details>" if rest else ""
    st.html(
        f'<section class="gx-words gx-caveats"><h2>Before you trust it</h2><ul>{"".join(first)}</ul>{more}</section>'
    )
