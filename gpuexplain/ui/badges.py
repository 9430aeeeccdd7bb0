"""Where a result is from, in a few words: the badge under every answer."""

import html
from dataclasses import dataclass

from gpuexplain.model import Source


@dataclass(frozen=True, slots=True)
class Badge:
    """A short label; ``kind`` chooses its colour: measured, ghost, warning or plain."""

    text: str
    kind: str = "plain"


KIND_OF_SOURCE = {
    Source.MEASURED: "measured",
    Source.RECORDED: "ghost",
    Source.PUBLISHED: "ghost",
    Source.MODEL: "ghost",
}


def badges_html(badges: list[Badge]) -> str:
    """Return the badges as one row."""
    items = "".join(f'<span class="gx-badge gx-badge-{b.kind}">{html.escape(b.text)}</span>' for b in badges)
    return f'<div class="gx-badges">{items}</div>'
