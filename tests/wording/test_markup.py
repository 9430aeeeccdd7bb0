"""Marks for series and terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.wording.markup import Span, capitalise, mark, parse, plain, term


def test_a_marked_sentence_falls_into_its_pieces() -> None:
    """Plain words, an entity, a term as it is and as the sentence bends it."""
    text = f"{mark('cpu', 'The CPU')} has a {term('peak')}, and {term('crossover', 'overtakes')}."
    assert parse(text) == [
        Span("The CPU", entity="cpu"),
        Span(" has a "),
        Span("peak", term="peak"),
        Span(", and "),
        Span("overtakes", term="crossover"),
        Span("."),
    ]


def test_a_term_shown_as_itself_is_marked_once() -> None:
    """No needless half."""
    assert term("peak", "peak") == term("peak") == "[[term:peak]]"


def test_plain_drops_marks_and_bold() -> None:
    """For titles, text alternatives and the command line."""
    assert plain(f"**Two** {mark('gpu', 'GPUs')} reach the {term('peak', 'top')}") == "Two GPUs reach the top"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the CPU", "The CPU"),
        ("[[cpu:the CPU]] wins", "[[cpu:The CPU]] wins"),
        ("[[term:peak]]", "[[term:Peak]]"),
        ("[[term:crossover|overtakes]] it", "[[term:crossover|Overtakes]] it"),
        ("", ""),
    ],
    ids=["plain", "entity", "term", "bent term", "empty"],
)
def test_a_sentence_starts_with_a_capital_even_inside_a_mark(text: str, told: str) -> None:
    """The shown word, not the name of the mark."""
    assert capitalise(text) == told


@given(st.text(st.characters(exclude_characters="[]*|", exclude_categories=["Cs"])))
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    """Whatever it holds."""
    assert plain(text) == text
