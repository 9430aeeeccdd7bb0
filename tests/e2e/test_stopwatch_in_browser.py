"""The stopwatch trap in a real browser: a run, then mistakes switched on and off."""

import re
from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def switch(page: Page, name: str) -> None:
    """Turn a mistake on or off with the space bar."""
    page.get_by_role("switch", name=name).focus()
    page.keyboard.press("Space")


def test_switches_change_the_figure_that_the_clock_shows(visit: Visit) -> None:
    """The wrong figure, the right one, the factor and the name; nothing when all are off."""
    page, watch = visit("/stopwatch?preset=quick&side=256")
    panel = page.locator(".gx-panel")
    expect(panel).to_contain_text("Press Run once")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    rows = page.locator(".gx-choice tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("No warm-up")
    expect(rows.first).to_contain_text(re.compile(r"[0-9.]+\s(µs|ms|s).*[0-9.]+\s(µs|ms|s).*[0-9.]+\s×"))
    switch(page, "Caches disturbed")
    expect(rows).to_have_count(2)
    assert "make_caches_disturbed=true" in page.url
    found = Axe().run(page, context={"include": [[".st-key-lab-panel"]]}, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found.response["violations"]] == []
    switch(page, "No warm-up")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Caches disturbed")
    switch(page, "Caches disturbed")
    expect(rows).to_have_count(0)
    expect(panel).to_contain_text("The clock is held right")
    expect(page.locator(".st-key-lab-main .js-plotly-plot")).to_contain_text("program")  # a lane of the profiler
    assert watch.errors == []
    assert watch.outside == []
