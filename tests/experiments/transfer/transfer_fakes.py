"""A GPU made of main memory: copies really happen, and what is synchronised is written down."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from transfer_made import GIB, make_machine

from gpuexplain.experiments.transfer.bench import Bench
from gpuexplain.experiments.transfer.buffers import Buffers
from gpuexplain.experiments.transfer.measure import reach_bytes
from gpuexplain.experiments.transfer.spec import BYTES_PER_VALUE, TransferParams, plan_cases
from gpuexplain.experiments.transfer.streams import Streams
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.session import Outcome, Progress
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.track import Track
from gpuexplain.model import Case, Point

WITH_GPU = make_machine(gpu_free_bytes=70 * GIB)


class FakeEvent:
    """Remembers when it was recorded."""

    def __init__(self) -> None:
        self.at_s = -1.0

    def record(self) -> None:
        self.at_s = time.perf_counter()

    def elapsed_time(self, later: "FakeEvent") -> float:
        return (later.at_s - self.at_s) * 1e3


class FakeCuda:
    """What the clocks ask of a device; ``log`` has what happened, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def synchronize(self) -> None:
        self.log.append("sync")

    def event(self) -> FakeEvent:
        return FakeEvent()

    def block_stream(self, duration_s: float) -> None:
        self.log.append("block")


def fake_streams(log: list[str]) -> Callable[[], Streams]:
    """Return what makes two streams that write down when they are entered."""

    @contextmanager
    def enter(name: str) -> Iterator[None]:
        log.append(name)
        yield

    return lambda: Streams(lambda: enter("first"), lambda: enter("second"))


def make_fake_bench(cases: list[Case], machine: Machine = WITH_GPU, pin=torch.empty) -> tuple[Bench, FakeCuda]:
    """Return a bench whose GPU is main memory; ``pin`` gives its pinned memory."""
    cuda = FakeCuda()
    buffers = Buffers(max(reach_bytes(case) for case in cases) // BYTES_PER_VALUE, "cpu", pin, torch.clone)
    return Bench(machine, 1, buffers, cuda, fake_streams(cuda.log)), cuda


def link_cases(**params: object) -> list[Case]:
    """Return the cases of a machine with a GPU, small ones."""
    return plan_cases(TransferParams.model_validate({"largest_mib": 1, "total_mib": 1, "side": 64, **params}), WITH_GPU)


class KeepingSession:
    """Keeps the last point of each case."""

    def __init__(self, *, stop: bool = False) -> None:
        self.by_case: dict[str, Point] = {}
        self.stop = stop

    def point(self, point: Point) -> None:
        self.by_case[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        pass

    def cancelled(self) -> bool:
        return self.stop


def visit_each(bench: Bench, cases: list[Case], n_blocks: int = 3) -> list[Point]:
    """Return the point of every case after a few blocks and its check: however busy the machine is."""
    points = []
    for case in cases:
        track = Track(case, bench.prepare(case))
        assert track.stopwatch is not None
        track.first_call_s = track.stopwatch.call_once()
        for _ in range(n_blocks):
            track.add(track.stopwatch.time_block(untimed=0, n_calls=1), 1)
        track.take_check(track.stopwatch.check())
        points.append(track.point("transfer", "Fake"))
    return points


def sweep(bench: Bench, cases: list[Case], budget_s: float, **options: object) -> tuple[list[Point], Outcome]:
    """Run the cases on a bench and return their points."""
    session = KeepingSession()
    names = {case.device: "Fake" for case in cases}
    outcome = Sweep(
        "transfer",
        cases,
        bench.prepare,
        session,
        budget_s=budget_s,
        device_names=names,
        **options,  # type: ignore[arg-type]
    ).run()
    return list(session.by_case.values()), outcome
