"""A myth put to the test from its page, in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
DONE_MS = 90_000  # a run of five seconds, on a machine that others use too


def test_a_run_from_the_page_turns_an_untested_myth_into_a_verdict(visit: Visit) -> None:
    """One click, progress, a verdict with its numbers, and the lab has the same run."""
    page, watch = visit("/myths")
    card = page.locator(".st-key-myth-M6")
    verdict = card.locator(".gx-verdict")
    expect(verdict).to_contain_text("Not tested yet")
    card.get_by_role("button", name=re.compile("^Run, about")).click()
    expect(card.get_by_role("button", name="Cancel")).to_be_visible(timeout=30_000)
    expect(card.get_by_role("progressbar")).to_be_visible()
    expect(card.get_by_text("Measured just now")).to_be_visible(timeout=DONE_MS)
    expect(verdict).to_have_text(re.compile("Myth holds here|Myth does not hold here|Too noisy to say"))
    told = "With autocast a training step on the CPU|Autocast cannot be compared with fp32"  # the machine may be busy
    expect(card.locator(".gx-test")).to_contain_text(re.compile(told))
    card.get_by_role("link", name="Precision").click()
    expect(page.locator("h1")).to_have_text("How many bits does a number need?")
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=15_000)
    assert watch.errors == []
    assert watch.outside == []
