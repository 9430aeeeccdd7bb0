"""Where a result is from, in a few words: the badges under every answer."""

from collections.abc import Iterable
from dataclasses import dataclass

from gpuexplain.model import Source
from gpuexplain.ui.rich_text import plain_markdown


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
_COLORS = {"measured": "green", "ghost": "violet", "warning": "yellow", "plain": "gray"}


def badges_markdown(badges: Iterable[Badge]) -> str:
    """Return the badges as one line of Markdown."""
    return " ".join(f":{_COLORS[badge.kind]}-badge[{plain_markdown(badge.text)}]" for badge in badges)
