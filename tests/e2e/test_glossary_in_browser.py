"""The glossary in a real browser: every term by keyboard. That every page links to it is tested with the pages."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from gpuexplain.wording.glossary import GLOSSARY

Visit = Callable[..., tuple[Page, object]]


def test_an_audience_finds_it_at_the_end_of_a_lab(visit: Visit) -> None:
    """Presenter mode hides the navigation."""
    page, _ = visit("/stopwatch?present=true")
    expect(page.locator(".st-key-lab-next").get_by_role("link", name="Glossary")).to_be_visible()


def test_the_tab_key_reaches_every_term(visit: Visit) -> None:
    """One after the other, from the search on; Enter leads to the address of that term."""
    page, watch = visit("/glossary")
    page.get_by_label("Search").focus()
    reached = []
    for _ in GLOSSARY:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
    assert sorted(reached) == sorted(GLOSSARY)
    page.keyboard.press("Enter")
    expect(page.locator(".gx-glossary dt").first).to_have_text(reached[-1])
    assert watch.errors == []
    assert watch.outside == []


def test_a_search_narrows_the_list(visit: Visit) -> None:
    """And is in the address."""
    page, _ = visit("/glossary")
    page.get_by_label("Search").fill("roofline")
    page.keyboard.press("Enter")
    expect(page.locator(".gx-glossary dt").first).to_have_text("roofline")
    expect(page.locator(".gx-glossary dt", has_text="bf16")).to_have_count(0)
    assert "term=roofline" in page.url
