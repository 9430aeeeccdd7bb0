"""The tour in a real browser: one click, live cards, a second tab, cancel, and a page to keep."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from e2e_server import running_app
from playwright.sync_api import Browser, Page, expect

from gpuexplain.registry import CORE

Visit = Callable[..., tuple[Page, object]]
pytestmark = pytest.mark.timeout(300)  # another program of this host may measure first
PART_S = "2"
TOUR_MS = 90_000
# Drawn by Streamlit itself.
NOT_OURS = {"exclude": [["[data-testid=stSidebarNav]"], ["[data-testid=stToolbar]"]]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app of this module's own whose runs are short: a tour takes seconds."""
    with running_app(tmp_path_factory.mktemp("tour"), environment={"GPUEXPLAIN_MAX_BUDGET_S": PART_S}) as app:
        yield app.address


def start(page: Page) -> None:
    """Press the one button."""
    page.get_by_role("button", name=re.compile("^Measure")).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=15_000)


def wait_for_end(page: Page) -> None:
    """Wait until the button is back."""
    expect(page.get_by_role("button", name=re.compile("^Measure"))).to_be_visible(timeout=TOUR_MS)


def test_cancel_ends_the_tour_and_keeps_what_it_measured(visit: Visit) -> None:
    """Another tab of the same visitor sees it, and may end it."""
    page, _ = visit("/")
    start(page)
    other, _ = visit("/")
    expect(other.get_by_role("progressbar")).to_be_visible()
    stranger, _ = visit("/", visitor="two")
    expect(stranger.get_by_role("button", name="Cancel")).to_be_disabled()
    other.get_by_role("button", name="Cancel").click()
    for tab in (other, page, stranger):
        expect(tab.get_by_text(re.compile("^Cancelled after"))).to_be_visible(timeout=15_000)


def test_one_click_measures_everything_and_every_card_fills(visit: Visit, tmp_path: Path, browser: Browser) -> None:
    """One bar to the end, a number of this machine on each card, and a page that opens offline."""
    page, watch = visit("/")
    start(page)
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("measuring here, now").first).to_be_visible(timeout=60_000)
    expect(page.locator(".gx-machine")).to_contain_text("Measuring now")
    wait_for_end(page)
    expect(page.get_by_role("button", name="Measure again")).to_be_visible()
    expect(page.get_by_text(re.compile("^measured here, "))).to_have_count(len(CORE))
    assert watch.errors == []
    assert watch.outside == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the summary").click()
    kept = tmp_path / "summary.html"
    download.value.save_as(kept)
    read_offline(browser, kept)


def read_offline(browser: Browser, kept: Path) -> None:
    """Open the page without a network, in both themes and on a phone."""
    for theme, width in (("light", 1280), ("dark", 375)):
        context = browser.new_context(offline=True, color_scheme=theme, viewport={"width": width, "height": 900})
        page = context.new_page()
        problems: list[str] = []
        page.on("console", lambda message, into=problems: into.append(message.text))
        page.on("pageerror", lambda error, into=problems: into.append(str(error)))
        page.on(
            "request",
            lambda request, into=problems: None if request.url.startswith("file:") else into.append(request.url),
        )
        page.goto(kept.as_uri())
        expect(page.locator(".chart .main-svg").first).to_be_visible()
        assert page.locator(".chart").count() == len(CORE)
        assert page.locator(".chart:has(.main-svg)").count() == len(CORE)
        assert page.locator(".tiles li").count() == len(CORE)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 1
        assert problems == []
        assert serious(page) == []
        context.close()


def serious(page: Page) -> list[str]:
    """Return what axe finds against WCAG A and AA."""
    levels = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = Axe().run(page, context=NOT_OURS, options=levels)
    bad = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {node['html'][:120]}" for v in bad for node in v["nodes"]]


def test_a_card_is_one_link_by_mouse_and_keyboard(visit: Visit) -> None:
    """A click anywhere on it opens its lab with this very result; so does Enter on its link."""
    page, _ = visit("/")
    card = page.locator(".st-key-home-card-matmul")
    card.locator(".gx-card").wait_for()
    page.wait_for_timeout(1000)  # the badges below it move its lower edge
    box = card.bounding_box()
    assert box is not None
    card.click(position={"x": box["width"] - 20, "y": box["height"] - 20})
    expect(page.get_by_role("heading", level=1)).to_have_text("When does the GPU win?")
    expect(page.get_by_text("measured here").first).to_be_visible()
    page.go_back()
    card.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("When does the GPU win?")
    assert "/matmul" in page.url


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_home_is_accessible_during_a_tour(visit: Visit, theme: str) -> None:
    """Bar, cards and words have names and contrast."""
    page, _ = visit("/", theme=theme)
    start(page)
    expect(page.get_by_text("measuring here, now").first).to_be_visible(timeout=60_000)
    found = serious(page)
    for _ in range(5):  # between two parts the page is drawn anew, and what is about to change is faint
        if not found:
            break
        page.wait_for_timeout(700)
        found = serious(page)
    assert found == []
    wait_for_end(page)
