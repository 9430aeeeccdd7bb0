"""The exact words of the precision page, branch by branch."""

from dataclasses import replace

import pytest
from precision_made import (
    GPU,
    cpu_points,
    failed,
    gpu_points,
    make_formats,
    make_point,
    make_steps,
    make_subnormal,
    make_sums,
    published_points,
)

from gpuexplain.experiments.precision import caveats
from gpuexplain.experiments.precision.claims import claim_main, claim_second
from gpuexplain.experiments.precision.conclude import find_precision_findings
from gpuexplain.experiments.precision.found import DeviceFindings, PrecisionFindings
from gpuexplain.experiments.precision.guess import QUESTION
from gpuexplain.experiments.precision.headline import find_headline
from gpuexplain.experiments.precision.spec import Inputs, note_of
from gpuexplain.experiments.precision.words import (
    tell,
    tell_advice,
    tell_answer,
    tell_autocast,
    tell_energy,
    tell_lost_updates,
    tell_range,
    tell_speedups,
    tell_support,
)
from gpuexplain.model import Dtype, Flag, Gauges, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain


def bare(text: str) -> str:
    """Return the text as a reader sees it, with ordinary spaces."""
    return plain(text).replace(NBSP, " ")


def find(points: list[Point]) -> DeviceFindings:
    """Return what the first device says."""
    device = find_precision_findings(points).headline
    assert device is not None
    return device


def wide(points: list[Point]) -> list[Point]:
    """Return points whose intervals span a third either way."""
    return [
        p.model_copy(update={"ci_low_s": 0.7 * p.median_s, "ci_high_s": 1.4 * p.median_s}) if p.median_s else p
        for p in points
    ]


def fallback(**changes: object) -> list[Point]:
    """Return a tf32 that ran as fp32."""
    told = {"reason": "ran as fp32, by its error", "flags": (Flag.FALLBACK,), "rel_error": 3e-7}
    return make_formats({"tf32": 0.1}, **{**told, **changes})


def few_disturbed(rates: dict[str, float]) -> list[Point]:
    """Return points of three samples each, all taken while others used the machine."""
    points = make_formats(rates, device=GPU, flags=(Flag.UNDER_LOAD,), n_samples=3, ci_low_s=None, ci_high_s=None)
    return [p.model_copy(update={"max_s": p.median_s, "first_call_s": p.median_s}) for p in points]


# -- the answer ---------------------------------------------------------------------------------

ANSWERS = {
    "a GPU that gains": (
        gpu_points(),
        "On this machine the GPU multiplies 13.9 × (± 2.0 %) as fast in bf16 or fp16 as in fp32 at n = 2,048, and errs "
        "by 0.033 % to 0.27 %.",
    ),
    "one format gains": (
        make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU),
        "On this machine the GPU multiplies 2.00 × (± 2.0 %) as fast in bf16 as in fp32 at n = 2,048, and errs by 0.27 %.",
    ),
    "a busy GPU that gains": (
        make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU, flags=(Flag.UNDER_LOAD,)),
        "On this machine, busy with other work meanwhile, the GPU multiplies 2.00 × (± 2.0 %) as fast in bf16 as in fp32 "
        "at n = 2,048, and errs by 0.27 %.",
    ),
    "fp32 leads": (
        cpu_points(),
        "On this machine the CPU is fastest in fp32, 100 GFLOP/s at n = 1,024: no other format that errs by less than "
        "0.39 % keeps up.",
    ),
    "too close": (
        make_formats({"fp32": 10.0, "bf16": 10.3}, device=GPU),
        "On this machine no format that errs by less than 0.39 % is clearly faster than fp32 on the GPU.",
    ),
    "too noisy": (
        wide(make_formats({"fp32": 10.0, "bf16": 14.0}, device=GPU)),
        "On this machine no format that errs by less than 0.39 % is clearly faster than fp32 on the GPU.",
    ),
    "fp32 leads by a handful of disturbed calls": (
        few_disturbed({"fp32": 10.0, "bf16": 1.0}),
        "On this machine, busy with other work meanwhile, no format that errs by less than 0.39 % is clearly faster than "
        "fp32 on the GPU.",
    ),
    "no fp32": (
        make_formats({"bf16": 20.0}, device=GPU),
        "On this machine the GPU reaches 20.0 TFLOP/s in bf16 and errs by 0.27 %.",
    ),
    "not checked yet": (
        make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU, rel_error=None, gauges=None),
        "On this machine the GPU reaches 20.0 TFLOP/s in bf16, 2.00 × its fp32 at n = 2,048; no point reports its error, "
        "so only speeds can be compared.",
    ),
    "withheld": (
        [*gpu_points(), make_point("fp16", 4096, 140.0, device=GPU)],
        "On this machine no format can be recommended: fp16: its largest size is 43 % below its best; measure again on "
        "an idle, cool GPU.",
    ),
    "nothing ran": (
        [failed("fp32", Status.OOM, "full")],
        "On this machine nothing could be measured that may be shown; the caveats say why.",
    ),
    "only sums so far": (
        make_sums(sum_fp32=(0.0, 0.0, 0.0)),
        "On this machine no product is timed yet: the first points appear within seconds.",
    ),
    "published": (
        published_points(),
        "A published NVIDIA GeForce RTX 4090 reaches 160 TFLOP/s in fp16, 3.20 × its fp32 at n = 2,048; press Run to "
        "measure here.",
    ),
    "published without fp32": (
        [p for p in published_points() if p.series == "fp16"],
        "A published NVIDIA GeForce RTX 4090 is fastest in fp16: 160 TFLOP/s at n = 1,024; press Run to measure here.",
    ),
    "published and empty": (
        [failed("fp16", Status.FAILED, "wrong", source=Source.PUBLISHED, device="published:X", device_name="X")],
        "A published X has no speed to show; press Run to measure here.",
    ),
}


@pytest.mark.parametrize(("points", "answer"), ANSWERS.values(), ids=list(ANSWERS))
def test_the_answer_has_its_number_or_says_why_not(points: list[Point], answer: str) -> None:
    """One sentence for every way a result can stand."""
    assert bare(tell_answer(find(points))) == answer


def test_nothing_yet() -> None:
    """What to do."""
    words = tell(PrecisionFindings((), find_precision_findings([]).noise))
    assert words.answer == "Nothing is measured yet. Press Run: the first points appear within seconds."
    assert (words.see, words.so_what, words.caveats) == ("", "", ())
    assert words.why


# -- the titles of the charts -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "main", "second"),
    [
        ([], "Nothing is measured yet", "Nothing is measured yet"),
        ([failed("fp32", Status.OOM, "full")], "Nothing could be measured", "No format could be compared with fp32"),
        (
            gpu_points(),
            "The GPU multiplies 13.9 × (± 2.0 %) as fast in bf16 or fp16 as in fp32 at n = 2,048, and errs by 0.033 % to "
            "0.27 %",
            "Most speed over fp32: 22.2 × in int8 at n = 2,048",
        ),
        (
            cpu_points(),
            "The CPU is fastest in fp32, 100 GFLOP/s at n = 1,024: no other format that errs by less than 0.39 % keeps up",
            "No format is clearly faster than fp32 on the CPU",
        ),
        (make_sums(sum_fp32=(0.0, 0.0, 0.0)), "Nothing is measured yet", "Nothing is measured yet"),
    ],
    ids=["nothing", "failed", "GPU", "CPU", "sums only"],
)
def test_the_titles_are_the_findings(points: list[Point], main: str, second: str) -> None:
    """The same words as the answer."""
    findings = find_precision_findings(points)
    assert (bare(claim_main(findings)), bare(claim_second(findings))) == (main, second)


# -- what you see -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "told"),
    [
        (
            make_formats({"fp32": 10.0, "bf16": 20.0, "fp64": 2.0, "fp16": 10.2, "tf32": 9.9}, device=GPU),
            "Beside fp32, at the largest size of both: faster is bf16 (2.00 × ± 2.0 %); slower is fp64 (5.00 × as long); "
            "not to be told from it are tf32 and fp16.",
        ),
        (published_points(), "Beside fp32, at the largest size of both: faster is fp16 (3.20 ×) and bf16 (3.10 ×)."),
        (
            wide(make_formats({"fp32": 10.0, "bf16": 14.0}, device=GPU)),
            "Beside fp32, at the largest size of both: not to be told from it is bf16.",
        ),
        (make_formats({"fp32": 10.0}), ""),
    ],
    ids=["all three", "without intervals", "too noisy", "alone"],
)
def test_speedups_are_sorted_by_verdict(points: list[Point], told: str) -> None:
    """Faster, slower, and what cannot be told apart."""
    assert bare(tell_speedups(find(points))) == told


def test_support_tells_what_ran_and_what_is_emulated() -> None:
    """tf32 by its error, 16 bits by the list of units."""
    assert bare(tell_support(find([*cpu_points(), *fallback()]))) == (
        "Not supported here: tf32, which ran as fp32. Emulated: bf16, fp16 and fp8 e4m3; this CPU has no units for them."
    )
    assert bare(tell_support(find(gpu_points(device_name="Tesla T4")))) == (
        "Not supported here: tf32, which ran as fp32. Emulated: bf16; this GPU has no units for it."
    )
    assert tell_support(find(gpu_points())) == ""


def test_slow_without_a_known_reason_is_only_slow() -> None:
    """Nothing says emulated."""
    slow = make_formats({"fp32": 10.0, "bf16": 1.0}, device=GPU, device_name="Mystery")
    assert bare(tell_support(find(slow))) == "Under four fifths of the speed of fp32: bf16."


def test_a_range_that_does_not_fit_is_told_per_format() -> None:
    """Overflow with its share; zeros with the error they cost; half a step of int8 around zero is nothing."""
    n_values = 2 * 2048**2
    gauges = {
        "int8": Gauges(clipped_count=0, zeroed_count=int(0.82 * n_values)),
        "fp8": Gauges(clipped_count=0, zeroed_count=int(0.004 * n_values)),
    }
    lost = [make_point(name, 2048, 1.0, gauges=gauge, rel_error=0.99) for name, gauge in gauges.items()]
    overflow = failed(
        "fp16",
        Status.FAILED,
        "NaN",
        2048,
        nan_count=3,
        gauges=Gauges(clipped_count=int(0.063 * n_values), zeroed_count=0),
    )
    assert bare(tell_range(find([*lost, overflow, make_point("bf16", 2048, 1.0)]))) == (
        "With these inputs fp16 overflows (6.3 % of the inputs) and holds no result any more and int8 rounds 82 % of them "
        "to zero and errs by 99 %."
    )
    assert tell_range(find(cpu_points())) == ""


AUTOCAST = {
    "holds": (
        make_steps(1.8),
        "One training step of 3 layers (batch and width 256) is 1.80 × (± 2.0 %) as fast with autocast to bf16 as in fp32; "
        "its gradients err by 0.40 %.",
    ),
    "does not": (
        make_steps(0.04),
        "One training step of 3 layers (batch and width 256) takes 25.0 × as long with autocast to bf16 as in fp32; its "
        "gradients err by 0.40 %.",
    ),
    "too noisy": (
        make_steps(1.3, spread=0.2, rel_error=None),
        "One training step of 3 layers (batch and width 256) takes the same time with autocast to bf16 as in fp32, as far "
        "as can be told.",
    ),
    "not measured": ([], ""),
}


@pytest.mark.parametrize(("points", "told"), AUTOCAST.values(), ids=list(AUTOCAST))
def test_autocast_in_words(points: list[Point], told: str) -> None:
    """Faster, slower, open, absent."""
    assert bare(tell_autocast(find([*make_formats({"fp32": 0.1}), *points]))) == told


SUMS = {
    "usual": (
        {"sum_fp32": (0.0, 0.0, 0.0), "sum_fp16": (0.0, 0.0, 1.0), "sum_bf16": (0.0, 1.0, 1.0)},
        "Add 4,096 small numbers, together 1, to a 1, one after the other: fp16 and bf16 lose all of them, fp32 keeps them.",
    ),
    "in part": (
        {"sum_fp32": (0.0, 0.0, 0.0), "sum_bf16": (0.0, 0.4, 0.6), "sum_bf16_in_fp32": (0.0, 0.0, 0.0)},
        "Add 4,096 small numbers, together 1, to a 1, one after the other: bf16 loses 60 % of their sum, fp32 keeps them. "
        "In an fp32 sum the bf16 numbers arrive, too.",
    ),
    "all lost": (
        {"sum_bf16": (1.0, 1.0, 1.0)},
        "Add 4,096 small numbers, together 1, to a 1, one after the other: bf16 loses all of them.",
    ),
    "none lost": (
        {"sum_fp32": (0.0, 0.0, 0.0), "sum_fp16": (0.0, 0.0, 0.1)},
        "Add 4,096 small numbers, together 1, to a 1, one after the other: every format keeps most of them.",
    ),
}


@pytest.mark.parametrize(("sums", "told"), SUMS.values(), ids=list(SUMS))
def test_lost_updates_in_words(sums: dict[str, tuple[float, ...]], told: str) -> None:
    """Who loses how much, who keeps them, and the remedy where it was checked."""
    assert bare(tell_lost_updates(find(make_sums(**sums)))) == told
    assert tell_lost_updates(find(gpu_points())) == ""


def test_energy_in_words() -> None:
    """Per operation, by format; nothing where nothing was read."""
    read = Gauges(clipped_count=0, energy_j=2e-12 * 2 * 1024**3)
    points = [make_point("fp32", 1024, 18.0, gauges=read), make_point("bf16", 1024, 250.0)]
    assert bare(tell_energy(find(points))) == "Energy of one operation: fp32 2.00 pJ."
    assert tell_energy(find(cpu_points())) == ""


def test_a_published_part_is_told_beside_our_own() -> None:
    """Not as this machine's."""
    words = tell(find_precision_findings([*cpu_points(), *published_points()]))
    assert bare(words.see).endswith(
        "A published NVIDIA GeForce RTX 4090 reaches 160 TFLOP/s in fp16, 3.20 × its fp32 at n = 2,048: not in this machine."
    )


# -- why, and so what ---------------------------------------------------------------------------


def test_the_reason_is_that_of_the_device() -> None:
    """Units for few bits on a GPU, their absence on a CPU."""
    gpu, cpu = (bare(tell(find_precision_findings(points)).why) for points in (gpu_points(), cpu_points()))
    assert gpu.endswith(
        "GPUs add units for exactly this: a tensor core multiplies small blocks of 16-bit or 8-bit numbers in one step and "
        "sums in fp32."
    )
    assert cpu.endswith(
        "A smaller format pays only where there are units for it (such as AMX on some CPUs). Elsewhere every number is "
        "converted first, and the smaller format is the slower one."
    )


def test_a_wide_range_of_inputs_is_explained() -> None:
    """Why bf16 does not notice and others do."""
    points = gpu_points(timing=f"a clock; {note_of(Inputs.BADLY_SCALED)}")
    assert bare(tell(find_precision_findings(points)).why).endswith(
        "The inputs here span 2⁻²⁰ to 2²⁰, undone in the other operand: the exact product is the usual one. bf16 has the "
        "range of fp32 and does not notice; fp16 ends at 65,504, and int8 has one step for all of them."
    )


ADVICE = {
    "bf16 pays": (
        make_formats({"fp32": 10.0, "bf16": 20.0}, device=GPU),
        "Train with autocast to bf16: products in bf16, weights and sums in fp32. Each value takes two bytes instead of "
        "four: 2.00 × as many fit the memory.",
    ),
    "tf32 pays": (
        make_formats({"fp32": 10.0, "tf32": 20.0}, device=GPU),
        "Allow tf32 for fp32 products: one switch, no other change.",
    ),
    "fp32 leads": (
        cpu_points(),
        "Stay in fp32 here. A smaller format still halves (16 bits) or quarters (8 bits) the memory of a model: store in it "
        "where memory is short, and widen before the product.",
    ),
    "not from here": (
        published_points(),
        "Run it here before deciding: a format that pays on one part can be the slowest on another.",
    ),
    "not comparable": (
        [failed("fp32", Status.OOM, "full")],
        "Run it here before deciding: a format that pays on one part can be the slowest on another.",
    ),
}


@pytest.mark.parametrize(("points", "advice"), ADVICE.values(), ids=list(ADVICE))
def test_the_advice_follows_from_the_finding(points: list[Point], advice: str) -> None:
    """And only for what was measured here."""
    assert bare(tell_advice(find(points))) == advice


# -- caveats ------------------------------------------------------------------------------------


def test_formats_that_ended_alike_share_a_sentence() -> None:
    """Skipped ones tell the first prediction, refused ones their reason."""
    device = find([
        *make_formats({"fp32": 10.0}, device=GPU),
        failed("bf16", Status.SKIPPED, "One call would take about 2.00 s.", 512, device=GPU),
        failed("fp16", Status.SKIPPED, "One call would take about 3.00 s.", 1024, device=GPU),
        failed("fp8", Status.UNSUPPORTED, "Too old.", 64, device=GPU),
        failed("fp8_e5m2", Status.UNSUPPORTED, "Too old.", 64, device=GPU),
        failed("int8", Status.SKIPPED, "One call would take about 4.00 s.", 512, device=GPU),
        failed("fp64", Status.UNSUPPORTED, "No fp64 here.", 64, device=GPU),
    ])  # fmt: skip
    assert [bare(text) for text in caveats.tell_missing(device)] == [
        "A product in fp64 has no time at n = 64 (unsupported): No fp64 here.",
        "Too slow for the time of this run: bf16 and int8 at n = 512; fp16 at n = 1,024. In bf16: One call would take about "
        "2.00 s.",
        "A product in fp8 e4m3 or fp8 e5m2 has no time at n = 64 (unsupported): Too old.",
    ]


def test_what_is_left_out_or_withheld_is_told() -> None:
    """Suspect sizes in one sentence, a speed beyond the part in another, an unranked device."""
    slow = [make_point("bf16", side, rate, device=GPU) for side, rate in ((1024, 0.1), (2048, 200.0), (4096, 200.0))]
    device = find([*make_formats({"fp32": 18.0}, device=GPU), *slow])
    assert bare(caveats.tell_suspects(device)) == (
        "Left out, because the times do not fit those of the other sizes: bf16 at n = 1,024."
    )
    fast = find(make_formats({"fp32": 18.0, "bf16": 600.0}, device=GPU)).of("bf16")
    assert fast is not None
    assert bare(caveats.tell_withheld(fast)) == (
        "The speed of bf16 is withheld: it is above what the part can do. Check timing, dtype or peak."
    )
    unranked = find([*gpu_points(), make_point("fp16", 4096, 140.0, device=GPU)])
    assert bare(caveats.tell_withheld_ranking(unranked)) == (
        "The formats of the GPU are not ranked: fp16: its largest size is 43 % below its best; measure again on an idle, "
        "cool GPU."
    )
    fine = find(gpu_points())
    assert (caveats.tell_suspects(fine), caveats.tell_withheld_ranking(fine)) == ("", "")
    assert not any(caveats.tell_withheld(found) for found in fine.formats)


def test_an_override_is_named() -> None:
    """With its value."""
    device = find(gpu_points(timing=f"a clock; {note_of(Inputs.UNIFORM, ['NVIDIA_TF32_OVERRIDE=0'])}"))
    assert caveats.tell_overrides(device) == (
        "Set in the environment and stronger than the program's switch: NVIDIA_TF32_OVERRIDE=0. Which precision ran is told "
        "by the error."
    )
    assert caveats.tell_overrides(find(gpu_points())) == ""


def test_flags_of_all_formats_are_counted_together() -> None:
    """Not once per format; what ran as another format is told beside the chart."""
    points = [*make_formats({"fp32": 0.1, "fp64": 0.05}, flags=(Flag.FEW_SAMPLES,)), *fallback()]
    assert [bare(text) for text in caveats.tell_flags(find(points))] == [
        "Four points of the CPU rest on under six samples, so without an interval."
    ]


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ([make_subnormal(True)], "Checked: subnormal numbers become zero here, so none slows a product down."),
        ([make_subnormal(False)], "Checked: subnormal numbers are kept here, which can slow a CPU down."),
        ([make_subnormal(False, device=GPU)], "Checked: subnormal numbers are kept here."),
        (gpu_points(), ""),
    ],
    ids=["flushed", "kept on a CPU", "kept on a GPU", "not checked"],
)
def test_subnormals_in_words(points: list[Point], told: str) -> None:
    """As it was checked."""
    assert bare(caveats.tell_subnormals(find(points))) == told


def test_a_missing_counter_is_told_once() -> None:
    """Not where energy was read, nor where nobody asked."""
    why = Gauges(clipped_count=0, not_reported={"energy_j": "no counter"})
    assert caveats.tell_no_energy(find(make_formats({"fp32": 1.0, "bf16": 1.0}, gauges=why))) == (
        "Energy is not reported: no counter."
    )
    assert caveats.tell_no_energy(find(cpu_points())) == ""


def test_a_published_part_says_that_its_errors_are_not_its_own() -> None:
    """Its points stand where the format usually does; ours do not."""
    assert bare(caveats.tell_no_errors(find(published_points()))) == (
        "A published NVIDIA GeForce RTX 4090 comes with speeds only: its points stand at the usual error of their format."
    )
    assert caveats.tell_no_errors(find(gpu_points())) == ""


def test_eight_bits_say_what_their_time_leaves_out() -> None:
    """Only where one was measured."""
    assert caveats.tell_scaling(find(cpu_points())) == (
        "8-bit operands are scaled and rounded before the clock starts; a program pays for that, too."
    )
    assert caveats.tell_scaling(find(published_points())) == ""


def test_caveats_come_once_each() -> None:
    """Of every device, without empty ones."""
    words = tell(find_precision_findings([*cpu_points(), *published_points()]))
    assert len(words.caveats) == len(set(words.caveats))
    assert all(words.caveats)


# -- Home and the guess -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "headline"),
    [
        (gpu_points(), ("Best precision", "bf16 or fp16, 13.9 ×", "13.6 to 14.2", "over fp32 at n = 2,048")),
        (cpu_points(), ("Best precision", "fp32", "", "nothing faster under an error of 0.39 %")),
        (
            wide(make_formats({"fp32": 10.0, "bf16": 14.0}, device=GPU)),
            ("Best precision", "bf16 or fp32", "", "nothing faster under an error of 0.39 %"),
        ),
        (
            [*gpu_points(), make_point("fp16", 4096, 140.0, device=GPU)],
            ("Fastest precision", "int8", "", "400 TFLOP/s at n = 1,024"),
        ),
        ([failed("fp32", Status.OOM, "full")], None),
        ([], None),
    ],
    ids=["gain", "fp32", "too noisy", "withheld", "nothing ran", "nothing"],
)
def test_home_gets_one_number(points: list[Point], headline: tuple[str, str, str, str] | None) -> None:
    """The best precision, with its speed-up where there is one."""
    found = find_headline(find_precision_findings(points))
    told = (found.label, found.number, found.interval, found.detail) if found else None
    assert (tuple(bare(text) for text in told) if told else None) == headline


def test_the_guess_is_about_bf16_and_judged_by_what_was_measured_here() -> None:
    """A published series is no answer."""
    assert QUESTION.ask(True) == "How many times as fast as fp32 is bf16 on this GPU?"
    assert QUESTION.ask(False) == "How many times as fast as fp32 is bf16 on this CPU?"
    assert QUESTION.find_answer(find_precision_findings(gpu_points())) == pytest.approx(250 / 18)
    assert QUESTION.find_answer(find_precision_findings(published_points())) is None
    assert QUESTION.find_answer(find_precision_findings([])) is None
    assert QUESTION.say(0.01) == "0.010 times"
    assert {0.01, 1.0, 16.0} <= set(QUESTION.options)


# -- marks --------------------------------------------------------------------------------------


def every_text() -> list[str]:
    """Return every text of many pages."""
    texts = []
    for points in (gpu_points(), cpu_points(), published_points(), [*cpu_points(), *published_points(), *fallback()]):
        words = tell(find_precision_findings(points))
        texts += [words.answer, words.see, words.why, words.so_what, *words.caveats]
    return texts


def test_every_term_has_a_definition() -> None:
    """A marked word without one would break the page."""
    terms = {span.term for text in every_text() for span in parse(text) if span.term}
    assert {"fp32", "bf16", "fp16", "fp8", "int8", "autocast", "relative error", "emulated", "subnormal"} <= terms
    assert terms <= set(GLOSSARY)


def test_no_sentence_is_left_unfinished() -> None:
    """No empty figure, no doubled stop, no format at the start of a sentence in capitals."""
    for text in every_text():
        assert not any(bad in bare(text) for bad in ("None", "..", " .", "nan", "()", "Bf16", "Fp", "Tf32", "Int8"))


def test_findings_of_another_device_do_not_enter_the_answer() -> None:
    """The words of the headline's device are those of its findings alone."""
    alone, beside = (tell(find_precision_findings(p)) for p in (cpu_points(), [*cpu_points(), *published_points()]))
    assert alone.answer == beside.answer
    device = find(gpu_points())
    assert bare(tell_answer(replace(device, is_provisional=True))).startswith("On this machine, busy with")
    assert device.of(Dtype.BF16) is not None
