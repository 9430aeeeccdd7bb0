"""Who may come in, what a half configuration does, what strangers are given, and where a sign-in leads."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from ui_fakes import Answer, FakeRunner, ask, html_of

from gpuexplain.errors import InputError
from gpuexplain.settings import Settings
from gpuexplain.ui import login_config, login_guard, login_page
from gpuexplain.ui.headers import security_middleware
from gpuexplain.ui.health import health_routes
from gpuexplain.ui.login_config import Login, make_login
from gpuexplain.ui.login_guard import is_guarded, own_page, page_in
from gpuexplain.ui.login_rules import AllowList, Person, Refusal, judge, read_allow_list

NOW_S = 1_700_000_000.0
LIST = AllowList(domains=frozenset({"example.org"}), people=frozenset({"guest@partner.example"}))
CLAIMS = {"is_logged_in": True, "email": "ann@example.org", "email_verified": True, "iat": NOW_S - 60}
AUTH = {
    "redirect_uri": "https://gpu.example.org/oauth2callback",
    "cookie_secret": "c" * 32,
    "client_id": "id",
    "client_secret": "a-secret",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}
LOGIN = Login(allowed=LIST, most_hours=1e6, providers=("",), origin="https://gpu.example.org")


def test_the_list_is_read_from_one_line() -> None:
    """Domains begin with @, people have one inside; case and spaces do not matter."""
    assert read_allow_list("@Example.org, guest@partner.example") == LIST
    assert read_allow_list("*") == AllowList(everybody=True)


def test_a_verified_address_of_the_list_comes_in() -> None:
    """Whatever its case; the visitor's name tells nobody the address."""
    person = judge({**CLAIMS, "email": "Ann@EXAMPLE.org", "name": "Ann"}, LIST, 12, NOW_S)
    assert person == Person("ann@example.org", "Ann")
    assert re.fullmatch(r"person-[0-9a-f]{16}", person.visitor)
    assert judge({**CLAIMS, "email_verified": "true"}, LIST, 12, NOW_S) == Person("ann@example.org")
    assert judge({**CLAIMS, "email": "guest@partner.example"}, LIST, 12, NOW_S) == Person("guest@partner.example")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"is_logged_in": False}, "Sign in to see this page."),
        ({"iat": NOW_S - 12 * 3600 - 1}, "Your sign-in has expired. Sign in again."),
        ({"iat": NOW_S + 3600}, "Your sign-in has expired. Sign in again."),
        ({"iat": None}, "Your sign-in has expired. Sign in again."),
        ({"iat": True}, "Your sign-in has expired. Sign in again."),
        ({"email_verified": False}, "The sign-in service does not vouch for the address ann@example.org"),
        ({"email_verified": None}, "The sign-in service does not vouch for the address ann@example.org"),
        ({"email_verified": 1.5}, "The sign-in service does not vouch for the address ann@example.org"),
        ({"email": None}, "The sign-in service did not tell your email address."),
        ({"email": ["ann@example.org"]}, "The sign-in service did not tell your email address."),
        ({"email": "ann@evil.example@example.org"}, "The sign-in service did not tell your email address."),
        ({"email": "ann@example.org "}, "The sign-in service did not tell your email address."),
        ({"email": "ann@\u0435xample.org"}, "The sign-in service did not tell your email address."),
        ({"email": "@example.org"}, "The sign-in service did not tell your email address."),
        ({"email": "ann@sub.example.org"}, "ann@sub.example.org may not come in."),
        ({"email": "ann@badexample.org"}, "ann@badexample.org may not come in."),
        ({"email": "ann@partner.example"}, "ann@partner.example may not come in."),
    ],
)
def test_everybody_else_is_refused_with_the_reason(changes: dict, says: str) -> None:
    """Not signed in, too long ago, not verified, not comparable, not listed."""
    refusal = judge({**CLAIMS, **changes}, LIST, 12, NOW_S)
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(says)


def test_without_secrets_there_is_no_login() -> None:
    """Nothing changes for whoever does not want one."""
    assert make_login(None, Settings(login_allow=None)) is None


@pytest.mark.parametrize(
    ("auth", "allow", "says"),
    [
        (None, "@example.org", "no secrets configure a login, so everybody could come in"),
        (AUTH, None, "GPUEXPLAIN_LOGIN_ALLOW is not set"),
        ({**AUTH, "cookie_secret": "short"}, "*", "cookie_secret in [auth] of the secrets must have at least 32"),
        ({**AUTH, "redirect_uri": "http://gpu.example.org/oauth2callback"}, "*", "with https"),
        ({**AUTH, "redirect_uri": "https://gpu.example.org/"}, "*", "end in /oauth2callback"),
        ({**AUTH, "redirect_uri": "https://gpu.example.org/gpu/oauth2callback"}, "*", "end in /oauth2callback"),
        ({**AUTH, "client_secret": ""}, "*", "[auth] in the secrets lacks client_secret"),
        ({k: AUTH[k] for k in ("redirect_uri", "cookie_secret")}, "*", "[auth] in the secrets names no service"),
        ({**AUTH, "google": {"client_id": "x"}}, "*", "[auth.google] in the secrets lacks client_secret, server_metad"),
    ],
)
def test_half_a_configuration_stops_the_start(auth: dict | None, allow: str | None, says: str) -> None:
    """A server that was meant to ask never stands open; no secret is repeated."""
    with pytest.raises(InputError) as problem:
        make_login(auth, Settings(login_allow=allow))
    assert says in str(problem.value)
    assert "a-secret" not in str(problem.value)


def test_a_login_without_authlib_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it; the first click would fail otherwise."""
    monkeypatch.setattr(login_config, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"Authlib is missing: pip install -r requirements-auth\.txt"):
        make_login(AUTH, Settings(login_allow="*"))


def test_named_services_get_a_button_each() -> None:
    """Streamlit's names of the sections."""
    service = {name: AUTH[name] for name in ("client_id", "client_secret", "server_metadata_url")}
    shared = {name: AUTH[name] for name in ("redirect_uri", "cookie_secret")}
    login = make_login({**shared, "google": service, "okta": service}, Settings(login_allow="*"))
    assert login is not None
    assert login.providers == ("google", "okta")


def test_a_secrets_file_that_cannot_be_read_stops_the_start(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit takes it for a missing one, and would leave the server open; its text is not shown."""
    broken = tmp_path / "secrets.toml"
    broken.write_text('[auth]\nclient_secret = "a-secret\n')
    monkeypatch.setattr("streamlit.get_option", lambda _name: [str(broken)])

    class Secrets:
        def to_dict(self) -> dict:
            raise FileNotFoundError("Error parsing secrets file")

    monkeypatch.setattr("streamlit.secrets", Secrets())
    with pytest.raises(InputError, match=r"Cannot read the secrets in .*secrets\.toml") as problem:
        login_config._read_auth()
    assert "a-secret" not in str(problem.value)
    broken.unlink()
    assert login_config._read_auth() is None


@pytest.mark.parametrize(
    ("path", "guarded"),
    [
        ("/media/0123.csv", True),
        ("/_stcore/upload_file/session/file", True),
        ("/_stcore/agent/mcp", True),
        ("/_stcore/script-health-check", True),
        ("/api/export", True),
        ("/_stcore/health", False),
        ("/_stcore/stream", False),
        ("/api/live", False),
        ("/api/ready", False),
        ("/api/metrics", False),
        ("/static/js/index.js", False),
        ("/matmul", False),
    ],
)
def test_files_are_guarded_and_the_sign_in_page_works(path: str, guarded: bool) -> None:
    """Everything of Streamlit's own is closed unless strangers need it to sign in."""
    assert is_guarded(path) is guarded


@pytest.mark.parametrize(
    ("referer", "page"),
    [
        ("https://gpu.example.org/matmul?dtype=bf16&m=4000", "/matmul?dtype=bf16&m=4000"),
        ("https://gpu.example.org/", "/"),
        ("https://evil.example/matmul", ""),
        ("https://gpu.example.org.evil.example/matmul", ""),
        ("https://gpu.example.org@evil.example/matmul", ""),
        ("http://gpu.example.org/matmul", ""),
        ("https://gpu.example.org//evil.example/matmul", ""),
        ("https://gpu.example.org/auth/logout", ""),
        ("https://gpu.example.org/matmul?x=%0d%0aSet-Cookie", "/matmul?x=%0d%0aSet-Cookie"),
        ("https://gpu.example.org/matmul?x=<b>", ""),
        ("https://gpu.example.org/matmul?x=" + "y" * 3000, ""),
        ("https://[gpu/matmul", ""),
        ("", ""),
    ],
)
def test_only_our_own_pages_are_remembered(referer: str, page: str) -> None:
    """Path and query of a page that exists; nobody can be led elsewhere through a sign-in."""
    assert page_in(referer, LOGIN) == page


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example/", "/\\evil.example", "/matmul\r\nX: y", "/nowhere", "matmul"]
)
def test_a_forged_return_leads_nowhere(target: str) -> None:
    """The cookie is judged again when it is used: somebody else may have set it."""
    assert own_page(target, LOGIN) == ""


def make_app(monkeypatch: pytest.MonkeyPatch, login: Login | None) -> Starlette:
    """Return a small app behind our middleware, as Streamlit's routes lie behind it."""

    def media(_request: object) -> PlainTextResponse:
        return PlainTextResponse("a file")

    def callback(_request: object) -> RedirectResponse:
        answer = RedirectResponse("/", status_code=302)
        answer.set_cookie("_streamlit_user", "x", httponly=True)
        return answer

    monkeypatch.setattr(login_guard, "find_login", lambda: login)
    routes = [Route("/media/a.csv", media), Route("/auth/login", media), Route("/oauth2callback", callback)]
    return Starlette(routes=routes, middleware=security_middleware())


def signed(monkeypatch: pytest.MonkeyPatch, claims: dict) -> str:
    """Return the cookie that Streamlit would set for these claims."""
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: "s" * 32)
    value = create_signed_value("s" * 32, "_streamlit_user", json.dumps(claims)).decode()
    return f"_streamlit_user={value}"


def test_a_file_needs_a_signed_cookie_of_somebody_who_may_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing, a forged cookie and a refused person get 401, with the security headers; a listed person the file."""
    app = make_app(monkeypatch, LOGIN)
    good = signed(monkeypatch, CLAIMS)
    stranger = signed(monkeypatch, {**CLAIMS, "email": "bob@elsewhere.example"})
    forged = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    for cookie in ("", "_streamlit_user=", forged, stranger):
        refused = ask(app, "/media/a.csv", cookie)
        assert (refused.status_code, refused.body) == (401, b"Sign in first.")
        assert "content-security-policy" in refused.headers
    assert ask(app, "/media/a.csv", good).body == b"a file"
    assert ask(make_app(monkeypatch, None), "/media/a.csv").body == b"a file"


def test_a_stranger_learns_whether_we_are_ready_and_no_more(
    monkeypatch: pytest.MonkeyPatch, runner: FakeRunner
) -> None:
    """Monitoring needs no sign-in; the reasons, which name folders, are for people who may come in."""
    monkeypatch.setattr(login_guard, "find_login", lambda: LOGIN)
    app = Starlette(routes=health_routes(), middleware=security_middleware())
    told = ask(app, "/api/ready").json()
    assert told["ready"] is True
    assert {tuple(check) for check in told["checks"].values()} == {("ok",)}
    signed_in = ask(app, "/api/ready", signed(monkeypatch, CLAIMS)).json()
    assert {tuple(check) for check in signed_in["checks"].values()} == {("ok", "detail")}


def test_the_sign_in_comes_back_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is remembered for ten minutes in a cookie that scripts cannot read, and forgotten when used."""
    app = make_app(monkeypatch, LOGIN)
    kept = ask(app, "/auth/login", headers={"referer": "https://gpu.example.org/matmul?dtype=bf16"}).headers
    assert kept["set-cookie"] == (
        "gpuexplain_return=%2Fmatmul%3Fdtype%3Dbf16; HttpOnly; Max-Age=600; Path=/; SameSite=Lax; Secure"
    )
    back = ask(app, "/oauth2callback", "gpuexplain_return=%2Fmatmul%3Fdtype%3Dbf16").headers
    assert back["location"] == "/matmul?dtype=bf16"
    assert "Max-Age=0" in back["set-cookie"]


def test_the_cookies_of_a_sign_in_travel_over_https_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit sets them without; on the loopback address, without https, they stay as they are."""
    for origin, ending in (("https://gpu.example.org", "; Secure"), ("http://127.0.0.1:8501", "")):
        app = make_app(monkeypatch, replace(LOGIN, origin=origin))
        sent = ask(app, "/oauth2callback").cookies
        assert f"_streamlit_user=x; HttpOnly; Path=/; SameSite=lax{ending}" in sent


def test_a_forged_return_cookie_leads_to_the_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere, or to a sign-out: never."""
    app = make_app(monkeypatch, LOGIN)
    for forged in ("//evil.example", "https://evil.example", "/auth/logout"):
        elsewhere: Answer = ask(app, "/oauth2callback", f"gpuexplain_return={quote(forged, safe='')}")
        assert elsewhere.headers["location"] == "/"


def test_the_frame_shows_strangers_nothing(
    open_page: Callable[..., AppTest], runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sign-in page instead of every page; its text is plain even where the provider's is not."""
    monkeypatch.setattr(login_page, "find_login", lambda: LOGIN)
    for name in ("home", "matmul"):
        at = open_page(name)
        assert [title.value for title in at.title] == ["Sign in"]
        assert "Test CPU" not in html_of(at)
        assert [button.label for button in at.button] == ["Sign in"]
    at.user = {**CLAIMS, "email": "<b>[x](https://evil.example)@elsewhere.example"}
    at.run()
    assert "&lt;b&gt;[x](https://evil.example)@elsewhere.example may not come in" in html_of(at)


def test_a_signed_in_person_asks_under_one_name_everywhere(
    open_page: Callable[..., AppTest], runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two browsers of one person are one visitor; the sidebar names the person."""
    monkeypatch.setattr(login_page, "find_login", lambda: LOGIN)
    at = open_page("home")
    at.user = dict(CLAIMS)
    at.switch_page("../../pages/matmul.py").run()
    assert "Signed in as ann@example.org" in html_of(at)
    at.button(key="run").click().run()
    assert not at.exception
    [job] = runner.jobs.values()
    assert job.visitors == (Person("ann@example.org").visitor,)
    assert at.button(key="sign-out").label == "Sign out"


def test_a_click_after_the_sign_in_expired_starts_nothing(
    open_page: Callable[..., AppTest], runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was open when the hours ended: the click is refused, and the sign-in page follows."""
    monkeypatch.setattr(login_page, "find_login", lambda: LOGIN)
    at = open_page("home")
    at.user = dict(CLAIMS)
    at.switch_page("../../pages/matmul.py").run()
    at.user = {**CLAIMS, "iat": 0}
    monkeypatch.setattr(login_page, "find_login", lambda: Login(LIST, 12, ("",), LOGIN.origin))
    at.button(key="run").click().run()
    assert runner.jobs == {}
    assert [title.value for title in at.title] == ["Sign in"]
