"""The memory wall measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_finds_both_roofs_and_places_the_walk_under_them(visit: Visit) -> None:
    """From a hint to the ridge of this machine, in one click."""
    page, watch = visit("/memory?preset=quick&largest_k=64")
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("Nothing is measured yet")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine", timeout=30_000)
    expect(answer).to_contain_text("in the time it takes to load one byte")
    expect(page.get_by_text("The roof of memory is").first).to_be_visible()
    expect(page.get_by_text("The roof of arithmetic is").first).to_be_visible()
    for chart in ("lab-main", "lab-second"):
        expect(page.locator(f".st-key-{chart} .js-plotly-plot")).to_be_visible()
    expect(page.locator(".st-key-lab-main .js-plotly-plot")).to_contain_text("ridge")
    assert watch.errors == []
    assert watch.outside == []
