"""What many workers gain: plan, findings, words, charts, script and a real run."""

import re
import subprocess
import sys

import pytest
from workers_made import block_points, make_point, one_block_point, path_points, sum_points, thread_points

from gpuexplain.experiments.workers import spec
from gpuexplain.experiments.workers.chart import draw_main, draw_second
from gpuexplain.experiments.workers.conclude import Verdict, find_workers_findings
from gpuexplain.experiments.workers.snippet import write_snippet
from gpuexplain.experiments.workers.spec import WorkersParams, block_counts, plan_cases, thread_counts
from gpuexplain.experiments.workers.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_at_once,
    tell_divergence,
    tell_serial,
    tell_staircase,
)
from gpuexplain.findings import NotFound
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

torch = pytest.importorskip("torch")

from gpuexplain.experiments.workers.measure import measure  # noqa: E402


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


# -- plan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 3, 4, 5, 6]), (48, [1, 2, 4, 8, 16, 32, 48])]
)
def test_every_count_up_to_eight_then_powers_of_two(most: int, counts: list[int]) -> None:
    """All threads are always among them."""
    assert thread_counts(most) == counts


def test_blocks_are_tried_around_every_round() -> None:
    """A full round and one block too many, four times."""
    counts = block_counts(100)
    assert {100, 101, 200, 201, 300, 301, 400, 401} <= set(counts)
    assert counts[0] == 1


def test_without_a_gpu_nothing_of_it_is_planned() -> None:
    """Threads and sums only."""
    cases = plan_cases(WorkersParams(device="cpu"), inspect_machine())
    assert {case.series for case in cases} == {spec.THREADS, *spec.SUMS}


# -- findings -------------------------------------------------------------------------------------


def test_the_claim_of_one_value_a_core_fails_on_a_fast_product() -> None:
    """2 x 1024^3 operations in 10 ms are 215 GFLOP/s: at least 17 multiply-adds a clock on two cores."""
    found = find_workers_findings(thread_points(1.0, 2.0)).at_once
    assert not isinstance(found, NotFound)
    assert (found.verdict, found.cores, int(found.at_least)) == (Verdict.NOT_HELD, 2, 17)


def test_a_slow_product_refutes_nothing() -> None:
    """A hundred times slower: below one value a core and clock."""
    found = find_workers_findings(thread_points(1.0, 2.0, one_s=2.0)).at_once
    assert not isinstance(found, NotFound)
    assert found.verdict is Verdict.CANNOT_TELL


def test_the_claim_holds_on_cores_that_do_one_value_at_a_time() -> None:
    """2 x 1024^3 operations in 4 s are 0.5 GFLOP/s: at most 0.7 multiply-adds a clock, even at 400 MHz."""
    found = find_workers_findings(thread_points(1.0, 2.0, one_s=8.0)).at_once
    assert not isinstance(found, NotFound)
    assert (found.verdict, round(found.at_most, 1)) == (Verdict.HELD, 0.7)


@pytest.mark.parametrize(
    ("one_s", "said"),
    [
        (
            0.02,
            "“A CPU with 2 cores computes at most 2 values at once” does not hold here: 215 GFLOP/s are at least 17 "
            "multiply-adds a clock, 8.6 a core, even at 6.2 GHz, the turbo clock of an Intel Core i9-14900KS (Intel's "
            "product specifications). Vector units do many at a time: their width times the cores counts.",
        ),
        (
            8.0,
            "“A CPU with 2 cores computes at most 2 values at once” holds here: 537 MFLOP/s need at most 0.68 "
            "multiply-adds a clock, even at 400 MHz: these cores use no vector units.",
        ),
        (
            2.0,
            "“A CPU with 2 cores computes at most 2 values at once” cannot be refuted here: the product was too slow "
            "to tell.",
        ),
    ],
    ids=["fails", "holds", "cannot tell"],
)
def test_the_claim_of_one_value_a_core_is_told(one_s: float, said: str) -> None:
    """With the number of values at once."""
    assert bare(tell_at_once(find_workers_findings(thread_points(1.0, 2.0, one_s=one_s)).at_once)) == said


def test_without_a_gpu_its_part_is_said_to_be_missing() -> None:
    """And not where the run had one."""
    missing = "were not part of this run: they need a GPU."
    assert missing in tell(find_workers_findings(thread_points(1.0, 1.9))).see
    assert missing not in tell(find_workers_findings([*thread_points(1.0, 1.9), *block_points()])).see


def test_without_an_interval_the_rate_proves_nothing() -> None:
    """A lucky single sample must not refute a claim."""
    lucky = make_point(spec.THREADS, 1.0, 1e-3, ci_low_s=None, ci_high_s=None)
    assert isinstance(find_workers_findings([lucky]).at_once, NotFound)


def test_each_way_to_add_is_compared_with_the_loop() -> None:
    """40 ms against 200 us."""
    ways = {way.series: way for way in find_workers_findings(sum_points()).sums}
    assert ways[spec.SUM_NUMPY].factor == pytest.approx(200)
    assert (ways[spec.SUM_NUMPY].low or 0) < 200 < (ways[spec.SUM_NUMPY].high or 0)
    assert find_workers_findings(sum_points()[1:]).sums == ()


def test_a_perfect_staircase_is_recognised() -> None:
    """Steps at multiples of 108."""
    found = find_workers_findings(block_points(108)).staircase
    assert found is not None
    assert (found.verdict, found.multiprocessors) == (Verdict.HELD, 108)
    assert found.round_s == pytest.approx((1e-3, 2e-3, 3e-3, 4e-3))


def test_a_small_gpu_has_its_staircase_too() -> None:
    """Six multiprocessors: a quarter and a half of a round are neighbours."""
    found = find_workers_findings(block_points(6)).staircase
    assert found is not None
    assert (found.verdict, found.multiprocessors) == (Verdict.HELD, 6)


def test_blocks_without_their_multiprocessors_decide_nothing() -> None:
    """A round has no length then."""
    found = find_workers_findings([make_point(spec.BLOCKS, float(n), 1e-3) for n in (1, 2, 3)]).staircase
    assert found is not None
    assert (found.verdict, found.reason) == (
        Verdict.CANNOT_TELL, "how many multiprocessors there are is not known",
    )  # fmt: skip


def test_a_ramp_is_no_staircase() -> None:
    """Time that grows with every block."""
    ramp = [one_block_point(n, 1e-5 * n) for n in block_counts(108)]
    found = find_workers_findings(ramp).staircase
    assert found is not None
    assert (found.verdict, found.reason) == (Verdict.NOT_HELD, "the time is not flat inside a round")
    level = [one_block_point(n, 1e-3) for n in block_counts(108)]
    found = find_workers_findings(level).staircase
    assert found is not None
    assert found.reason == "the time does not rise from round to round"


def test_blocks_that_could_not_be_launched_say_why() -> None:
    """No Triton: unsupported, with its reason."""
    failed = make_point(spec.BLOCKS, 1.0, None, status=Status.UNSUPPORTED, reason="Triton is not installed.")
    found = find_workers_findings([failed]).staircase
    assert found is not None
    assert (found.verdict, found.reason) == (Verdict.CANNOT_TELL, "Triton is not installed.")


@pytest.mark.parametrize(
    ("parted_s", "wide", "verdict"),
    [(2e-3, {}, Verdict.HELD), (1.01e-3, {}, Verdict.NOT_HELD), (1.1e-3, {"ci_low_s": 0.5e-3}, Verdict.CANNOT_TELL)],
    ids=["costs", "free", "too noisy"],
)
def test_parted_paths_cost_nothing_or_cannot_be_told(parted_s: float, wide: dict, verdict: Verdict) -> None:
    """By the interval of the ratio."""
    found = find_workers_findings(path_points(parted_s, **wide)).divergence
    assert found is not None
    assert found.verdict is verdict


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "Nothing is measured yet. Press Run: one product is shared by one thread, two, and more."),
        (
            thread_points(1.0, 1.9),
            "On this machine two threads do one product 1.90 × as fast as one; each clock does at least 16 "
            "multiply-adds, not 2.",
        ),
        (
            [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in thread_points(1.0, 1.9, one_s=2.0)],
            "On this machine, busy with other work meanwhile, two threads do one product 1.90 × as fast as one.",
        ),
        (
            thread_points(1.0, one_s=2.0),
            "On this machine there is one thread to work with; its page shows what one core does.",
        ),
        (
            [p.model_copy(update={"source": Source.RECORDED}) for p in thread_points(1.0, 1.9, one_s=2.0)],
            "In a recorded run, two threads do one product 1.90 × as fast as one.",
        ),
    ],
    ids=["nothing", "two threads", "busy", "one slow thread", "recorded"],
)
def test_the_answer(points: list[Point], said: str) -> None:
    """One sentence with its numbers."""
    assert bare(tell(find_workers_findings(points)).answer) == said


def test_two_threads_say_why_no_serial_share_is_named() -> None:
    """Withheld, with the reason; named from four on."""
    assert bare(tell_serial(find_workers_findings(thread_points(1.0, 1.9)).serial)) == (
        "How much of the work stays serial cannot be said: a serial share needs 4 counts of workers, there are 2 (1, 2)."
    )
    shares = find_workers_findings(thread_points(*(1 / (0.1 + 0.9 / p) for p in (1, 2, 3, 4))))
    assert bare(tell_serial(shares.serial)) == (
        "10 % of the work stays serial (Amdahl's law), so no number of threads gets beyond 10.0 ×."
    )


def test_the_gpu_part_is_told() -> None:
    """Steps and parted paths, each with its numbers."""
    findings = find_workers_findings([*thread_points(1.0, 1.9), *block_points(), *path_points(1.9e-3)])
    assert findings.staircase is not None
    assert findings.divergence is not None
    assert bare(tell_staircase(findings.staircase)) == (
        "Equal blocks take 1.00 ms, 2.00 ms, 3.00 ms and 4.00 ms for one round of 108 multiprocessors after the other: "
        "one block too many costs a whole round."
    )
    assert bare(tell_divergence(findings.divergence)) == (
        "The same work takes 1.90 × as long with paths that part between neighbours."
    )


def test_the_sums_are_put_in_their_place() -> None:
    """A factor against a loop is no praise."""
    assert (
        "Adding 1,048,576 numbers takes a Python loop 40.0 ms; as fast as that are NumPy 200 ×, torch, 1 thread 400 × "
        "and torch, all threads 667 ×."
    ) in bare(tell(find_workers_findings(sum_points())).see)


def test_titles_and_text_alternatives() -> None:
    """The chart's title is its finding."""
    findings = find_workers_findings([*thread_points(1.0, 1.9), *sum_points()])
    assert bare(claim_main(findings)) == "Two threads reach 95 % of the ideal speed-up"
    assert bare(claim_second(findings)) == "torch, all threads adds 667 × as fast as a Python loop"
    assert bare(describe_main(findings)) == "Speed-up over one thread by number of threads: 1 1.00 × and 2 1.90 ×."
    assert bare(describe_second(findings)).startswith("Time to add 1,048,576 numbers: Python loop 40.0 ms")
    assert bare(claim_second(find_workers_findings(block_points()))) == "One block too many costs a whole round"
    headline = find_headline(findings)
    assert headline is not None
    assert (headline.number.replace(NBSP, " "), headline.interval) == ("1.90 ×", "1.86 to 1.94")


@pytest.mark.parametrize("points", [[], thread_points(1.0, 1.9), [*block_points(), *path_points(2e-3)]])
def test_every_term_has_its_definition(points: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_workers_findings(points))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)


def test_failed_cases_are_caveats() -> None:
    """With their reason."""
    failed = make_point(spec.DIVERGENT, 1.0, None, status=Status.UNSUPPORTED, reason="No jiterator.")
    caveats = tell(find_workers_findings([*thread_points(1.0, 1.9), failed])).caveats
    assert "Gpu divergent has no time at its size (unsupported): No jiterator." in caveats


# -- charts ---------------------------------------------------------------------------------------


def test_the_speedup_stands_beside_the_ideal() -> None:
    """What lies between is filled: it is lost."""
    points = thread_points(1.0, 1.9, 2.7, 3.4)
    figure = draw_main(points, find_workers_findings(points), "light")
    ideal, lost, measured = figure.data
    assert (list(ideal.y), lost.fill, list(measured.y)) == ([1, 2, 3, 4], "tonexty", pytest.approx([1, 1.9, 2.7, 3.4]))
    assert figure.layout.yaxis.title.text == "times as fast as one thread"


def test_the_second_chart_is_the_staircase_where_there_is_one() -> None:
    """Else the four ways to add."""
    with_gpu = [*sum_points(), *block_points()]
    figure = draw_second(with_gpu, find_workers_findings(with_gpu), "dark")
    assert figure.layout.xaxis.title.text == "blocks (dotted: full rounds)"
    assert list(figure.layout.xaxis.tickvals) == [108, 216, 324, 432]
    figure = draw_second(sum_points(), find_workers_findings(sum_points()), "dark")
    assert list(figure.layout.yaxis.ticktext) == ["torch, all threads", "torch, 1 thread", "NumPy", "Python loop"]


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_workers_findings([])
    for draw in (draw_main, draw_second):
        assert "Press Run" in draw([], findings, "light").layout.annotations[0].text


# -- the real thing -------------------------------------------------------------------------------


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


def test_a_real_run_on_this_cpu_is_right() -> None:
    """Every way to add agrees with an exact sum, every product with float64."""
    session = Kept()
    measure({"device": "cpu", "side": "256", "budget_s": 3.0}, session)
    points = list(session.points.values())
    assert {p.series for p in points} == {spec.THREADS, *spec.SUMS}
    assert all(p.status is Status.OK and p.median_s and (p.rel_error or 0) < 1e-5 for p in points), points


def test_the_script_runs_alone() -> None:
    """It prints a speed-up for every count of threads."""
    script = write_snippet(WorkersParams(side="256"), None)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert re.search(r"^1 threads: .* 1\.00 x$", done.stdout, re.MULTILINE)
    assert "median_s=" in done.stdout
