"""More devices: plan, findings, words, charts, script and a real group of two processes."""

import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from scaling_made import exchanges, make_point, steps

from gpuexplain.experiments.scaling import spec
from gpuexplain.experiments.scaling.chart import draw_main, draw_second
from gpuexplain.experiments.scaling.conclude import Communication, Model, Verdict, find_scaling_findings
from gpuexplain.experiments.scaling.measure import Group, follow
from gpuexplain.experiments.scaling.published import default_published, published_results
from gpuexplain.experiments.scaling.snippet import write_snippet
from gpuexplain.experiments.scaling.spec import ScalingParams, device_counts, plan_cases, threads_per_process
from gpuexplain.experiments.scaling.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_claim,
    tell_communication,
    tell_exchange,
)
from gpuexplain.findings import NotFound
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Machine
from gpuexplain.measuring.conditions import ConditionsMonitor
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

pytest.importorskip("torch")

from gpuexplain.experiments.scaling.rank import scale_of


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


def machine_with(threads: int) -> Machine:
    machine = inspect_machine()
    return machine.model_copy(update={"cpu": machine.cpu.model_copy(update={"usable_threads": threads})})


# -- plan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "counts", "each"), [(1, [1], 1), (2, [1, 2], 1), (6, [1, 2, 4, 6], 1), (64, [1, 2, 4, 8], 8)]
)
def test_processes_share_the_threads_equally(threads: int, counts: list[int], each: int) -> None:
    """Every count gives each process the same threads, so that only the count changes."""
    machine = machine_with(threads)
    assert (device_counts("cpu", machine), threads_per_process("cpu", machine)) == (counts, each)


def test_one_device_has_nobody_to_talk_to() -> None:
    """No silent step, no exchange."""
    assert {case.series for case in plan_cases(ScalingParams(device="cpu"), machine_with(1))} == {
        spec.STRONG,
        spec.WEAK,
    }


def test_strong_scaling_shares_one_batch_and_weak_scaling_gives_each_its_own() -> None:
    """256 examples: 128 for each of two, or 512 in all."""
    cases = {(c.series, c.x): c for c in plan_cases(ScalingParams(device="cpu"), machine_with(2))}
    assert (cases[spec.STRONG, 2.0].shape[1], cases[spec.STRONG, 2.0].items) == (128, 256.0)
    assert (cases[spec.WEAK, 2.0].shape[1], cases[spec.WEAK, 2.0].items) == (256, 512.0)
    assert len([c for c in cases.values() if c.series == spec.ALL_REDUCE]) == len(spec.MESSAGE_BYTES)


# -- findings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "verdict", "reason"),
    [
        (steps(0.1, 0.05), Verdict.HELD, ""),
        (steps(0.1, 0.07), Verdict.NOT_HELD, ""),
        (
            [*steps(0.1), make_point(spec.STRONG, 2.0, 0.053, ci_low_s=0.045, ci_high_s=0.08)],
            Verdict.CANNOT_TELL,
            "the interval of the speed-up holds both",
        ),
        (
            [*steps(0.1), make_point(spec.STRONG, 2.0, 0.05, ci_low_s=None)],
            Verdict.CANNOT_TELL,
            "the speed-up has no interval",
        ),
        (steps(0.1), Verdict.CANNOT_TELL, "there is one device only"),
    ],
    ids=["twice", "less", "too noisy", "no interval", "one device"],
)
def test_twice_as_fast_holds_fails_or_cannot_be_told(points: list[Point], verdict: Verdict, reason: str) -> None:
    """By the whole interval of the speed-up."""
    found = find_scaling_findings(points)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_the_share_of_the_exchange_is_what_silence_saves() -> None:
    """70 ms with, 56 ms without: a fifth."""
    found = find_scaling_findings(steps(0.1, 0.07, silent=0.056)).communication
    assert isinstance(found, Communication)
    assert (found.count, found.share) == (2, pytest.approx(0.2))
    assert found.low < 0.2 < found.high


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (steps(0.1), "it takes two devices to exchange anything"),
        (steps(0.1, 0.05, silent=0.06), "the step is no slower with the exchange than without"),
        (
            [*steps(0.1, 0.07), make_point(spec.SILENT, 2.0, 0.05, ci_low_s=None, ci_high_s=None)],
            "a step has no interval",
        ),
        (
            [*steps(0.1, 0.07), make_point(spec.SILENT, 2.0, 0.06, ci_low_s=0.05, ci_high_s=0.08)],
            "it is at most 29 % of a step, and the intervals allow nothing at all",
        ),
    ],
    ids=["one device", "no cost", "no interval", "too noisy"],
)
def test_where_the_exchange_cannot_be_told(points: list[Point], reason: str) -> None:
    """With its reason."""
    found = find_scaling_findings(points).communication
    assert isinstance(found, NotFound)
    assert bare(found.reason) == reason


def test_weak_scaling_counts_examples() -> None:
    """Twice the examples in 110 % of the time: 1.82 times as many a second."""
    found = find_scaling_findings(steps(0.1, 0.07)).weak
    assert (found[-1].workers, found[-1].factor) == (2, pytest.approx(2 / 1.1))


def test_one_device_has_a_model_whose_exchange_crosses_a_link() -> None:
    """100 ms of computing and 2.6 GB of gradients: on two devices 50 ms and 100 ms of exchange."""
    (one, *weak) = steps(0.1)
    found = find_scaling_findings([one.model_copy(update={"bytes": 2.6e9}), *weak]).model
    assert isinstance(found, Model)
    assert dict(found.speedups) == {
        1: pytest.approx(1), 2: pytest.approx(2 / 3), 4: pytest.approx(100 / 175), 8: pytest.approx(100 / 187.5),
    }  # fmt: skip
    assert found.link == "PCIe 4.0 x16"
    assert found.link_source


@pytest.mark.parametrize(
    "points", [[], steps(0.1, 0.07), steps(0.1, bytes=None)], ids=["nothing", "no silent step", "no gradients"]
)
def test_where_there_is_no_model(points: list[Point]) -> None:
    """Nothing to base it on."""
    assert isinstance(find_scaling_findings(points).model, NotFound)


def test_published_runs_never_count_as_measured() -> None:
    """Beside two processes of this machine, and alone."""
    beside = find_scaling_findings([*steps(0.1, 0.07), *published_results()[0].points])
    assert (beside.source, len(beside.strong)) == (Source.MEASURED, 2)
    assert [s.workers for s in beside.published[0].speedups] == [1, 2, 4, 8, 16]
    alone = find_scaling_findings(published_results()[0].points)
    assert (alone.strong, alone.weak, alone.verdict) == ((), (), Verdict.CANNOT_TELL)
    assert default_published(ScalingParams()) == published_results()[0]


def test_an_exchange_has_latency_and_rate() -> None:
    """500 us and 1 GB/s."""
    fit = find_scaling_findings([*steps(0.1, 0.07), *exchanges()]).exchange
    assert fit is not None
    assert (fit.latency_us, fit.fit_gbps) == (pytest.approx(500, rel=0.01), pytest.approx(1.0, rel=0.01))


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "Nothing is measured yet. Press Run: one training step is shared by one device, then by more."),
        (
            steps(0.1, 0.07, silent=0.056),
            "On this machine two processes are 1.43 × as fast as one, 20 % of the step being exchange.",
        ),
        (
            steps(0.1, 0.07, silent=0.056, device="cuda:0"),
            "On this machine two GPUs are 1.43 × as fast as one, 20 % of the step being exchange.",
        ),
        (steps(0.1), "On this machine there is one device only, so what a second one would gain cannot be measured."),
        (
            steps(0.1, 0.07, flags=(Flag.UNDER_LOAD,)),
            "On this machine, busy with other work meanwhile, two processes are 1.43 × as fast as one.",
        ),
        (
            [*steps(0.1), make_point(spec.STRONG, 2.0, 0.07, ci_low_s=0.03, ci_high_s=0.2)],
            "On this machine what two processes gain cannot be told: 1.43 × (0.495 to 3.37) as fast as one.",
        ),
        (steps(0.1, 0.07, source=Source.RECORDED), "In a recorded run, two processes are 1.43 × as fast as one."),
    ],
    ids=["nothing", "processes", "gpus", "one", "busy", "too noisy", "recorded"],
)
def test_the_answer(points: list[Point], said: str) -> None:
    """One sentence with its number."""
    assert bare(tell(find_scaling_findings(points)).answer) == said


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            steps(0.1, 0.05),
            "“Two devices are two times as fast” held here: 2.00 × (1.96 to 2.04), 100 % of the ideal.",
        ),
        (
            steps(0.1, 0.07),
            "“Two devices are two times as fast” did not hold here: 1.43 × (1.40 to 1.46), 71 % of the ideal.",
        ),
        (
            [*steps(0.1), make_point(spec.STRONG, 2.0, 0.05, ci_low_s=None)],
            "“Two devices are two times as fast” cannot be judged here (the speed-up has no interval): 2.00 ×, 100 % of "
            "the ideal.",
        ),
        (steps(0.1), ""),
    ],
    ids=["held", "not held", "cannot tell", "one"],
)
def test_the_claim_is_put_on_trial(points: list[Point], said: str) -> None:
    """With the numbers behind the verdict."""
    assert bare(tell_claim(find_scaling_findings(points))) == said


def test_exchange_and_communication_are_told() -> None:
    """With bounds, latency and rate."""
    findings = find_scaling_findings([*steps(0.1, 0.07, silent=0.056), *exchanges()])
    assert bare(tell_communication(findings.communication)) == (
        "On two devices 20 % of a step (18 % to 22 %) go to exchanging gradients (all-reduce); the rest is computing."
    )
    assert findings.exchange is not None
    assert bare(tell_exchange(findings.exchange)).startswith("An exchange costs 500 µs at once and moves 1.00 GB/s.")


def test_processes_are_called_what_they_are() -> None:
    """They share memory and caches, and the dashed line is a model."""
    caveats = tell(find_scaling_findings(steps(0.1, 0.07, silent=0.056))).caveats
    assert any("processes on this CPU, one thread each" in text for text in caveats)
    assert "The dotted line without points is a model, not a measurement." in caveats


@pytest.mark.parametrize(
    ("points", "said", "title"),
    [
        (
            steps(0.1, 0.07),
            "Give every device more to do between exchanges (a larger batch, accumulated gradients) before buying another "
            "one.",
            "Two processes reach 71 % of the ideal",
        ),
        (
            steps(0.1, 0.055),
            "This step shares out well; check again when the model grows, for its gradients grow with it.",
            "Two processes reach 91 % of the ideal",
        ),
        (
            [*steps(0.1), make_point(spec.STRONG, 2.0, 0.055, ci_low_s=0.03, ci_high_s=0.2)],
            "Run Thorough, or when the machine is quiet, before deciding on another device.",
            "What two processes gain cannot be told",
        ),
        (
            steps(0.1),
            "Fill the device you have first: a larger batch, lower precision, faster data loading.",
            "One device is all there is",
        ),
    ],
    ids=["badly", "well", "too noisy", "one device"],
)
def test_what_to_do_follows_from_what_was_found(points: list[Point], said: str, title: str) -> None:
    """And the title says no more than the words."""
    findings = find_scaling_findings(points)
    assert (bare(tell(findings).so_what), bare(claim_main(findings))) == (said, title)


def test_with_one_device_the_page_tells_a_model_and_what_others_published() -> None:
    """4 MiB of gradients over PCIe 4.0 x16; each with its source, and neither as measured."""
    one = [p.model_copy(update={"bytes": 4.0 * 2**20}) for p in steps(0.1)]
    findings = find_scaling_findings([*one, *published_results()[0].points])
    words = tell(findings)
    assert bare(words.answer) == (
        "On this machine there is one device only, so what a second one would gain cannot be measured."
    )
    said = bare(words.see)
    assert (
        "A model, not a measurement: if 4.00 MiB of gradients had to cross PCIe 4.0 x16 at 26.0 GB/s in a ring (Patarasuk "
        "and Yuan, 2009), two devices as fast as this one would be 1.99 × as fast. Source of the rate: NVIDIA/nvbandwidth:README.md"
    ) in said
    assert (
        "Published, ResNet-50 on V100, fp32: 2 GPUs 1.97 ×, 4 GPUs 3.89 ×, 8 GPUs 7.73 × and 16 GPUs 15.2 × the examples of "
        "one, each with as much to do as the one had (weak scaling). Source: NVIDIA/DeepLearningExamples"
    ) in said
    assert any(
        text.startswith("The faint squares were published, not measured here. Source:") for text in words.caveats
    )


def test_where_nobody_measured_here_the_answer_is_a_published_one() -> None:
    """Said to be one, in the answer and in the title."""
    findings = find_scaling_findings(published_results()[2].points)
    assert findings.source is Source.PUBLISHED
    assert bare(tell(findings).answer) == (
        "In a published run, 16 GPUs train 11.2 × as fast as one, 70 % of the ideal."
    )
    assert bare(claim_main(findings)) == "Published: 16 GPUs reach 70 % of the ideal"
    assert find_headline(findings) is None
    assert bare(describe_main(findings)).endswith(
        "Published, GNMT on V100, mixed precision: 1 1.00 ×, 4 3.05 ×, 8 5.51 × and 16 11.2 ×."
    )


def test_a_failed_group_says_why() -> None:
    """Even where nothing else was measured."""
    failed = make_point(spec.STRONG, 1.0, None, status=Status.FAILED, reason="The processes ended early: no route.")
    answer = "Nothing could be measured here: The processes ended early: no route."
    assert tell(find_scaling_findings([failed])).answer == answer
    beside = bare(tell(find_scaling_findings([failed, *published_results()[0].points])).answer)
    assert beside == f"{answer} In a published run, 16 GPUs train 15.2 × as fast as one, 95 % of the ideal."
    assert tell(find_scaling_findings([failed])).caveats == (
        "Strong has no time at a size (failed): The processes ended early: no route.",
    )


def test_titles_and_text_alternatives() -> None:
    """The chart's title is its finding."""
    findings = find_scaling_findings([*steps(0.1, 0.07), *exchanges()])
    assert bare(claim_main(findings)) == "Two processes reach 71 % of the ideal"
    assert bare(claim_second(findings)) == "An exchange costs 500 µs before it moves anything"
    assert (
        bare(describe_main(findings)) == "Speed-up by number of devices, one batch shared out: 1 1.00 × and 2 1.43 ×."
    )
    assert "all-reduce" in describe_second(findings)
    headline = find_headline(findings)
    assert headline is not None
    assert (bare(headline.number), headline.interval) == ("1.43 ×", "1.40 to 1.46")
    assert find_headline(find_scaling_findings(steps(0.1))) is None


@pytest.mark.parametrize("points", [[], [*steps(0.1, 0.07, silent=0.056), *exchanges()]], ids=["nothing", "all"])
def test_every_term_has_its_definition(points: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_scaling_findings(points))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)


# -- charts ---------------------------------------------------------------------------------------


def test_one_device_is_one_point_beside_a_model_and_published_squares() -> None:
    """Nothing is drawn as measured but what was."""
    points = [*(p.model_copy(update={"bytes": 4.0 * 2**20}) for p in steps(0.1)), *published_results()[0].points]
    figure = draw_main(points, find_scaling_findings(points), "light")
    by_name = {t.name: t for t in figure.data}
    assert list(by_name["strong"].x) == [1]
    assert (by_name["model"].mode, list(by_name["model"].x)) == ("lines", [1, 2, 4, 8])
    published = by_name["published"]
    assert (published.marker.symbol, published.line.dash, published.opacity < 1) == ("square-open", "dot", True)
    assert list(published.x) == [1, 2, 4, 8]
    assert {"measured", "model", "ResNet-50,<br>published"} <= {a.text for a in figure.layout.annotations}


def test_what_a_visitor_lays_beside_is_drawn_faint() -> None:
    """A published run and an earlier one, which the findings do not know of."""
    points = steps(0.1, 0.07)
    earlier = steps(0.1, 0.06, source=Source.RECORDED, source_note="run 1")
    figure = draw_main([*points, *earlier, *published_results()[1].points], find_scaling_findings(points), "light")
    by_name = {t.name: t for t in figure.data}
    assert by_name["strong"].y[1] == pytest.approx(1.43, abs=0.01)
    assert (by_name["earlier"].y[1], by_name["earlier"].opacity < 1) == (pytest.approx(1.67, abs=0.01), True)
    assert by_name["published"].opacity < 1


def test_published_points_alone_are_drawn_as_published() -> None:
    """All of them, up to 16 GPUs, and no line that looks measured."""
    points = list(published_results()[0].points)
    figure = draw_main(points, find_scaling_findings(points), "dark")
    assert [t.name for t in figure.data] == ["ideal", "published"]
    assert max(figure.data[1].x) == 16
    assert figure.layout.xaxis.title.text == "GPUs"


def test_a_model_is_drawn_as_a_model() -> None:
    """Dotted, named, and never a marker of a measurement."""
    points = steps(0.1, 0.07, silent=0.056)
    figure = draw_main(points, find_scaling_findings(points), "light")
    model = next(t for t in figure.data if t.name == "model")
    assert (model.mode, model.line.dash, list(model.x)) == ("lines", "dot", [2, 4, 8])
    assert model.y[0] == pytest.approx(1 / 0.7)
    measured = next(t for t in figure.data if t.name == "strong")
    assert list(measured.x) == [1, 2]


def test_without_an_exchange_no_model_is_drawn() -> None:
    """Nothing to base it on."""
    points = steps(0.1, 0.07)
    assert "model" not in [t.name for t in draw_main(points, find_scaling_findings(points), "light").data]


def test_exchanges_are_drawn_with_their_fit() -> None:
    """And one device has none."""
    points = [*steps(0.1, 0.07), *exchanges()]
    assert [t.name for t in draw_second(points, find_scaling_findings(points), "dark").data] == ["fit", "all-reduce"]
    alone = steps(0.1)
    text = draw_second(alone, find_scaling_findings(alone), "dark").layout.annotations[0].text
    assert text.replace("<br>", " ") == "With one device nothing is exchanged."


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_scaling_findings([])
    for draw in (draw_main, draw_second):
        assert "Press Run" in draw([], findings, "light").layout.annotations[0].text


# -- the real thing -------------------------------------------------------------------------------


class Kept:
    """Keeps the last point of each case; cancels when told."""

    def __init__(self, *, cancel: bool = False) -> None:
        self.points: dict[str, Point] = {}
        self.cancel = cancel

    def point(self, point: Point) -> None:
        self.points[point.case_id] = point

    def progress(self, progress: object) -> None:
        pass

    def cancelled(self) -> bool:
        return self.cancel


def small_group(n_processes: int = 2, budget_s: float = 2.0) -> tuple[Group, list]:
    cases = list(plan_cases(ScalingParams(device="cpu", batch=16, width=32, depth=2), machine_with(n_processes)))
    return Group(cases, ["cpu"] * n_processes, 1, budget_s), cases


def test_two_processes_share_a_step_and_agree_on_their_weights() -> None:
    """Every case has its time; nothing is left behind."""
    session = Kept()
    group, cases = small_group()
    outcome = follow(group, cases, session, ConditionsMonitor(), "Fake CPU", 2.0)
    points = list(session.points.values())
    assert len(points) == len(cases)
    assert all(p.status is Status.OK and p.median_s for p in points), [p.reason for p in points]
    assert all((p.rel_error or 0) < 1e-6 for p in points)
    assert not outcome.cancelled
    assert all(process.poll() is not None for process in group.processes)


@pytest.mark.parametrize(
    ("left_s", "scale"), [(15.0, 1.0), (9.0, 0.6), (0.1, 0.05), (-4.0, 0.05), (30.0, 1.0)],
    ids=["at once", "6 s to start", "late", "too late", "clock set back"],
)  # fmt: skip
def test_a_slow_start_shortens_the_sampling_not_the_list_of_cases(left_s: float, scale: float) -> None:
    """A budget of 15 seconds includes loading torch twice."""
    assert scale_of(left_s, 15.0) == pytest.approx(scale)


def test_a_cancelled_group_leaves_no_process_behind() -> None:
    """All of them are ended at once."""
    group, cases = small_group()
    outcome = follow(group, cases, Kept(cancel=True), ConditionsMonitor(), "Fake CPU", 2.0)
    assert outcome.cancelled
    assert not any(psutil.pid_exists(process.pid) for process in group.processes)


def test_a_process_that_dies_fails_its_cases_with_a_reason() -> None:
    """The others do not wait for it for ever."""
    session = Kept()
    group, cases = small_group(budget_s=30.0)
    time.sleep(0.5)
    for process in group.processes:
        process.kill()
    follow(group, cases, session, ConditionsMonitor(), "Fake CPU", 30.0)
    assert all(p.status is Status.FAILED for p in session.points.values())
    assert all(p.reason.startswith("The processes ended early") for p in session.points.values())


def test_the_script_runs_alone(tmp_path: Path) -> None:
    """It starts its processes itself."""
    script = tmp_path / "point.py"
    script.write_text(write_snippet(ScalingParams(batch=16, width=32, depth=2), None))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=115, check=True)
    assert re.search(r"^median_s=\d", done.stdout, re.MULTILINE)


def test_a_disturbed_step_on_one_device_does_not_lose_the_others() -> None:
    """Without it nothing can be compared: all of them speak, provisionally."""
    clean = steps(0.1, 0.06)
    flagged = [p.model_copy(update={"flags": (Flag.DRIFTING,)}) if p.x == 1 else p for p in clean]
    found = find_scaling_findings(flagged)
    assert [s.workers for s in found.strong] == [1, 2]
    assert found.is_provisional
    assert not find_scaling_findings(clean).is_provisional
