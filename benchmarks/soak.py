"""Does a day of visitors leave anything behind? Sessions come and go, runs are started and cancelled, without a pause.

Memory, handles and threads of app and worker are sampled every second. After a warm-up, in which caches fill, they
must stay flat: the slope is printed with its 95 % interval. Three minutes by default; ``--minutes`` for longer.
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

import psutil

from benchmarks.page_client import PageError, Visitor
from benchmarks.report import Figure, busy_cores, print_figures, tell_provisional, write_section
from benchmarks.server import serve, temporary_home, wait_for
from benchmarks.slopes import Sample, tell_slope
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.ui.pages import PAGES
from gpuexplain.units import format_size

_SAMPLE_S = 1.0
_PRESSES, _CANCELS = 0.5, 0.5  # how many visitors press Run, and how many of those press Cancel
_LONGEST_STAY_S = 3.0
_BUDGETS_S = (0.5, 1.0, 2.0)
_SIDES = (32, 64, 96, 128)
# What one more session, run or cached figure adds is far less; a leak of a session a second is more.
MOST_MIB_PER_MIN = 2.0
MOST_HANDLES_PER_MIN = 1.0
_PATIENCE_S = 60.0  # of a visitor


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, and how many at once."""

    run_s: float = 180.0
    warm_s: float = 60.0
    n_visitors: int = 6
    seed: int = 0


@dataclass(slots=True)
class Soaked:
    """What was seen."""

    app: list[Sample] = field(default_factory=list)
    worker: list[Sample] = field(default_factory=list)
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


async def _sample(app: psutil.Process, soaked: Soaked, began_s: float, until_s: float) -> None:
    while time.monotonic() < until_s:
        at_s = time.monotonic() - began_s
        soaked.app.append(_look(app, at_s))
        for worker in _workers(app):
            with suppress(psutil.Error):  # it has just ended
                soaked.worker.append(_look(worker, at_s))
        await asyncio.sleep(_SAMPLE_S)


def _look(process: psutil.Process, at_s: float) -> Sample:
    with process.oneshot():
        return Sample(at_s, process.pid, process.memory_info().rss, process.num_fds(), process.num_threads())


def _workers(app: psutil.Process) -> list[psutil.Process]:
    return [child for child in app.children() if "gpuexplain.engine.worker" in " ".join(child.cmdline())]


async def _live(address: str, app: psutil.Process, plan: Plan, soaked: Soaked) -> None:
    began_s = time.monotonic()
    until_s = began_s + plan.run_s
    chances = [random.Random(plan.seed + number) for number in range(plan.n_visitors)]
    visitors = [_visit_for(address, until_s, chance, soaked) for chance in chances]
    await asyncio.gather(_sample(app, soaked, began_s, until_s), *visitors)


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
    """Return the figures: what went on, and the slopes after the warm-up."""
    did = ", ".join(f"{count} {name}" for name, count in soaked.did.items())
    failed = "; ".join(f"{name} ({count}x)" for name, count in soaked.failed.items())
    figures = [
        Figure("the run", f"{plan.run_s / 60:.3g} min, {plan.n_visitors} visitors at any time: {did}"),
        Figure("visits that failed", failed or "none", "none", not failed),
        Figure("tracebacks in the server's log", str(soaked.n_tracebacks), "0", soaked.n_tracebacks == 0),
        Figure("processes left when the server had ended", str(soaked.n_orphans), "0", soaked.n_orphans == 0),
    ]
    for name, samples in (("app", soaked.app), ("worker", soaked.worker)):
        figures += _tell_process(name, samples, plan.warm_s)
    return figures


def _tell_process(name: str, samples: Sequence[Sample], warm_s: float) -> list[Figure]:
    pids = list(dict.fromkeys(sample.pid for sample in samples))
    own = [s for s in samples if s.pid == pids[-1] and s.at_s >= warm_s]
    if len(pids) > 1:
        name += f" (the last of {len(pids)})"
    memory = [(s.at_s, s.memory_bytes / 2**20) for s in own]
    handles, threads = [(s.at_s, s.n_handles) for s in own], [(s.at_s, s.n_threads) for s in own]
    largest = f", at most {format_size(max(s.memory_bytes for s in own))}" if own else ""
    return [
        tell_slope(f"memory of the {name}", memory, "MiB/min", MOST_MIB_PER_MIN, largest),
        tell_slope(f"handles of the {name}", handles, "a minute", MOST_HANDLES_PER_MIN),
        tell_slope(f"threads of the {name}", threads, "a minute", MOST_HANDLES_PER_MIN),
    ]


def main() -> None:
    """Print the figures and write their section; exit status 1 when something grows."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--visitors", type=int, default=Plan().n_visitors)
    parser.add_argument("--no-report", action="store_true", help="print only")
    options = parser.parse_args()
    plan = Plan(run_s=60 * options.minutes, warm_s=20 * options.minutes, n_visitors=options.visitors)
    provisional = tell_provisional(busy_cores())
    with temporary_home() as home:
        figures = tell_soak(plan, soak(plan, home))
    holds = print_figures(figures)
    print(provisional)
    if not options.no_report:
        write_section("soak", ".venv/bin/python -m benchmarks.soak", figures, provisional=provisional)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
