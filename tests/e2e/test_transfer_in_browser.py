"""The transfer page measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_measures_memory_copies_and_calls_them_that(visit: Visit) -> None:
    """From the published link to a measured answer, in one click; nothing pretends to be PCIe."""
    page, watch = visit("/transfer?preset=quick&largest_mib=16&total_mib=4&side=256")
    expect(page.get_by_text("nothing measured here yet")).to_be_visible(timeout=15_000)
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("no transfer to a GPU")
    expect(answer).to_contain_text(re.compile(r"[kMG]B/s"))
    expect(page.get_by_text("No copy over a link was measured here").first).to_be_visible()
    for chart in ("lab-main", "lab-second"):
        expect(page.locator(f".st-key-{chart} .js-plotly-plot")).to_be_visible()
    assert watch.errors == []
    assert watch.outside == []
