"""Do you need a GPU? Measured live, and the adviser's own test, in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_work_is_measured_and_the_adviser_tests_a_stack(visit: Visit) -> None:
    """From an empty page to a dot plot; then a prediction that a measurement stands beside."""
    page, watch = visit("/need-a-gpu?preset=quick&ask_width=256&ask_depth=2&ask_batch=64")
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("Nothing is measured yet")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine")
    for chart in ("main", "second"):
        expect(page.locator(f".st-key-lab-{chart} .js-plotly-plot")).to_have_count(1)
    page.get_by_role("button", name="Test mine").click()
    expect(page.get_by_text("Predicted and measured")).to_be_visible(timeout=DONE_MS)
    expect(page.get_by_role("button", name="Test mine again")).to_be_enabled()
    assert watch.errors == []
    assert watch.outside == []


def test_the_adviser_reads_and_writes_its_address(visit: Visit) -> None:
    """A stack and a part to compare with are a link to share."""
    page, watch = visit("/need-a-gpu?ask_width=512&ask_passes=7&ask_part=NVIDIA%20L4")
    adviser = page.locator(".st-key-adviser")
    expect(adviser).to_contain_text("seven passes over data that are copied in once", timeout=20_000)
    expect(adviser.get_by_role("spinbutton", name="Width")).to_have_value("512")
    expect(adviser).to_contain_text("published peak: 30.3")
    depth = adviser.get_by_role("spinbutton", name="Depth")
    depth.fill("5")
    depth.press("Enter")
    expect(adviser).to_contain_text("five layers of 512", timeout=20_000)
    expect(page).to_have_url(re.compile("ask_depth=5"))
    assert watch.errors == []
