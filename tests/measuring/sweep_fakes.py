"""A clock that only moves when fake work is done, and cases whose cost is a formula."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from gpuexplain.measuring.session import Outcome, Progress
from gpuexplain.measuring.stopwatch import Block, Check
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.model import Case, Clock, Dtype, Point

Cost = Callable[[int], float]  # number of the call -> seconds


class FakeClock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class FakeStopwatch:
    """Calls cost what ``cost`` says; the clock moves by it."""

    clock: FakeClock
    cost: Cost
    most_calls: int = 100_000
    resolution_s: float = 1e-9
    timing: str = "fake clock"
    cache_ratio: float | None = None
    result: Check = field(default_factory=lambda: Check(1e-7, 0, 0))
    n_calls: int = 0
    n_checks: int = 0

    def _call(self) -> float:
        cost_s = self.cost(self.n_calls)
        self.n_calls += 1
        self.clock.now_s += cost_s
        return cost_s

    def call_once(self) -> float:
        return self._call()

    def time_block(self, untimed: int, n_calls: int) -> Block:
        untimed_s = sum(self._call() for _ in range(untimed))
        timed_s = sum(self._call() for _ in range(n_calls))
        return Block(timed_s / n_calls, timed_s, untimed_s)

    def check(self) -> Check:
        self.n_checks += 1
        return self.result


@dataclass
class FakeSession:
    """Keeps the last point of each case, and every arrival in order."""

    cancel_after_points: int | None = None
    arrivals: list[Point] = field(default_factory=list)
    progresses: list[Progress] = field(default_factory=list)

    def point(self, point: Point) -> None:
        self.arrivals.append(point)

    def progress(self, progress: Progress) -> None:
        self.progresses.append(progress)

    def cancelled(self) -> bool:
        return self.cancel_after_points is not None and len(self.arrivals) >= self.cancel_after_points

    @property
    def points(self) -> dict[float, Point]:
        return {point.x: point for point in self.arrivals}


def make_case(x: float, *, series: str = "cpu", explicit: bool = False) -> Case:
    """Return a square product's case; its FLOPs are 2 x^3."""
    side = int(x)
    return Case(
        series=series,
        x=x,
        shape=(side, side, side),
        dtype=Dtype.FP32,
        device="cpu",
        clock=Clock.CALL,
        threads=1,
        flops=2.0 * x**3,
        bytes_moved=12.0 * x**2,
        memory_bytes=int(12 * x**2),
        explicit=explicit,
    )


def steady(call_s: float, noise: float = 0.0, seed: int = 1) -> Cost:
    """Return a cost of ``call_s`` with uniform relative noise."""
    draw = random.Random(seed)
    return lambda _: call_s * (1 + noise * draw.uniform(-1, 1))


@dataclass
class Bench:
    """One fake sweep: costs by x, what it was asked to prepare, and how it went."""

    costs: dict[float, Cost]
    budget_s: float = 10.0
    explicit: frozenset[float] = frozenset()
    session: FakeSession = field(default_factory=FakeSession)
    clock: FakeClock = field(default_factory=FakeClock)
    stopwatches: dict[float, FakeStopwatch] = field(default_factory=dict)
    prepare_s: float = 0.0
    failures: dict[float, Exception] = field(default_factory=dict)
    checks: dict[float, Check] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)

    def prepare(self, case: Case) -> FakeStopwatch:
        self.clock.now_s += self.prepare_s
        if case.x in self.failures:
            raise self.failures[case.x]
        watch = FakeStopwatch(self.clock, self.costs[case.x])
        if case.x in self.checks:
            watch.result = self.checks[case.x]
        self.stopwatches[case.x] = watch
        return watch

    def run(self, later: dict[float, Cost] | None = None) -> Outcome:
        """Sweep the costs; ``later`` are those of cases that only a refinement asks for."""
        cases = [make_case(x, explicit=x in self.explicit) for x in self.costs]
        self.costs |= later or {}
        return Sweep(
            "fake",
            cases,
            self.prepare,
            self.session,
            budget_s=self.budget_s,
            device_names={"cpu": "Fake CPU"},
            clock=self.clock,
            **self.options,  # type: ignore[arg-type]
        ).run()
