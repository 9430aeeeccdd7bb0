"""Headers, the visitor's cookie and the health routes, without a browser."""

import hashlib
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from ui_fakes import Answer, FakeRunner, ask

from gpuexplain.errors import StoreError
from gpuexplain.hardware.machine import Machine
from gpuexplain.ui import engine_access
from gpuexplain.ui.headers import content_security_policy, inline_script_hashes, security_middleware
from gpuexplain.ui.health import health_routes
from gpuexplain.ui.visitor_cookie import VISITOR_COOKIE


def get(path: str, cookie: str = "") -> Answer:
    """Return what a small app with our routes and middleware answers."""

    def page(_request: object) -> HTMLResponse:
        return HTMLResponse("<h1>page</h1>")

    routes = [*health_routes(), Route("/", page)]
    return ask(Starlette(routes=routes, middleware=security_middleware()), path, cookie)


def test_every_response_carries_the_headers() -> None:
    """Nothing foreign runs, nothing is sniffed, nobody else frames us."""
    headers = get("/api/live").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"


def test_scripts_are_ours_only() -> None:
    """No 'unsafe-inline' and no 'unsafe-eval' for scripts; Streamlit's own inline script by its hash."""
    scripts = next(r for r in content_security_policy().split("; ") if r.startswith("script-src"))
    assert "unsafe" not in scripts
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    assert len(inline_script_hashes()) == page.count("<script>")
    assert hashlib.sha256(b"").hexdigest() not in scripts


def test_a_browser_gets_one_anonymous_name() -> None:
    """The first page sets the cookie, later ones leave it, the health routes never set it."""
    assert "set-cookie" not in get("/api/live").headers
    first = get("/").headers["set-cookie"]
    assert first.startswith(f"{VISITOR_COOKIE}=")
    assert "httponly" in first.lower()
    assert "set-cookie" not in get("/", cookie=first.split(";")[0]).headers


def test_ready_says_yes_when_worker_and_store_answer(runner: FakeRunner) -> None:
    """Both parts are named."""
    answer = get("/api/ready")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    assert set(answer.json()["checks"]) == {"worker", "store", "disk"}


def test_ready_gives_the_reason_when_the_worker_is_silent(runner: FakeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """503, with what is missing."""
    runner.worker = "starting"
    runner.torch = None
    answer = get("/api/ready")
    assert answer.status_code == 503
    assert "starting" in answer.json()["checks"]["worker"]["detail"]


def test_ready_gives_the_reason_when_the_store_is_read_only(
    runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503, with the store's own words."""

    class Broken:
        def check_writable(self) -> None:
            raise StoreError("Cannot write to the store. Free some space.")

    monkeypatch.setattr(engine_access, "get_store", Broken)
    answer = get("/api/ready")
    assert answer.status_code == 503
    assert "Free some space" in answer.json()["checks"]["store"]["detail"]


def test_the_routes_answer_under_a_base_path_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy with a path, a check must not read Streamlit's page as a yes."""
    monkeypatch.setattr("streamlit.get_option", lambda _name: "gpu")
    paths = {route.path for route in health_routes()}
    assert paths == {f"{base}/api/{name}" for base in ("", "/gpu") for name in ("live", "ready", "metrics")}


def test_the_machine_is_looked_at_again_when_torch_has_spoken(
    runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look has no probe; the next one has the worker's."""
    looks: list[object] = []
    monkeypatch.setattr(engine_access, "_WATCH", engine_access._MachineWatch())
    monkeypatch.setattr(engine_access, "inspect_machine", lambda probe: looks.append(probe) or Machine)
    runner.torch, probe = None, runner.torch
    engine_access.get_machine()
    engine_access.get_machine()
    runner.torch = probe
    engine_access.get_machine()
    assert looks == [None, probe]
