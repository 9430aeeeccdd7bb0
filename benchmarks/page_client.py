"""A visitor without a browser: speaks with Streamlit's server as its page does, and keeps what it was sent.

Fifty browsers on two cores would measure the browsers. This client asks for the page, opens the same
websocket with the same cookies and tokens, answers the server's requests to poll, presses buttons and
remembers what is on screen; it draws nothing.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

_XSRF_COOKIE = "_streamlit_xsrf"
_LARGEST_MESSAGE_BYTES = 50 * 2**20
_CACHED_RUNS = 2  # as Streamlit's global.maxCachedMessageAge
_ANSWER_S = 180.0  # longest wait for anything of a page
_ENDED_WHOLE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class PageError(Exception):
    """The server did not do what a page needs."""


@dataclass(slots=True)
class _Node:
    """One element on screen, and which run of the script wrote it last."""

    element: Element
    run_id: str
    fragment_id: str


@dataclass(slots=True)
class Screen:
    """What a page shows, by its place."""

    nodes: dict[tuple[int, ...], _Node] = field(default_factory=dict)

    def elements(self, kind: str) -> list[Any]:
        """Return all elements of a kind, in reading order: ``button``, ``plotly_chart``, ``markdown``."""
        places = sorted(self.nodes)
        found = (self.nodes[place].element for place in places)
        return [getattr(element, kind) for element in found if element.WhichOneof("type") == kind]

    def texts(self) -> list[str]:
        """Return every Markdown, alert and caption text, in reading order."""
        return [block.body for kind in ("markdown", "alert") for block in self.elements(kind)]

    def put(self, message: ForwardMsg, run_id: str) -> None:
        """Take one change of the page, made by this run."""
        place, delta = tuple(message.metadata.delta_path), message.delta
        if delta.WhichOneof("type") == "new_element":
            self.nodes[place] = _Node(delta.new_element, run_id, delta.fragment_id)

    def forget_stale(self, run_id: str, fragment_ids: tuple[str, ...]) -> None:
        """Drop what a finished run did not write again: of the page, or of its fragments only."""

        def is_stale(node: _Node) -> bool:
            return node.run_id != run_id and (not fragment_ids or node.fragment_id in fragment_ids)

        self.nodes = {place: node for place, node in self.nodes.items() if not is_stale(node)}


@dataclass(slots=True)
class _Cached:
    """A large message that the server need not send again, and how many runs ago it was of use."""

    message: ForwardMsg
    age: int = 0


@dataclass(slots=True)
class Traffic:
    """What went to and fro."""

    n_runs: int = 0  # of the script or a fragment, ended
    n_polls: int = 0
    received_bytes: int = 0
    poll_s: list[float] = field(default_factory=list)  # from a poll to its end


class Visitor:
    """One tab. Use ``open_page`` to get one."""

    def __init__(self, address: str, page: str, query: str = "", cookies: dict[str, str] | None = None) -> None:
        """Prepare; nothing is sent yet."""
        self.screen = Screen()
        self.traffic = Traffic()
        self.cookies = dict(cookies or {})
        self.page_s = 0.0  # from asking for the address until the whole page was sent
        self.exceptions: list[str] = []  # what the server showed as an uncaught error
        self.is_running = False  # the script writes the page just now
        self.told: dict[str, None] = {}  # every distinct text of a progress bar or an alert so far
        self._address, self._page, self._query = address, page, query
        self._socket: ClientConnection | None = None
        self._page_hash = ""
        self._run_id, self._fragment_ids = "", ()
        self._cache: dict[str, _Cached] = {}
        self._polls: dict[str, asyncio.Task[None]] = {}
        self._sent_at: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._n_whole_runs = 0

    async def open(self) -> None:
        """Ask for the page as a browser does, and wait until all of it was sent."""
        begun = time.perf_counter()
        parts = urlsplit(self._address)
        await self._get(f"/{self._page}{'?' if self._query else ''}{self._query}")
        await self._get("/_stcore/health")
        await self._get("/_stcore/host-config")
        jar = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        self._socket = await connect(
            f"ws://{parts.netloc}/_stcore/stream",
            origin=self._address,  # type: ignore[arg-type]
            subprotocols=["streamlit", self.cookies.get(_XSRF_COOKIE, "none")],  # type: ignore[list-item]
            additional_headers={"Cookie": jar},
            compression=None,
            max_size=_LARGEST_MESSAGE_BYTES,
            open_timeout=_ANSWER_S,
            ping_interval=None,
            proxy=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self._rerun()
        await self.until(lambda: self._n_whole_runs > 0)
        self.page_s = time.perf_counter() - begun

    async def close(self) -> None:
        """Close the tab."""
        for poll in self._polls.values():
            poll.cancel()
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError, ConnectionClosed):
                await self._reader

    @property
    def is_watching(self) -> bool:
        """Whether the page polls, as it does while a run goes on."""
        return bool(self._polls)

    def find_button(self, key: str) -> Any | None:
        """Return the button of this key, None while there is none that can be pressed."""
        buttons = (b for b in self.screen.elements("button") if b.id.endswith(f"-{key}") and not b.disabled)
        return next(buttons, None)

    async def press(self, key: str) -> None:
        """Press a button and wait until the page has answered."""
        await self.until(lambda: self.find_button(key) is not None)
        button = self.find_button(key)
        assert button is not None
        before = self._n_whole_runs
        await self._rerun(pressed=button.id)
        await self.until(lambda: self._n_whole_runs > before)

    async def until(self, holds: Callable[[], bool], timeout_s: float = _ANSWER_S) -> None:
        """Wait until something holds; it is asked after every message.

        Raises:
            PageError: If the page shows an uncaught error, or the server closed it.
            TimeoutError: If it did not hold within ``timeout_s``.
        """
        async with asyncio.timeout(timeout_s):
            while not holds():
                if self.exceptions:
                    raise PageError(f"The page {self._page!r} shows an error: {self.exceptions[0]}")
                if self._reader is None or self._reader.done():
                    raise PageError(f"The server closed the page {self._page!r}.")
                self._changed.clear()
                await self._changed.wait()

    async def _get(self, path: str) -> None:
        """GET a path and keep the cookies it sets."""
        parts = urlsplit(self._address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        jar = "; ".join(f"{name}={text}" for name, text in self.cookies.items())
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Connection: close", "Accept: text/html"]
        lines += [f"Cookie: {jar}"] if jar else []
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = await reader.read()
        writer.close()
        for line in answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n"):
            name, _, text = line.partition(":")
            if name.lower() == "set-cookie":
                self.cookies.update({key: morsel.value for key, morsel in SimpleCookie(text.strip()).items()})

    async def _rerun(self, pressed: str = "", fragment_id: str = "") -> None:
        """Ask for a run of the script, as a page does on load, on a click or on a poll."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash, state.page_name = self._query, self._page_hash, self._page
        state.fragment_id, state.is_auto_rerun = fragment_id, bool(fragment_id)
        state.cached_message_hashes.extend(self._cache)
        state.context_info.url, state.context_info.locale = f"{self._address}/{self._page}", "en"
        state.context_info.timezone, state.context_info.color_scheme = "UTC", "light"
        if pressed:
            widget = state.widget_states.widgets.add()
            widget.id, widget.trigger_value = pressed, True
        if fragment_id:
            self.traffic.n_polls += 1
            self._sent_at.setdefault(fragment_id, time.perf_counter())
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        assert self._socket is not None
        with suppress(ConnectionClosed):
            async for payload in self._socket:
                assert isinstance(payload, bytes)
                self.traffic.received_bytes += len(payload)
                self._take(ForwardMsg.FromString(payload))
                self._changed.set()
        self._changed.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            cached = self._cache[message.ref_hash]
            cached.age = 0
            cached.message.metadata.CopyFrom(message.metadata)
            message, kind = cached.message, cached.message.WhichOneof("type")
        elif message.metadata.cacheable and message.hash:
            self._cache[message.hash] = _Cached(message)
        match kind:
            case "new_session":
                self._begin(message)
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "delta":
                self.screen.put(message, self._run_id)
                self._note(message.delta.new_element)
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "auto_rerun":
                self._poll(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                for fragment_id in message.stop_auto_rerun.fragment_ids:
                    self._stop_poll(fragment_id)
            case "script_finished":
                self._end(message.script_finished)

    def _note(self, element: Element) -> None:
        """Keep what must not go unnoticed even if it is gone a moment later."""
        match element.WhichOneof("type"):
            case "exception":
                self.exceptions.append(element.exception.message)
            case "progress":
                self.told[element.progress.text] = None
            case "alert":
                self.told[element.alert.body] = None

    def _begin(self, message: ForwardMsg) -> None:
        self.is_running = True
        self._page_hash = message.new_session.page_script_hash
        self._run_id = message.metadata.run.script_run_id
        self._fragment_ids = tuple(message.metadata.run.fragment_ids)
        if not self._fragment_ids:
            for fragment_id in list(self._polls):
                self._stop_poll(fragment_id)

    def _end(self, status: int) -> None:
        self.is_running = False
        if status not in _ENDED_WHOLE:
            return
        self.traffic.n_runs += 1
        self.screen.forget_stale(self._run_id, self._fragment_ids)
        self._age_cache()
        for fragment_id in self._fragment_ids:
            if (sent_at := self._sent_at.pop(fragment_id, None)) is not None:
                self.traffic.poll_s.append(time.perf_counter() - sent_at)
        if not self._fragment_ids:
            self._n_whole_runs += 1

    def _age_cache(self) -> None:
        """Forget, as a page does, what two runs in a row did not use; a fragment's run ages its own only."""
        for cached in self._cache.values():
            if not self._fragment_ids or cached.message.delta.fragment_id in self._fragment_ids:
                cached.age += 1
        self._cache = {name: cached for name, cached in self._cache.items() if cached.age <= _CACHED_RUNS}

    def _poll(self, fragment_id: str, interval_s: float) -> None:
        self._stop_poll(fragment_id)

        async def poll() -> None:
            while True:
                await asyncio.sleep(interval_s)
                with suppress(ConnectionClosed):
                    await self._rerun(fragment_id=fragment_id)

        self._polls[fragment_id] = asyncio.create_task(poll())

    def _stop_poll(self, fragment_id: str) -> None:
        self._sent_at.pop(fragment_id, None)  # a whole run of the page takes its place: no answer will come
        if (poll := self._polls.pop(fragment_id, None)) is not None:
            poll.cancel()
