"""The page of many workers measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_shows_threads_sums_and_the_claim_that_fails(visit: Visit) -> None:
    """From an empty page to a verdict on "one value a core", in one click."""
    page, watch = visit("/workers?preset=quick&side=512")
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("Nothing is measured yet")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine")
    words = page.locator(".st-key-lab-words")
    expect(words).to_contain_text(
        re.compile(r"computes at most \d+ values? at once” (does not hold|cannot be refuted)")
    )
    expect(words).to_contain_text("takes a Python loop")
    expect(words).to_contain_text(re.compile("stays serial"))
    expect(words).to_contain_text("Sources:")
    expect(page.locator(".st-key-lab-main .js-plotly-plot")).to_be_visible()
    second = page.locator(".st-key-lab-second .js-plotly-plot")
    for way in ("Python loop", "NumPy", "torch, 1 thread", "torch, all threads"):
        expect(second).to_contain_text(way)
    assert watch.errors == []
    assert watch.outside == []
