"""From the click on Run to both curves on the chart, in a real browser.

Wanted: under 1.5 s with a warm worker, under 6 s with a cold one (both on 2 cores, Quick).
"""

import re
import time

from playwright.sync_api import Page

from benchmarks.server import browser, serve, temporary_home, wait_for

# The names at the ends of the two CPU curves; the published line is there from the start.
CURVE_NAMES = (re.compile(r"^\s*CPU\s*$"), re.compile(r"^\s*1 thread\s*$"))


def main() -> None:
    """Print the seconds for a cold and a warm worker."""
    with temporary_home() as home, serve("app.py", home) as (address, _, started_s), browser() as chromium:
        wait_for(f"{address}/api/live", started_s)
        page = chromium.new_page()
        page.goto(f"{address}/matmul?preset=quick")
        page.get_by_role("button", name="Run").first.wait_for()
        print(
            f"just started server: {click_to_curves(page):.2f} s from Run to both curves (worker still loading torch)"
        )
        page.get_by_role("button", name="Run again").wait_for(timeout=30_000)
        wait_for(f"{address}/api/ready", time.perf_counter(), '"ready":true')
        for dtype in ("fp64", "fp16", "bf16"):
            page.goto(f"{address}/matmul?preset=quick&dtype={dtype}")
            page.get_by_role("button", name="Run").first.wait_for()
            print(f"warm worker, {dtype}: {click_to_curves(page):.2f} s from Run to both curves")
            page.get_by_role("button", name="Run again").wait_for(timeout=30_000)


def click_to_curves(page: Page) -> float:
    """Return the seconds from the click until both curves have their names."""
    page.wait_for_timeout(1500)
    started_s = time.perf_counter()
    page.get_by_role("button", name="Run").first.click()
    chart = page.locator(".js-plotly-plot").first
    for name in CURVE_NAMES:  # not wait_for_function: the page's policy forbids its eval
        chart.locator("text", has_text=name).first.wait_for(state="attached", timeout=30_000)
    return time.perf_counter() - started_s


if __name__ == "__main__":
    main()
