"""Does one machine serve a team? Fifty visitors watch, twenty press Run at once; everybody gets the same result.

Real websocket sessions on loopback, without browsers (see ``page_client``). Wanted on 2 cores: one
measurement a key, a bounded queue that everybody can see, a page in under 2 s at the 95th percentile
while all of it goes on, and medians that 50 viewers do not shift unnoticed. The client takes its part of
the same cores; the share is printed.
"""

import argparse
import asyncio
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.crowd_figures import tell_crowd
from benchmarks.disturbance import measure_disturbance, tell_disturbance
from benchmarks.page_client import Visitor
from benchmarks.report import Figure, busy_cores, print_figures, tell_provisional, write_section
from benchmarks.server import serve, temporary_home, wait_for
from gpuexplain.registry import CORE
from gpuexplain.store.run import RunSummary
from gpuexplain.store.runs import RunStore

_SIDES = (48, 64, 80, 96, 112, 128, 160, 192)
_ARRIVALS_PER_S = 10.0
_NEWCOMER_EVERY_S = 0.5
_PATIENCE_S = 300.0  # until every run of the queue has ended
_PRESS_AGAIN_S = 1.5  # how soon a visitor who was turned away tries again
_WARM_PAGES = 4
_REFUSAL = "The queue is full"
_IN_QUEUE = re.compile(r"Number (\d+) in the queue")
_BADGES = re.compile(r"\n\n:\w+-badge\[.*", re.DOTALL)  # they tell an age, which grows


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the crowd is and what it asks for."""

    n_viewers: int = 50
    n_clickers: int = 20
    n_keys: int = 8
    first_budget_s: float = 14.0  # of the run that everybody watches when the others press
    budget_s: float = 2.0  # of the others
    max_queue: int = 5
    n_idle_pages: int = 40

    @property
    def asks(self) -> list[tuple[str, str]]:
        """Return (page, query) of each key: a long matmul, the other experiments of the tour, short matmuls."""
        first = ("matmul", f"budget_s={self.first_budget_s:g}&largest_side=128&dtype=fp64")
        others = [(e.id, f"budget_s={self.budget_s:g}") for e in CORE if e.id != "matmul"]
        sides = [("matmul", f"budget_s={self.budget_s:g}&largest_side={side}") for side in _SIDES]
        return [first, *others, *sides][: self.n_keys]


@dataclass(slots=True)
class Seen:
    """What happened, for the figures. Times in seconds."""

    n_sessions: int = 0
    idle_page_s: list[float] = field(default_factory=list)
    arrival_page_s: list[float] = field(default_factory=list)  # ten viewers a second
    newcomer_page_s: list[float] = field(default_factory=list)  # while all watch
    press_s: list[float] = field(default_factory=list)  # from the click until the page has answered
    poll_s: list[float] = field(default_factory=list)
    session_bytes: float = 0.0
    server_cores: float = 0.0
    client_cores: float = 0.0
    n_refused: int = 0
    queue_numbers: set[int] = field(default_factory=set)  # that visitors were shown
    endings: dict[int, Counter[str]] = field(default_factory=dict)  # what the pages of a key show at the end
    runs: list[RunSummary] = field(default_factory=list)
    n_tracebacks: int = 0


class Crowd:
    """One crowd on one server."""

    def __init__(self, address: str, server: psutil.Process, plan: Plan) -> None:
        """Prepare; nobody comes yet."""
        self.seen = Seen()
        self._address, self._server, self._plan = address, server, plan
        self._asks = plan.asks
        self._is_taken = [asyncio.Event() for _ in self._asks]

    async def visit(self) -> Seen:
        """Let everybody come, press, watch and leave."""
        await self._come_and_go()
        clickers = await self._open_idle()
        first = await self._open(0)
        began_s, server_s, client_s = time.perf_counter(), _cpu_s(self._server), _cpu_s(psutil.Process())
        await first.press("run")
        watching_first = [first, *await self._arrive()]
        newcomers = asyncio.create_task(self._let_newcomers_come())
        await asyncio.gather(*(self._press(number, visitor) for number, visitor in enumerate(clickers)))
        await self._leave(0, watching_first)
        watching = await asyncio.gather(*(self._watch_another(i) for i in range(self._plan.n_viewers)))
        await asyncio.gather(*(self._leave(self._pressed_key(i), [v]) for i, v in enumerate(clickers)))
        await asyncio.gather(*(self._leave(self._key_of(i), [v]) for i, v in enumerate(watching)))
        newcomers.cancel()
        await asyncio.gather(newcomers, return_exceptions=True)
        wall_s = time.perf_counter() - began_s
        self.seen.server_cores = (_cpu_s(self._server) - server_s) / wall_s
        self.seen.client_cores = (_cpu_s(psutil.Process()) - client_s) / wall_s
        return self.seen

    def _key_of(self, number: int) -> int:
        return number % len(self._asks)

    def _pressed_key(self, number: int) -> int:
        """Return what a clicker asks for: never the run that goes on, for it may end before the press arrives."""
        return 1 + number % (len(self._asks) - 1)

    async def _open(self, key: int) -> Visitor:
        page, query = self._asks[key]
        visitor = Visitor(self._address, page, query)
        await visitor.open()
        self.seen.n_sessions += 1
        return visitor

    async def _come_and_go(self) -> None:
        """Time pages of an idle server, one after the other."""
        for number in range(_WARM_PAGES + self._plan.n_idle_pages):
            visitor = await self._open(self._key_of(number))
            if number >= _WARM_PAGES:
                self.seen.idle_page_s.append(visitor.page_s)
            await visitor.close()

    async def _open_idle(self) -> list[Visitor]:
        """Open everybody's page while nothing runs; return those who will press, let the others go."""
        before_bytes = self._server.memory_info().rss
        n_open = self._plan.n_viewers + self._plan.n_clickers
        visitors = [await self._open(self._pressed_key(number)) for number in range(n_open)]
        self.seen.session_bytes = (self._server.memory_info().rss - before_bytes) / n_open
        clickers, others = visitors[: self._plan.n_clickers], visitors[self._plan.n_clickers :]
        await asyncio.gather(*(visitor.close() for visitor in others))
        return clickers

    async def _arrive(self) -> list[Visitor]:
        """Let the viewers come to the page of the first run, ten a second."""

        async def come(number: int) -> Visitor:
            await asyncio.sleep(number / _ARRIVALS_PER_S)
            visitor = await self._open(0)
            self.seen.arrival_page_s.append(visitor.page_s)
            return visitor

        return list(await asyncio.gather(*(come(number) for number in range(self._plan.n_viewers))))

    async def _let_newcomers_come(self) -> None:
        """Time pages of newcomers for as long as the crowd is busy."""
        number = 0
        while True:
            number += 1
            visitor = await self._open(self._key_of(number))
            self.seen.newcomer_page_s.append(visitor.page_s)
            await visitor.close()
            await asyncio.sleep(_NEWCOMER_EVERY_S)

    async def _press(self, number: int, visitor: Visitor) -> None:
        """Press Run, and again a little later while the queue is full."""
        while True:
            began_s = time.perf_counter()
            await visitor.press("run")
            self.seen.press_s.append(time.perf_counter() - began_s)
            if not any(_REFUSAL in alert.body for alert in visitor.screen.elements("alert")):
                self._is_taken[self._pressed_key(number)].set()
                return
            self.seen.n_refused += 1
            await asyncio.sleep(_PRESS_AGAIN_S)

    async def _watch_another(self, number: int) -> Visitor:
        """Open the page of another run, ten viewers a second, once somebody has asked for it."""
        key = self._key_of(number)
        await asyncio.sleep(number / _ARRIVALS_PER_S)
        if key:
            await self._is_taken[key].wait()
        return await self._open(key)

    async def _leave(self, key: int, visitors: Sequence[Visitor]) -> None:
        """Wait until the run of a key has ended on these pages, note what they show, and close them."""
        for visitor in visitors:
            await visitor.until(lambda v=visitor: _shows_end(v), _PATIENCE_S)  # type: ignore[misc]
            self.seen.endings.setdefault(key, Counter())[_fingerprint(visitor)] += 1
            self.seen.poll_s += visitor.traffic.poll_s
            texts = " ".join(visitor.told)
            self.seen.queue_numbers.update(int(number) for number in _IN_QUEUE.findall(texts))
        await asyncio.gather(*(visitor.close() for visitor in visitors))


def _shows_end(visitor: Visitor) -> bool:
    if visitor.is_running or visitor.is_watching:
        return False
    button = visitor.find_button("run")
    return button is not None and button.label == "Run again"


def _fingerprint(visitor: Visitor) -> str:
    """Return the answer and both charts as sent: equal texts are equal results."""
    answer = next((text for text in visitor.screen.texts() if "-badge[" in text), "")
    charts = visitor.screen.elements("plotly_chart")[:2]
    return "\n".join([_BADGES.sub("", answer), *(chart.spec for chart in charts)])


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def gather_crowd(plan: Plan, home: Path) -> Seen:
    """Start a server in an empty data folder, let the crowd visit it, and return what happened."""
    log = home / "server.log"
    with serve("app.py", home, log, GPUEXPLAIN_MAX_QUEUE=str(plan.max_queue)) as (address, process, started_s):
        wait_for(f"{address}/api/ready", started_s, '"ready":true')
        seen = asyncio.run(Crowd(address, psutil.Process(process.pid), plan).visit())
    seen.runs = RunStore(f"sqlite:///{home / 'gpuexplain.db'}").list_runs(limit=1000)
    seen.n_tracebacks = log.read_text(errors="replace").count("Traceback")
    return seen


def main() -> None:
    """Print the figures and write their section; exit status 1 when one of them misses."""
    parser = argparse.ArgumentParser(prog="benchmarks.crowd", description=__doc__)
    parser.add_argument("--viewers", type=int, default=Plan().n_viewers)
    parser.add_argument("--clickers", type=int, default=Plan().n_clickers)
    parser.add_argument("--no-report", action="store_true", help="print only")
    options = parser.parse_args()
    plan = Plan(n_viewers=options.viewers, n_clickers=options.clickers)
    provisional = tell_provisional(busy_cores())
    figures: list[Figure] = []
    with temporary_home() as home:
        figures += tell_crowd(plan, gather_crowd(plan, home))
    with temporary_home() as home:
        figures += tell_disturbance(measure_disturbance(home, options.viewers), options.viewers)
    holds = print_figures(figures)
    print(provisional)
    if not options.no_report:
        write_section("crowd", ".venv/bin/python -m benchmarks.crowd", figures, provisional=provisional)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
