"""Measuring in a real browser: live points, a second tab, reload, cancel, links."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlparse

from e2e_net import get_json
from playwright.sync_api import Page, expect

Visit = Callable[..., tuple[Page, object]]
NOW = "measuring here, now"
DONE_MS = 40_000


def press_run(page: Page) -> None:
    """Press Run or Run again."""
    page.get_by_role("button", name=re.compile("^Run")).click()


def test_a_run_draws_points_while_it_measures(visit: Visit) -> None:
    """Points come long before the end; the answer and the age stand there afterwards."""
    page, watch = visit("/matmul?preset=quick&largest_side=256")
    press_run(page)
    expect(page.get_by_text(NOW)).to_be_visible(timeout=15_000)
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=DONE_MS)
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    assert watch.errors == []


def test_cancel_stops_and_keeps_the_points(visit: Visit) -> None:
    """It ends within seconds and says so."""
    page, _ = visit("/matmul?preset=thorough&budget_s=45")
    press_run(page)
    expect(page.get_by_text(NOW)).to_be_visible(timeout=15_000)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("incomplete: cancelled")).to_be_visible(timeout=10_000)


def test_a_second_tab_and_a_reload_watch_the_same_run(visit: Visit, server: str) -> None:
    """One flight: the other tab sees it, a reload finds it again, either may cancel."""
    page, _ = visit("/matmul?budget_s=44")
    press_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=15_000)
    other, _ = visit("/matmul?budget_s=44")
    expect(other.get_by_role("button", name="Cancel")).to_be_enabled(timeout=15_000)
    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=15_000)
    other.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name=re.compile("^Run"))).to_be_visible(timeout=10_000)
    assert get_json(f"{server}/api/ready")[0] == 200


def test_the_address_carries_every_control(visit: Visit) -> None:
    """Changing controls changes the address; opening that address restores them."""
    page, _ = visit("/matmul")
    page.get_by_role("radio", name="quick").click()
    page.get_by_label("Precision").click()
    page.get_by_role("option", name="bf16").click()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name=re.compile("Article's example")).click()
    expect(page).to_have_url(re.compile("m=4000"), timeout=10_000)
    link = page.url
    asked = parse_qs(urlparse(link).query)
    assert asked == {"preset": ["quick"], "m": ["4000"], "k": ["4000"], "n": ["4000"]}
    fresh, _ = visit(link.removeprefix(f"http://{urlparse(link).netloc}"), visitor="two")
    expect(fresh.get_by_role("radio", name="quick")).to_be_checked()
    fresh.get_by_role("button", name="More").click()
    expect(fresh.get_by_label("m, rows of the result")).to_have_value("4000")
    assert fresh.url == link


def test_a_bad_address_is_explained(visit: Visit) -> None:
    """The field, the value and what is allowed, and a page that works."""
    page, _ = visit("/matmul?dtype=fp7&largest_side=99")
    expect(page.get_by_text("dtype='fp7' cannot be used")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Run"))).to_be_enabled()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
