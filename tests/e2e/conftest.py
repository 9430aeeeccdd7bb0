"""A real server and a real browser; nothing here runs without the marker ``browser``."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from e2e_page import settle
from e2e_server import running_app
from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
# Streamlit asks for these relative to a deep link before it finds its base.
EXPECTED_404 = ("/_stcore/health", "/_stcore/host-config")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, and skip it where there is no browser."""
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium found: install one or set CHROMIUM"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """Use the system's Chromium, without anything that calls home."""
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    quiet += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": quiet}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a free port with an empty store; its address."""
    with running_app(tmp_path_factory.mktemp("home")) as app:
        yield app.address


class Watch:
    """What a page did that it should not: console errors, requests to elsewhere."""

    def __init__(self, page: Page, address: str) -> None:
        self.errors: list[str] = []
        self.outside: list[str] = []
        host = urlparse(address).hostname
        page.on("console", lambda m: self._note(m.text, m.location) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "request",
            lambda r: self.outside.append(r.url) if urlparse(r.url).hostname not in (host, None, "") else None,
        )

    def _note(self, text: str, location: dict) -> None:
        if not ("404" in text and str(location.get("url", "")).endswith(EXPECTED_404)):
            self.errors.append(f"{text} {location.get('url', '')}")


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Callable[..., tuple[Page, Watch]]]:
    """Return a function that opens a path and waits for the page; same context, same visitor."""
    contexts: dict[tuple, BrowserContext] = {}

    def open_(path: str = "/", *, width: int = 1280, theme: str = "light", visitor: str = "one") -> tuple[Page, Watch]:
        key = (width, theme, visitor)
        if key not in contexts:
            contexts[key] = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
            )
        page = contexts[key].new_page()
        watch = Watch(page, server)
        page.goto(server + path)
        page.locator("h1").first.wait_for(timeout=20_000)
        settle(page)
        return page, watch

    yield open_
    for context in contexts.values():
        context.close()
