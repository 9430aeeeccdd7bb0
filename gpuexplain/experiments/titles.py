"""A marked sentence as the title of a chart: named series keep their colour."""

from gpuexplain.charts.figure import Words
from gpuexplain.charts.theme import Entity
from gpuexplain.wording.markup import parse


def entity_words(text: str) -> Words:
    """Return a marked sentence in pieces, each with the entity whose colour it has."""
    return [(span.text, Entity(span.entity) if span.entity else None) for span in parse(text)]
