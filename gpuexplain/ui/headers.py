"""Which headers keep a browser from loading or running anything that is not ours."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gpuexplain.settings import load_settings
from gpuexplain.ui.login_guard import LoginGuard
from gpuexplain.ui.origin_guard import OriginGuard
from gpuexplain.ui.visitor_cookie import VisitorCookie

_X_FRAME_OPTIONS = {"self": "SAMEORIGIN", "none": "DENY"}
_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def inline_script_hashes() -> tuple[str, ...]:
    """Return the CSP hashes of the inline scripts in Streamlit's own page, read from that page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def frame_ancestors(setting: str) -> str:
    """Return who may frame us as CSP sources: ``'self'``, ``'none'`` or origins, from the setting's text."""
    names = setting.replace(",", " ").split()
    return " ".join(f"'{name}'" if name in ("self", "none") else name for name in names)


@cache
def content_security_policy(framed_by: str = "self") -> str:
    """Return the policy: our own scripts only, nothing from another host, framed by ``framed_by`` only."""
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", *inline_script_hashes())),
        "style-src": "'self' 'unsafe-inline'",  # Streamlit and Plotly style elements in place
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self' ws: wss:",
        "worker-src": "'self' blob:",
        "media-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": frame_ancestors(framed_by),
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


@cache
def security_headers(framed_by: str = "self") -> dict[str, str]:
    """Return the headers of every response."""
    headers = {
        "Content-Security-Policy": content_security_policy(framed_by),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    # For browsers older than frame-ancestors. It cannot name another origin, so it is left out for those.
    if framed_by in _X_FRAME_OPTIONS:
        headers["X-Frame-Options"] = _X_FRAME_OPTIONS[framed_by]
    return headers


class SecurityHeaders:
    """Adds the headers to every HTTP response; plain ASGI, so that streaming stays streaming."""

    def __init__(self, app: ASGIApp, framed_by: str) -> None:
        self._app = app
        self._headers = security_headers(framed_by)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass a websocket through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def security_middleware() -> list[Middleware]:
    """Return the middleware for ``st.App``, the outermost first."""
    framed_by = load_settings().frame_ancestors
    return [
        Middleware(SecurityHeaders, framed_by=framed_by),
        Middleware(OriginGuard),
        Middleware(VisitorCookie),
        Middleware(LoginGuard),
    ]
