"""The glossary page."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from ui_fakes import html_of

from gpuexplain.ui.glossary import find_terms
from gpuexplain.wording.glossary import GLOSSARY

Open = Callable[..., AppTest]


def test_it_lists_every_term_with_its_definition(open_page: Open) -> None:
    """Nothing that a tooltip explains is missing here."""
    shown = html_of(open_page("glossary"))
    assert all(f"<dt>{name}</dt>" in shown for name in GLOSSARY)


def test_a_search_narrows_the_list(open_page: Open) -> None:
    """The word in a name comes before the word in a definition."""
    at = open_page("glossary")
    at.text_input(key="term").set_value("launch").run()
    shown = html_of(at)
    assert "<dt>launch floor</dt>" in shown
    assert "<dt>bf16</dt>" not in shown


def test_a_search_without_a_hit_says_what_to_do(open_page: Open) -> None:
    """And it shows what was typed as plain text."""
    at = open_page("glossary")
    at.text_input(key="term").set_value("<b>zebra</b>").run()
    assert at.info[0].value.startswith("No term contains")


@pytest.mark.parametrize(("wanted", "first"), [("PCI", "PCIe"), ("  Fp16 ", "fp16"), ("", "95 % interval")])
def test_names_come_first_and_case_does_not_matter(wanted: str, first: str) -> None:
    """As a reader would look a word up."""
    assert find_terms(wanted)[0].name == first
