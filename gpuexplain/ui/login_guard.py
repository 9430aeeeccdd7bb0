"""What HTTP gives out without signing in, and how a visitor comes back to the page that was asked for.

Pages are guarded by the router, which stops before any of them. This guards what no router sees:
downloads and uploads. Without a login in the secrets everything passes.
"""

import json
import re
from collections.abc import Mapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Streamlit has no public way to read its signed cookie outside a script; tests/ui/test_login.py holds it to this.
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from gpuexplain.ui.login_config import CALLBACK, Login, find_login
from gpuexplain.ui.login_rules import Person, judge
from gpuexplain.ui.pages import PAGES

RETURN_COOKIE = "gpuexplain_return"
_SIGN_IN = "/auth/login"
_RETURN_S = 600
_MOST_CHARACTERS = 2_000
# Guarded: all that Streamlit keeps for its pages, except what the sign-in page itself needs.
_GUARDED = ("/media/", "/_stcore/", "/api/")
_OPEN = frozenset(
    {"/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/metrics"}
    | {"/api/live", "/api/ready", "/api/metrics"}
)
STRANGER = "gpuexplain_stranger"  # in the scope: whoever asks is not signed in where people sign in
_QUERY = re.compile(r"[A-Za-z0-9%&=+._~:/?@!$'()*,;|\-\[\]]*")


class LoginGuard:
    """Refuses files to strangers, and remembers over a sign-in which page was asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        login = find_login() if scope["type"] == "http" else None
        if login is None:
            await self._app(scope, receive, send)
            return
        path = _inside(scope["path"], login)
        scope[STRANGER] = not isinstance(_who(scope, login), Person)
        if is_guarded(path) and scope[STRANGER]:
            refusal = PlainTextResponse("Sign in first.", 401, {"Cache-Control": "no-store"})
            await refusal(scope, receive, send)
        elif path == _SIGN_IN:
            page = page_in(Headers(scope=scope).get("referer", ""), login)
            await self._app(scope, receive, _with_cookie(send, page, login))
        elif path == CALLBACK:
            asked = HTTPConnection(scope).cookies.get(RETURN_COOKIE, "")
            await self._app(scope, receive, _going_back(send, asked, login))
        else:
            await self._app(scope, receive, send)


def is_guarded(path: str) -> bool:
    """Whether a path (without the base) is given to signed-in people only."""
    return path.startswith(_GUARDED) and path not in _OPEN


def page_in(address: str, login: Login) -> str:
    """Return path and query of one of our own pages, from its whole address; "" for every other address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if f"{parts.scheme}://{parts.netloc}" != login.origin:
        return ""
    return own_page(f"{parts.path}?{parts.query}" if parts.query else parts.path, login)


def own_page(target: str, login: Login) -> str:
    """Return a path and query if it leads to one of our own pages, else "": nobody is sent elsewhere."""
    if len(target) > _MOST_CHARACTERS:
        return ""
    path, _, query = target.partition("?")
    if path not in {f"{login.base}/{page.url_path}" for page in PAGES} or not _QUERY.fullmatch(query):
        return ""
    return f"{path}?{query}" if query else path


def _inside(path: str, login: Login) -> str:
    """Return a path without the base; routes of our own exist without it, too."""
    return path.removeprefix(login.base) if path.startswith(f"{login.base}/") else path


def _who(scope: Scope, login: Login) -> object:
    return judge(_read_claims(HTTPConnection(scope).cookies), login.allowed, login.most_hours)


def _read_claims(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the provider said, from the cookie that Streamlit signed; empty if there is no valid one."""
    raw = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    claims = json.loads(raw) if raw else {}
    return claims if isinstance(claims, dict) else {}


def _with_cookie(send: Send, page: str, login: Login) -> Send:
    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("Set-Cookie", _cookie(page, login))
        await send(message)

    return send_with_cookie


def _going_back(send: Send, asked: str, login: Login) -> Send:
    """Lead to the page that was asked for where Streamlit leads to the first one."""
    page = own_page(unquote(asked), login)

    async def send_elsewhere(message: Message) -> None:
        if message["type"] == "http.response.start":
            if login.origin.startswith("https:"):
                _secure_cookies(message)
            headers = MutableHeaders(scope=message)
            if page and headers.get("location") in (f"{login.base}/", login.base):
                headers["location"] = page
            headers.append("Set-Cookie", _cookie("", login))
        await send(message)

    return send_elsewhere


def _secure_cookies(message: Message) -> None:
    """Send every cookie of a sign-in over https only: Streamlit leaves that out, for the loopback address's sake."""
    message["headers"] = [
        (name, text + b"; Secure" if name == b"set-cookie" and b"secure" not in text.lower().split(b"; ") else text)
        for name, text in message["headers"]
    ]


def _cookie(page: str, login: Login) -> str:
    """Return the cookie that remembers a page for some minutes; without a page, the one that forgets it."""
    cookie: SimpleCookie = SimpleCookie()
    cookie[RETURN_COOKIE] = quote(page, safe="")
    morsel = cookie[RETURN_COOKIE]
    morsel["path"], morsel["samesite"], morsel["httponly"] = login.base or "/", "Lax", True
    morsel["max-age"] = _RETURN_S if page else 0
    if login.origin.startswith("https:"):
        morsel["secure"] = True
    return morsel.OutputString()
