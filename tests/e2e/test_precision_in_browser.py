"""The precision page measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_goes_from_a_published_gpu_to_this_machine(visit: Visit) -> None:
    """Points while it measures, then an answer about this machine, both charts, and what gets lost."""
    page, watch = visit("/precision?preset=quick&dtypes=16_bit&largest_side=128")
    expect(page.get_by_text("nothing measured here yet")).to_be_visible(timeout=15_000)
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("On this machine")
    expect(answer).to_contain_text("fp32")
    expect(page.get_by_text("Add 4,096 small numbers, together 1").first).to_be_visible()
    for chart in ("lab-main", "lab-second"):
        expect(page.locator(f".st-key-{chart} .js-plotly-plot")).to_be_visible()
    expect(page.locator(".st-key-lab-second .js-plotly-plot")).to_contain_text("the share that is lost")
    assert watch.errors == []
    assert watch.outside == []


def test_names_in_the_chart_do_not_cover_one_another(visit: Visit) -> None:
    """On a phone, where eight formats and a published part share 343 pixels."""
    page, _ = visit("/precision", width=375)
    page.locator(".st-key-lab-main .js-plotly-plot .annotation").first.wait_for()
    page.wait_for_timeout(1500)
    boxes = page.evaluate(
        "[...document.querySelectorAll('.st-key-lab-main .annotation-text-g')].map(g => {"
        "const r = g.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]})"
    )
    assert len(boxes) >= 4
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -1
        assert right <= 376
        for other in boxes[i + 1 :]:
            wide = min(right, other[2]) - max(left, other[0])
            high = min(bottom, other[3]) - max(top, other[1])
            assert wide <= 2 or high <= 2
