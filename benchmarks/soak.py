"""Does a day of visitors leave anything behind? Sessions come and go, runs are started and cancelled.

They come in rounds. After each, when all have left and no run goes on, memory, handles and threads of app and worker
are read: what they hold at work depends on the work, what they hold at rest must stay flat. What the app keeps on
purpose is bounded, and the warm-up lasts until all of it is full. The slope is printed with its 95 % interval.
The warm-up takes seven minutes on two cores. Three minutes after it by default; ``--minutes`` for longer.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import psutil

from benchmarks.page_client import PageError, Visitor
from benchmarks.report import Figure, busy_cores, print_figures, tell_provisional, write_section
from benchmarks.server import serve, temporary_home, wait_for
from benchmarks.slopes import Sample, tell_slope
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.pages import PAGES
from gpuexplain.units import format_size

DEFAULT_MINUTES = 3.0
_ROUND_S = 10.0
_REST_S = 0.5  # after the last visitor has left
_LOOKS = 3  # at each rest
_ROUNDS_TO_LOAD = 5  # until a new worker was asked for most experiments, and has loaded their libraries
# What is kept on purpose: 128 left sessions (Streamlit's, for who comes back), 48 drawings, 32 exhibits of the Myths
# page, and 16 runs with their points, three times over. Twice as many visits have replaced the sessions; runs differ
# in weight: after twice as many the memory still rose (248, 256, 258 MiB in a minute each), hence four times.
_SESSIONS_KEPT, _RUNS_KEPT = 128, 32 + 3 * 16
_PRESSES, _CANCELS = 0.5, 0.5  # how many visitors press Run, and how many of those press Cancel
_LONGEST_STAY_S = 3.0
_BUDGETS_S = (0.5, 1.0, 2.0)
_SIDES = (32, 64, 96, 128)
# What one more session, run or cached figure adds is far less; a leak of a session a second is more.
MOST_MIB_PER_MIN = 2.0
MOST_HANDLES_PER_MIN = 1.0
_PATIENCE_S = 60.0  # of a visitor, and until runs have ended
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """How long after the warm-up, how many at once, and how many visits and runs are the warm-up."""

    run_s: float = 180.0
    n_visitors: int = 6
    warm_sessions: int = 2 * _SESSIONS_KEPT
    warm_runs: int = 4 * _RUNS_KEPT
    seed: int = 0


@dataclass(slots=True)
class Soaked:
    """What was seen; the samples are those at rest after the warm-up."""

    app: list[Sample] = field(default_factory=list)
    worker: list[Sample] = field(default_factory=list)
    warm_s: float = 0.0
    n_rounds: int = 0  # after the warm-up
    did: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    n_tracebacks: int = 0
    n_orphans: int = 0


async def _visit_for(address: str, until_s: float, chance: random.Random, soaked: Soaked) -> None:
    """Be one visitor after the other."""
    while time.monotonic() < until_s:
        page = chance.choice(PAGES)
        query = f"budget_s={chance.choice(_BUDGETS_S):g}" if page.name in EXPERIMENTS else ""
        if page.name == "matmul":
            query += f"&largest_side={chance.choice(_SIDES)}"
        visitor = Visitor(address, page.url_path, query)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await visitor.open()
                soaked.did["sessions"] += 1
                if page.name in EXPERIMENTS and chance.random() < _PRESSES:
                    await _press(visitor, chance, soaked.did)
                await asyncio.sleep(chance.random() * _LONGEST_STAY_S)
        except (PageError, TimeoutError, OSError) as error:
            soaked.failed[f"{page.name}: {error or type(error).__name__}"] += 1
        finally:
            soaked.failed.update(f"{page.name}: {text}" for text in visitor.exceptions)
            await visitor.close()


async def _press(visitor: Visitor, chance: random.Random, did: Counter[str]) -> None:
    if visitor.find_button("run") is None:  # somebody else measures just that
        return
    await visitor.press("run")
    did["presses of Run"] += 1
    if chance.random() < _CANCELS:
        await asyncio.sleep(chance.random())
        if visitor.find_button("cancel") is not None:
            await visitor.press("cancel")
            did["presses of Cancel"] += 1


def _look(process: psutil.Process, at_s: float) -> Sample:
    with process.oneshot():
        return Sample(at_s, process.pid, process.memory_info().rss, process.num_fds(), process.num_threads())


def _workers(app: psutil.Process) -> list[psutil.Process]:
    return [child for child in app.children() if _is_worker(child)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "gpuexplain.engine.worker" in " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return False


async def _round(address: str, chances: Sequence[random.Random], soaked: Soaked) -> None:
    """Let visitors come and go for a while; return when the last has left and no run goes on."""
    until_s = time.monotonic() + _ROUND_S
    await asyncio.gather(*(_visit_for(address, until_s, chance, soaked) for chance in chances))
    async with asyncio.timeout(_PATIENCE_S):
        while await asyncio.to_thread(_is_busy, address):
            await asyncio.sleep(_POLL_S)
    await asyncio.sleep(_REST_S)


def _is_busy(address: str) -> bool:
    with urlopen(f"{address}/api/metrics", timeout=_PATIENCE_S) as answer:
        lines = answer.read().decode().splitlines()
    counts = [line.split() for line in lines if line.startswith(("gpuexplain_running ", "gpuexplain_queue_length "))]
    assert len(counts) == 2
    return any(float(count) for _, count in counts)


async def _rest(app: psutil.Process, soaked: Soaked, began_s: float) -> None:
    for _ in range(_LOOKS):
        at_s = time.monotonic() - began_s
        soaked.app.append(_look(app, at_s))
        for worker in _workers(app):
            with suppress(psutil.Error):  # it has just ended
                soaked.worker.append(_look(worker, at_s))
        await asyncio.sleep(_POLL_S)


async def _live(address: str, app: psutil.Process, plan: Plan, soaked: Soaked) -> None:
    chances = [random.Random(plan.seed + number) for number in range(plan.n_visitors)]
    began_s = time.monotonic()
    while soaked.did["sessions"] < plan.warm_sessions or soaked.did["presses of Run"] < plan.warm_runs:
        await _round(address, chances, soaked)
    soaked.warm_s = time.monotonic() - began_s
    while time.monotonic() - began_s < soaked.warm_s + plan.run_s:
        await _round(address, chances, soaked)
        await _rest(app, soaked, began_s)
        soaked.n_rounds += 1


def soak(plan: Plan, home: Path) -> Soaked:
    """Keep a server in an empty data folder busy and return what was seen."""
    soaked, log = Soaked(), home / "server.log"
    with serve("app.py", home, log) as (address, process, started_s):
        wait_for(f"{address}/api/ready", started_s, '"ready":true')
        app = psutil.Process(process.pid)
        asyncio.run(_live(address, app, plan, soaked))
        family = app.children(recursive=True)
    _, alive = psutil.wait_procs(family, timeout=5)
    soaked.n_orphans = len(alive)
    soaked.n_tracebacks = log.read_text(errors="replace").count("Traceback")
    return soaked


def tell_soak(plan: Plan, soaked: Soaked) -> list[Figure]:
    """Return the figures: what went on, and the slopes at rest."""
    did = ", ".join(f"{count} {name}" for name, count in soaked.did.items())
    failed = "; ".join(f"{name} ({count}x)" for name, count in soaked.failed.items())
    figures = [
        Figure(
            "the run",
            f"{plan.n_visitors} visitors at a time, {soaked.n_rounds} rounds in {plan.run_s / 60:.3g} min after a "
            f"warm-up of {soaked.warm_s / 60:.2g} min: {did}",
        ),
        Figure("visits that failed", failed or "none", "none", not failed),
        Figure("tracebacks in the server's log", str(soaked.n_tracebacks), "0", soaked.n_tracebacks == 0),
        Figure("processes left when the server had ended", str(soaked.n_orphans), "0", soaked.n_orphans == 0),
    ]
    for name, samples in (("app", soaked.app), ("worker", soaked.worker)):
        figures += _tell_process(name, samples)
    return figures


def _tell_process(name: str, samples: Sequence[Sample]) -> list[Figure]:
    """Tell of the process that was looked at most; a worker that does not stop when asked is replaced."""
    counts = Counter(sample.pid for sample in samples)
    own = [s for s in samples if s.pid == max(counts, key=lambda pid: counts[pid])]
    if own and own[0] != samples[0]:  # it loads its libraries one by one, as runs ask for them
        own = own[_LOOKS * _ROUNDS_TO_LOAD :]
    if len(counts) > 1:
        name += f" (of {len(counts)} the one that lived longest)"
    memory = [(s.at_s, s.memory_bytes / 2**20) for s in own]
    handles, threads = [(s.at_s, s.n_handles) for s in own], [(s.at_s, s.n_threads) for s in own]
    remark = ""
    if len(own) >= 3:  # a leak rises from third to third, what fills up levels off
        thirds = ", ".join(f"{np.median(third):.0f}" for third in np.array_split([mib for _, mib in memory], 3))
        remark = f"; medians of its thirds {thirds} MiB, at most {format_size(max(s.memory_bytes for s in own))}"
    return [
        tell_slope(f"memory of the {name}", memory, "MiB/min", MOST_MIB_PER_MIN, remark),
        tell_slope(f"handles of the {name}", handles, "a minute", MOST_HANDLES_PER_MIN),
        tell_slope(f"threads of the {name}", threads, "a minute", MOST_HANDLES_PER_MIN),
    ]


def main() -> None:
    """Print the figures and write their section; exit status 1 when something grows."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=DEFAULT_MINUTES)
    parser.add_argument("--visitors", type=int, default=Plan().n_visitors)
    parser.add_argument("--no-report", action="store_true", help="print only")
    options = parser.parse_args()
    plan = Plan(run_s=60 * options.minutes, n_visitors=options.visitors)
    provisional = tell_provisional(busy_cores())
    with temporary_home() as home:
        figures = tell_soak(plan, soak(plan, home))
    holds = print_figures(figures)
    print(provisional)
    if not options.no_report:
        length = "" if options.minutes == DEFAULT_MINUTES else f" --minutes {options.minutes:g}"
        write_section("soak", f".venv/bin/python -m benchmarks.soak{length}", figures, provisional=provisional)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
