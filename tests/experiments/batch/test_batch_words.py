"""The exact words of the batch page, branch by branch."""

import re

import pytest
from batch_made import (
    CPU,
    GIB,
    GPU,
    MIB,
    NOT_FOUND,
    cpu_points,
    gpu_points,
    make_findings,
    make_knee,
    make_series,
    out_of_memory,
    published_points,
)

from gpuexplain.experiments.batch.advice import tell_alignment, tell_so_what
from gpuexplain.experiments.batch.caveats import (
    list_caveats,
    tell_cold_call,
    tell_fallback,
    tell_launch_limit,
    tell_other_failures,
    tell_out_of_memory,
)
from gpuexplain.experiments.batch.claims import claim_knee, claim_main, claim_second
from gpuexplain.experiments.batch.conclude import BatchAt, SeriesFinding, find_batch_findings
from gpuexplain.experiments.batch.guess import QUESTION
from gpuexplain.experiments.batch.headline import find_headline
from gpuexplain.experiments.batch.memory_words import tell_ceiling, tell_memory
from gpuexplain.experiments.batch.series import FILE_SERIES
from gpuexplain.experiments.batch.words import (
    tell,
    tell_answer,
    tell_crossover,
    tell_free,
    tell_knee,
    tell_other,
    tell_saturation,
    tell_speedup,
    tell_utilisation,
)
from gpuexplain.experiments.contract import Headline
from gpuexplain.findings import (
    Alignment,
    BatchCeiling,
    ColdCall,
    Crossover,
    CrossoverVerdict,
    FreeBatch,
    MemoryFit,
    MemoryFitStatus,
    NoiseFloor,
    NotFound,
    Saturation,
)
from gpuexplain.model import Dtype, Flag, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

PUBLISHED = make_series(
    "resnet50_inference_gpu",
    source=Source.PUBLISHED,
    device="published:V100",
    device_name="V100",
    knee=make_knee(knee_low=None, knee_high=None),
)
FILE = make_series(FILE_SERIES, source=Source.RECORDED, device_name="mine.csv")
RISING = make_knee(knee_batch=256, saturated=False, saturation=Saturation.STILL_RISING, last_step_gain=0.6)
ONE = make_series(
    knee=make_knee(best_batch=1, knee_batch=1, saturation=None),
    best=BatchAt(1, 0.01, 100.0),
    at_knee=BatchAt(1, 0.01, 100.0),
)
NOTHING = make_series(
    knee=make_knee(best_batch=None, knee_batch=None, best_throughput=None), smallest=None, at_knee=None, best=None
)


def bare(text: str) -> str:
    """Return the text as a reader sees it, with ordinary spaces."""
    return plain(text).replace(NBSP, " ")


# -- the knee -------------------------------------------------------------------------------------

CLAIMS: dict[str, tuple[SeriesFinding, str]] = {
    "usual": (make_series(), "batch 64 already gives the CPU 90 % of its best throughput"),
    "GPU": (make_series(GPU), "batch 64 already gives the GPU 90 % of its best throughput"),
    "published": (PUBLISHED, "batch 64 already gives the V100 90 % of its best throughput"),
    "file": (FILE, "batch 64 already gives the device of mine.csv 90 % of its best throughput"),
    "the smallest": (
        make_series(knee=make_knee(knee_batch=1, knee_low=1, knee_high=2), at_knee=BatchAt(1, 0.01, 100.0)),
        "batch 1, the smallest measured, already gives the CPU 90 % of its best throughput",
    ),
    "nothing": (NOTHING, "the CPU has no throughput to show"),
    "one batch": (ONE, "the CPU does 100 examples/s at batch 1, too little to see a knee"),
    "rising": (make_series(knee=RISING), "the throughput of the CPU still rises at batch 256, the largest measured"),
    "perhaps rising": (
        make_series(knee=make_knee(saturated=False, saturation=Saturation.UNCERTAIN)),
        "the throughput of the CPU may still rise at batch 256, the largest measured",
    ),
    "humps": (
        make_series(knee=make_knee(knee_unstable=True)),
        "the throughput of the CPU has more than one hump, the first at batch 64",
    ),
    "too noisy": (
        make_series(knee=make_knee(knee_low=2, knee_high=256)),
        "the knee of the CPU lies somewhere from batch 2 to batch 256",
    ),
    "within two doublings": (
        make_series(knee=make_knee(knee_low=32, knee_high=128)),
        "batch 64 already gives the CPU 90 % of its best throughput",
    ),
}


@pytest.mark.parametrize(("series", "claim"), CLAIMS.values(), ids=list(CLAIMS))
def test_each_knee_claims_only_what_was_measured(series: SeriesFinding, claim: str) -> None:
    """A knee, none, several, too noisy, or still rising."""
    assert bare(claim_knee(series)) == claim


ANSWERS = {
    "CPU": (
        make_findings(make_series()),
        "On this machine batch 64 already gives the CPU 90 % of its best throughput in MLP training, 914 of "
        "1.00 k examples/s.",
    ),
    "with a range": (
        make_findings(make_series(knee=make_knee(knee_low=32, knee_high=128))),
        "On this machine batch 64 already gives the CPU 90 % of its best throughput in MLP training, 914 of "
        "1.00 k examples/s (knee between batch 32 and 128).",
    ),
    "provisional": (
        make_findings(make_series(is_provisional=True)),
        "On this machine, busy with other work meanwhile, batch 64 already gives the CPU 90 % of its best throughput in "
        "MLP training, 914 of 1.00 k examples/s.",
    ),
    "autocast": (
        make_findings(make_series(dtype=Dtype.BF16)),
        "On this machine batch 64 already gives the CPU 90 % of its best throughput in MLP training in bf16, 914 of "
        "1.00 k examples/s.",
    ),
    "CPU and GPU": (
        make_findings(make_series(GPU), make_series(), crossover=Crossover(CrossoverVerdict.CROSSED, low=4.0, high=8.0)),
        "On this machine batch 64 already gives the GPU 90 % of its best throughput in MLP training, 914 of "
        "1.00 k examples/s; the GPU is faster than the CPU from batch 8 on.",
    ),
    "rising": (
        make_findings(make_series(knee=RISING)),
        "On this machine the throughput of the CPU in MLP training still rises at batch 256, the largest measured.",
    ),
    "published": (
        make_findings(PUBLISHED),
        "Batch 64 already gives the V100 90 % of its best throughput in ResNet-50 inference, 914 of 1.00 k examples/s "
        "(published, not of this machine); press Run to measure here.",
    ),
    "file": (
        make_findings(FILE),
        "Batch 64 already gives the device of mine.csv 90 % of its best throughput, 914 of 1.00 k examples/s (recorded, "
        "not of this machine); press Run to measure here.",
    ),
    "failed": (
        make_findings(NOTHING),
        "On this machine nothing could be measured that may be shown; the caveats say why.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "answer"), ANSWERS.values(), ids=list(ANSWERS))
def test_the_answer_is_one_sentence_with_its_number(findings: object, answer: str) -> None:
    """Where from, which batch, of what, how fast."""
    assert bare(tell_answer(findings)) == answer  # type: ignore[arg-type]


def test_with_nothing_measured_the_page_says_what_run_will_show() -> None:
    """And why it is worth a click."""
    told = tell(make_findings())
    assert told.answer == (
        "Nothing is measured yet. Press Run: it shows from which batch on more examples at a time bring hardly more "
        "throughput, and what they cost in time and memory."
    )
    assert told.why
    assert (told.see, told.so_what, told.caveats) == ("", "", ())


def test_titles_are_the_findings() -> None:
    """Of both charts."""
    findings = make_findings(make_series())
    assert bare(claim_main(findings)) == "Batch 64 already gives the CPU 90 % of its best throughput"
    assert bare(claim_second(findings)) == (
        "The CPU does 1.00 k examples/s at best, but a step then takes 256 ms, not 10.0 ms"
    )
    assert bare(claim_second(make_findings(ONE))) == "The CPU does 100 examples/s at batch 1, a step taking 10.0 ms"
    assert claim_main(make_findings()) == claim_second(make_findings()) == "Nothing is measured yet"
    assert claim_main(make_findings(NOTHING)) == claim_second(make_findings(NOTHING)) == "Nothing could be measured"


# -- what you see ---------------------------------------------------------------------------------


def test_the_knee_is_told_with_what_the_last_tenth_costs() -> None:
    """Two batches, two rates, two times; or the best alone where no knee may be named."""
    assert bare(tell_knee(make_series())) == (
        "Batch 64, the knee, does 914 examples/s in steps of 70.0 ms. The best, 1.00 k examples/s, 6.00 GFLOP/s, takes "
        "batch 256 and steps of 256 ms."
    )
    assert bare(tell_knee(make_series(knee=RISING))) == (
        "Batch 256 does the most: 1.00 k examples/s, 6.00 GFLOP/s, a step taking 256 ms."
    )
    assert tell_knee(NOTHING) == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "The last doubling of the batch gained 2.0 %: the throughput has levelled off."),
        (
            {"largest_ran": 512, "last_step_gain": 0.9},
            "No larger batch measured does more than batch 256: the throughput has levelled off.",
        ),
        (
            {"saturation": Saturation.STILL_RISING, "last_step_gain": 0.6},
            "The last doubling of the batch gained 60 %: larger ones, not measured here, may gain more.",
        ),
        (
            {"saturation": Saturation.UNCERTAIN, "last_step_gain": 0.04},
            "Whether the last doubling of the batch gained anything, the intervals do not tell.",
        ),
        ({"saturation": None, "last_step_gain": None}, ""),
    ],
    ids=["level", "past its best", "rising", "uncertain", "one batch"],
)
def test_saturation_is_told(changes: dict[str, object], told: str) -> None:
    """Or that nobody can tell."""
    assert bare(tell_saturation(make_knee(**changes))) == told


@pytest.mark.parametrize(
    ("free", "told"),
    [
        (
            FreeBatch(1, 8, 8, 8, 0.01, 1.25, True),
            "Up to batch 8 a step takes at most 25 % longer than the 10.0 ms of batch 1: the further examples are free.",
        ),
        (
            FreeBatch(1, 8, 4, 16, 0.01, 1.25, True),
            "Up to batch 8 a step takes at most 25 % longer than the 10.0 ms of batch 1: the further examples are free, "
            "surely up to batch 4.",
        ),
        (
            FreeBatch(1, 8, 8, 8, 0.01, 1.25, False),
            "Up to batch 8 a step takes at most 25 % longer than the 10.0 ms of batch 1: the further examples are free, "
            "and no batch measured ends that.",
        ),
        (
            NotFound("free batch", "a step of batch 2 already takes 1.90 × the time of batch 1"),
            "No free examples show: a step of batch 2 already takes 1.90 × the time of batch 1.",
        ),
    ],
    ids=["bounded", "within intervals", "open", "none"],
)
def test_free_examples_are_told(free: FreeBatch | NotFound, told: str) -> None:
    """How far, and how surely."""
    assert bare(tell_free(free)) == told


MEMORY = {
    "line": (
        MemoryFit(MemoryFitStatus.OK, 30.0 * MIB, 2.0 * MIB, 0.034, 5),
        "Each further example takes 2.00 MiB of memory, beside 30.0 MiB that the model holds whatever the batch (a "
        "straight line, within 3 %).",
    ),
    "exact line": (
        MemoryFit(MemoryFitStatus.OK, 30.0 * MIB, 2.0 * MIB, 1e-9, 5),
        "Each further example takes 2.00 MiB of memory, beside 30.0 MiB that the model holds whatever the batch (a "
        "straight line, within 1 %).",
    ),
    "no line": (
        MemoryFit(MemoryFitStatus.NOT_LINEAR, None, None, 0.4, 5),
        "The memory does not grow in a straight line with the batch (off by 40 %).",
    ),
    "too noisy": (
        MemoryFit(MemoryFitStatus.TOO_NOISY, None, None, 0.02, 5),
        "Over these batches the memory hardly grows: too little to tell what one example takes.",
    ),
    "too few": (MemoryFit(MemoryFitStatus.TOO_FEW_POINTS), ""),
}


@pytest.mark.parametrize(("fit", "told"), MEMORY.values(), ids=list(MEMORY))
def test_memory_per_example_is_told(fit: MemoryFit, told: str) -> None:
    """Or why there is no such figure."""
    assert bare(tell_memory(fit)) == told


CEILINGS = {
    "found and predicted": (
        BatchCeiling(512 * MIB, 741, 512, 1024, True),
        "Batch 512 ran, batch 1,024 ran out of memory; by that line the 512 MiB that a run may fill are full at about batch "
        "740, which agrees.",
    ),
    "they differ": (
        BatchCeiling(512 * MIB, 5000, 512, 1024, False),
        "Batch 512 ran, batch 1,024 ran out of memory; by that line the 512 MiB that a run may fill are full at about batch "
        "5,000, which does not agree.",
    ),
    "found only": (
        BatchCeiling(512 * MIB, None, 512, 1024, None),
        "Batch 512 ran, batch 1,024 ran out of memory (the 512 MiB that a run may fill).",
    ),
    "found, limit unknown": (BatchCeiling(None, None, 512, 1024, None), "Batch 512 ran, batch 1,024 ran out of memory."),
    "predicted only": (
        BatchCeiling(8 * GIB, 427_996, 4096, None, None),
        "By that line the 8.00 GiB that a run may fill are full at about batch 430,000; nothing larger than batch 4,096 was "
        "tried.",
    ),
    "neither": (NotFound("memory ceiling", "no batch ran"), ""),
}  # fmt: skip


@pytest.mark.parametrize(("ceiling", "told"), CEILINGS.values(), ids=list(CEILINGS))
def test_the_end_of_the_memory_is_told(ceiling: BatchCeiling | NotFound, told: str) -> None:
    """What ran, what did not, what the line says."""
    assert bare(tell_ceiling(ceiling)) == told


@pytest.mark.parametrize(
    ("at_one", "at_best", "told"),
    [
        (
            0.31,
            0.97,
            "The driver reports a kernel running 31 % of the time at batch 1 and 97 % at batch 256: more work at a time "
            "leaves fewer gaps.",
        ),
        (
            0.95,
            1.0,
            "The driver reports a kernel running 95 % of the time at batch 1 and 100 % at batch 256: always busy, though "
            "far from full at small batches.",
        ),
        (None, 0.9, ""),
    ],
    ids=["gaps", "always busy", "not reported"],
)
def test_utilisation_is_told_where_reported(at_one: float | None, at_best: float, told: str) -> None:
    """And what it does not mean."""
    series = make_series(
        GPU,
        smallest=BatchAt(1, 0.01, 100.0, None, at_one),
        best=BatchAt(256, 0.256, 1000.0, None, at_best),
    )
    assert bare(tell_utilisation(series)) == told


V = CrossoverVerdict


@pytest.mark.parametrize(
    ("crossover", "told"),
    [
        (Crossover(V.CROSSED, low=4.0, high=8.0), "the GPU is faster than the CPU from batch 8 on"),
        (Crossover(V.GPU_ALWAYS), "the GPU is faster than the CPU at every batch measured on both"),
        (Crossover(V.CPU_ALWAYS), "the GPU is faster than the CPU at no batch measured on both"),
        (Crossover(V.TIE), "no lasting lead of the GPU over the CPU is shown"),
        (None, ""),
    ],
    ids=["crossed", "always", "never", "tie", "one device"],
)
def test_who_is_faster_is_told_by_batch(crossover: Crossover | None, told: str) -> None:
    """Only where both were measured here."""
    assert bare(tell_crossover(crossover)) == told


@pytest.mark.parametrize(
    ("factor", "told"),
    [
        (21.3, "At batch 256 the GPU is 21.3 × as fast as the CPU."),
        (0.5, "At batch 256 the CPU is 2.00 × as fast as the GPU."),
        (1.0, "At batch 256 the GPU and the CPU take the same time within 5.0 %."),
    ],
    ids=["GPU", "CPU", "neither"],
)
def test_the_factor_names_its_winner(factor: float, told: str) -> None:
    """At the largest batch of both."""
    assert bare(tell_speedup(Crossover(V.GPU_ALWAYS, speedup=factor, speedup_n=256.0))) == told


def test_a_series_from_elsewhere_is_compared_by_its_shape() -> None:
    """Its examples are other ones."""
    assert bare(tell_other(PUBLISHED)) == (
        "For comparison, faint: the V100 (published, not in this machine) has its knee in ResNet-50 inference at batch "
        "64. Its examples are other ones: compare the shapes, not the heights."
    )
    assert tell_other(NOTHING) == ""


# -- so what --------------------------------------------------------------------------------------

SO_WHAT = {
    "training": (
        make_series(),
        "For speed alone take about batch 64: larger ones cost memory and bring under a tenth more. Whether a larger batch "
        "also learns as well is another question, which no stopwatch answers.",
    ),
    "inference": (
        make_series("mlp_inference_cpu"),
        "To answer many requests, gather up to about batch 64: more makes each wait longer for under a tenth more "
        "throughput. Where each answer counts, stay in the shaded range.",
    ),
    "rising": (
        make_series(knee=RISING),
        "Take the largest batch that your memory and your patience allow, and run Thorough to look further.",
    ),
    "too noisy": (
        make_series(knee=make_knee(knee_low=2, knee_high=256)),
        "Run Thorough on a quiet machine before deciding: the knee is not placed.",
    ),
    "humps": (
        make_series(knee=make_knee(knee_unstable=True)),
        "Run Thorough on a quiet machine before deciding: these points show no clear knee.",
    ),
    "nothing": (NOTHING, ""),
}  # fmt: skip


@pytest.mark.parametrize(("series", "told"), SO_WHAT.values(), ids=list(SO_WHAT))
def test_advice_follows_from_the_finding(series: SeriesFinding, told: str) -> None:
    """Nothing is recommended that was not tested."""
    assert bare(tell_so_what(series)) == told


@pytest.mark.parametrize(
    ("alignment", "told"),
    [
        (
            Alignment(64, True, 1.2, 1.1, 1.3, 4),
            "Choose multiples of 64: they do 20 % more examples a second than their neighbours.",
        ),
        (Alignment(8, False, 1.0, 0.9, 1.1, 2), "Multiples of 8 bring nothing here: their neighbours do as well."),
        (NOT_FOUND, ""),
    ],
    ids=["pays", "does not", "not looked at or too noisy"],
)
def test_multiples_are_advised_only_where_they_were_seen_to_pay(alignment: Alignment | NotFound, told: str) -> None:
    """Dense points decide."""
    assert bare(tell_alignment(alignment)) == told


def test_the_reason_fits_device_model_and_format() -> None:
    """Launches on a GPU, rows of a sequence, units for 16 bits."""
    why = {s.series: bare(tell(make_findings(s)).why) for s in (make_series(), make_series(GPU))}
    assert "launch overhead" not in why[CPU]
    assert "launch overhead" in why[GPU]
    assert "128 rows already" in bare(tell(make_findings(make_series("transformer_training_cpu"))).why)
    assert "With autocast the products run in bf16" in bare(tell(make_findings(make_series(dtype=Dtype.BF16))).why)


# -- caveats --------------------------------------------------------------------------------------


def test_out_of_memory_is_told_with_its_recovery() -> None:
    """The batch, the limit and that the process went on."""
    (series,) = find_batch_findings([*cpu_points(), out_of_memory(CPU, 8192)]).series
    assert bare(tell_out_of_memory(series)) == (
        "Batch 8,192 ran out of memory on the CPU on two threads. It needs more memory than the 512 MiB that this run may "
        "fill. Afterwards batch 1 ran again: only this size does not fit."
    )
    assert tell_out_of_memory(make_series()) == ""


def test_a_launch_limit_is_told_apart_from_memory() -> None:
    """With what to do."""
    series = make_series(GPU, launch_limit=131072, failed=((131072.0, Status.LAUNCH_LIMIT, "too many blocks"),))
    assert bare(tell_launch_limit(series)) == (
        "Batch 131,072 was refused by the GPU for its shape, not for lack of memory: split the batch."
    )
    assert tell_out_of_memory(series) == ""
    assert tell_other_failures(series) == ""


def test_other_failures_name_their_batches_and_the_first_reason() -> None:
    """Skipped for lack of time, or wrong."""
    failed = ((512.0, Status.SKIPPED, "Give the run more time."), (1024.0, Status.SKIPPED, "Likewise."))
    assert bare(tell_other_failures(make_series(failed=failed))) == (
        "The CPU on two threads has no time at batch 512 and 1,024 (skipped): Give the run more time."
    )


def test_a_notable_cold_call_is_told() -> None:
    """Three times the median or more, measured here."""
    cold = ColdCall(CPU, 1.0, 0.5, 0.01, 50.0)
    assert bare(tell_cold_call(make_series(cold_call=cold))) == (
        "At batch 1 the first step (cold call) took 500 ms on the CPU, 50.0 × the median; it is in no median."
    )
    assert tell_cold_call(make_series(cold_call=ColdCall(CPU, 1.0, 0.02, 0.01, 2.0))) == ""


def test_a_fallback_is_told() -> None:
    """By the error of the outputs."""
    assert bare(tell_fallback(make_series(GPU, dtype=Dtype.BF16, flagged=((Flag.FALLBACK, 1),)))) == (
        "By the error of its outputs the GPU did not compute in bf16; the How tab says what ran."
    )


def test_caveats_are_listed_without_repeats_flags_and_noise_last() -> None:
    """One sentence each."""
    series = make_series(flagged=((Flag.UNDER_LOAD, 3),))
    told = [bare(text) for text in list_caveats(make_findings(series, series, noise=NoiseFloor(0.01, 0.02, 9)))]
    assert told == [
        "Three points of the CPU on two threads had to share the machine with other work. Run again when it is quiet.",
        "This run can tell apart differences of 2.0 % at a typical point (noise floor); nothing closer is ranked.",
    ]


# -- Home and guess ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("findings", "headline"),
    [
        (
            make_findings(make_series(knee=make_knee(knee_low=32, knee_high=128))),
            Headline("Knee batch", "64", "32 to 128", f"MLP training step on the CPU, 914{NBSP}examples/s"),
        ),
        (
            make_findings(make_series(GPU)),
            Headline("Knee batch", "64", "", f"MLP training step on the GPU, 914{NBSP}examples/s"),
        ),
        (
            make_findings(make_series(knee=RISING)),
            Headline(
                "Best throughput",
                f"1.00{NBSP}k{NBSP}examples/s",
                "",
                f"MLP training step on the CPU at batch{NBSP}256",
            ),
        ),
        (make_findings(PUBLISHED), None),
        (make_findings(NOTHING), None),
        (make_findings(), None),
    ],
    ids=["knee with its range", "GPU", "rising", "published", "failed", "nothing"],
)
def test_home_shows_the_knee_of_this_machine(findings: object, headline: Headline | None) -> None:
    """With its range, or the best where no knee may be named."""
    assert find_headline(findings) == headline  # type: ignore[arg-type]


def test_the_guess_is_about_the_knee() -> None:
    """Of this machine's device, in powers of two."""
    assert QUESTION.ask(True) == "Which is the smallest batch that gives this GPU 90 % of its best throughput?"
    assert QUESTION.ask(False) == "Which is the smallest batch that gives this CPU 90 % of its best throughput?"
    assert QUESTION.options[:4] == (1.0, 2.0, 4.0, 8.0)
    assert QUESTION.say(1024.0) == f"batch{NBSP}1,024"
    assert QUESTION.find_answer(make_findings(make_series())) == 64.0
    assert QUESTION.find_answer(make_findings(make_series(knee=RISING))) is None
    assert QUESTION.find_answer(make_findings(PUBLISHED)) is None


# -- all of it --------------------------------------------------------------------------------------

PAGES = {
    "CPU": cpu_points(),
    "CPU and GPU": [*cpu_points((1, 4, 16, 64, 256)), *gpu_points()],
    "CPU and published": [*cpu_points(), *published_points()],
    "published": published_points(),
    "out of memory": [*cpu_points(), out_of_memory(CPU, 8192)],
    "one point": cpu_points((1,)),
    "only a failure": [out_of_memory(CPU, 1)],
    "nothing": [],
}


@pytest.mark.parametrize("points", PAGES.values(), ids=list(PAGES))
def test_every_page_has_words_whose_terms_are_defined(points: list) -> None:
    """No empty answer, no unknown term, no leftover of a template."""
    told = tell(find_batch_findings(points))
    texts = [told.answer, told.see, told.why, told.so_what, *told.caveats]
    assert told.answer
    for text in texts:
        assert not re.search(r"None|nan|\{|\}|  ", plain(text)), text
        assert all(span.term in GLOSSARY for span in parse(text) if span.term)
