"""Anybody's numbers in a real browser: dropped, drawn, named, removed; hostile names are only shown."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

Visit = Callable[..., tuple[Page, object]]
MINE = b"n,tflops,tflops_lo,tflops_hi\n128,0.5,0.48,0.52\n512,10,9.8,10.2\n2048,30,29,31\n"
HOSTILE = "<img src=x onerror=alert(1)>$\\int$*.csv"
COMPARE = "/matmul?tab=Compare&preset=quick"


def drop(page: Page, name: str = "mine.csv", content: bytes = MINE) -> None:
    """Drop a file into the zone."""
    page.locator("input[type=file]").first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def chart_name(page: Page, text: str) -> Locator:
    """Return the name that stands beside a line of the main chart."""
    return page.locator(".js-plotly-plot").first.locator("text", has_text=text)


@pytest.mark.parametrize("width", [1280, 375])
def test_a_dropped_file_is_drawn_and_answers(visit: Visit, width: int) -> None:
    """On a phone too: the tab is reachable, nothing is wider than the screen, the file can be taken off."""
    page, watch = visit("/matmul", width=width, visitor=f"drop-{width}")
    page.get_by_role("tab", name="Compare").click()
    drop(page)
    box = page.locator("[class*=st-key-file-]")
    expect(box.get_by_text("mine.csv:", exact=True)).to_be_visible(timeout=15_000)
    expect(box.get_by_text(re.compile("reaches 30.0"))).to_be_visible()
    expect(chart_name(page, "mine.csv")).to_be_visible()
    expect(page).to_have_url(re.compile("tab=Compare"))
    wide = page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(wide) <= 1
    page.get_by_role("button", name="Remove").click()
    expect(box).to_have_count(0)
    expect(chart_name(page, "mine.csv")).to_have_count(0)
    assert watch.errors == []


def test_a_bad_file_is_refused_where_it_was_dropped(visit: Visit) -> None:
    """File, row, column; the chart stays."""
    page, watch = visit(COMPARE, visitor="bad")
    drop(page, "bad.csv", b"n,tflops\n64,fast\n")
    expect(
        page.get_by_text("Cannot read bad.csv, row 2, column 'tflops': 'fast' is not a plain number.")
    ).to_be_visible(timeout=15_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    drop(page, "weights.pt", b"\x80\x04\x95pickle")
    expect(page.get_by_text("Cannot read weights.pt, row 1: binary content")).to_be_visible(timeout=15_000)
    drop(page, "huge.csv", b"n,tflops\n" + b"1,1\n" * 2_700_000)
    expect(page.get_by_text(re.compile("10.0 ?MB or smaller"))).to_be_visible(timeout=15_000)
    assert watch.errors == []


def test_a_hostile_name_is_only_shown(visit: Visit) -> None:
    """No element, no formula, no request comes of it; box, badge and chart show its very characters."""
    page, watch = visit(COMPARE, visitor="hostile")
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    drop(page, HOSTILE)
    box = page.locator("[class*=st-key-file-]")
    expect(box.get_by_text("<img src=x onerror=alert(1)>$\\int$∗.csv:", exact=True)).to_be_visible(timeout=15_000)
    expect(chart_name(page, "<img src=x on…")).to_be_visible()
    expect(page.locator(".st-key-lab-answer").get_by_text("<img src=x onerror=alert(1)>$\\int$∗.csv")).to_be_visible()
    page.locator(".js-plotly-plot").first.locator("path.point").last.hover(force=True)
    page.wait_for_timeout(500)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator(".katex, mjx-container").count() == 0
    drop(page, "a" * 300 + ".csv", MINE.replace(b"30,", b"31,").replace(b",29,31", b",29,32"))
    expect(box).to_have_count(2, timeout=15_000)
    assert alerts == []
    assert watch.errors == []
    assert watch.outside == []


def test_files_are_of_one_tab_and_survive_a_run(visit: Visit) -> None:
    """A second tab does not have it; a run does not take it away; a reload is a new session."""
    page, _ = visit("/matmul?preset=quick&largest_side=128&tab=Compare", visitor="tabs")
    drop(page)
    expect(chart_name(page, "mine.csv")).to_be_visible(timeout=15_000)
    other, _ = visit("/matmul?preset=quick&largest_side=128&tab=Compare", visitor="tabs")
    expect(other.get_by_text("Your own numbers")).to_be_visible()
    assert chart_name(other, "mine.csv").count() == 0
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=40_000)
    expect(chart_name(page, "mine.csv")).to_be_visible()
    expect(page.get_by_text("beside it: mine.csv")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Your own numbers")).to_be_visible(timeout=15_000)
    assert chart_name(page, "mine.csv").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_beside_a_file(visit: Visit, theme: str) -> None:
    """The drop zone and the box of a file, in both themes."""
    page, _ = visit(COMPARE, theme=theme, visitor=f"axe-{theme}")
    drop(page)
    expect(chart_name(page, "mine.csv")).to_be_visible(timeout=15_000)
    page.wait_for_timeout(800)
    found = Axe().run(
        page,
        context={"include": [["[data-testid=stTabs]"]]},
        options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    )
    serious = [
        (violation["id"], node["html"][:160])
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert serious == []
