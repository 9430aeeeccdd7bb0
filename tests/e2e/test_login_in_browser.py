"""Signing in with a provider on this machine, in a real browser: allowed, refused, deep link, sign out."""

import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import oidc_provider_mock
import pytest
from e2e_net import free_port, get_json
from e2e_nginx import NGINX, behind_nginx
from e2e_server import RunningApp, running_app
from playwright.sync_api import Browser, BrowserContext, Page, expect

CLIENT_SECRET = "a-client-secret-of-the-test"
COOKIE_SECRET = "a-cookie-secret-of-the-test-0123456789abcdef"
LATE_MS = 20_000
PEOPLE = {
    "ann": {"email": "Ann@Example.org", "email_verified": True, "name": "Ann <b>Example</b>"},
    "bob": {"email": "bob@elsewhere.example", "email_verified": True},
    "eve": {"email": "eve@example.org", "email_verified": False},
    "guest": {"email": "guest@partner.example", "email_verified": True},
}


@contextmanager
def app_with_login(home: Path, origin: str, port: int, base: str = "") -> Iterator[RunningApp]:
    """Run the app with a provider of its own: everybody of example.org may come in, and one guest."""
    users = [oidc_provider_mock.User(sub=sub, claims=claims) for sub, claims in PEOPLE.items()]
    with oidc_provider_mock.run_server_in_thread(user_claims=users) as provider:
        secrets = home / "secrets.toml"
        secrets.write_text(
            "[auth]\n"
            f'redirect_uri = "{origin}{base}/oauth2callback"\n'
            f'cookie_secret = "{COOKIE_SECRET}"\n'
            'client_id = "gpuexplain"\n'
            f'client_secret = "{CLIENT_SECRET}"\n'
            f'server_metadata_url = "http://localhost:{provider.server_port}/.well-known/openid-configuration"\n'
        )
        environment = {"GPUEXPLAIN_LOGIN_ALLOW": "@example.org, guest@partner.example"}
        options = ["--secrets.files", str(secrets), "--server.baseUrlPath", base.strip("/")]
        with running_app(home, options, environment, port) as running:
            yield running


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """The app with a login, at its own address."""
    port = free_port()
    with app_with_login(tmp_path_factory.mktemp("home"), f"http://127.0.0.1:{port}", port) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that nobody has signed in with; the provider's own page may not ask the network for its style."""
    fresh = browser.new_context(ignore_https_errors=True)
    fresh.route(re.compile(r"^https://(?!127\.0\.0\.1)"), lambda route: route.abort())
    yield fresh
    fresh.close()


def sign_in(page: Page, sub: str) -> None:
    """Press the button and be that person at the provider."""
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=sub, exact=True).click(timeout=LATE_MS)


def test_strangers_see_the_sign_in_page_only(app: RunningApp, context: BrowserContext) -> None:
    """On every address; nothing of the machine, no navigation, and the health routes answer all the same."""
    page = context.new_page()
    for path in ("/", "/matmul?dtype=bf16", "/method"):
        page.goto(app.address + path)
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=LATE_MS)
        assert page.locator(".gx-machine, .js-plotly-plot, [data-testid=stSidebarNav]").count() == 0
        assert page.get_by_role("link", name="Matrix multiply").count() == 0
    assert get_json(f"{app.address}/api/ready")[0] == 200
    assert get_json(f"{app.address}/api/live") == (200, {"live": True})


def test_a_deep_link_survives_the_sign_in(app: RunningApp, context: BrowserContext) -> None:
    """Whoever signs in lands on the page and the settings asked for, and is named with a way out."""
    page = context.new_page()
    page.goto(f"{app.address}/matmul?preset=quick&dtype=bf16")
    sign_in(page, "ann")
    expect(page.get_by_role("radio", name="quick")).to_be_checked(timeout=LATE_MS)
    assert page.url == f"{app.address}/matmul?preset=quick&dtype=bf16"
    expect(page.get_by_text("Signed in as ann@example.org")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button").first.click(timeout=LATE_MS)  # the provider asks whether to sign out there, too
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=LATE_MS)
    page.goto(f"{app.address}/matmul")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=LATE_MS)


@pytest.mark.parametrize(
    ("sub", "says"),
    [
        ("bob", "bob@elsewhere.example may not come in."),
        ("eve", "does not vouch for the address eve@example.org"),
    ],
)
def test_others_are_refused_with_the_reason(app: RunningApp, context: BrowserContext, sub: str, says: str) -> None:
    """A wrong domain and an unverified address; the way out is to sign out."""
    page = context.new_page()
    page.goto(f"{app.address}/matmul")
    sign_in(page, sub)
    expect(page.get_by_text(says)).to_be_visible(timeout=LATE_MS)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert page.locator(".gx-machine, .js-plotly-plot").count() == 0


def test_a_named_person_comes_in(app: RunningApp, context: BrowserContext) -> None:
    """The list holds people beside domains."""
    page = context.new_page()
    page.goto(f"{app.address}/")
    sign_in(page, "guest")
    expect(page.get_by_text("Signed in as guest@partner.example")).to_be_visible(timeout=LATE_MS)
    assert page.url == f"{app.address}/"


def test_downloads_are_for_signed_in_people(app: RunningApp, context: BrowserContext) -> None:
    """The address of a file that one person downloads gives a stranger nothing."""
    page = context.new_page()
    page.goto(f"{app.address}/matmul?tab=Code")
    sign_in(page, "ann")
    download = page.get_by_role("button", name="Download").first
    expect(download).to_be_visible(timeout=LATE_MS)
    with page.expect_download() as caught:
        download.click()
    assert "/media/" in caught.value.url
    assert context.request.get(caught.value.url).status == 200
    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(caught.value.url)
    assert refused.value.code == 401


@pytest.mark.skipif(NGINX is None, reason="no nginx found: install one or set NGINX")
def test_a_sign_in_works_behind_the_proxy(tmp_path: Path, context: BrowserContext) -> None:
    """Under https and a path: the page asked for, cookies for that path and for https only."""
    port, proxy_port = free_port(), free_port()
    (tmp_path / "nginx").mkdir()
    with (
        app_with_login(tmp_path, f"https://127.0.0.1:{proxy_port}", port, base="/gpu"),
        behind_nginx(port, tmp_path / "nginx", proxy_port) as address,
    ):
        page = context.new_page()
        page.goto(f"{address}/matmul?dtype=bf16")
        sign_in(page, "ann")
        expect(page.get_by_text("Signed in as ann@example.org")).to_be_visible(timeout=LATE_MS)
        assert page.url == f"{address}/matmul?dtype=bf16"
        ours = {cookie["name"]: cookie for cookie in context.cookies()}
        assert ours["_streamlit_user"]["path"] == "/gpu"
        assert ours["_streamlit_user"]["secure"]
        assert ours["_streamlit_user"]["httpOnly"]
        assert ours["gpuexplain_visitor"]["secure"]


def test_no_secret_reaches_the_log(app: RunningApp) -> None:
    """After all of these sign-ins."""
    log = app.log.read_text()
    assert CLIENT_SECRET not in log
    assert COOKIE_SECRET not in log
    assert "eyJ" not in log  # how every token begins
