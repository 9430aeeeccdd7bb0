"""A machine, points whose answer is obvious, and the pages made of them."""

from html.parser import HTMLParser

from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Cpu, GpuProblem, Machine, Memory, Platform
from gpuexplain.measuring.session import Coverage
from gpuexplain.model import Clock, Conditions, Dtype, Point, Source
from gpuexplain.registry import EXPERIMENTS
from gpuexplain.report.chapter import Told
from gpuexplain.store.run import RunState, StoredRun

MATMUL: Experiment = EXPERIMENTS["matmul"]
NOW_S = 1_796_024_700.0  # 30 November 2026, 07:45 UTC
COVERAGE = Coverage(budget_s=11, wall_s=11.2, prepare_s=0.2, verify_s=0.3, warmup_s=4, timed_s=6, rounds=9)


def make_machine() -> Machine:
    """Return a machine with two threads and no GPU."""
    return Machine(
        cpu=Cpu(model="Test CPU", architecture="x86_64", logical_cpus=2, affinity_cpus=2, usable_threads=2),
        memory=Memory(total_bytes=2**34, available_bytes=2**33),
        platform=Platform(hostname="here", machine_id="m1", system="Testix", kernel="6", python="3.11"),
        torch_version="2.13.0",
        gpu_problem=GpuProblem(rung="no_driver", explanation="No driver was found.", remedy="Install it."),
    )


def make_points(*sides: int, **changes: object) -> tuple[Point, ...]:
    """Return points of both CPU series: two threads are twice as fast as one at every size."""
    return tuple(
        Point.model_validate(
            {
                "experiment": "matmul",
                "series": series,
                "x": float(side),
                "shape": (side, side, side),
                "dtype": Dtype.FP32,
                "device": "cpu",
                "device_name": "Test CPU",
                "clock": Clock.CALL,
                "threads": threads,
                "n_samples": 7,
                "samples_s": (time_s,) * 7,
                "median_s": time_s,
                "ci_low_s": time_s * 0.99,
                "ci_high_s": time_s * 1.01,
                "first_call_s": time_s * 20,
                "flops": 2.0 * side**3,
                "conditions": Conditions(other_cpu_cores=side / 1000),
                **changes,
            }
        )
        for series, threads, rate in (("cpu", 2, 1e11), ("cpu_1_thread", 1, 0.5e11))
        for side, time_s in ((side, 2.0 * side**3 / rate) for side in sides)
    )


def told(experiment: Experiment = MATMUL, points: tuple[Point, ...] = (), **changes: object) -> Told:
    """Return a run of this machine as a page tells it."""
    known = {
        "run_id": "20261130-074025-1306",
        "coverage": COVERAGE,
        "measured_at": NOW_S - 60,
        "params": {"dtype": "fp32"},
    }
    return Told(experiment, points, **(known | changes))  # type: ignore[arg-type]


def published(note: str, name: str = "Test GPU") -> tuple[Point, ...]:
    """Return points that somebody else published."""
    return make_points(64, 128, source=Source.PUBLISHED, source_note=note, device_name=name, device="published:x")


def stored(points: tuple[Point, ...], **changes: object) -> StoredRun:
    """Return a stored run of the machine."""
    return StoredRun.model_validate(
        {
            "id": "20261130-074025-1306",
            "experiment": "matmul",
            "measuring_version": 1,
            "key": "k",
            "params": {"dtype": "fp32", "largest_side": None},
            "machine": make_machine().model_dump(mode="json"),
            "device": "cpu",
            "state": RunState.DONE,
            "coverage": COVERAGE.model_dump(),
            "created_at": NOW_S - 80,
            "finished_at": NOW_S - 60,
            "points": points,
            **changes,
        }
    )


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, text, scripts."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def count(self, tag: str) -> int:
        """Return how many elements of a kind there are."""
        return sum(name == tag for name, _ in self.elements)
