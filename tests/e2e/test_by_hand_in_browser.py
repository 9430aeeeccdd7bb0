"""The page of one layer by hand in a real browser: a sum to edit, a prediction, and a run that tests it."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_number_typed_changes_the_sum_by_keyboard_alone(visit: Visit) -> None:
    """Both outputs, the rounds, and the highlight of the other output."""
    page, watch = visit("/by-hand")
    sums = page.locator(".gx-sums li")
    expect(sums.first).to_have_text("y1 = 1 x 4 + 2 x 6 + 3 x 8 = 40")
    first = page.get_by_label("input x1")
    first.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("10")
    page.keyboard.press("Enter")
    expect(sums.first).to_have_text("y1 = 10 x 4 + 2 x 6 + 3 x 8 = 76")
    expect(sums.last).to_have_text("y2 = 10 x 5 + 2 x 7 + 3 x 9 = 91")
    expect(page.locator(".gx-rounds li").first).to_contain_text("10 x 4 = 40")
    expect(page.locator(".gx-sums .gx-chosen")).to_contain_text("y1")
    page.get_by_role("radio", name="y2").focus()
    page.keyboard.press("Space")
    expect(page.locator(".gx-sums .gx-chosen")).to_contain_text("y2")
    assert watch.errors == []


def test_a_run_is_predicted_before_and_compared_after(visit: Visit) -> None:
    """A stack small enough for a short run: no rate first; then the run's own product predicts the next size."""
    page, watch = visit("/by-hand?preset=quick&batch=32&width=256&depth=8")
    panel = page.locator(".gx-panel")
    expect(panel).to_contain_text("On the CPU: no rate is stored yet")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("On this machine")
    expect(answer).to_contain_text("of layers take")
    expect(panel).to_contain_text("Measured:")
    assert page.locator(".gx-sums").bounding_box()["y"] < answer.bounding_box()["y"]
    for chart in ("lab-main", "lab-second"):
        expect(page.locator(f".st-key-{chart} .js-plotly-plot")).to_be_visible()
    page.goto(page.url.replace("depth=8", "depth=16"))
    expect(page.locator(".gx-panel")).to_contain_text(re.compile(r"On the CPU: .* predicted"), timeout=20_000)
    assert watch.errors == []
    assert watch.outside == []
