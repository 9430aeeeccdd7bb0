"""What does the result on a lab's page say of the article's claims that this lab tests?"""

import html
from typing import Any

import streamlit as st

from gpuexplain.model import Source
from gpuexplain.trial.claims import CLAIMS
from gpuexplain.trial.court import Answer
from gpuexplain.trial.words import SIGNS, tell_claim_outcome
from gpuexplain.ui.result import Result
from gpuexplain.ui.rich_text import to_html


def show_claims(lab: str, findings: Any, shown: Result) -> None:
    """Write each claim with its verdict by these very findings; nothing for what was not measured here."""
    own = [claim for claim in CLAIMS if claim.reading is not None and claim.reading.lab == lab]
    if shown.source is not Source.MEASURED or not shown.points or not own:
        return
    items = []
    for claim in own:
        assert claim.reading is not None
        answer = Answer(claim.reading, claim.reading.judge(findings), None)
        sign = f'<span aria-hidden="true">{SIGNS[answer.ruling.outcome]}</span>'
        outcome = html.escape(tell_claim_outcome(answer))
        items.append(f"<li><strong>{sign} {outcome}:</strong> {to_html(claim.text)}</li>")
    title = "<h2>The article’s claims, by this result</h2>"
    st.html(f'<section class="gx-words gx-lab-claims">{title}<ul>{"".join(items)}</ul></section>')
