"""What "Do you need a GPU?" says, draws and writes."""

import re
import subprocess
import sys

import pytest
from need_made import batch_points, cpu_points, gpu_points, make_point

from gpuexplain.experiments.need import spec
from gpuexplain.experiments.need.chart import centred_range, draw_main, draw_second
from gpuexplain.experiments.need.conclude import Verdict, find_need_findings
from gpuexplain.experiments.need.snippet import write_snippet
from gpuexplain.experiments.need.spec import NeedParams
from gpuexplain.experiments.need.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_break_even,
    tell_group,
    tell_missing,
    tell_trainings,
)
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

MIXED = gpu_points(convnet=0.5e-3, inference_one=20e-3, transformer=9e-3)


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


# -- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (
            [],
            "Nothing is measured yet. Press Run: eight kinds of everyday work are timed on what there is.",
        ),
        (
            MIXED,
            "On this machine the GPU pays for one of four kinds of work, and for one that cannot be told, copies "
            "included, most for the convnet's step (20.0 ×); four more run on the CPU only.",
        ),
        (
            gpu_points(),
            "On this machine the GPU pays for none of four kinds of work, copies included; four more run on the CPU "
            "only.",
        ),
        (
            cpu_points(),
            "On this machine, without a GPU, eight kinds of everyday work take 10.0 ms to 10.0 ms a call on the CPU; "
            "more threads pay for eight of eight kinds of work. What a GPU would do to them was not measured.",
        ),
        (
            [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in cpu_points(10e-3)],
            "On this machine, busy with other work meanwhile, without a GPU, eight kinds of everyday work take 10.0 ms "
            "to 10.0 ms a call on the CPU; more threads pay for none of eight kinds of work. What a GPU would do to "
            "them was not measured.",
        ),
        (
            [p.model_copy(update={"source": Source.RECORDED, "source_note": "a file"}) for p in MIXED],
            "In a recorded run, the GPU pays for one of four kinds of work, and for one that cannot be told, copies "
            "included, most for the convnet's step (20.0 ×); four more run on the CPU only.",
        ),
        (
            cpu_points(11e-3),
            "On this machine, without a GPU, eight kinds of everyday work take 10.0 ms to 10.0 ms a call on the CPU; "
            "whether more threads pay can be told for none of them. What a GPU would do to them was not measured.",
        ),
        (
            [make_point("mlp_gpu", None, status=Status.OOM, reason="no memory"), make_point("mlp_cpu", 1e-3)],
            "On this machine no work has a time on both devices yet; the points say why.",
        ),
    ],
    ids=["nothing", "mixed", "pays for none", "no GPU", "busy", "recorded", "open", "failed"],
)
def test_the_answer(points: list[Point], expected: str) -> None:
    """One sentence with its number; nothing is claimed of a GPU that is not there."""
    assert bare(tell(find_need_findings(points)).answer) == expected


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict.PAYS, "The GPU pays for the convnet's step (20.0 × as fast, 19.6 to 20.4)."),
        (
            Verdict.NO_DIFFERENCE,
            "No difference beyond the noise (10 %) for the MLP's step (1.00 × as fast, 0.980 to 1.02).",
        ),
        (
            Verdict.SLOWER,
            "The CPU is faster for inference with one example (0.500 × as fast, 0.490 to 0.510): the launches and copies cost "
            "more than the GPU gains.",
        ),
        (
            Verdict.CANNOT_TELL,
            "It cannot be told for the transformer's step (1.11 × as fast, 1.09 to 1.13): the interval reaches over an edge of "
            "the noise zone, or is missing.",
        ),
    ],
    ids=[verdict.value for verdict in Verdict],
)
def test_each_verdict_on_a_gpu_in_words(verdict: Verdict, expected: str) -> None:
    """With ratio and interval."""
    assert bare(tell_group(find_need_findings(MIXED), verdict)) == expected


def threads_points(one_thread_s: float) -> list[Point]:
    return [make_point("text_cpu", 10e-3), make_point("text_cpu_1_thread", one_thread_s)]


@pytest.mark.parametrize(
    ("one_thread_s", "verdict", "expected"),
    [
        (
            15e-3,
            Verdict.PAYS,
            "More threads pay for text preprocessing (1.50 × as fast, 1.47 to 1.53): two threads over one.",
        ),
        (
            10e-3,
            Verdict.NO_DIFFERENCE,
            "More threads make no difference beyond the noise (10 %) for text preprocessing (1.00 × as fast, 0.980 to 1.02).",
        ),
        (
            5e-3,
            Verdict.SLOWER,
            "One thread is faster for text preprocessing (0.500 × as fast, 0.490 to 0.510): sharing so little work costs more "
            "than it gains.",
        ),
    ],
    ids=["pays", "no difference", "slower"],
)
def test_each_verdict_of_threads_in_words(one_thread_s: float, verdict: Verdict, expected: str) -> None:
    """They never speak of a GPU."""
    told = bare(tell_group(find_need_findings(threads_points(one_thread_s)), verdict))
    assert told == expected
    assert "GPU" not in told


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (
            batch_points(b1=20, b8=10, b64=5),
            "For the MLP's step the GPU pays from a batch between 8 and 64 on: with less data, the same work does not "
            "gain.",
        ),
        (batch_points(b1=5, b8=5), "For the MLP's step the GPU pays at every batch measured, from 1 on."),
        (batch_points(b1=5, b8=20), ""),
    ],
    ids=["between", "always", "never for sure"],
)
def test_the_break_even_in_words(points: list[Point], expected: str) -> None:
    """Between two batches that were measured."""
    assert bare(tell_break_even(find_need_findings(points))) == expected


def test_trainings_in_words() -> None:
    """Whole fits apart from a thousand steps."""
    points = [make_point("decision_tree_cpu", 5e-3), make_point("mlp_cpu", 2e-3), make_point("convnet_cpu", 1.0)]
    assert bare(tell_trainings(find_need_findings(points).trainings)) == (
        "Trained on the CPU within 60 s: the decision tree in 5.00 ms, whole fit; 1,000 of the MLP's step in 2.00 s."
    )
    assert tell_trainings(()) == ""


def test_what_is_missing_in_words() -> None:
    """While a run goes on, or when its time was up."""
    assert tell_missing(["text", "mlp"]) == (
        "Not measured so far, for want of time: text preprocessing and the MLP's step."
    )
    assert tell_missing([]) == ""


def test_caveats_name_what_the_comparison_is() -> None:
    """Threads are no devices; GPU times hold the copies; a tree's missing GPU version is no failure."""
    assert (
        "This compares threads, not devices: it shows how much of the work can be shared out."
        in tell(find_need_findings(cpu_points())).caveats
    )
    told = tell(find_need_findings(MIXED)).caveats
    assert told == ("Times on the GPU hold the copy of the examples there and of the result back, every call.",)


def test_a_missing_library_is_told_with_its_remedy() -> None:
    """The rest still runs."""
    failed = make_point(
        "random_forest_cpu",
        None,
        status=Status.UNSUPPORTED,
        reason="scikit-learn cannot be loaded here. Please install it.",
    )
    told = tell(find_need_findings([failed, *threads_points(15e-3)])).caveats
    assert (
        "The random forest has no time at this size (unsupported): scikit-learn cannot be loaded here. Please install it."
        in told
    )


def test_every_term_is_in_the_glossary() -> None:
    """A word that offers its definition has one."""
    for points in ([], MIXED, cpu_points()):
        words = tell(find_need_findings(points))
        for text in (words.answer, words.see, words.why, words.so_what, *words.caveats):
            assert [span.term for span in parse(text) if span.term and span.term not in GLOSSARY] == []


# -- charts ---------------------------------------------------------------------------------------


def test_the_dot_plot_is_centred_on_1_with_the_noise_zone() -> None:
    """One row a workload, the slower ones left, the zone shaded."""
    findings = find_need_findings(MIXED)
    figure = draw_main(MIXED, findings, "light")
    low, high = figure.layout.xaxis.range
    assert low == pytest.approx(-high)
    assert "speed: GPU over CPU (log)" in figure.layout.xaxis.title.text
    assert len(figure.layout.yaxis.ticktext) == 8
    zone = figure.layout.shapes[0]
    assert (zone.x0, zone.x1) == (pytest.approx(1 / 1.1), pytest.approx(1.1))
    assert sorted(figure.data[0].x) == pytest.approx([0.5, 1.0, 1.11, 20.0], abs=0.01)
    assert all(width > 0 for width in figure.data[0].error_x.array)
    texts = [note.text.replace(NBSP, " ") for note in figure.layout.annotations]
    assert texts.count("CPU 10.0 ms · no comparison") == 4
    assert "CPU 10.0 ms · 20.0 ×" in texts


def test_without_a_gpu_the_dot_plot_names_threads() -> None:
    """Never a GPU."""
    figure = draw_main([], find_need_findings(cpu_points()), "dark")
    assert "speed: all threads over one (log)" in figure.layout.xaxis.title.text
    assert "No GPU here; more threads pay for eight of eight kinds of work" in figure.layout.title.text.replace(
        "<br>", " "
    )


def test_an_undecided_dot_is_hollow() -> None:
    """And grey."""
    figure = draw_main([], find_need_findings(MIXED), "light")
    by_ratio = dict(zip(figure.data[0].x, figure.data[0].marker.symbol, strict=True))
    assert by_ratio[10e-3 / 9e-3] == "circle-open"
    assert by_ratio[20.0] == "circle"


def test_the_second_chart_shows_the_step_by_batch() -> None:
    """Its zone runs along the ratios."""
    points = batch_points(b1=20, b8=10, b64=5)
    findings = find_need_findings(points)
    figure = draw_second(points, findings, "light")
    assert list(figure.data[0].x) == [1, 8, 64]
    assert list(figure.data[0].y) == pytest.approx([0.5, 1, 2])
    assert (figure.layout.shapes[0].y0, figure.layout.shapes[0].y1) == (pytest.approx(1 / 1.1), pytest.approx(1.1))
    assert bare(claim_second(findings)) == "The GPU pays from a batch of 64 on"


def test_a_range_has_1_in_its_middle_and_room() -> None:
    """Even without a ratio."""
    assert centred_range([]) == pytest.approx((-0.30103, 0.30103))
    assert centred_range([0.1, 2.0]) == pytest.approx((-1.25, 1.25))


def test_titles_and_alternatives() -> None:
    """Findings first."""
    mixed, empty = find_need_findings(MIXED), find_need_findings([])
    assert bare(claim_main(mixed)) == "The GPU pays for one of four kinds of work, and for one that cannot be told"
    assert claim_main(empty) == claim_second(empty) == "Nothing is measured yet"
    assert bare(claim_second(find_need_findings(batch_points(b1=5, b8=5)))) == "The GPU pays at every batch measured"
    assert bare(claim_second(find_need_findings(batch_points(b1=5, b8=20)))) == "The GPU pays at no batch for sure"
    assert bare(describe_main(mixed)) == (
        "Speed of the GPU over the CPU, above 1 is faster: inference with one example 0.500 ×, the MLP's step 1.00 ×, "
        "the convnet's step 20.0 × and the transformer's step 1.11 ×."
    )
    assert bare(describe_second(find_need_findings(batch_points(b1=20, b8=5)))) == (
        "The MLP's step, the GPU over the CPU: 0.500 × at batch 1 and 2.00 × at batch 8."
    )
    assert describe_second(empty) == "The MLP's step, all threads over one: nothing is measured yet."


def test_the_headline_counts_what_pays() -> None:
    """None while there is nothing to compare."""
    assert find_headline(find_need_findings([])) is None
    shown = find_headline(find_need_findings(MIXED))
    assert shown is not None
    assert (shown.label, shown.number, shown.detail) == ("A GPU pays for", "1 of 4", "kinds of everyday work")
    shown = find_headline(find_need_findings(cpu_points()))
    assert shown is not None
    assert (shown.label, shown.number) == ("More threads pay for", "8 of 8")


# -- the script -----------------------------------------------------------------------------------


@pytest.mark.parametrize("workload", spec.WORKLOADS)
def test_the_script_of_every_workload_compiles_and_stands_alone(workload: str) -> None:
    """It names what it needs."""
    for way in (spec.ALL_THREADS, spec.ON_GPU):
        script = write_snippet(NeedParams(), make_point(f"{workload}_{way}", 1e-3))
        compile(script, "snippet.py", "exec")
        assert "gpuexplain" not in script
        needs = (
            "scikit-learn" if workload in spec.CLASSICAL else "only Python" if workload == spec.TEXT else "only torch"
        )
        assert f"Needs {needs}." in script


@pytest.mark.torch
@pytest.mark.parametrize("workload", [spec.TEXT, spec.LOGISTIC, spec.INFERENCE])
def test_a_script_runs_and_prints_its_median(workload: str) -> None:
    """One of each kind, for real."""
    script = write_snippet(NeedParams(), make_point(f"{workload}_cpu", 1e-3))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=100)
    assert re.search(r"^median_s=[0-9.e-]+$", done.stdout, re.MULTILINE)
