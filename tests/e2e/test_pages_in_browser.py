"""Every page in a real browser: frame, silence, accessibility, narrow screens."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe
from e2e_page import settle
from playwright.sync_api import Page, expect

from gpuexplain.ui.pages import PAGES

PATHS = [f"/{page.url_path}" for page in PAGES]
Visit = Callable[..., tuple[Page, object]]
# Drawn by Streamlit itself: its navigation nests group headings in a list, its toolbar has its own rules.
NOT_OURS = {"exclude": [["[data-testid=stSidebarNav]"], ["[data-testid=stToolbar]"]]}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_a_deep_link_opens_a_whole_page(visit: Visit, path: str, theme: str) -> None:
    """Framed, right by WCAG A and AA, never wider than a phone, and silent: no error, no request to elsewhere."""
    page, watch = visit(path, theme=theme)
    for name in ("Matrix multiply", "Glossary"):
        expect(page.get_by_role("link", name=name).first).to_be_visible()
    expect(page.locator(".gx-machine")).to_be_visible()
    assert "Streamlit" not in page.title()
    assert page.get_by_text("Traceback").count() == 0
    found = Axe().run(page, context=NOT_OURS, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
    serious = [
        (violation["id"], node["html"][:160])
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert serious == []
    page.set_viewport_size({"width": 375, "height": 900})
    settle(page)
    wide = page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(wide) <= 1, "on a narrow screen it scrolls sideways"
    assert watch.errors == []
    assert watch.outside == []


def test_headings_are_in_order(visit: Visit) -> None:
    """One h1 first, then h2, no level skipped."""
    page, _ = visit("/matmul")
    page.locator(".gx-words h2").first.wait_for()
    levels = page.evaluate(
        "[...document.querySelectorAll('[data-testid=stMain] :is(h1,h2,h3,h4)')].map(e => +e.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_on_a_phone_the_chart_comes_before_the_controls(visit: Visit) -> None:
    """Answer, chart, one row of controls, words, top to bottom; the row opens the others."""
    page, _ = visit("/matmul", width=375)
    page.locator(".js-plotly-plot").first.wait_for()
    places = [
        page.locator(selector).first.bounding_box()
        for selector in (".st-key-lab-answer p", ".js-plotly-plot", ".st-key-run", ".st-key-lab-words")
    ]
    assert [place["y"] for place in places] == sorted(place["y"] for place in places)
    expect(page.locator(".st-key-preset")).to_be_hidden()
    assert page.locator(".st-key-lab-row").bounding_box()["height"] < 60
    page.locator(".st-key-lab-open label").click()
    expect(page.locator(".st-key-preset")).to_be_visible()


def test_a_chart_is_higher_on_a_wide_screen(visit: Visit) -> None:
    """And its title breaks as the page does: one line there, more on a phone."""
    heights, lines = [], []
    for width in (375, 1280, 1800):
        page, _ = visit("/matmul", width=width)
        page.locator(".js-plotly-plot").first.wait_for()
        page.wait_for_timeout(1000)
        heights.append(page.locator(".js-plotly-plot").first.bounding_box()["height"])
        title = page.locator(".gx-chart-title").first
        lines.append(round(title.bounding_box()["height"] / 24))
    assert heights[0] == heights[1] < heights[2]
    assert lines[0] > lines[2] == 1


def test_a_term_opens_its_definition_on_focus(visit: Visit) -> None:
    """Keyboard and touch reach the glossary, not only the mouse."""
    page, _ = visit("/matmul")
    term = page.locator(".gx-term").first
    term.wait_for()
    definition = page.locator(".gx-def").first
    assert not definition.is_visible()
    term.focus()
    expect(definition).to_be_visible()
