"""One layer by hand: counting, plan, findings, words, charts, script and a real run."""

import re
import subprocess
import sys

import pytest
from by_hand_made import cpu_points, gpu_points, make_point

from gpuexplain.errors import InputError
from gpuexplain.experiments.by_hand import spec
from gpuexplain.experiments.by_hand.chart import draw_main, draw_second
from gpuexplain.experiments.by_hand.conclude import Verdict, find_by_hand_findings
from gpuexplain.experiments.by_hand.counting import Count, work_out
from gpuexplain.experiments.by_hand.snippet import write_snippet
from gpuexplain.experiments.by_hand.spec import ByHandParams, plan_cases
from gpuexplain.experiments.by_hand.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_count,
    tell_prediction,
)
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

torch = pytest.importorskip("torch")

from gpuexplain.experiments.by_hand.measure import measure  # noqa: E402


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


# -- counting -------------------------------------------------------------------------------------


def test_three_inputs_and_two_outputs_are_six_multiplications_and_four_additions() -> None:
    """And neither output needs the other."""
    first, second = work_out([1, 2, 3], [[4, 5], [6, 7], [8, 9]])
    assert (first.total, second.total) == (40, 46)
    assert first.n_multiplications + second.n_multiplications == 6
    assert first.n_additions + second.n_additions == 4
    assert first.write() == "1 x 4 + 2 x 6 + 3 x 8 = 40"


def test_negative_numbers_are_put_in_brackets() -> None:
    """As a person would write them."""
    (only,) = work_out([-1, 0.5], [[2], [-4]])
    assert only.write() == "(-1) x 2 + 0.5 x (-4) = (-4)"


@pytest.mark.parametrize("weights", [[[1]], [[1], [2], [3]], [[1, 2], [3]]], ids=["few", "many", "ragged"])
def test_weights_that_do_not_fit_are_refused(weights: list[list[float]]) -> None:
    """One row for every input, all of one length."""
    with pytest.raises(ValueError, match="2 inputs need 2 rows"):
        work_out([1, 2], weights)


def test_the_articles_stack_is_counted() -> None:
    """256 x 1024 x 1024 x 50."""
    count = Count(256, 1024, 50)
    assert (count.n_multiplications, count.flops) == (13_421_772_800, 26_843_545_600.0)
    assert (count.n_independent, count.n_in_a_row) == (262_144, 50)


# -- plan -----------------------------------------------------------------------------------------


def test_one_product_and_the_stack_are_planned() -> None:
    """The stack is depth times the product."""
    product, stack = plan_cases(ByHandParams(device="cpu"), inspect_machine())
    assert (product.series, stack.series) == (spec.PRODUCT, spec.STACK)
    assert stack.flops == 50 * product.flops


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"batch": 65_536, "width": 16_384, "depth": 1000}, "at most 1.8e+13"),
        ({"batch": 1, "width": 16_384, "depth": 1000}, "Make them fewer or narrower"),
    ],
    ids=["work", "memory"],
)
def test_what_cannot_run_is_refused_with_what_to_do(params: dict, why: str) -> None:
    """Before anything starts."""
    with pytest.raises(InputError, match=re.escape(why)):
        plan_cases(ByHandParams(device="cpu", **params), inspect_machine())


# -- findings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "verdict", "factor"),
    [
        (cpu_points(), Verdict.HELD, 1.05),
        (cpu_points(stack_s=0.4), Verdict.NOT_HELD, 2.0),
        (cpu_points(stack_s=0.1), Verdict.NOT_HELD, 0.5),
        (cpu_points(stack_s=0.24, ci_low_s=None), Verdict.CANNOT_TELL, 1.2),
    ],
    ids=["near", "longer", "shorter", "no interval"],
)
def test_the_prediction_holds_or_not_or_cannot_be_told(points: list[Point], verdict: Verdict, factor: float) -> None:
    """Within a quarter, by both intervals."""
    (found,) = find_by_hand_findings(points).predictions
    assert (found.verdict, found.factor) == (verdict, pytest.approx(factor))


def test_wide_intervals_decide_nothing() -> None:
    """From half to twice the time."""
    wide = make_point(spec.STACK, 0.2, 50, ci_low_s=0.1, ci_high_s=0.4)
    (found,) = find_by_hand_findings([cpu_points()[0], wide]).predictions
    assert (found.verdict, found.reason) == (Verdict.CANNOT_TELL, "the intervals are too wide")


def test_a_failed_stack_cannot_be_judged() -> None:
    """Its reason is a caveat."""
    failed = make_point(spec.STACK, None, 50, status=Status.OOM, reason="Out of memory.")
    found = find_by_hand_findings([cpu_points()[0], failed])
    assert found.predictions[0].reason == "one of the two has no time"
    assert "Stack has no time at this size (oom): Out of memory." in tell(found).caveats


def test_a_gpu_is_judged_on_its_own() -> None:
    """Beside the CPU."""
    found = find_by_hand_findings([*cpu_points(), *gpu_points()])
    assert [(p.device, p.verdict) for p in found.predictions] == [
        ("cpu", Verdict.HELD), ("cuda:0", Verdict.NOT_HELD),
    ]  # fmt: skip


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "Nothing is measured yet. Press Run: one product predicts the whole stack, and is compared with it."),
        (
            [*cpu_points(), *gpu_points()],
            "On this machine 26.8 GFLOP of layers take 210 ms on the CPU and 4.00 ms on the GPU.",
        ),
        (
            cpu_points(flags=(Flag.UNDER_LOAD,)),
            "On this machine, busy with other work meanwhile, 26.8 GFLOP of layers take 210 ms on the CPU.",
        ),
        (cpu_points(source=Source.RECORDED), "In a recorded run, 26.8 GFLOP of layers take 210 ms on the CPU."),
        (
            [make_point(spec.STACK, None, 50, status=Status.FAILED)],
            "On this machine the stack could not be measured; the points say why.",
        ),
    ],
    ids=["nothing", "both", "busy", "recorded", "failed"],
)
def test_the_answer(points: list[Point], said: str) -> None:
    """One sentence with its numbers."""
    assert bare(tell(find_by_hand_findings(points)).answer) == said


def test_the_count_is_told_with_what_waits() -> None:
    """Independent outputs, and layers in a row."""
    assert bare(tell_count(Count(256, 1024, 50))) == (
        "256 examples through 50 layers of 1,024 x 1,024 are 13,421,772,800 multiplications and as many additions. In "
        "each layer 262,144 outputs do not need each other; only the 50 layers must follow one another."
    )


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            cpu_points(),
            "On the CPU one product (134 GFLOP/s) predicts 200 ms; measured are 210 ms: the prediction holds within 25 %.",
        ),
        (
            gpu_points(),
            "On the GPU one product (13.4 TFLOP/s) predicts 2.00 ms; measured are 4.00 ms, 2.00 × as long: biases, "
            "nonlinearities and weights that come from memory take time too.",
        ),
        (
            cpu_points(stack_s=0.1),
            "On the CPU one product (134 GFLOP/s) predicts 200 ms; measured are 100 ms: it is faster than one product "
            "alone let expect, so that one was slowed by its launch.",
        ),
        (
            cpu_points(ci_low_s=None),
            "On the CPU one product (134 GFLOP/s) predicts 200 ms; measured are 210 ms; whether that is near cannot be "
            "told: one of the two has no interval.",
        ),
        (
            [cpu_points()[1]],
            "On the CPU the prediction cannot be judged: one of the two has no time.",
        ),
    ],
    ids=["held", "longer", "shorter", "cannot tell", "missing"],
)
def test_each_prediction(points: list[Point], said: str) -> None:
    """With both times, and why they differ."""
    assert bare(tell_prediction(find_by_hand_findings(points).predictions[0])) == said


def test_titles_and_text_alternatives() -> None:
    """The chart's title is its finding."""
    findings = find_by_hand_findings(cpu_points())
    assert bare(claim_main(findings)) == "One product predicts the stack within 25 %"
    assert bare(claim_main(find_by_hand_findings(gpu_points()))) == "The stack takes 2.00 × what one product predicts"
    both = find_by_hand_findings([*cpu_points(), *gpu_points()])
    assert bare(claim_main(both)) == "One product predicts the stack on the CPU within 25 %"
    uncertain = find_by_hand_findings(cpu_points(ci_low_s=None))
    assert bare(claim_main(uncertain)) == "Whether one product predicts the stack cannot be told yet"
    assert bare(claim_second(findings)) == "262,144 outputs a layer do not wait for each other"
    assert bare(describe_main(findings)) == "Time of the stack: CPU predicted 200 ms, measured 210 ms."
    assert "13,421,772,800 in all" in describe_second(findings)
    headline = find_headline(findings)
    assert headline is not None
    assert (bare(headline.number), bare(headline.interval)) == ("210 ms", "208 ms to 212 ms")


@pytest.mark.parametrize("points", [[], cpu_points()], ids=["nothing", "cpu"])
def test_every_term_has_its_definition(points: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_by_hand_findings(points))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)


# -- charts ---------------------------------------------------------------------------------------


def test_predicted_stands_beside_measured() -> None:
    """A row per device."""
    points = [*cpu_points(), *gpu_points()]
    figure = draw_main(points, find_by_hand_findings(points), "light")
    assert [(t.name, t.x[0]) for t in figure.data] == [
        ("predicted", pytest.approx(0.2)), ("measured", 0.21), ("predicted", pytest.approx(2e-3)), ("measured", 4e-3),
    ]  # fmt: skip
    assert list(figure.layout.yaxis.ticktext) == ["CPU", "GPU"]


def test_the_counts_grow_from_one_output_to_all_layers() -> None:
    """Width, width squared, times batch, times depth."""
    (bars,) = draw_second(cpu_points(), find_by_hand_findings(cpu_points()), "dark").data
    assert list(bars.y) == [1024, 1024**2, 256 * 1024**2, 13_421_772_800]


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_by_hand_findings([])
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
    """Product and stack agree with float64."""
    session = Kept()
    measure({"device": "cpu", "batch": 16, "width": 128, "depth": 6, "budget_s": 2.0}, session)
    points = list(session.points.values())
    assert {p.series for p in points} == {spec.PRODUCT, spec.STACK}
    assert all(p.status is Status.OK and p.median_s and (p.rel_error or 0) < 1e-5 for p in points), points


def test_the_script_runs_alone() -> None:
    """It prints prediction and measurement."""
    script = write_snippet(ByHandParams(batch=8, width=64, depth=3), None)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert "is predicted to take" in done.stdout
    assert re.search(r"^median_s=\d", done.stdout, re.MULTILINE)
