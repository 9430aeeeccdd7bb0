"""The glossary page."""

import html
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
    assert all(f">{html.escape(name)}</a></dt><dd>{html.escape(t.definition)}" in shown for name, t in GLOSSARY.items())


def test_what_is_said_of_hardware_names_its_source(open_page: Open) -> None:
    """After the definition."""
    shown = html_of(open_page("glossary", term="tensor core"))
    assert "Source: NVIDIA, A100 Tensor Core GPU Architecture, white paper." in shown


def test_a_term_has_an_address_of_its_own(open_page: Open) -> None:
    """A link leads to the term alone, spaces and all."""
    assert '<a href="?term=95+%25+interval">95 % interval</a>' in html_of(open_page("glossary"))
    shown = html_of(open_page("glossary", term="95 % interval"))
    assert ">95 % interval</a>" in shown
    assert ">bf16</a>" not in shown


def test_a_search_narrows_the_list(open_page: Open) -> None:
    """The word in a name comes before the word in a definition."""
    at = open_page("glossary")
    at.text_input(key="term").set_value("launch").run()
    shown = html_of(at)
    assert ">launch floor</a></dt>" in shown
    assert ">bf16</a></dt>" not in shown


def test_a_search_without_a_hit_says_what_to_do(open_page: Open) -> None:
    """And it shows what was typed as plain text."""
    at = open_page("glossary")
    at.text_input(key="term").set_value("<b>zebra</b>").run()
    assert at.info[0].value.startswith("No term contains")


@pytest.mark.parametrize(("wanted", "first"), [("PCI", "PCIe"), ("  Fp16 ", "fp16"), ("", "95 % interval")])
def test_names_come_first_and_case_does_not_matter(wanted: str, first: str) -> None:
    """As a reader would look a word up."""
    assert find_terms(wanted)[0].name == first
