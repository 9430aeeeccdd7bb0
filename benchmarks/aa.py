"""A/A: the same case measured twice in one sweep. How often do the two agree within their intervals?

Wanted: |a - b| <= sqrt(ha^2 + hb^2), a and b the medians, ha and hb the half-widths of their 95 %
intervals, in at least 90 % of at least 200 pairs, on a quiet machine. Points that were taken under
load are counted: where there are many, the machine was not quiet and the share says nothing.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from gpuexplain.experiments.matmul.measure import Bench
from gpuexplain.experiments.matmul.spec import EXPERIMENT_ID, MatmulParams, plan_cases
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.measuring.probe import probe_torch
from gpuexplain.measuring.session import Progress
from gpuexplain.measuring.sweep import Sweep
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices
from gpuexplain.model import Case, Flag, Point

FEWEST_PAIRS = 200
WANTED_SHARE = 0.9
BUDGET_S = 15.0  # that of a Standard sweep, for twice its cases
MOST_SWEEPS = 40
TWIN = " again"


@dataclass
class Twins:
    """A session that keeps the latest point of every case."""

    points: dict[str, Point] = field(default_factory=dict)

    def point(self, point: Point) -> None:
        """Take a point."""
        self.points[point.case_id] = point

    def progress(self, progress: Progress) -> None:
        """Take note."""

    def cancelled(self) -> bool:
        """Never."""
        return False

    def pairs(self) -> list[tuple[Point, Point]]:
        """Return both points of every case whose medians have intervals."""
        by_twin = {(p.series, p.x): p for p in self.points.values() if p.half_width is not None}
        found = ((p, by_twin.get((p.series + TWIN, p.x))) for p in by_twin.values())
        return [(first, second) for first, second in found if second is not None]


def agree(first: Point, second: Point) -> bool:
    """Whether two medians differ by no more than their intervals together explain."""
    assert first.median_s is not None
    assert second.median_s is not None
    widths_s = [(p.half_width or 0.0) * (p.median_s or 0.0) for p in (first, second)]
    return abs(first.median_s - second.median_s) <= math.hypot(*widths_s)


def twice(cases: Sequence[Case]) -> list[Case]:
    """Return every case and its twin, which a sweep takes for a case of its own."""
    return [twin for case in cases for twin in (case, replace(case, series=case.series + TWIN))]


def main(fewest_pairs: int = FEWEST_PAIRS, budget_s: float = BUDGET_S) -> None:
    """Print the share of pairs that agree."""
    torch.set_flush_denormal(True)  # as the worker does
    machine = inspect_machine(probe_torch(inspect_machine().cpu.usable_threads))
    cases = plan_cases(MatmulParams(budget_s=budget_s), machine)
    pairs: list[tuple[Point, Point]] = []
    sweeps = 0
    while len(pairs) < fewest_pairs and sweeps < MOST_SWEEPS:
        pairs += sweep_twins(cases, machine, budget_s, seed=sweeps)
        sweeps += 1
    tell(pairs, sweeps)


def sweep_twins(cases: Sequence[Case], machine: Machine, budget_s: float, seed: int) -> list[tuple[Point, Point]]:
    """Measure every case twice in one sweep."""
    devices = sorted({case.device for case in cases})
    twins = Twins()
    watched = {device: gpu.uuid for device in devices if (gpu := machine.gpu(device)) is not None}
    with exact_fp32():
        use_devices(devices)
        Sweep(
            EXPERIMENT_ID,
            twice(cases),
            Bench(machine, machine.cpu.usable_threads).prepare,
            twins,
            budget_s=budget_s,
            device_names={device: machine.device_name(device) for device in devices},
            conditions=ConditionsMonitor(watched),
            seed=seed,
        ).run()
    return twins.pairs()


def tell(pairs: Sequence[tuple[Point, Point]], sweeps: int) -> None:
    """Print what the pairs say, and how quiet the machine was."""
    if not pairs:
        print("no pair has intervals: give the sweeps more time")
        return
    share = sum(agree(*pair) for pair in pairs) / len(pairs)
    points = [point for pair in pairs for point in pair]
    loaded = sum(Flag.UNDER_LOAD in point.flags for point in points) / len(points)
    apart = statistics.median(abs(a.median_s / b.median_s - 1) for a, b in pairs)
    width = statistics.median(point.half_width for point in points)
    print(
        f"{len(pairs)} pairs of {sweeps} sweeps: {share:.1%} agree (wanted {WANTED_SHARE:.0%}); "
        f"median difference {apart:.2%}, median half-width {width:.2%}; {loaded:.0%} of the points under load"
    )


if __name__ == "__main__":
    main()
