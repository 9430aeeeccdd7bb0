"""How does the app know that two tabs are the same visitor? An anonymous cookie of this browser session.

It carries the right to cancel a run and the limit of two runs a visitor; it names nobody.
"""

import secrets
from http.cookies import SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

VISITOR_COOKIE = "gpuexplain_visitor"


class VisitorCookie:
    """Gives every browser without one a random name, together with the page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; only HTML pages set the cookie."""
        if scope["type"] != "http" or VISITOR_COOKIE in Headers(scope=scope).get("cookie", ""):
            await self._app(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("Set-Cookie", _new_cookie(secure=scope.get("scheme") == "https"))
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def _new_cookie(*, secure: bool) -> str:
    cookie: SimpleCookie = SimpleCookie()
    cookie[VISITOR_COOKIE] = secrets.token_hex(8)
    morsel = cookie[VISITOR_COOKIE]
    morsel["path"], morsel["samesite"], morsel["httponly"] = "/", "Lax", True
    if secure:
        morsel["secure"] = True
    return morsel.OutputString()
