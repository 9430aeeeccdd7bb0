"""The memory wall: plan, findings, words, charts, script and a real run."""

import re
import subprocess
import sys

import pytest
from memory_made import BYTES_S, FLOPS_S, compute, make_point, points, stream, walk_point

from gpuexplain.errors import InputError
from gpuexplain.experiments.memory import spec
from gpuexplain.experiments.memory.chart import draw_main, draw_second
from gpuexplain.experiments.memory.conclude import Bound, FreeUses, find_memory_findings
from gpuexplain.experiments.memory.snippet import write_snippet
from gpuexplain.experiments.memory.spec import MemoryParams, plan_cases, uses
from gpuexplain.experiments.memory.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_free,
    tell_memory_roof,
    tell_point,
)
from gpuexplain.findings import NotFound
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Clock, Dtype, Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

torch = pytest.importorskip("torch")

from gpuexplain.experiments.memory import measure as measuring  # noqa: E402


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


# -- plan -----------------------------------------------------------------------------------------


def test_the_walk_has_powers_of_two_and_its_end() -> None:
    """One use is always the first."""
    assert (uses(1), uses(8), uses(48)) == ([1], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32, 48])


def test_the_roof_of_fp32_is_never_left_out_for_a_prediction() -> None:
    """On a busy machine small products wait, and predict a large one that is too slow for a preset."""
    cases = plan_cases(MemoryParams(device="cpu"), inspect_machine())
    explicit = {(case.series, case.x) for case in cases if case.explicit}
    assert {(spec.COMPUTE[Dtype.FP32], float(side)) for side in spec.COMPUTE_SIDES} <= explicit
    assert not any(series == spec.COMPUTE[Dtype.BF16] for series, _ in explicit)


def test_a_machine_without_room_is_told() -> None:
    """How much is needed, and how much there is."""
    machine = inspect_machine()
    small = machine.model_copy(update={"memory": machine.memory.model_copy(update={"available_bytes": 2**26})})
    with pytest.raises(InputError, match="memory wall needs"):
        plan_cases(MemoryParams(device="cpu"), small)


def test_no_matrix_is_in_a_cache_when_it_comes_again() -> None:
    """All of them together are four times the last-level cache."""
    machine = inspect_machine()
    cache = machine.cpu.last_level_cache_bytes
    if cache is None:
        pytest.skip("this CPU does not report its caches")
    assert spec.n_matrices("cpu", machine) * spec.MATRIX_SIDE**2 * 4 >= min(4 * cache, spec.MOST_ARRAY_BYTES)


# -- findings -------------------------------------------------------------------------------------


def test_the_best_bandwidth_is_the_roof_and_the_ridge_follows() -> None:
    """The triad reaches 10 GB/s; 100 GFLOP/s over that is 10 operations a byte."""
    found = find_memory_findings(points())
    assert not isinstance(found.memory, NotFound)
    assert (found.memory.series, found.memory.bytes_s) == (spec.TRIAD, pytest.approx(BYTES_S))
    fp32, bf16 = found.roof_of(Dtype.FP32), found.roof_of(Dtype.BF16)
    assert fp32 is not None
    assert bf16 is not None
    assert (fp32.ridge, bf16.ridge) == (pytest.approx(10), pytest.approx(30))


def test_the_walk_goes_from_memory_to_compute() -> None:
    """Left of the ridge memory binds, right of it arithmetic; all of it on the roof."""
    bounds = {int(p.x): p.bound for p in find_memory_findings(points()).walk}
    assert (bounds[1], bounds[16], bounds[64], bounds[512]) == (
        Bound.MEMORY, Bound.MEMORY, Bound.COMPUTE, Bound.COMPUTE,
    )  # fmt: skip
    assert all(p.of_roof == pytest.approx(1) and p.is_fact for p in find_memory_findings(points()).walk)


def test_uses_are_free_up_to_the_ridge() -> None:
    """k / 2 operations a byte: 16 is still free, 32 is not; the ridge says 20."""
    free = find_memory_findings(points()).free
    assert isinstance(free, FreeUses)
    assert (free.up_to_k, free.rises_at_k, free.predicted_k) == (16, 32, pytest.approx(20))


def test_a_walk_whose_time_grows_at_once_has_no_free_use() -> None:
    """Twice the time for twice the uses."""
    roofs = [p for p in points() if p.series != spec.WALK]
    growing = [walk_point(k, float(k)) for k in (1, 2, 4, 8)]
    free = find_memory_findings([*roofs, *growing]).free
    assert isinstance(free, FreeUses)
    assert free.up_to_k == 1


@pytest.mark.parametrize(
    ("walk", "reason"),
    [
        ([walk_point(1), walk_point(2)], "the walk needs k = 1, two more sizes and both roofs"),
        (
            [walk_point(1, ci_low_s=1e-4, ci_high_s=1e-2), walk_point(2), walk_point(4)],
            "the time of one use is too uncertain to compare with",
        ),
        (
            [walk_point(1, ci_low_s=None, ci_high_s=None), walk_point(2), walk_point(4)],
            "the first sizes have no interval",
        ),
        (
            [walk_point(1), walk_point(2, 4.0), walk_point(4, 4.0)],
            "at k = 2 the library's product reaches 25 % of what memory allows, so neither roof is what holds it up",
        ),
    ],
    ids=["too few", "too noisy", "no interval", "a slow kernel"],
)
def test_where_the_free_range_cannot_be_told(walk: list[Point], reason: str) -> None:
    """Withheld with its reason."""
    roofs = [p for p in points() if p.series != spec.WALK]
    free = find_memory_findings([*roofs, *walk]).free
    assert isinstance(free, NotFound)
    assert bare(free.reason) == reason


def test_a_disturbed_first_step_does_not_lose_the_walk() -> None:
    """Without k = 1 the others say nothing: then all of them speak, provisionally."""
    flagged = [
        p.model_copy(update={"flags": (Flag.DRIFTING,)}) if p.series == spec.WALK and p.x == 1 else p for p in points()
    ]
    found = find_memory_findings(flagged)
    assert isinstance(found.free, FreeUses)
    assert found.is_provisional


def test_nothing_above_a_roof_is_a_fact() -> None:
    """Half the time that the roof allows."""
    found = find_memory_findings([*(p for p in points() if p.x != 4), walk_point(4, 0.5)])
    four = next(p for p in found.walk if p.x == 4)
    assert (four.is_fact, round(four.of_roof, 3)) == (False, 2.0)


def test_a_short_call_is_bound_by_the_price_of_calling() -> None:
    """12 us, of which 10 us are the call."""
    other = make_point("cpu", 16.0, 12e-6, 2.0 * 16**3, 12.0 * 16**2, experiment="matmul")
    found = find_memory_findings([*points(), other])
    assert [(p.label, p.bound) for p in found.others] == [("matmul", Bound.OVERHEAD)]


def matmul_point(side: float, **changes: object) -> Point:
    """Return a product of another experiment at 80 % of the fp32 roof."""
    flops = 2.0 * side**3
    known = {"experiment": "matmul", **changes}
    return make_point("cpu", side, flops / (0.8 * FLOPS_S), flops, 12.0 * side**2, **known)


@pytest.mark.parametrize(
    ("changes", "n_placed"),
    [
        ({}, 1),
        ({"threads": 1}, 0),
        ({"device": "cuda:0", "threads": None}, 0),
        ({"clock": Clock.ENQUEUE}, 0),
        ({"clock": Clock.TRANSFER_INCLUSIVE}, 0),
        ({"source": Source.PUBLISHED}, 0),
        ({"experiment": "stopwatch"}, 0),
        ({"experiment": "scaling"}, 0),
        ({"experiment": "precision"}, 0),
        ({"dtype": Dtype.FP16}, 0),
        ({"bytes": None}, 0),
    ],
    ids=[
        "as the roofs", "fewer threads", "other device", "queued only", "with copies", "published", "wrong on purpose",
        "counts other bytes", "a step", "no such roof", "no bytes",
    ],
)  # fmt: skip
def test_points_of_other_runs_are_placed_where_these_roofs_are_theirs(changes: dict, n_placed: int) -> None:
    """Same device and threads, a time of the operation alone, and bytes that it must move."""
    assert len(find_memory_findings([*points(), matmul_point(1024, **changes)]).others) == n_placed


def test_nothing_is_placed_under_roofs_of_elsewhere() -> None:
    """A recorded run has other roofs than this machine."""
    assert find_memory_findings([*points(source=Source.RECORDED), matmul_point(1024)]).others == ()


def test_an_undisturbed_point_of_another_run_is_a_fact_and_its_distance_is_told() -> None:
    """80 % of the flat roof, as far right as 170 operations a byte."""
    (placed,) = find_memory_findings([*points(), matmul_point(1024)]).others
    assert (placed.bound, placed.is_fact, placed.of_roof) == (Bound.COMPUTE, True, pytest.approx(0.8))


def test_device_time_has_no_price_of_calling_in_it() -> None:
    """12 us of device time are work, 12 us of call time mostly the call."""
    here = {"device": "cuda:0", "threads": None, "device_name": "Unknown GPU"}
    lent = [
        make_point(
            "gpu_device", 16.0, 12e-6, 2.0 * 16**3, 12.0 * 16**2, experiment="matmul", clock=Clock.DEVICE, **here
        ),
        make_point("gpu", 16.0, 12e-6, 2.0 * 16**3, 12.0 * 16**2, experiment="matmul", **here),
    ]
    bounds = {p.series: p.bound for p in find_memory_findings([*points(**here), *lent]).others}
    assert bounds == {"gpu": Bound.OVERHEAD, "gpu_device": Bound.MEMORY}


def test_a_roof_above_its_data_sheet_is_no_roof() -> None:
    """Twice an A100's bandwidth, or twice its bf16 peak: withheld, with both figures."""
    here = {"device": "cuda:0", "device_name": "NVIDIA A100-SXM4-80GB", "threads": None}
    found = find_memory_findings([*points(**here), stream(spec.COPY, 4.2e12, **here)]).memory
    assert isinstance(found, NotFound)
    assert bare(found.reason).startswith("4.20 TB/s were measured, above the data sheet's 2.04 TB/s")
    fast = find_memory_findings([*points(**here), compute(Dtype.BF16, 700e12, **here)])
    assert fast.roof_of(Dtype.BF16) is None
    assert fast.roof_of(Dtype.FP32) is not None


def test_without_roofs_nothing_is_placed() -> None:
    """Every stream failed."""
    failed = [p for p in points() if p.series not in spec.BANDWIDTHS]
    found = find_memory_findings(failed)
    assert isinstance(found.memory, NotFound)
    assert found.walk == ()


def test_disturbed_points_give_a_provisional_answer() -> None:
    """Where there is nothing better."""
    found = find_memory_findings(points(flags=(Flag.UNDER_LOAD,)))
    assert found.is_provisional
    assert not isinstance(found.memory, NotFound)


def test_a_known_gpu_has_reference_roofs() -> None:
    """From the data sheet, beside the measured ones."""
    here = {"device": "cuda:0", "device_name": "NVIDIA A100-SXM4-80GB", "threads": None}
    found = find_memory_findings(points(**here))
    assert not isinstance(found.memory, NotFound)
    assert found.memory.reference_bytes_s is not None
    assert found.memory.reference_bytes_s > 1.5e12
    roof = found.roof_of(Dtype.BF16)
    assert roof is not None
    assert roof.reference_flops_s == pytest.approx(312e12)


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Nothing is measured yet. Press Run: both roofs are measured, and work that walks between them."),
        (
            points(),
            "On this machine the CPU can do 10 operations in the time it takes to load one byte: work that does less per "
            "byte waits for memory.",
        ),
        (
            points(source=Source.RECORDED),
            "In a recorded run, the CPU can do 10 operations in the time it takes to load one byte: work that does less "
            "per byte waits for memory.",
        ),
        (
            [p for p in points() if p.series not in spec.COMPUTES],
            "On this machine only one of the two roofs could be measured; the points say why.",
        ),
    ],
    ids=["nothing", "both", "recorded", "one roof"],
)
def test_the_answer(given: list[Point], said: str) -> None:
    """One sentence with its number."""
    assert bare(tell(find_memory_findings(given)).answer) == said


def test_the_roofs_are_told() -> None:
    """With what reached them."""
    findings = find_memory_findings(points())
    assert bare(tell_memory_roof(findings.memory)) == (
        "The roof of memory is 10.0 GB/s, reached by a triad (a = b + s c)."
    )
    assert (
        "The roof of arithmetic is 100 GFLOP/s in fp32 (the ridge point at 10 FLOP/byte) and 300 GFLOP/s in bf16 (the "
        "ridge point at 30 FLOP/byte)."
    ) in bare(tell(findings).see)


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (
            FreeUses(16, 20.0, 32),
            "Using every loaded value up to 16 times takes no longer than using it once; at 32 it does; the ridge "
            "predicts the end of that near k = 20.",
        ),
        (
            FreeUses(1, 20.0, 2),
            "Already a second use of every loaded value costs time; the ridge predicts the end of that near k = 20.",
        ),
        (
            FreeUses(8, 20.0, None),
            "Using every loaded value 8 times takes no longer than using it once, as far as the walk goes; the ridge "
            "predicts the end of that near k = 20.",
        ),
        (
            NotFound("free uses", "the first sizes have no interval"),
            "How many uses of a loaded value are free cannot be said: the first sizes have no interval.",
        ),
    ],
    ids=["free", "never", "no end", "cannot tell"],
)
def test_what_is_free(free: FreeUses | NotFound, said: str) -> None:
    """By the time of one use."""
    assert bare(tell_free(free)) == said


def test_each_point_has_its_verdict() -> None:
    """What binds it, and its distance to the roof; above it nothing is said as fact."""
    found = find_memory_findings([*(p for p in points() if p.x != 4), walk_point(4, 0.5)])
    assert bare(tell_point(found.walk[0])) == "memory-bound, 100 % of its roof"
    four = next(p for p in found.walk if p.x == 4)
    assert bare(tell_point(four)).startswith("above its roof, so no fact")
    assert any(text.startswith("One point lies above the roof and is drawn hollow") for text in tell(found).caveats)


def test_other_runs_are_counted_by_what_binds_them() -> None:
    """And which is nearest to its roof, and which farthest."""
    lent = [matmul_point(1024), matmul_point(512)]
    lent.append(make_point("cpu", 16.0, 12e-6, 2.0 * 16**3, 12.0 * 16**2, experiment="matmul"))
    said = bare(tell(find_memory_findings([*points(), *lent])).see)
    assert (
        "From other runs of this machine three points are placed here: two compute-bound and one overhead-bound. Nearest to "
        "its roof is matmul, cpu at 512 with 80 % of it, farthest matmul, cpu at 16 with 2.6 %."
    ) in said
    one = bare(tell(find_memory_findings([*points(), matmul_point(1024)])).see)
    assert one.endswith("From other runs of this machine one point is placed here: one compute-bound.")


def test_reference_peaks_carry_their_source() -> None:
    """A statement about hardware says where it is from."""
    here = {"device": "cuda:0", "device_name": "NVIDIA A100-SXM4-80GB", "threads": None}
    said = bare(tell(find_memory_findings(points(**here))).see)
    assert "0.49 % of the data sheet's 2.04 TB/s (source: NVIDIA A100 datasheet JUN21" in said
    assert "of the data sheet's peak (the ridge point at 10 FLOP/byte)" in said
    assert "(Source of the peaks: NVIDIA A100 datasheet JUN21" in said


def test_failed_cases_are_caveats() -> None:
    """With their reason."""
    failed = make_point(
        spec.COMPUTE[Dtype.BF16], 1.0, None, 0.0, 0.0, status=Status.UNSUPPORTED, reason="No bf16 here."
    )
    assert (
        "Compute bf16 has no time at a size (unsupported): No bf16 here."
        in tell(find_memory_findings([*points(), failed])).caveats
    )


def test_where_every_case_failed_the_answer_says_why() -> None:
    """No "press Run" to somebody who did."""
    failed = [
        make_point(spec.COPY, 1e9, None, 0.0, 1e9, status=Status.FAILED, reason="The result is wrong by 1.0e+00."),
    ]
    findings = find_memory_findings(failed)
    words = tell(findings)
    assert words.answer == "Nothing could be measured here: The result is wrong by 1.0e+00."
    assert words.caveats == ("Copy has no time at a size (failed): The result is wrong by 1.0e+00.",)
    assert claim_main(findings) == "Nothing to draw: the points say why"


def test_the_axis_of_intensity_keeps_its_labels_apart() -> None:
    """Powers of sixteen where powers of four would be more than five."""
    figure = draw_main(points(), find_memory_findings(points()), "light")
    assert list(figure.layout.xaxis.ticktext) == ["1", "16", "256"]
    near = [p for p in points(largest_k=8) if p.dtype is Dtype.FP32]
    assert list(draw_main(near, find_memory_findings(near), "light").layout.xaxis.ticktext) == ["0.25", "1", "4", "16"]


def test_titles_and_text_alternatives() -> None:
    """The chart's title is its finding."""
    findings = find_memory_findings(points())
    assert bare(claim_main(findings)) == "Below 10 operations per byte the CPU waits for memory"
    assert bare(claim_second(findings)) == "Up to 16 uses of a loaded value are free"
    assert bare(describe_main(findings)) == (
        "Roofline: memory 10.0 GB/s, arithmetic 100 GFLOP/s in fp32 and 300 GFLOP/s in bf16; ten points of the walk "
        "and no of other runs under them."
    )
    assert "Up to 16 uses" in bare(describe_second(findings))
    headline = find_headline(findings)
    assert headline is not None
    assert bare(headline.number) == "10 FLOP/byte"


@pytest.mark.parametrize("given", [[], points()], ids=["nothing", "all"])
def test_every_term_has_its_definition(given: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_memory_findings(given))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)


# -- charts ---------------------------------------------------------------------------------------


def test_the_roofline_has_one_roof_per_number_format() -> None:
    """Each with its corner at its ridge."""
    figure = draw_main(points(), find_memory_findings(points()), "light")
    roofs = [t for t in figure.data if t.mode == "lines"]
    assert [(t.name, round(t.x[1])) for t in roofs] == [("measured roof, fp32", 10), ("measured roof, bf16", 30)]
    assert figure.layout.xaxis.title.text == "operations per byte (log)"
    assert any("ridge" in a.text for a in figure.layout.annotations)


def test_a_point_above_its_roof_is_hollow() -> None:
    """With the amber rim of a flagged point."""
    given = [*(p for p in points() if p.x != 4), walk_point(4, 0.5)]
    figure = draw_main(given, find_memory_findings(given), "light")
    walk = next(t for t in figure.data if t.name == "the walk")
    hollow = [i for i, color in enumerate(walk.marker.color) if color == "#FFFFFF"]
    assert [round(walk.x[i], 1) for i in hollow] == [2.0]


def test_points_of_other_runs_are_drawn_apart_and_named() -> None:
    """Diamonds, with the name of their experiment."""
    given = [*points(), matmul_point(1024)]
    figure = draw_main(given, find_memory_findings(given), "light")
    lent = next(t for t in figure.data if t.name == "matmul")
    assert (lent.marker.symbol, len(lent.x)) == ("diamond", 1)
    assert "matmul, cpu at 1,024" in lent.hovertext[0]
    assert "80 % of its roof" in lent.hovertext[0] or "80 % of its roof" in lent.hovertext[0].replace(NBSP, " ")
    assert {"the walk", "matmul"} <= {a.text for a in figure.layout.annotations}


def test_a_walk_without_roofs_is_drawn_and_not_called_nothing() -> None:
    """While a run is young, the walk comes before the roofs."""
    given = [walk_point(1), walk_point(2)]
    findings = find_memory_findings(given)
    assert claim_second(findings) == "Where uses stop being free cannot be said"
    assert len(draw_second(given, findings, "light").data[0].x) == 2


def test_a_busy_machine_still_sees_the_second_chart() -> None:
    """Disturbed points are all there is."""
    given = points(flags=(Flag.UNDER_LOAD,))
    assert len(draw_second(given, find_memory_findings(given), "light").data[0].x) == 10


def test_an_earlier_run_laid_beside_is_drawn_faint() -> None:
    """And never concluded from."""
    earlier = points(largest_k=8, source=Source.RECORDED, source_note="run 1")
    given = [*points(), *earlier]
    first, walk = draw_second(given, find_memory_findings(points()), "light").data
    assert (first.name, len(first.x), first.opacity < 1, len(walk.x)) == ("earlier", 4, True, 10)


def test_the_free_range_is_shaded() -> None:
    """Up to the last free use."""
    figure = draw_second(points(), find_memory_findings(points()), "dark")
    shade = next(s for s in figure.layout.shapes if s.type == "rect")
    assert (shade.x0, shade.x1) == (1, 16)


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_memory_findings([])
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


def test_a_real_run_on_this_cpu_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array operation and every product agrees with float64. Small arrays: only the results count here."""
    monkeypatch.setattr(spec, "MOST_ARRAY_BYTES", 2**22)
    monkeypatch.setattr(spec, "LEAST_ARRAY_BYTES", 2**22)
    monkeypatch.setattr(spec, "MATRIX_SIDE", 256)
    session = Kept()
    measuring.measure({"device": "cpu", "largest_k": 8, "budget_s": 5.0}, session)
    timed = [p for p in session.points.values() if p.status is Status.OK]
    assert {p.series for p in timed} >= {spec.COPY, spec.TRIAD, spec.READ, *spec.COMPUTES, spec.WALK}
    assert all((p.rel_error or 0) < 1e-2 for p in timed)


def test_the_script_runs_alone() -> None:
    """It prints rate, bandwidth and median."""
    script = write_snippet(MemoryParams(), None).replace("n, k, device = 2048", "n, k, device = 256")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert re.search(r"^median_s=\d", done.stdout, re.MULTILINE)
    compile(write_snippet(MemoryParams(), walk_point(64, device="cuda:0", threads=None)), "snippet.py", "exec")


def test_the_made_points_are_on_their_roofs() -> None:
    """The helpers of these tests mean what they say."""
    assert stream(spec.COPY, 8e9).rate_bytes == pytest.approx(8e9)
    assert compute(Dtype.FP32, FLOPS_S).rate_flops == pytest.approx(FLOPS_S)
