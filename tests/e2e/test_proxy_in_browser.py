"""The proxy example as it ships, in a real nginx: TLS, a sub-path, websockets, deep links, headers, health routes."""

import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse

import pytest
from e2e_net import free_port
from e2e_nginx import NGINX, behind_nginx
from e2e_server import running_app
from playwright.sync_api import Browser, Page, expect

LATE_MS = 20_000
pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx found: install one or set NGINX")


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app under /gpu/ behind nginx; the address with the path."""
    port = free_port()
    with (
        running_app(tmp_path_factory.mktemp("home"), ["--server.baseUrlPath", "gpu"]) as app,
        behind_nginx(app.port, tmp_path_factory.mktemp("nginx"), port) as address,
    ):
        yield address


def get(url: str) -> HTTPResponse:
    """Open an address behind the certificate that nobody signed."""
    return urllib.request.urlopen(url, timeout=10, context=ssl._create_unverified_context())


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that trusts the certificate of the test."""
    context = browser.new_context(ignore_https_errors=True)
    yield context.new_page()
    context.close()


def test_the_health_routes_answer_json_under_the_path(proxied: str) -> None:
    """A check must not read Streamlit's page, which answers every unknown address, as a yes."""
    for name in ("live", "ready"):
        with get(f"{proxied}/api/{name}") as answer:
            assert answer.headers["content-type"] == "application/json"
            assert answer.read().startswith(b'{"' + name.encode() + b'":true')


def test_our_headers_and_the_proxys_survive(proxied: str) -> None:
    """On the page, a script and a health route; the cookie is for https only, since the proxy said so."""
    with get(f"{proxied}/") as answer:
        text, cookie = answer.read().decode(), answer.headers["set-cookie"]
    assert "Secure" in cookie
    script = re.search(r'src="([^"]+\.js)"', text)
    assert script is not None
    for path in ("/", f"/{script[1].removeprefix('./').removeprefix('/gpu/')}", "/api/live"):
        with get(proxied + path) as answer:
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
            assert answer.headers["server"] == "nginx"


def test_deep_links_websocket_and_navigation_work(proxied: str, page: Page) -> None:
    """A first load of a page with settings, a run over the websocket, and a click to another page."""
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.goto(f"{proxied}/matmul?preset=quick&largest_side=64")
    expect(page.get_by_role("radio", name="quick")).to_be_checked(timeout=LATE_MS)
    assert sockets == [proxied.replace("https", "wss") + "/_stcore/stream"]
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now")).to_be_visible(timeout=40_000)
    page.get_by_role("link", name="How we measure").first.click()
    expect(page).to_have_url(f"{proxied}/method", timeout=LATE_MS)
    expect(page.locator("h1")).to_have_text(re.compile("measure", re.IGNORECASE), timeout=LATE_MS)
    page.reload()
    expect(page.locator("h1")).to_have_text(re.compile("measure", re.IGNORECASE), timeout=LATE_MS)


def test_the_path_without_a_slash_leads_there(proxied: str) -> None:
    """As people type it."""
    with get(proxied) as answer:
        assert answer.url == f"{proxied}/"


def test_a_file_too_large_ends_at_the_proxy(proxied: str) -> None:
    """The app takes 5 MB; the proxy does not pass on much more."""
    request = urllib.request.Request(f"{proxied}/_stcore/upload_file/a/b", data=b"x" * 7_000_000, method="PUT")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context())
    assert refused.value.code == 413
