"""The batch page measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_replaces_the_published_sweep_by_this_machines(visit: Visit) -> None:
    """From another network's knee to this machine's answer, in one click."""
    page, watch = visit("/batch?preset=quick&mode=inference&width=64&depth=2")
    expect(page.get_by_text("nothing measured here yet")).to_be_visible(timeout=15_000)
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("ResNet-50 inference")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine")
    expect(answer).to_contain_text("MLP inference")
    for chart in ("main", "second"):
        expect(page.locator(f".st-key-lab-{chart} .js-plotly-plot")).to_have_count(1)
    expect(page.get_by_text("peak memory of a step (log)").first).to_be_visible()
    assert watch.errors == []
    assert watch.outside == []
