"""The exact words of the matmul page, branch by branch."""

import re

import pytest
from matmul_made import (
    EMPTY_PEAK,
    cpu_points,
    gpu_points,
    make_crossover,
    make_findings,
    make_peak,
    make_series,
    published_points,
)

from gpuexplain.experiments.matmul.caveats import (
    tell_cold_call,
    tell_ran_as,
    tell_series_failed,
    tell_suspects,
    tell_withheld,
    who,
)
from gpuexplain.experiments.matmul.claims import claim_main, claim_pair, claim_second
from gpuexplain.experiments.matmul.conclude import MatmulFindings, PairFinding, find_matmul_findings
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER
from gpuexplain.experiments.matmul.words import (
    tell,
    tell_comparison,
    tell_crossover,
    tell_launch_floor,
    tell_peak,
    tell_speedup,
    tell_with_transfer,
)
from gpuexplain.findings import (
    ColdCall,
    Crossover,
    CrossoverVerdict,
    LaunchFloor,
    NoiseFloor,
    NotFound,
    Plausibility,
)
from gpuexplain.model import Dtype, Flag, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.caveats import tell_flag, tell_noise
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

CPU_SERIES = make_series(CPU)
ONE_THREAD = make_series(CPU_ONE_THREAD, peak=make_peak(best_tflops=0.05))
GPU = make_series(GPU_CALL, peak=make_peak(best_tflops=10.0))
PUBLISHED = make_series(
    GPU_CALL,
    source=Source.PUBLISHED,
    device_name="RTX 3080",
    device="published:RTX 3080",
    peak=make_peak(best_tflops=20.0),
)
V = CrossoverVerdict
CROSSED = make_crossover(V.CROSSED, low=64.0, high=128.0, estimate=90.4)


def bare(text: str) -> str:
    """Return the text as a reader sees it, with ordinary spaces."""
    return plain(text).replace(NBSP, " ")


# -- who wins -----------------------------------------------------------------------------------

VERDICTS = {
    "crossed": (
        make_crossover(V.CROSSED, low=64.0, high=128.0),
        "the GPU overtakes the CPU between n = 64 and n = 128",
    ),
    "low is a tie": (
        make_crossover(V.CROSSED, low=64.0, high=128.0, low_is_tie=True),
        "the GPU is faster than the CPU from n = 128 on",
    ),
    "gpu always": (make_crossover(V.GPU_ALWAYS), "the GPU is faster than the CPU at every size measured"),
    "cpu always": (make_crossover(V.CPU_ALWAYS), "the GPU is faster than the CPU at no size measured"),
    "tie": (make_crossover(V.TIE), "the GPU and the CPU cannot be told apart at any size measured"),
    "tie at end": (
        make_crossover(V.TIE_AT_END),
        "the GPU draws level with the CPU but has no lead at any size measured",
    ),
    "inconclusive": (
        make_crossover(V.INCONCLUSIVE),
        "the GPU wins against the CPU at some sizes, with no clear change-over",
    ),
    "too few points": (
        make_crossover(V.TOO_FEW_POINTS),
        "too few sizes are measured on both the GPU and the CPU to compare them",
    ),
}


@pytest.mark.parametrize(("crossover", "claim"), VERDICTS.values(), ids=list(VERDICTS))
def test_each_verdict_claims_only_what_was_measured(crossover: Crossover, claim: str) -> None:
    """Seven verdicts and the tied bracket, for a CPU against a GPU."""
    assert bare(claim_pair(PairFinding(CPU_SERIES, GPU, crossover))) == claim


THREAD_VERDICTS = {
    "crossed": (
        make_crossover(V.CROSSED, low=64.0, high=128.0),
        "two threads overtake one thread between n = 64 and n = 128",
    ),
    "low is a tie": (
        make_crossover(V.CROSSED, low=64.0, high=128.0, low_is_tie=True),
        "two threads are faster than one thread from n = 128 on",
    ),
    "gpu always": (make_crossover(V.GPU_ALWAYS), "two threads are faster than one thread at every size measured"),
    "cpu always": (make_crossover(V.CPU_ALWAYS), "two threads are faster than one thread at no size measured"),
    "tie": (make_crossover(V.TIE), "two threads and one thread cannot be told apart at any size measured"),
    "tie at end": (
        make_crossover(V.TIE_AT_END),
        "two threads draw level with one thread but have no lead at any size measured",
    ),
    "inconclusive": (
        make_crossover(V.INCONCLUSIVE),
        "two threads win against one thread at some sizes, with no clear change-over",
    ),
    "too few points": (
        make_crossover(V.TOO_FEW_POINTS),
        "too few sizes are measured on both two threads and one thread to compare them",
    ),
}


@pytest.mark.parametrize(("crossover", "claim"), THREAD_VERDICTS.values(), ids=list(THREAD_VERDICTS))
def test_threads_take_a_plural_verb(crossover: Crossover, claim: str) -> None:
    """The same verdicts for two threads against one."""
    assert bare(claim_pair(PairFinding(ONE_THREAD, CPU_SERIES, crossover))) == claim


def test_one_thread_against_a_gpu_is_named_as_one() -> None:
    """The baseline is not all of the CPU."""
    pair = PairFinding(ONE_THREAD, GPU, make_crossover(V.GPU_ALWAYS))
    assert bare(claim_pair(pair)) == "the GPU is faster than one CPU thread at every size measured"


def test_device_time_and_copies_are_named() -> None:
    """A GPU series by another clock says by which."""
    device, copies = make_series(GPU_DEVICE), make_series(GPU_WITH_TRANSFER)
    always = make_crossover(V.GPU_ALWAYS)
    assert bare(claim_pair(PairFinding(CPU_SERIES, device, always))) == (
        "the GPU (device time) is faster than the CPU at every size measured"
    )
    assert bare(claim_pair(PairFinding(CPU_SERIES, copies, always))) == (
        "the GPU with copies is faster than the CPU at every size measured"
    )


@pytest.mark.parametrize(
    ("crossover", "told"),
    [
        (
            CROSSED,
            "the GPU overtakes the CPU between n = 64 and n = 128 (about n = 90) and stays ahead at every larger size "
            "measured",
        ),
        (
            make_crossover(V.CROSSED, low=64.0, high=128.0, low_is_tie=True),
            "the GPU is faster than the CPU from n = 128 on among the sizes measured",
        ),
        (make_crossover(V.TIE), "the GPU and the CPU cannot be told apart at any size measured"),
    ],
    ids=["located", "only an upper size", "not crossed"],
)
def test_a_crossover_is_told_with_what_holds_above_it(crossover: Crossover, told: str) -> None:
    """The estimate is rounded, and nothing is claimed beyond the largest size."""
    assert bare(tell_crossover(PairFinding(CPU_SERIES, GPU, crossover))) == told


def test_threads_stay_ahead_in_the_plural() -> None:
    """Two threads stay, the GPU stays."""
    assert bare(tell_crossover(PairFinding(ONE_THREAD, CPU_SERIES, CROSSED))) == (
        "two threads overtake one thread between n = 64 and n = 128 (about n = 90) and stay ahead at every larger "
        "size measured"
    )


WITH_TRANSFER = {
    "crossed": (make_crossover(V.CROSSED, low=256.0, high=512.0), "with both copies, between n = 256 and n = 512"),
    "low is a tie": (
        make_crossover(V.CROSSED, low=256.0, high=512.0, low_is_tie=True),
        "with both copies, from n = 512 on",
    ),
    "gpu always": (make_crossover(V.GPU_ALWAYS), "with both copies, at every size measured too"),
    "cpu always": (make_crossover(V.CPU_ALWAYS), "with both copies, at no size measured"),
    "tie": (make_crossover(V.TIE), "with both copies no lead is shown"),
    "tie at end": (make_crossover(V.TIE_AT_END), "with both copies no lead is shown"),
    "too few points": (make_crossover(V.TOO_FEW_POINTS), "with both copies too few sizes are measured"),
    "inconclusive": (make_crossover(V.INCONCLUSIVE), "with both copies no clear change-over"),
}


@pytest.mark.parametrize(("crossover", "told"), WITH_TRANSFER.values(), ids=list(WITH_TRANSFER))
def test_copies_change_the_answer(crossover: Crossover, told: str) -> None:
    """Each verdict with both copies included."""
    assert bare(tell_with_transfer(crossover)) == told


# -- the answer ---------------------------------------------------------------------------------


def with_transfer(crossover: Crossover, verdict: CrossoverVerdict) -> Crossover:
    """Return a located crossover whose copies lead to ``verdict``."""
    return make_crossover(V.CROSSED, low=64.0, high=128.0, estimate=90.4, with_transfer=make_crossover(verdict))


ANSWERS = {
    "nothing at all": (make_findings(), "Nothing is measured yet. Press Run: the first points appear within seconds."),
    "one CPU series": (
        make_findings(CPU_SERIES),
        "On this machine the CPU reaches 100 GFLOP/s on two threads at n = 1,024.",
    ),
    "both CPU series": (
        make_findings(ONE_THREAD, CPU_SERIES, crossover=CROSSED),
        "On this machine the CPU reaches 100 GFLOP/s on two threads at n = 1,024; two threads overtake one thread "
        "between n = 64 and n = 128 (about n = 90) and stay ahead at every larger size measured.",
    ),
    "too few sizes for the threads": (
        make_findings(ONE_THREAD, CPU_SERIES, crossover=make_crossover(V.TOO_FEW_POINTS)),
        "On this machine the CPU reaches 100 GFLOP/s on two threads at n = 1,024.",
    ),
    "CPU and GPU": (
        make_findings(CPU_SERIES, GPU, crossover=with_transfer(CROSSED, V.CPU_ALWAYS)),
        "On this machine the GPU overtakes the CPU between n = 64 and n = 128 (about n = 90) and stays ahead at every "
        "larger size measured; with both copies, at no size measured; the CPU reaches 100 GFLOP/s on two threads at "
        "n = 1,024.",
    ),
    "CPU and a published GPU": (
        make_findings(CPU_SERIES, PUBLISHED, crossover=make_crossover(V.GPU_ALWAYS)),
        "On this machine the CPU reaches 100 GFLOP/s on two threads at n = 1,024.",
    ),
    "published only": (
        make_findings(PUBLISHED),
        "A published RTX 3080, not in this machine, reaches 20.0 TFLOP/s at n = 1,024; press Run to measure here.",
    ),
    "a recorded run of CPU and GPU": (
        make_findings(
            make_series(CPU, source=Source.RECORDED), make_series(GPU_CALL, source=Source.RECORDED), crossover=CROSSED
        ),
        "In a recorded run, not of this machine, the GPU overtakes the CPU between n = 64 and n = 128 (about n = 90) "
        "and stays ahead at every larger size measured; press Run to measure here.",
    ),
    "published without a speed": (
        make_findings(make_series(GPU_CALL, source=Source.PUBLISHED, device_name="RTX 3080", peak=EMPTY_PEAK)),
        "A published series of RTX 3080, not in this machine; press Run to measure here.",
    ),
    "recorded without a name or a speed": (
        make_findings(make_series(GPU_CALL, source=Source.RECORDED, device_name="", peak=EMPTY_PEAK)),
        "A recorded series of GPU, not in this machine; press Run to measure here.",
    ),
    "nothing worked": (
        make_findings(make_series(CPU, peak=EMPTY_PEAK)),
        "On this machine nothing could be measured that may be shown; the caveats say why.",
    ),
}


@pytest.mark.parametrize(("findings", "answer"), ANSWERS.values(), ids=list(ANSWERS))
def test_the_answer_is_one_sentence_with_its_number(findings: MatmulFindings, answer: str) -> None:
    """Every way a page can stand."""
    assert bare(tell(findings).answer) == answer


@pytest.mark.parametrize(("findings", "answer"), ANSWERS.values(), ids=list(ANSWERS))
def test_on_this_machine_is_said_of_measured_points_only(findings: MatmulFindings, answer: str) -> None:
    """What others published is never called this machine's."""
    measured = any(series.is_measured for series in findings.series)
    assert answer.startswith("On this machine") is measured
    assert "on this machine" not in bare(tell(findings).see).lower()


# -- titles -------------------------------------------------------------------------------------

TITLES = {
    "nothing": (make_findings(), "Nothing is measured yet", "Nothing is measured yet"),
    "nothing ran": (
        make_findings(make_series(CPU, peak=EMPTY_PEAK)),
        "Nothing could be measured",
        "Nothing could be measured",
    ),
    "CPU": (
        make_findings(CPU_SERIES),
        "The CPU reaches 100 GFLOP/s on two threads at n = 1,024",
        "The CPU reaches 100 GFLOP/s on two threads at n = 1,024",
    ),
    "CPU and GPU": (
        make_findings(CPU_SERIES, GPU, crossover=CROSSED),
        "The GPU overtakes the CPU between n = 64 and n = 128",
        "The GPU reaches 10.0 TFLOP/s at n = 1,024",
    ),
    "too few sizes": (
        make_findings(CPU_SERIES, GPU, crossover=make_crossover(V.TOO_FEW_POINTS)),
        "The GPU reaches 10.0 TFLOP/s at n = 1,024",
        "The GPU reaches 10.0 TFLOP/s at n = 1,024",
    ),
    "published": (
        make_findings(PUBLISHED),
        "A published RTX 3080 reaches 20.0 TFLOP/s at n = 1,024",
        "A published RTX 3080 reaches 20.0 TFLOP/s at n = 1,024",
    ),
}


@pytest.mark.parametrize(("findings", "main", "second"), TITLES.values(), ids=list(TITLES))
def test_a_chart_is_titled_by_its_finding(findings: MatmulFindings, main: str, second: str) -> None:
    """The title starts with a capital, even inside a coloured name."""
    assert (bare(claim_main(findings)), bare(claim_second(findings))) == (main, second)


# -- what you see -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peak", "told"),
    [
        (make_peak(), "The CPU reaches 100 GFLOP/s on two threads at n = 1,024."),
        (
            make_peak(n_at_90pct=256.0),
            "The CPU reaches 100 GFLOP/s on two threads at n = 1,024, and nine tenths of that from n = 256.",
        ),
        (
            make_peak(best_n=256.0, n_at_90pct=256.0, decline_pct=25.0),
            "The CPU reaches 100 GFLOP/s on two threads at n = 256; at n = 1,024 it is 25 % below.",
        ),
        (make_peak(decline_pct=9.9), "The CPU reaches 100 GFLOP/s on two threads at n = 1,024."),
        (make_peak(plausibility=Plausibility.IMPLAUSIBLE, fraction_of_peak=1.5), ""),
        (EMPTY_PEAK, ""),
    ],
    ids=["best", "nine tenths earlier", "declines", "small decline", "withheld", "nothing"],
)
def test_each_series_tells_its_best(peak: object, told: str) -> None:
    """Speed, where nine tenths of it are reached, and how far it falls."""
    assert bare(tell(make_findings(make_series(CPU, peak=peak))).see) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"plausibility": Plausibility.OK, "fraction_of_peak": 0.72},
            " That is 72 % of the part's peak on its data sheet.",
        ),
        (
            {"plausibility": Plausibility.ABOVE_REFERENCE_CLOCK, "fraction_of_peak": 1.08},
            " That is 108 % of the data sheet's peak: the card runs above its reference clock.",
        ),
        (
            {"plausibility": Plausibility.UNKNOWN_GPU},
            " Its peak is not in the reference table, so the share of it cannot be judged.",
        ),
        ({"plausibility": Plausibility.IMPLAUSIBLE, "fraction_of_peak": 1.5}, ""),
        ({}, ""),
    ],
    ids=["plausible", "above the clock", "unknown", "withheld", "CPU"],
)
def test_the_best_is_compared_with_the_data_sheet(changes: dict[str, object], told: str) -> None:
    """Each plausibility."""
    assert bare(tell_peak(make_peak(**changes))) == told


def speed(factor: float) -> Crossover:
    """Return a crossover whose largest size shows ``factor``, known to 2 %."""
    return make_crossover(
        V.INCONCLUSIVE, speedup=factor, speedup_low=0.98 * factor, speedup_high=1.02 * factor, speedup_n=1024.0
    )


@pytest.mark.parametrize(
    ("factor", "gpu", "threads"),
    [
        (
            4.0,
            "At n = 1,024 the GPU is 4.00 × as fast as the CPU (± 2.0 %).",
            "At n = 1,024 two threads are 4.00 × as fast as one thread (± 2.0 %).",
        ),
        (
            0.25,
            "At n = 1,024 the CPU is 4.00 × as fast as the GPU (± 2.0 %).",
            "At n = 1,024 one thread is 4.00 × as fast as two threads (± 2.0 %).",
        ),
        (
            1.01,
            "At n = 1,024 the GPU and the CPU take the same time within 5.0 %.",
            "At n = 1,024 two threads and one thread take the same time within 5.0 %.",
        ),
    ],
    ids=["challenger", "baseline", "neither"],
)
def test_the_factor_names_its_winner(factor: float, gpu: str, threads: str) -> None:
    """At the largest common size."""
    assert bare(tell_speedup(PairFinding(CPU_SERIES, GPU, speed(factor)))) == gpu
    assert bare(tell_speedup(PairFinding(ONE_THREAD, CPU_SERIES, speed(factor)))) == threads


def test_no_common_size_no_factor() -> None:
    """Nothing is said."""
    assert tell_speedup(PairFinding(CPU_SERIES, GPU, make_crossover(V.TOO_FEW_POINTS))) == ""


@pytest.mark.parametrize(
    ("crossover", "told"),
    [
        (make_crossover(V.TOO_FEW_POINTS), "no size is in both series."),
        (speed(40.0), "at n = 1,024 this CPU takes 40.0 × as long as that GPU, which reaches 20.0 TFLOP/s."),
        (speed(0.5), "at n = 1,024 that GPU takes 2.00 × as long as this CPU."),
        (speed(1.0), "at n = 1,024 both take the same time within 5.0 %."),
    ],
    ids=["nothing common", "GPU leads", "CPU leads", "neither"],
)
def test_a_published_part_is_said_not_to_be_here(crossover: Crossover, told: str) -> None:
    """The comparison opens by saying whose the figures are."""
    sentence = bare(tell_comparison(PairFinding(CPU_SERIES, PUBLISHED, crossover)))
    assert sentence == f"Compared with a published RTX 3080, not in this machine: {told}"


def test_a_comparison_without_a_trusted_rate_names_none() -> None:
    """A withheld rate of the published part stays withheld."""
    part = make_series(GPU_CALL, source=Source.PUBLISHED, device_name="", peak=EMPTY_PEAK)
    assert bare(tell_comparison(PairFinding(CPU_SERIES, part, speed(40.0)))) == (
        "Compared with a published GPU, not in this machine: at n = 1,024 this CPU takes 40.0 × as long as that GPU."
    )


def test_the_comparison_is_among_what_a_reader_sees() -> None:
    """It is told after the machine's own series, and is no change-over of this machine."""
    words = tell(make_findings(CPU_SERIES, PUBLISHED, crossover=speed(40.0)))
    assert bare(words.see) == (
        "The CPU reaches 100 GFLOP/s on two threads at n = 1,024.\n\n"
        "Compared with a published RTX 3080, not in this machine: at n = 1,024 this CPU takes 40.0 × as long as that "
        "GPU, which reaches 20.0 TFLOP/s."
    )


def test_each_device_has_one_paragraph() -> None:
    """Its main series; another one only where that is missing."""
    both = tell(make_findings(CPU_SERIES, ONE_THREAD, GPU, make_series(GPU_DEVICE), make_series(GPU_WITH_TRANSFER))).see
    assert bare(both).split("\n\n")[:2] == [
        "The CPU reaches 100 GFLOP/s on two threads at n = 1,024.",
        "The GPU reaches 10.0 TFLOP/s at n = 1,024.",
    ]
    assert bare(both).count("reaches") == 2
    alone = make_series(GPU_DEVICE, peak=make_peak(best_tflops=10.0))
    assert bare(tell(make_findings(ONE_THREAD, alone)).see) == (
        "The CPU reaches 50.0 GFLOP/s on one thread at n = 1,024.\n\nThe GPU (device time) reaches 10.0 TFLOP/s at "
        "n = 1,024."
    )


def test_the_launch_floor_is_told_or_why_there_is_none() -> None:
    """Found and not found."""
    found = LaunchFloor("gpu_call", 10e-6, 256.0, 1.25)
    assert bare(tell_launch_floor(found)) == (
        "Up to n = 256 every GPU call takes about 10.0 µs: the price of sending work to it (launch floor), not of "
        "doing it."
    )
    assert bare(tell_launch_floor(NotFound("launch floor", "add smaller sizes"))) == (
        "No launch floor shows: add smaller sizes."
    )
    assert bare(tell(make_findings(make_series(GPU_CALL, launch_floor=found))).see).endswith("not of doing it.")


# -- why, and so what ---------------------------------------------------------------------------

WORK = (
    "A product of side n is n³ multiply-adds (2 n³ operations) that hardly depend on each other, so whoever does more "
    "of them at a time wins, once there is enough to do."
)
WITH_GPU = (
    " A CPU does a few dozen at a time, a GPU thousands; but every GPU call has a fixed price (launch overhead), and "
    "so has every copy over PCIe."
)
WITH_THREADS = (
    " Sharing one product among threads costs a little too: below the change-over, waking and waiting for the other "
    "threads takes longer than the work that they save."
)


@pytest.mark.parametrize(
    ("findings", "why"),
    [
        (make_findings(), WORK),
        (make_findings(CPU_SERIES), WORK),
        (make_findings(CPU_SERIES, GPU, crossover=CROSSED), WORK + WITH_GPU),
        (make_findings(ONE_THREAD, CPU_SERIES, crossover=CROSSED), WORK + WITH_THREADS),
        (
            make_findings(CPU_SERIES, dtype=Dtype.BF16),
            f"{WORK} In bf16 a part is faster than in fp32 only where it has units for it (such as AMX on some CPUs); "
            "elsewhere the numbers are converted first.",
        ),
        (
            make_findings(CPU_SERIES, dtype=Dtype.FP16),
            f"{WORK} In fp16 a part is faster than in fp32 only where it has units for it (such as AMX on some CPUs); "
            "elsewhere the numbers are converted first.",
        ),
        (
            make_findings(CPU_SERIES, dtype=Dtype.FP64),
            f"{WORK} fp64 numbers are twice as wide as fp32: half as many fit each unit.",
        ),
    ],
    ids=["nothing", "CPU", "GPU", "threads", "bf16", "fp16", "fp64"],
)
def test_why_it_is_so(findings: MatmulFindings, why: str) -> None:
    """Only what is on the page is explained."""
    assert bare(tell(findings).why) == why


UNDECIDED = "Run Thorough, or larger sizes, before deciding: these points do not decide it."


@pytest.mark.parametrize(
    ("findings", "so_what"),
    [
        (
            make_findings(CPU_SERIES, GPU, crossover=CROSSED),
            "Leave products below n = 64 on the CPU, or put many of them into one call. Keep data on the GPU between "
            "calls, so that the copies are paid once.",
        ),
        (
            make_findings(CPU_SERIES, GPU, crossover=make_crossover(V.GPU_ALWAYS)),
            "Use the GPU for every size measured, and keep data on it between calls.",
        ),
        (
            make_findings(CPU_SERIES, GPU, crossover=make_crossover(V.CPU_ALWAYS)),
            "For one product at a time, in these sizes, the CPU is the right place.",
        ),
        (make_findings(CPU_SERIES, GPU, crossover=make_crossover(V.TIE)), UNDECIDED),
        (make_findings(CPU_SERIES, GPU, crossover=make_crossover(V.INCONCLUSIVE)), UNDECIDED),
        (
            make_findings(ONE_THREAD, CPU_SERIES, crossover=CROSSED),
            "A product up to n = 64 gains nothing from all threads: give it one, and the others other work. Put small "
            "matrices together into larger ones (a batch) where you can.",
        ),
        (
            make_findings(make_series(CPU, peak=make_peak(n_at_90pct=256.0))),
            "Work in products of n = 256 or larger where you can: smaller ones did not reach nine tenths of the best "
            "speed.",
        ),
        (make_findings(make_series(CPU, peak=EMPTY_PEAK)), ""),
    ],
    ids=["crossed", "GPU always", "CPU always", "tie", "inconclusive", "threads", "one series", "nothing worked"],
)
def test_what_to_do_about_it(findings: MatmulFindings, so_what: str) -> None:
    """Advice only where the points carry it."""
    assert bare(tell(findings).so_what) == so_what


# -- caveats ------------------------------------------------------------------------------------


def test_a_withheld_rate_says_what_to_check() -> None:
    """Above 115 % of the peak the figure is no result."""
    peak = make_peak(plausibility=Plausibility.IMPLAUSIBLE, fraction_of_peak=1.5)
    assert bare(tell_withheld(make_series(GPU_CALL, peak=peak))) == (
        "The best rate of the GPU is withheld: it is 150 % of the part's peak. Check timing, dtype or peak."
    )
    assert tell_withheld(GPU) == ""


def test_suspect_sizes_are_named() -> None:
    """Left out of every best, drawn hollow."""
    series = make_series(CPU, peak=make_peak(suspect_n=(64.0, 128.0)))
    assert bare(tell_suspects(series)) == (
        "Drawn hollow and left out, the CPU at n = 64 and 128: the times do not fit those of the other sizes."
    )
    assert tell_suspects(CPU_SERIES) == ""


def test_another_precision_is_told() -> None:
    """By the speed, which is all that a rate can tell."""
    series = make_series(GPU_CALL, peak=make_peak(ran_as="tf32"))
    assert bare(tell_ran_as(series)) == "The GPU ran as tf32, by its speed: not fp32."
    assert tell_ran_as(GPU) == ""


@pytest.mark.parametrize(
    ("series", "failed", "told"),
    [
        (
            CPU,
            ((2048.0, Status.SKIPPED, "Give the run more time."),),
            "The CPU on two threads has no time at n = 2,048 (skipped): Give the run more time.",
        ),
        (
            GPU_CALL,
            ((2048.0, Status.OOM, "CUDA out of memory."), (4096.0, Status.OOM, "the same")),
            "The GPU has no time at n = 2,048 and 4,096 (oom): CUDA out of memory.",
        ),
        (
            GPU_CALL,
            ((64.0, Status.LAUNCH_LIMIT, "Too many."),),
            "The GPU has no time at n = 64 (launch limit): Too many.",
        ),
        (GPU_CALL, (), ""),
    ],
    ids=["skipped", "out of memory", "launch limit", "none"],
)
def test_a_size_without_a_time_says_why(series: str, failed: object, told: str) -> None:
    """The first reason stands for all."""
    assert bare(tell_series_failed(make_series(series, failed=failed))) == told


@pytest.mark.parametrize(
    ("series", "cold", "told"),
    [
        (
            CPU,
            ColdCall("cpu", 64.0, 2e-3, 1e-5, 200.0),
            "At n = 64 the first call (cold call) took 2.00 ms on the CPU, 200 × the median; it is in no median.",
        ),
        (CPU, ColdCall("cpu", 64.0, 2e-5, 1e-5, 2.0), ""),
        (CPU_ONE_THREAD, ColdCall("cpu_1_thread", 64.0, 2e-3, 1e-5, 200.0), ""),
        (CPU, NotFound("cold call", "no point recorded it"), ""),
    ],
    ids=["notable", "small", "minor series", "not found"],
)
def test_a_notable_cold_call_is_told(series: str, cold: object, told: str) -> None:
    """Three times the median is worth a sentence."""
    assert bare(tell_cold_call(make_series(series, cold_call=cold))) == told


FLAG_WORDS = {
    Flag.UNDER_LOAD: (
        "One point of the CPU on two threads had to share the machine with other work. Run again when it is quiet.",
        "Three points of the CPU on two threads had to share the machine with other work. Run again when it is quiet.",
    ),
    Flag.THROTTLED: (
        "One point of the CPU on two threads ran slowed down (heat, power or a CPU quota).",
        "Three points of the CPU on two threads ran slowed down (heat, power or a CPU quota).",
    ),
    Flag.DRIFTING: (
        "One point of the CPU on two threads got faster or slower during the run.",
        "Three points of the CPU on two threads got faster or slower during the run.",
    ),
    Flag.FEW_SAMPLES: (
        "One point of the CPU on two threads rests on under six samples, so without an interval.",
        "Three points of the CPU on two threads rest on under six samples, so without an interval.",
    ),
    Flag.NOT_CONVERGED: (
        "One point of the CPU on two threads is less certain than ±2 %: more time narrows the band.",
        "Three points of the CPU on two threads are less certain than ±2 %: more time narrows the band.",
    ),
    Flag.FALLBACK: (
        "One point of the CPU on two threads ran in another precision, by the error of the result.",
        "Three points of the CPU on two threads ran in another precision, by the error of the result.",
    ),
    Flag.SUSPECT: ("", ""),
    Flag.COLD: ("", ""),
    Flag.ABOVE_PEAK: ("", ""),
    Flag.BELOW_TIMER_RESOLUTION: ("", ""),
    Flag.EMULATED: ("", ""),
}


@pytest.mark.parametrize("flag", Flag, ids=str)
def test_each_flag_is_told_in_the_singular_and_the_plural(flag: Flag) -> None:
    """What a reader should know, and what to do where something can be done."""
    assert (bare(tell_flag(who(CPU_SERIES), flag, 1)), bare(tell_flag(who(CPU_SERIES), flag, 3))) == FLAG_WORDS[flag]


def test_the_noise_floor_is_told() -> None:
    """The typical point's, which is what a reader compares."""
    assert bare(tell_noise(NoiseFloor(0.004, 0.021, 8))) == (
        "This run can tell apart differences of 2.1 % at a typical point (noise floor); nothing closer is ranked."
    )
    assert tell_noise(NotFound("noise floor", "one point")) == ""


def test_caveats_come_once_each_with_the_noise_last() -> None:
    """In the order of the series."""
    cpu = make_series(CPU, flagged=((Flag.UNDER_LOAD, 1),), failed=((2048.0, Status.SKIPPED, "No time left."),))
    told = [bare(text) for text in tell(make_findings(cpu, noise=NoiseFloor(0.004, 0.021, 8))).caveats]
    assert told == [
        "The CPU on two threads has no time at n = 2,048 (skipped): No time left.",
        "One point of the CPU on two threads had to share the machine with other work. Run again when it is quiet.",
        "This run can tell apart differences of 2.1 % at a typical point (noise floor); nothing closer is ranked.",
    ]


# -- terms --------------------------------------------------------------------------------------

EVERY_FINDING = [
    *(findings for findings, _ in ANSWERS.values()),
    *(make_findings(CPU_SERIES, GPU, crossover=crossover) for crossover, _ in VERDICTS.values()),
    *(make_findings(make_series(GPU_CALL, peak=make_peak(plausibility=p, fraction_of_peak=0.5))) for p in Plausibility),
    *(make_findings(CPU_SERIES, dtype=dtype) for dtype in Dtype),
    make_findings(make_series(CPU, cold_call=ColdCall("cpu", 64.0, 2e-3, 1e-5, 200.0)), noise=NoiseFloor(0.1, 0.1, 2)),
    make_findings(make_series(GPU_CALL, launch_floor=LaunchFloor("gpu_call", 1e-5, 256.0, 1.25))),
    find_matmul_findings([*cpu_points(), *gpu_points()]),
    find_matmul_findings([*cpu_points(), *published_points()]),
]


def test_every_marked_term_is_in_the_glossary() -> None:
    """A term without a definition would open nothing."""
    used = set()
    for findings in EVERY_FINDING:
        words = tell(findings)
        for text in (words.answer, words.see, words.why, words.so_what, *words.caveats):
            used |= {span.term for span in parse(text) if span.term}
            assert not re.search(r"\[\[|\]\]|None|nan", plain(text)), text
    assert {"FLOP/s", "launch floor", "peak", "noise floor", "cold call", "published series"} <= used
    assert used <= set(GLOSSARY)
