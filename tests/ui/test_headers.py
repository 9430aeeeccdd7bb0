"""What every answer tells a browser to refuse."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from ui_fakes import ask

from gpuexplain.settings import Settings
from gpuexplain.ui import headers
from gpuexplain.ui.headers import content_security_policy, frame_ancestors, security_headers, security_middleware
from gpuexplain.ui.origin_guard import OriginGuard


def rules(policy: str) -> dict[str, str]:
    """Return the policy's rules by name."""
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_the_policy_lets_nothing_foreign_in() -> None:
    """Everything is our own, or made in the page; only styles may stand inline."""
    found = rules(content_security_policy())
    assert found["default-src"] == "'self'"
    assert found["object-src"] == "'none'"
    assert found["base-uri"] == found["form-action"] == found["frame-ancestors"] == "'self'"
    inline = [name for name, sources in found.items() if "unsafe" in sources]
    assert inline == ["style-src"]
    named = {source for sources in found.values() for source in sources.split()}
    assert not [source for source in named if "*" in source or "http" in source]


@pytest.mark.parametrize(
    ("setting", "ancestors", "old_header"),
    [
        ("self", "'self'", "SAMEORIGIN"),
        ("none", "'none'", "DENY"),
        ("self, https://intranet.example.org", "'self' https://intranet.example.org", None),
        ("https://*.example.org:8443", "https://*.example.org:8443", None),
    ],
)
def test_who_may_frame_us_is_a_setting(setting: str, ancestors: str, old_header: str | None) -> None:
    """The old header, which knows no origins, is left out where it would contradict."""
    found = security_headers(setting)
    assert frame_ancestors(setting) == ancestors
    assert rules(found["Content-Security-Policy"])["frame-ancestors"] == ancestors
    assert found.get("X-Frame-Options") == old_header


def test_answers_and_refusals_carry_the_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a missing page and a redirect alike; what the app itself set stays."""
    monkeypatch.setattr(headers, "load_settings", lambda: Settings(frame_ancestors="none"))
    middleware = security_middleware()

    def page(_request: object) -> PlainTextResponse:
        return PlainTextResponse("x", headers={"Cache-Control": "no-store"})

    app = Starlette(routes=[Route("/static/x.js", page)], middleware=middleware)
    for path, status in (("/static/x.js", 200), ("/static/y.js", 404)):
        answer = ask(app, path)
        assert answer.status_code == status
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert ask(app, "/static/x.js").headers["cache-control"] == "no-store"


def knock(origin: str | None, host: str = "gpu.example.org:8501") -> list[dict]:
    """Open a websocket with this origin; what the guard, or the app behind it, answers."""
    sent: list[dict] = []

    async def app(scope: dict, receive: object, send: object) -> None:
        await send({"type": "websocket.accept"})

    async def receive() -> dict:
        return {"type": "websocket.connect"}

    async def send(message: dict) -> None:
        sent.append(message)

    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers}
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, OriginGuard(app)(scope, receive, send)).result()
    return sent


@pytest.mark.parametrize("origin", ["http://gpu.example.org:8501", "https://gpu.example.org:8501", None])
def test_our_own_pages_and_programs_are_connected(origin: str | None) -> None:
    """The host is the one that was asked; a proxy speaks http to us where the browser spoke https."""
    assert knock(origin) == [{"type": "websocket.accept"}]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:9999", "http://localhost", "null", "file://"]
)
def test_pages_of_other_sites_are_refused(origin: str) -> None:
    """Other services of this very machine, too: they are not ours."""
    assert knock(origin) == [{"type": "websocket.close", "code": 1008}]


def test_the_operator_may_name_other_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Streamlit's own setting, as a whole origin."""
    monkeypatch.setattr("streamlit.get_option", lambda _name: ["https://portal.example.org"])
    assert knock("https://portal.example.org") == [{"type": "websocket.accept"}]
    assert knock("https://portal.example.org.evil.example")[0]["type"] == "websocket.close"
