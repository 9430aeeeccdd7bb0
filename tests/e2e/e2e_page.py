"""When is a page ready to be judged?"""

from playwright.sync_api import Page, expect


def settle(page: Page) -> None:
    """Wait until the script has ended, nothing of an earlier run is left (it is drawn faded), and every part is loaded.

    Streamlit loads the code of an element when it first meets one: that of our style sheet too. Not by
    wait_for_function: it polls by eval, which the page's security policy forbids.
    """
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=20_000)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=20_000)
    page.wait_for_load_state("networkidle", timeout=20_000)
