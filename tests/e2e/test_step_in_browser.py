"""The anatomy of a training step measured live in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_takes_a_step_apart(visit: Visit) -> None:
    """Slow data: the answer names the largest part, and both charts are there."""
    page, watch = visit("/training-step?preset=quick&data=slow&batch=16")
    answer = page.locator("[class*=-answer] p").first
    expect(answer).to_contain_text("Nothing is measured yet")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measuring here, now")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(answer).to_contain_text("On this machine", timeout=30_000)
    expect(answer).to_contain_text(re.compile(r"takes [\d.]+.% of it"))
    expect(page.get_by_text("nothing to do").first).to_be_visible()
    main = page.locator(".st-key-lab-main .js-plotly-plot")
    for part in ("loading", "forward", "loss", "backward", "optimiser", "whole step", "idle in it", "with two workers"):
        expect(main).to_contain_text(part)
    expect(page.locator(".st-key-lab-second .js-plotly-plot")).to_contain_text("activations")
    assert watch.errors == []
    assert watch.outside == []
