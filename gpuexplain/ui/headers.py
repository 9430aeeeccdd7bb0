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

from gpuexplain.ui.visitor_cookie import VisitorCookie

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def inline_script_hashes() -> tuple[str, ...]:
    """Return the CSP hashes of the inline scripts in Streamlit's own page, read from that page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


@cache
def content_security_policy() -> str:
    """Return the policy: our own scripts only, nothing from another host, framed by ourselves only."""
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
        "frame-ancestors": "'self'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


class SecurityHeaders:
    """Adds the headers to every HTTP response; plain ASGI, so that streaming stays streaming."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or pass a websocket through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = content_security_policy()
                headers["X-Content-Type-Options"] = "nosniff"
                headers["X-Frame-Options"] = "SAMEORIGIN"
                headers["Referrer-Policy"] = "same-origin"
                headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
            await send(message)

        await self._app(scope, receive, send_with_headers)


def security_middleware() -> list[Middleware]:
    """Return the middleware for ``st.App``."""
    return [Middleware(SecurityHeaders), Middleware(VisitorCookie)]
