"""What a real browser and the server do under our policy: no violation, nothing from or to elsewhere, no foreign code."""

import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlparse

import psutil
import pytest
from e2e_net import free_port, wait_for_port
from e2e_server import ROOT, RunningApp, running_app
from playwright.sync_api import Browser, BrowserContext, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.store.runs import RunStore
from gpuexplain.ui.pages import PAGES

sys.path.insert(0, str(ROOT / "tests" / "foreign"))
from foreign_made import EVIL, make_run

LATE_MS = 45_000
TABS = ("How it was measured", "Data", "Code", "Compare")
# The one violation we know: Streamlit's message library tries WebAssembly, is refused, and does without.
KNOWN_VIOLATION = re.compile(r"script-src wasm-eval \S+/static/js/protobuf\.\w+\.js")
# Python runs it at its start: it notes every address outside this machine that the process asks for or connects to.
AUDIT = """
import os, sys
def _note(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if str(host) not in ("None", "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"):
        with open(os.environ["AUDIT_FILE"], "a") as file:
            file.write(f"{event} {host}\\n")
sys.addaudithook(_note)
"""


class Spy:
    """What the pages of a browser did: requests, refused content, and code that should not have run."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.requests: list[str] = []
        self.violations: list[str] = []
        self.context: BrowserContext = browser.new_context(accept_downloads=True)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.expose_binding("noteViolation", lambda _source, text: self._note(text))
        self.context.add_init_script(
            "document.addEventListener('securitypolicyviolation', e => "
            "noteViolation(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}`))"
        )
        self.address = address

    def open(self, path: str) -> Page:
        """Open a page and wait until it stands."""
        page = self.context.new_page()
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.goto(self.address + path)
        page.locator("h1").first.wait_for(timeout=LATE_MS)
        page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=LATE_MS)
        return page

    def _note(self, violation: str) -> None:
        if not KNOWN_VIOLATION.fullmatch(violation):
            self.violations.append(violation)

    @property
    def outside(self) -> list[str]:
        """The requests that left our address."""
        ours = urlparse(self.address).netloc
        local = ("data:", "blob:", "about:", "chrome-error:")
        return [url for url in self.requests if not url.startswith(local) and urlparse(url).netloc != ours]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningApp, Path]]:
    """The app as for a whole network, with hostile runs in its store; and the file of what it asked outside."""
    home, hooks = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("hooks")
    (hooks / "sitecustomize.py").write_text(AUDIT)
    asked = hooks / "asked.txt"
    asked.touch()
    machine = inspect_machine()
    store = RunStore(f"sqlite:///{home / 'gpuexplain.db'}")
    for number, experiment in enumerate(EXPERIMENTS.values()):
        store.add_run(make_run(experiment, machine, f"hostile-{number}", everything=False))
    store.close()
    # Five seconds a run at most: a tour then takes half a minute.
    environment = {"PYTHONPATH": str(hooks), "AUDIT_FILE": str(asked), "GPUEXPLAIN_MAX_BUDGET_S": "5"}
    with running_app(home, ["--server.address", "0.0.0.0"], environment) as app:
        yield app, asked


@pytest.fixture
def spy(browser: Browser, audited: tuple[RunningApp, Path]) -> Iterator[Spy]:
    """A watched browser."""
    watching = Spy(browser, audited[0].address)
    yield watching
    watching.context.close()


def look_at_everything(page: Page) -> None:
    """Open every tab, popover and expander of a page."""
    for name in TABS:
        tab = page.get_by_role("tab", name=name, exact=True)
        if tab.count():
            tab.first.click()
            page.wait_for_timeout(400)
            page.evaluate("document.querySelectorAll('[data-testid=stExpander] summary').forEach(e => e.click())")
    more = page.get_by_role("button", name="More")
    if more.count():
        more.first.click()
        page.wait_for_timeout(200)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_a_page_obeys_the_policy_and_no_foreign_text(spy: Spy, name: str) -> None:
    """Hostile runs on screen, every tab open: nothing refused, nothing outside, nothing of theirs in the page."""
    spec = next(page for page in PAGES if page.name == name)
    page = spy.open(f"/{spec.url_path}")
    if name in EXPERIMENTS:
        page.locator(".js-plotly-plot").first.wait_for(timeout=LATE_MS)
    look_at_everything(page)
    page.mouse.move(400, 400)
    assert page.get_by_text("Traceback").count() == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator(f"a[href*='{urlparse(EVIL).hostname}'], img[src*='{urlparse(EVIL).hostname}']").count() == 0
    assert spy.violations == []
    assert spy.outside == []


def test_a_run_and_its_downloads_stay_at_home(browser: Browser, audited: tuple[RunningApp, Path]) -> None:
    """Measured live, then every file of the page."""
    spy = Spy(browser, audited[0].address)
    page = spy.open("/matmul?preset=quick&largest_side=128&tab=Data")
    page.get_by_role("button", name=re.compile("^Run")).click()
    expect(page.get_by_text("measured here, just now").first).to_be_visible(timeout=60_000)
    for name in ("CSV", "JSON", "Parquet"):
        with page.expect_download() as caught:
            page.get_by_role("button", name=name, exact=True).click()
        assert caught.value.failure() is None
    page.get_by_role("tab", name="Code", exact=True).click()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download").first.click()
    assert "import torch" in Path(caught.value.path()).read_text()
    assert spy.violations == []
    assert spy.outside == []
    spy.context.close()


@pytest.mark.timeout(300)
def test_a_tour_stays_at_home(browser: Browser, audited: tuple[RunningApp, Path]) -> None:
    """From the button to the last of its experiments."""
    spy = Spy(browser, audited[0].address)
    page = spy.open("/")
    page.get_by_role("button", name=re.compile("^Measure ")).first.click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=LATE_MS)
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden(timeout=200_000)
    assert spy.violations == []
    assert spy.outside == []
    spy.context.close()


def ask(app: RunningApp, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str]]:
    """Return status and headers of an answer."""
    request = urllib.request.Request(app.address + path, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, {name.lower(): text for name, text in answer.headers.items()}
    except urllib.error.HTTPError as error:
        return error.code, {name.lower(): text for name, text in error.headers.items()}


def test_every_kind_of_answer_carries_the_headers(audited: tuple[RunningApp, Path]) -> None:
    """The page, its scripts and fonts, our routes, Streamlit's, and what is not there."""
    app, _ = audited
    with urllib.request.urlopen(app.address) as answer:
        script = re.search(r'src="\.?(/[^"]+\.js)"', answer.read().decode())
    assert script is not None
    font = "/app/static/inter-latin-wght-normal.woff2"
    paths = {"/": 200, "/matmul": 200, script[1]: 200, font: 200, "/api/live": 200, "/_stcore/health": 200}
    for path, status in {**paths, "/media/none.csv": 404}.items():
        found, headers = ask(app, path)
        assert found == status, path
        assert "script-src 'self'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "same-origin", path
        assert headers["x-frame-options"] == "SAMEORIGIN", path


def test_other_sites_can_neither_read_nor_send(browser: Browser, audited: tuple[RunningApp, Path]) -> None:
    """No answer names another origin as allowed, uploads need our token, and their pages cannot connect."""
    app, _ = audited
    for path in ("/_stcore/health", "/_stcore/host-config", "/api/ready", "/media/none.csv"):
        assert "access-control-allow-origin" not in ask(app, path, Origin="https://evil.example")[1], path
    assert ask(app, "/_stcore/upload_file/session/file", "PUT")[0] == 403
    with other_site("<title>other</title>") as address:
        page = browser.new_page()
        page.goto(address)
        state = page.evaluate(
            "url => new Promise(done => { const socket = new WebSocket(url, ['streamlit']);"
            "socket.onopen = () => done('open'); socket.onerror = () => done('refused'); })",
            app.address.replace("http", "ws") + "/_stcore/stream",
        )
        page.close()
    assert state == "refused"


@contextmanager
def other_site(html: str, port: int = 0) -> Iterator[str]:
    """A site of somebody else on this machine, with one page; at a name that is another origin than the app's."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", port), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def is_framed(browser: Browser, address: str, port: int = 0) -> bool:
    """Whether a page of another site can show ours in a frame."""
    with other_site(f'<iframe src="{address}/method" width=800 height=600></iframe>', port) as site:
        page = browser.new_page()
        page.goto(site)
        try:
            page.frame_locator("iframe").locator("h1").wait_for(timeout=8_000)
        except PlaywrightTimeout:
            return False
        finally:
            page.close()
    return True


def test_only_named_sites_may_frame_us(browser: Browser, audited: tuple[RunningApp, Path], tmp_path: Path) -> None:
    """Nobody else by default; whom the setting names, can, and a third one still cannot."""
    assert not is_framed(browser, audited[0].address)
    port = free_port()
    with running_app(tmp_path, environment={"GPUEXPLAIN_FRAME_ANCESTORS": f"self http://localhost:{port}"}) as app:
        assert is_framed(browser, app.address, port)
        assert not is_framed(browser, app.address)


def test_a_visitor_never_sees_what_went_wrong_inside(browser: Browser, tmp_path: Path) -> None:
    """An error that nobody foresaw, under our configuration: the page says that there was one, the log has it."""
    script, log, port = tmp_path / "broken.py", tmp_path / "log", free_port()
    script.write_text("import streamlit as st\nst.title('a page')\nraise RuntimeError('a-private-detail')\n")
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=log.open("w"), stderr=subprocess.STDOUT)
    try:
        page = browser.new_page()
        wait_for_port(port)
        page.goto(f"http://127.0.0.1:{port}")
        expect(page.get_by_test_id("stException")).to_be_visible(timeout=LATE_MS)
        text = page.inner_text("body")
        page.close()
    finally:
        process.terminate()
        process.wait(20)
    assert "a page" in text
    assert not [private for private in ("a-private-detail", "RuntimeError", str(tmp_path)) if private in text]
    assert "a-private-detail" in log.read_text()


def test_a_read_only_server_shows_and_starts_no_worker(browser: Browser, tmp_path: Path) -> None:
    """Ready without a measuring process; pages open, and nothing can be started from them."""
    with running_app(tmp_path, environment={"GPUEXPLAIN_READ_ONLY": "true"}) as app:
        spy = Spy(browser, app.address)
        page = spy.open("/matmul")
        expect(page.get_by_role("button", name=re.compile("^Run"))).to_be_disabled(timeout=LATE_MS)
        home = spy.open("/")
        expect(home.get_by_role("button", name=re.compile("^Measure"))).to_be_disabled(timeout=LATE_MS)
        children = [child.cmdline() for child in psutil.Process(app.process.pid).children(recursive=True)]
        assert [command for command in children if "gpuexplain.engine.worker" in command] == []
        spy.context.close()


def test_the_server_asked_nobody_outside(audited: tuple[RunningApp, Path]) -> None:
    """After all of the above: no name looked up, no connection, from the start with a wildcard address on."""
    assert audited[1].read_text() == ""
