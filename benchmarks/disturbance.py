"""Do viewers spoil what they look at? The same run with nobody and with everybody watching, in turn."""

import asyncio
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.page_client import Visitor
from benchmarks.report import Figure
from benchmarks.server import serve, wait_for
from gpuexplain.model import Flag, Point
from gpuexplain.store.run import RunState, StoredRun
from gpuexplain.store.runs import RunStore
from gpuexplain.units import format_percent

ROUNDS = 3
_QUERY = "budget_s=10&largest_side=512"
_ARRIVALS_PER_S = 20.0
_LOOK_S = 0.5
# 95 % intervals of an undisturbed pair overlap so in about 95 of 100 cases; the method's own rule asks for 90.
LEAST_EXPLAINED = 0.9


@dataclass(frozen=True, slots=True)
class Pair:
    """The same case twice."""

    one: Point
    other: Point

    @property
    def shift(self) -> float:
        """How much longer the other took, as a share."""
        assert self.one.median_s
        assert self.other.median_s
        return self.other.median_s / self.one.median_s - 1

    @property
    def is_inside(self) -> bool:
        """Whether both medians agree within their intervals."""
        half_s = [(p.ci_high_s or math.inf) - (p.ci_low_s or 0.0) for p in (self.one, self.other)]
        assert self.one.median_s
        assert self.other.median_s
        return abs(self.one.median_s - self.other.median_s) <= math.hypot(*half_s) / 2

    @property
    def is_flagged(self) -> bool:
        """Whether the other one says itself that it was disturbed."""
        return Flag.UNDER_LOAD in self.other.flags


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Pairs of one run alone with one watched, and with the next one alone."""

    watched: list[Pair]
    alone: list[Pair]


def measure_disturbance(home: Path, n_viewers: int, rounds: int = ROUNDS) -> Disturbance:
    """Return what viewers do to the medians of a run, from a server in an empty data folder."""
    with serve("app.py", home) as (address, _, started_s):
        wait_for(f"{address}/api/ready", started_s, '"ready":true')
        store = RunStore(f"sqlite:///{home / 'gpuexplain.db'}")
        runs = asyncio.run(_take_turns(address, store, n_viewers, rounds))
    alone, watched = runs[::2], runs[1::2]
    return Disturbance(
        watched=[pair for one, other in zip(alone, watched, strict=True) for pair in _pairs(one, other)],
        alone=[pair for one, other in pairwise(alone) for pair in _pairs(one, other)],
    )


def _pairs(one: StoredRun, other: StoredRun) -> list[Pair]:
    others = {point.case_id: point for point in other.points if point.median_s}
    return [Pair(p, others[p.case_id]) for p in one.points if p.median_s and p.case_id in others]


async def _take_turns(address: str, store: RunStore, n_viewers: int, rounds: int) -> list[StoredRun]:
    return [await _measure(address, store, viewers) for _ in range(rounds) for viewers in (0, n_viewers)]


async def _measure(address: str, store: RunStore, n_viewers: int) -> StoredRun:
    known = {run.id for run in store.list_runs(limit=1000)}
    starter = Visitor(address, "matmul", _QUERY)
    await starter.open()
    await starter.press("run")
    await starter.close()  # the run goes on without them
    viewers = await asyncio.gather(*(_come(address, number) for number in range(n_viewers)))
    while True:
        ended = [r for r in store.list_runs(limit=1000) if r.id not in known and r.state is not RunState.RUNNING]
        if ended:
            break
        await asyncio.sleep(_LOOK_S)
    await asyncio.gather(*(viewer.close() for viewer in viewers))
    return store.load_run(ended[0].id)


async def _come(address: str, number: int) -> Visitor:
    await asyncio.sleep(number / _ARRIVALS_PER_S)
    viewer = Visitor(address, "matmul", _QUERY)
    await viewer.open()
    return viewer


def tell_disturbance(found: Disturbance, n_viewers: int) -> list[Figure]:
    """Return the figures."""
    explained = sum(pair.is_inside or pair.is_flagged for pair in found.watched) / max(1, len(found.watched))
    return [
        Figure(
            f"median with {n_viewers} viewers against none",
            _tell(found.watched),
            f"inside the intervals, or flagged under_load, in {format_percent(LEAST_EXPLAINED)}",
            explained >= LEAST_EXPLAINED,
        ),
        Figure("for comparison: none against none", _tell(found.alone)),
    ]


def _tell(pairs: Sequence[Pair]) -> str:
    if not pairs:
        return "not measured"
    shifts = [pair.shift for pair in pairs]
    inside = sum(pair.is_inside for pair in pairs)
    flagged = sum(pair.is_flagged for pair in pairs)
    neither = sum(not pair.is_inside and not pair.is_flagged for pair in pairs)
    return (
        f"shifted by {statistics.median(shifts):+.1%} in the middle, {min(shifts):+.1%} to {max(shifts):+.1%}; of "
        f"{len(pairs)} cases {inside} inside, {flagged} flagged, {neither} neither"
    )
