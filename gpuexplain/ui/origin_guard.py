"""Whose pages may open a connection to the app? Our own, and those that the operator names.

Streamlit would also take pages of every other port of this machine, and where none fits, it asks a host
outside for this machine's public address before it says no. This says no first.
"""

from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

_POLICY_VIOLATION = 1008


class OriginGuard:
    """Refuses websockets of other sites' pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or refuse it."""
        if scope["type"] == "websocket" and not _is_ours(Headers(scope=scope)):
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            return
        await self._app(scope, receive, send)


def _is_ours(headers: Headers) -> bool:
    """Whether a page of ours asks, or no page at all (programs send no origin)."""
    origin = headers.get("origin")
    if origin is None or urlsplit(origin).netloc == headers.get("host"):
        return True
    return origin in (st.get_option("server.corsAllowedOrigins") or ())
