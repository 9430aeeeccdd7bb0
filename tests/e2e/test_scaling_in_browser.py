"""More devices measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_goes_from_a_published_answer_to_this_machines(visit: Visit) -> None:
    """Processes on this CPU, called that, or one device and a model; the published run stays beside it as what it is."""
    page, watch = visit("/more-devices?preset=quick&width=128&depth=2")
    expect(page.get_by_text("nothing measured here yet")).to_be_visible(timeout=15_000)
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("In a published run")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine", timeout=30_000)
    expect(answer).to_contain_text(re.compile("as fast as one|one device only"))
    expect(page.get_by_text("published, not measured here").first).to_be_attached()
    for chart in ("lab-main", "lab-second"):
        expect(page.locator(f".st-key-{chart} .js-plotly-plot")).to_be_visible()
    assert watch.errors == []
    assert watch.outside == []
