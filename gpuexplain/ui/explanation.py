"""The words beside a chart: what you see, why it is so, what to do about it."""

import streamlit as st

from gpuexplain.experiments.contract import Explanation
from gpuexplain.ui.badges import Badge, badges_markdown
from gpuexplain.ui.rich_text import paragraphs, to_html, to_markdown

_PARTS = (("see", "What you see"), ("why", "Why"), ("so_what", "So what"))


def show_answer(explanation: Explanation, badges: tuple[Badge, ...]) -> None:
    """Write the computed answer and where it is from, in native Markdown: it must be there at once."""
    st.markdown(f"{to_markdown(explanation.answer)}\n\n{badges_markdown(badges)}")


def show_words(explanation: Explanation) -> None:
    """Write the three paragraphs and the caveats."""
    parts = [
        f"<h2>{title}</h2>{paragraphs(text)}"
        for name, title in _PARTS
        if (text := getattr(explanation, name))
    ]
    caveats = "".join(f"<li>{to_html(caveat)}</li>" for caveat in explanation.caveats)
    if caveats:
        parts.append(f'<ul class="gx-caveats">{caveats}</ul>')
    st.html(f'<div class="gx-words">{"".join(parts)}</div>')
