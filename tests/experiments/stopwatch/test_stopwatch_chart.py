"""The figures of the stopwatch page, its plan, its script and a real run."""

import re
import subprocess
import sys

import pytest
from stopwatch_made import cpu_points, gpu_points

from gpuexplain.charts.theme import Theme
from gpuexplain.errors import InputError
from gpuexplain.experiments.stopwatch.chart import draw_main, draw_second
from gpuexplain.experiments.stopwatch.conclude import find_stopwatch_findings
from gpuexplain.experiments.stopwatch.series import Lane
from gpuexplain.experiments.stopwatch.snippet import write_snippet
from gpuexplain.experiments.stopwatch.spec import StopwatchParams, Way, plan_cases
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Point, Status

torch = pytest.importorskip("torch")

from gpuexplain.experiments.stopwatch.measure import measure  # noqa: E402

THEMES: tuple[Theme, ...] = ("light", "dark")


@pytest.mark.parametrize("theme", THEMES)
def test_a_gpu_shows_both_lanes_with_and_without_a_wait(theme: Theme) -> None:
    """Four rows, and the naive and the true stretch named."""
    points = gpu_points()
    figure = draw_main(points, find_stopwatch_findings(points), theme)
    assert list(figure.layout.yaxis2.ticktext) == [
        "queueing: work", "queueing: program", "waiting: work", "waiting: program",
    ]  # fmt: skip
    texts = [a.text.replace("\u00a0", " ") for a in figure.layout.annotations]
    assert texts == ["naive clock: 10 µs", "true: 1.0 ms"]
    assert figure.layout.xaxis.title.text == "multiple of the right figure (log)"


def test_mistakes_are_ordered_by_their_factor() -> None:
    """The smallest figure at the bottom, above the right one; what does not exist here is not drawn."""
    points = cpu_points(**{Way.ONE_THREAD: {"median_s": 2e-3}, Way.CONSTANTS: {"median_s": 0.5e-3}})
    names = list(draw_main(points, find_stopwatch_findings(points), "light").layout.yaxis.ticktext)
    assert (names[0], names[1], names[-1]) == ("the right figure", "constants as input", "one CPU thread")
    assert "no synchronise" not in names


def test_samples_are_drawn_in_order_with_the_cold_call_first() -> None:
    """Cold call, warm-up, samples."""
    points = cpu_points(**{Way.RIGHT: {"first_call_s": 9e-3}})
    figure = draw_second(points, find_stopwatch_findings(points), "light")
    assert [(t.name, t.x[0]) for t in figure.data] == [("cold call", 1), ("warm-up", 2), ("samples", 5)]


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_stopwatch_findings([])
    for draw in (draw_main, draw_second):
        assert "Press Run" in draw([], findings, "light").layout.annotations[0].text


def test_the_ways_of_a_device_are_planned() -> None:
    """On a CPU no way that needs a queue; an unknown device is refused."""
    cases = plan_cases(StopwatchParams(device="cpu"), inspect_machine())
    assert Way.NO_SYNC not in {case.series for case in cases}
    assert {case.x for case in cases} == {512.0}
    with pytest.raises(InputError, match="cuda:7"):
        plan_cases(StopwatchParams(device="cuda:7"), inspect_machine())


class Kept:
    """Keeps the last point of each case."""

    def __init__(self) -> None:
        self.points: dict[str, Point] = {}

    def point(self, point: Point) -> None:
        self.points[point.case_id] = point

    def progress(self, progress: object) -> None:
        pass

    def cancelled(self) -> bool:
        return False


def test_a_real_run_times_every_way_and_records_the_lanes() -> None:
    """On the CPU of this machine, with torch's profiler."""
    session = Kept()
    measure({"device": "cpu", "side": "128", "budget_s": 2.0}, session)
    points = list(session.points.values())
    timed = {p.series: p for p in points if p.series in set(Way)}
    assert {Way.RIGHT, Way.SINGLE, Way.ITEM, Way.CONSTANTS, Way.DISTURBED} <= set(timed)
    assert all(p.status is Status.OK and p.median_s and (p.rel_error or 0) < 1e-5 for p in timed.values())
    lanes = find_stopwatch_findings(points).lanes
    assert [e.lane for e in lanes].count(Lane.HOST) == 3
    assert all(e.length_s > 0 for e in lanes)


def test_the_script_runs_alone() -> None:
    """It prints the wrong figures and the median of the right ones."""
    script = write_snippet(StopwatchParams(side="128"), None)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r"median_s=(\S+)", done.stdout)
    assert found is not None
    assert 0 < float(found[1]) < 1
    assert "no warm-up" in done.stdout


def test_the_script_for_a_gpu_waits_for_it() -> None:
    """Before and after the clock is read."""
    point = gpu_points()[0]
    script = write_snippet(StopwatchParams(), point)
    assert script.count('torch.cuda.synchronize("cuda:0")') == 1
    assert 'fp32_precision = "ieee"' in script
    compile(script, "snippet.py", "exec")
