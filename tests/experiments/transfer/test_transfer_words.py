"""The words of the transfer page: every branch as an exact sentence."""

from dataclasses import replace

import pytest
from transfer_made import (
    GPU_NAME,
    KIB,
    MIB,
    NO_LINE,
    NOT_FOUND,
    PUBLISHED_NAME,
    link_points,
    make_break_even,
    make_findings,
    make_fit,
    make_link,
    make_overlap,
    make_pieces,
    make_ratio,
    make_series,
    memory_points,
    published_points,
)

from gpuexplain.experiments.transfer import spec
from gpuexplain.experiments.transfer.borrowed import BorrowedCopy
from gpuexplain.experiments.transfer.caveats import list_caveats
from gpuexplain.experiments.transfer.claims import claim_main, claim_second, say_reuses
from gpuexplain.experiments.transfer.conclude import TransferFindings, find_transfer_findings
from gpuexplain.experiments.transfer.guess import QUESTION
from gpuexplain.experiments.transfer.headline import find_headline
from gpuexplain.experiments.transfer.sizes import say_bytes, say_bytes_list
from gpuexplain.experiments.transfer.tell_findings import (
    tell_borrowed,
    tell_break_even,
    tell_fit,
    tell_fresh,
    tell_link,
    tell_overlap,
    tell_pieces,
    tell_pin_then_copy,
    tell_pinned,
    tell_threads,
)
from gpuexplain.experiments.transfer.words import tell, tell_answer
from gpuexplain.findings import (
    BreakEvenVerdict,
    Crossover,
    CrossoverVerdict,
    FitInterval,
    NHalfStatus,
    NoiseFloor,
    NotFound,
)
from gpuexplain.model import Flag, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain


def shown(text: str) -> str:
    """Return what a reader sees, with ordinary spaces."""
    return plain(text).replace(NBSP, " ")


MEMORY = make_series(spec.MEMORY_COPY)
PINNED = make_series(spec.H2D_PINNED)
PAGEABLE = make_series(spec.H2D_PAGEABLE, make_fit(plateau_gbps=9.0))
PUBLISHED = make_series(
    spec.H2D_PINNED, source=Source.PUBLISHED, source_note="a course", device_name=PUBLISHED_NAME,
)  # fmt: skip
TOO_FAST = make_link(of_theoretical=1.9, is_fact=False, rate_gbps=60.0)


# -- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1 B"),
        (512, "512 B"),
        (1024, "1 KiB"),
        (64 * KIB, "64 KiB"),
        (2**30, "1 GiB"),
        (77058, "75.3 KiB"),
        (12 * MIB, "12 MiB"),
    ],
)
def test_sizes_have_no_needless_decimals(size: float, text: str) -> None:
    """Powers of two are whole numbers."""
    assert say_bytes(size).replace(NBSP, " ") == text


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ([], ""),
        ([KIB], "1 KiB"),
        ([KIB, MIB], "1 KiB and 1 MiB"),
        ([KIB, MIB, 4 * MIB], "1 KiB, 1 MiB and 4 MiB"),
        ([KIB, 2 * KIB, 4 * KIB, 8 * KIB], "4 sizes from 1 KiB to 8 KiB"),
    ],
)
def test_lists_of_sizes_stay_short(sizes: list[float], text: str) -> None:
    """Twenty-one sizes are no sentence."""
    assert say_bytes_list(sizes).replace(NBSP, " ") == text


# -- the answer -----------------------------------------------------------------------------------

ANSWERS = {
    "memory": (
        make_findings(MEMORY),
        "On this machine a copy within main memory, which is no transfer to a GPU, runs at 20.0 GB/s on two threads; "
        "each copy costs 8.00 µs before its first byte.",
    ),
    "memory without a line": (
        make_findings(make_series(spec.MEMORY_COPY, make_fit(**NO_LINE))),
        "On this machine a copy within main memory, which is no transfer to a GPU, runs at 20.0 GB/s on two threads; "
        "a copy of 1 KiB takes 2.00 µs.",
    ),
    "busy": (
        make_findings(replace(MEMORY, is_provisional=True)),
        "On this machine, busy with other work meanwhile, a copy within main memory, which is no transfer to a GPU, "
        "runs at 20.0 GB/s on two threads; each copy costs 8.00 µs before its first byte.",
    ),
    "link": (
        make_findings(PINNED, PAGEABLE, link=make_link()),
        "On this machine pinned memory reaches 20.0 GB/s to the GPU, 63 % of PCIe 4.0 x16; pageable memory 9.00 GB/s; "
        "each copy costs 8.00 µs before its first byte.",
    ),
    "unknown link": (
        make_findings(PINNED),
        "On this machine pinned memory reaches 20.0 GB/s to the GPU; each copy costs 8.00 µs before its first byte.",
    ),
    "pageable only": (
        make_findings(PAGEABLE),
        "On this machine pageable memory reaches 9.00 GB/s to the GPU; each copy costs 8.00 µs before its first byte.",
    ),
    "from the GPU only": (
        make_findings(make_series(spec.D2H_PINNED)),
        "On this machine pinned memory, from the GPU, reaches 20.0 GB/s; each copy costs 8.00 µs before its first byte.",
    ),
    "more than the link": (
        make_findings(PINNED, link=TOO_FAST),
        "On this machine the rate of the copies cannot be right: it is more than the link can carry.",
    ),
    "published": (
        make_findings(PUBLISHED),
        f"A published copy from pinned memory to the {PUBLISHED_NAME} reaches 20.0 GB/s, not in this machine; "
        "each copy costs 8.00 µs before its first byte; press Run to measure here.",
    ),
    "recorded from the GPU": (
        make_findings(make_series(spec.D2H_PAGEABLE, source=Source.RECORDED, source_note="box")),
        f"A recorded copy from the {GPU_NAME} to pageable memory reaches 20.0 GB/s, not in this machine; "
        "each copy costs 8.00 µs before its first byte.",
    ),
    "recorded memory": (
        make_findings(replace(MEMORY, source=Source.RECORDED, source_note="box")),
        "In a recorded run, not of this machine, a copy within main memory, which is no transfer to a GPU, runs at "
        "20.0 GB/s on two threads; each copy costs 8.00 µs before its first byte.",
    ),
    "file": (
        make_findings(make_series(spec.FILE_COPY, source=Source.RECORDED, source_note="mine.csv")),
        "In mine.csv, the copy reaches 20.0 GB/s; each copy costs 8.00 µs before its first byte.",
    ),
    "nothing to show": (
        make_findings(make_series(spec.H2D_PINNED, make_fit(plateau_gbps=None))),
        "On this machine nothing could be measured that may be shown; the caveats say why.",
    ),
}


@pytest.mark.parametrize(("findings", "text"), ANSWERS.values(), ids=list(ANSWERS))
def test_the_answer(findings: TransferFindings, text: str) -> None:
    """One sentence with its number."""
    assert shown(tell_answer(findings)) == text


def test_without_points_the_page_says_what_to_do() -> None:
    """And why it is worth it."""
    told = tell(make_findings())
    assert told.answer == "Nothing is measured yet. Press Run: the first points appear within seconds."
    assert (told.see, told.so_what, told.caveats) == ("", "", ())
    assert told.why


@pytest.mark.parametrize("points", [memory_points(), [*memory_points(), *published_points()]], ids=["alone", "beside"])
def test_a_memory_copy_is_called_that_everywhere(points: list) -> None:
    """Answer, chart titles, headline, question and caveats; PCIe is only ever somebody else's."""
    findings = find_transfer_findings(points)
    told = tell(findings)
    said = "no transfer to a GPU"
    assert said in shown(told.answer)
    assert said in shown(claim_main(findings))
    assert "within main memory" in shown(claim_second(findings))
    assert said in find_headline(findings).label  # type: ignore[union-attr]
    assert "no transfer" in QUESTION.ask(False)
    assert told.caveats[0].startswith("No copy over a link was measured here: these are copies within main memory.")
    assert "PCIe" not in told.answer
    for sentence in shown(told.see).split("\n\n"):
        assert "PCIe" not in sentence or sentence.startswith("Computed, not measured: over the link of a published")


# -- what you see -----------------------------------------------------------------------------------

FITS = {
    "line": (
        PINNED,
        "Pinned memory reaches 20.0 GB/s, and half of that from 256 KiB a copy on. The times follow a line: 8.00 µs at "
        "once, then 20.5 GB/s; both cost the same at 160 KiB (n-half).",
    ),
    "intervals": (
        replace(
            PINNED, interval=FitInterval(7.5, 8.5, 20.0, 21.0, 9), plateau_low_gbps=19.8, plateau_high_gbps=20.2,
        ),
        "Pinned memory reaches 20.0 GB/s (± 1.0 %), and half of that from 256 KiB a copy on. The times follow a line: "
        "8.00 µs at once (7.50 µs to 8.50 µs), then 20.5 GB/s; both cost the same at 160 KiB (n-half).",
    ),
    "bent": (
        make_series(spec.MEMORY_COPY, make_fit(**NO_LINE)),
        "The memory copy reaches 20.0 GB/s, and half of that from 256 KiB a copy on. No single latency and rate describe "
        "every size: caches, threads that join in or a change of method bend the curve, so no line is drawn.",
    ),
    "still rising, half below": (
        make_series(
            spec.H2D_PAGEABLE, make_fit(**NO_LINE, saturated=False, n_half_status=NHalfStatus.BELOW_RANGE, first_at_half_bytes=1024.0)
        ),
        "Pageable memory reaches 20.0 GB/s; the smallest copy, 1 KiB, already reaches half of that. No single latency and "
        "rate describe every size: caches, threads that join in or a change of method bend the curve, so no line is "
        "drawn. The largest copy was still gaining, so take rate and half as lower bounds.",
    ),
    "one size": (
        make_series(
            spec.H2D_PINNED,
            make_fit(fit_status="too_few_points", latency_us=None, n_half_bytes=None, saturated=False, n_half_status=NHalfStatus.TOO_FEW_POINTS),
        ),
        "Pinned memory reaches 20.0 GB/s. Too few sizes to show a curve.",
    ),
    "no rate": (make_series(spec.H2D_PINNED, make_fit(plateau_gbps=None)), ""),
}  # fmt: skip


@pytest.mark.parametrize(("series", "text"), FITS.values(), ids=list(FITS))
def test_the_fit(series, text: str) -> None:
    """Rate, half, latency and saturation, each only where it was found."""
    assert shown(tell_fit(series)) == text


@pytest.mark.parametrize(
    ("link", "text"),
    [
        (
            make_link(),
            "PCIe 4.0 x16 carries 31.5 GB/s each way on paper, of which this is 63 %; others typically measure 26.0 GB/s, "
            "of which it is 76.9 %.",
        ),
        (make_link(typical_gbps=None, of_typical=None), "PCIe 4.0 x16 carries 31.5 GB/s each way on paper, of which this is 63 %."),
        (TOO_FAST, ""),
        (NotFound("link ceiling", "nobody knows"), "How much of its link that is cannot be judged: nobody knows."),
    ],
    ids=["typical", "computed", "withheld", "unknown"],
)  # fmt: skip
def test_the_link(link, text: str) -> None:
    """Paper and practice, or why not."""
    assert shown(tell_link(link)) == text


def crossover(verdict: CrossoverVerdict, **changes: object) -> Crossover:
    """Return a crossover."""
    return Crossover(verdict, **changes)  # type: ignore[arg-type]


LEAD = {"speedup": 2.5, "speedup_n": 256.0 * MIB}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            crossover(CrossoverVerdict.CROSSED, low=16.0 * KIB, high=64.0 * KIB, **LEAD),
            "Between 16 KiB and 64 KiB pinned memory overtakes pageable memory and stays ahead at every larger size "
            "measured: 2.50 × as fast at 256 MiB.",
        ),
        (
            crossover(CrossoverVerdict.CROSSED, low=16.0 * KIB, high=64.0 * KIB, low_is_tie=True, **LEAD),
            "From 64 KiB on pinned memory beats pageable memory: 2.50 × as fast at 256 MiB.",
        ),
        (
            crossover(CrossoverVerdict.GPU_ALWAYS, **LEAD),
            "Pinned memory beats pageable memory at every size measured: 2.50 × as fast at 256 MiB.",
        ),
        (crossover(CrossoverVerdict.CPU_ALWAYS), "Pinned memory beats pageable memory at no size measured."),
        (crossover(CrossoverVerdict.TIE), "No lead of pinned memory over pageable memory is shown."),
        (crossover(CrossoverVerdict.TIE_AT_END), "No lead of pinned memory over pageable memory is shown."),
        (
            crossover(CrossoverVerdict.TOO_FEW_POINTS),
            "Too few sizes were copied from both pinned memory and pageable memory to compare them.",
        ),
        (
            crossover(CrossoverVerdict.INCONCLUSIVE),
            "Pinned memory beats pageable memory at some sizes, with no clear change-over.",
        ),
        (NOT_FOUND, ""),
    ],
    ids=lambda value: value.verdict if isinstance(value, Crossover) else None,
)
def test_pinned_against_pageable(found, text: str) -> None:
    """From which size on, only where it was measured."""
    assert shown(tell_pinned(found)) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (make_ratio(2.0), "Pinning first, then copying, takes 2.00 × as long as pageable memory at 64 MiB."),
        (make_ratio(0.5), "Pinning first, then copying, is 2.00 × as fast as pageable memory at 64 MiB."),
        (
            make_ratio(1.0),
            "Pinning first, then copying, takes as long as pageable memory at 64 MiB, as far as this run can tell.",
        ),
        (NOT_FOUND, ""),
    ],
    ids=["slower", "faster", "alike", "unknown"],
)
def test_pinning_for_one_copy(ratio, text: str) -> None:
    """What it costs beside not pinning."""
    assert shown(tell_pin_then_copy(ratio)) == text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (make_overlap(0.95), "Beside products on another stream nearly all of a copy of 256 MiB hides: 95 % (93 % to 97 %)."),
        (make_overlap(0.5), "Beside products on another stream 50 % (48 % to 52 %) of a copy of 256 MiB hides."),
        (make_overlap(0.1), "Beside products on another stream hardly any of a copy of 256 MiB hides: 10 % (8.0 % to 12 %)."),
        (make_overlap(1.0, 0.0), "Beside products on another stream nearly all of a copy of 256 MiB hides: 100 %."),
        (NotFound("overlap", "too wild"), "Whether a copy hides behind computing cannot be told: too wild."),
    ],
    ids=["all", "half", "hardly", "exactly all", "unsteady"],
)  # fmt: skip
def test_overlap(found, text: str) -> None:
    """How much of a copy hides, with its bounds."""
    assert shown(tell_overlap(found)) == text


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (
            make_pieces(5.0),
            "64 MiB to the GPU in pieces of 64 KiB take 5.00 × as long as at once (± 1.0 %); from 4 MiB a piece on they "
            "cost at most a tenth more.",
        ),
        (
            make_pieces(5.0, enough_bytes=64.0 * MIB, series=spec.MEMORY_COPY_PIECES),
            "64 MiB within main memory in pieces of 64 KiB take 5.00 × as long as at once (± 1.0 %).",
        ),
        (make_pieces(1.0), "64 MiB to the GPU in pieces of 64 KiB take as long as at once, as far as this run can tell."),
        (make_pieces(0.8), "64 MiB to the GPU in pieces of 64 KiB take 0.80 of the time that they take at once."),
        (NotFound("pieces", "too wild"), "What many small copies cost cannot be told: too wild."),
    ],
    ids=["dear", "dear to the end", "alike", "cheaper", "unsteady"],
)  # fmt: skip
def test_pieces(cost, text: str) -> None:
    """A factor, no difference, or why not."""
    assert shown(tell_pieces(cost)) == text


TIMES = "copying takes 1.30 ms, a product 15.0 ms on the CPU and 200 µs on the GPU."


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            make_break_even(BreakEvenVerdict.AT_ONCE, 0.1),
            f"At n = 1,024 the GPU pays for its copies with the first product: {TIMES}",
        ),
        (
            make_break_even(BreakEvenVerdict.AFTER, 4.2, reuses_low=3.9, reuses_high=5.5),
            f"At n = 1,024 the GPU pays for its copies after five products (4 to 6): {TIMES}",
        ),
        (
            make_break_even(BreakEvenVerdict.NEVER),
            f"At n = 1,024 the GPU never pays for its copies, because its product is not the faster one: {TIMES}",
        ),
        (
            NotFound("break-even", "it needs a GPU"),
            "After how many uses the copies are paid for cannot be told: it needs a GPU.",
        ),
    ],
    ids=["at once", "after", "never", "unknown"],
)
def test_break_even(found, text: str) -> None:
    """With the three times it comes from."""
    assert shown(tell_break_even(found)) == text


@pytest.mark.parametrize(
    ("reuses", "low", "high", "text"),
    [(4.0, 4.0, 4.0, "four products"), (4.2, 4.1, 4.9, "five products"), (0.4, 0.3, 1.5, "one product (1 to 2)"),
     (300.0, 200.0, 400.0, "300 products (200 to 400)")],
)  # fmt: skip
def test_uses_are_whole_products(reuses: float, low: float, high: float, text: str) -> None:
    """Nobody multiplies four times and a fifth."""
    assert say_reuses(make_break_even(BreakEvenVerdict.AFTER, reuses, reuses_low=low, reuses_high=high)) == text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            crossover(CrossoverVerdict.CROSSED, low=64.0 * KIB, high=256.0 * KIB, speedup=1.75, speedup_n=256.0 * MIB),
            "From 256 KiB on all threads copy faster than one: 1.75 × as fast at 256 MiB.",
        ),
        (
            crossover(CrossoverVerdict.GPU_ALWAYS, speedup=1.75, speedup_n=256.0 * MIB),
            "All threads copy faster than one at every size measured: 1.75 × as fast at 256 MiB.",
        ),
        (
            crossover(CrossoverVerdict.TIE),
            "All threads show no lead over one: one thread already takes what main memory gives.",
        ),
        (
            crossover(CrossoverVerdict.INCONCLUSIVE),
            "Whether all threads copy faster than one cannot be told from these sizes.",
        ),
        (NOT_FOUND, ""),
    ],
    ids=["from a size", "always", "never", "unclear", "not measured"],
)
def test_threads(found, text: str) -> None:
    """All of them against one."""
    assert shown(tell_threads(found)) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (
            make_ratio(3.0, spec.MEMORY_COPY_FRESH),
            "Into memory that no program has touched yet a copy of 64 MiB takes 3.00 × as long: the kernel hands out every "
            "page at its first touch (page fault).",
        ),
        (
            make_ratio(1.0, spec.MEMORY_COPY_FRESH),
            "Into memory that no program has touched yet a copy of 64 MiB takes as long as into used memory, as far as "
            "this run can tell.",
        ),
        (NotFound("ratio", "too wild"), "What new memory costs cannot be told: too wild."),
    ],
    ids=["dear", "alike", "unsteady"],
)
def test_fresh_memory(ratio, text: str) -> None:
    """What allocating costs: the counterpart of pinning."""
    assert shown(tell_fresh(ratio)) == text


def borrowed(share: float, beyond_bytes: float | None = None) -> BorrowedCopy:
    """Return the copies of a product of 15 ms."""
    return BorrowedCopy(
        PUBLISHED_NAME, "a course", "pinned", 1024, 12.0 * MIB, share * 15e-3, 15e-3, share, beyond_bytes
    )


COMPUTED = (
    f"Computed, not measured: over the link of a published {PUBLISHED_NAME}, from pinned memory, the copies of a product "
    "of n = 1,024 (12 MiB) would take "
)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            borrowed(0.08, 1.0 * MIB),
            f"{COMPUTED}1.20 ms, 8.0 % of the 15.0 ms that this CPU takes for the product: a GPU that saves more than that "
            "pays for the trip with the first product. The published sizes end at 1 MiB: this is their line, drawn on.",
        ),
        (
            borrowed(2.5),
            f"{COMPUTED}37.5 ms, 250 % of the 15.0 ms that this CPU takes for the product: even a GPU that multiplied in no "
            "time would need 3 of them to pay for one trip.",
        ),
        (NOT_FOUND, ""),
    ],
    ids=["cheap", "dear", "nothing beside"],
)
def test_a_borrowed_copy_is_called_computed(found, text: str) -> None:
    """It was measured by nobody."""
    assert shown(tell_borrowed(found)) == text


# -- so what ----------------------------------------------------------------------------------------

ADVICE = {
    "pieces": (make_findings(PINNED, pieces=make_pieces(5.0)), "Copy a batch at once: from 4 MiB a copy on, pieces cost at most a tenth more than one large copy."),
    "no pieces": (make_findings(PINNED), "Put copies together until each has 256 KiB or more."),
    "no size": (make_findings(make_series(spec.H2D_PINNED, make_fit(first_at_half_bytes=None))), ""),
    "do not pin": (
        make_findings(PINNED, pin_then_copy=make_ratio(2.0)),
        "Put copies together until each has 256 KiB or more. Pin memory once and use it again (a data loader with pinned "
        "memory does); do not pin for a single copy.",
    ),
    "pin": (
        make_findings(PINNED, pin_then_copy=make_ratio(0.5)),
        "Put copies together until each has 256 KiB or more. Pinning pays here even for a single copy of this size.",
    ),
    "keep": (
        make_findings(PINNED, break_even=make_break_even(BreakEvenVerdict.AFTER, 4.0)),
        "Put copies together until each has 256 KiB or more. Keep operands on the GPU: four products of n = 1,024 pay for "
        "one trip.",
    ),
    "send": (
        make_findings(PINNED, break_even=make_break_even(BreakEvenVerdict.AT_ONCE, 0.1)),
        "Put copies together until each has 256 KiB or more. Sending a product of n = 1,024 to the GPU pays even when its "
        "data is used once.",
    ),
    "stay": (
        make_findings(PINNED, break_even=make_break_even(BreakEvenVerdict.NEVER)),
        "Put copies together until each has 256 KiB or more. Leave products of n = 1,024 on the CPU, however often the "
        "data is used.",
    ),
    "memory": (
        make_findings(MEMORY, fresh=make_ratio(3.0, spec.MEMORY_COPY_FRESH)),
        "Put copies together until each has 256 KiB or more. Reuse the memory that results go to: asking for new memory "
        "costs more than copying into it. What needs a GPU (pinned memory, break-even) is measured where there is one.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "text"), ADVICE.values(), ids=list(ADVICE))
def test_what_to_do(findings: TransferFindings, text: str) -> None:
    """Only what the findings carry."""
    assert shown(tell(findings).so_what) == text


# -- caveats ------------------------------------------------------------------------------------------

CAVEATS = {
    "memory": (
        make_findings(MEMORY),
        ["No copy over a link was measured here: these are copies within main memory. Nothing on this page says how fast "
         "this machine would copy to a GPU."],
    ),
    "nodes": (
        make_findings(PINNED, crosses_nodes=True),
        ["Memory and GPU lie on different NUMA nodes, so every copy crosses the link between them. Bind the program to the "
         "GPU's node (numactl --cpunodebind) to copy without it."],
    ),
    "withheld": (
        make_findings(PINNED, link=TOO_FAST),
        ["The rate to the GPU is withheld: 60.0 GB/s is 190 % of what PCIe 4.0 x16 can carry. Check the link that the "
         "driver reports."],
    ),
    "withheld back": (
        make_findings(PINNED, link_back=TOO_FAST),
        ["The rate from the GPU is withheld: 60.0 GB/s is 190 % of what PCIe 4.0 x16 can carry. Check the link that the "
         "driver reports."],
    ),
    "warm": (
        make_findings(replace(PINNED, cache_ratio=0.125)),
        ["The smallest copies may find their data in a cache: between two uses of a place, copies of 1 KiB touched 0.12 "
         "times the last-level cache. Larger ones were kept out of it."],
    ),
    "cold": (make_findings(replace(PINNED, cache_ratio=2.0)), []),
    "failed": (
        make_findings(replace(PINNED, failed=((1024.0, Status.UNSUPPORTED, "Nothing can be pinned."),))),
        ["Pinned memory has no time at 1 KiB (unsupported): Nothing can be pinned."],
    ),
    "flags of several series": (
        make_findings(
            replace(PINNED, flagged=((Flag.UNDER_LOAD, 3),)), replace(PAGEABLE, flagged=((Flag.UNDER_LOAD, 4),)),
            replace(make_series(spec.D2H_PINNED), source=Source.RECORDED, flagged=((Flag.UNDER_LOAD, 9),)),
        ),
        ["Seven points of this run had to share the machine with other work. Run again when it is quiet."],
    ),
    "noise": (
        make_findings(PINNED, noise=NoiseFloor(0.01, 0.02, 20)),
        ["This run can tell apart differences of 2.0 % at a typical point (noise floor); nothing closer is ranked."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "texts"), CAVEATS.values(), ids=list(CAVEATS))
def test_caveats(findings: TransferFindings, texts: list[str]) -> None:
    """What to know before trusting it; nothing where there is nothing."""
    assert [shown(text) for text in list_caveats(findings)] == texts


# -- titles, headline, guess ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("findings", "main", "second"),
    [
        (make_findings(), "Nothing is measured yet", "Nothing is measured yet"),
        (
            make_findings(make_series(spec.H2D_PINNED, make_fit(plateau_gbps=None))),
            "Nothing could be measured", "Nothing could be measured",
        ),
        (
            make_findings(PINNED, link=TOO_FAST),
            "Pinned memory has no rate to show", "Below 160 KiB a copy mostly pays its fixed price of 8.00 µs",
        ),
        (
            make_findings(make_series(spec.H2D_PINNED, make_fit(**NO_LINE)), pinned_pieces=make_pieces(3.0)),
            "Pinned memory reaches 20.0 GB/s to the GPU",
            "64 MiB to the GPU in pieces of 64 KiB take 3.00 × as long as at once",
        ),
        (
            make_findings(make_series(spec.H2D_PINNED, make_fit(**NO_LINE))),
            "Pinned memory reaches 20.0 GB/s to the GPU", "No fixed price of a copy can be told from these points",
        ),
        (
            make_findings(PINNED, break_even=make_break_even(BreakEvenVerdict.AFTER, 4.0), pieces=make_pieces(3.0)),
            "Pinned memory reaches 20.0 GB/s to the GPU", "At n = 1,024 the GPU pays for its copies after four products",
        ),
    ],
    ids=["nothing", "failed", "withheld", "pieces", "bent", "break-even"],
)  # fmt: skip
def test_titles(findings: TransferFindings, main: str, second: str) -> None:
    """The finding of each chart."""
    assert (shown(claim_main(findings)), shown(claim_second(findings))) == (main, second)


@pytest.mark.parametrize(
    ("findings", "label", "detail"),
    [
        (make_findings(MEMORY), "Memory copy (no transfer to a GPU)", "each copy costs 8.00 µs before its first byte"),
        (make_findings(PINNED), "Copy to the GPU (pinned)", "each copy costs 8.00 µs before its first byte"),
        (
            make_findings(make_series(spec.H2D_PAGEABLE, make_fit(**NO_LINE))),
            "Copy to the GPU (pageable)", "a copy of 1 KiB takes 2.00 µs",
        ),
    ],
    ids=["memory", "pinned", "no line"],
)  # fmt: skip
def test_the_headline_names_what_was_copied(findings: TransferFindings, label: str, detail: str) -> None:
    """Rate, interval and what a copy costs at once."""
    bounded = replace(findings.series[0], plateau_low_gbps=19.8, plateau_high_gbps=20.2)
    found = find_headline(replace(findings, series=(bounded,)))
    assert found is not None
    assert (found.label, found.number.replace(NBSP, " "), found.interval) == (label, "20.0 GB/s", "19.8 to 20.2")
    assert found.detail.replace(NBSP, " ") == detail
    assert find_headline(findings).interval == ""  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "findings", [make_findings(), make_findings(PINNED, link=TOO_FAST)], ids=["nothing", "withheld"]
)
def test_without_a_rate_there_is_no_headline(findings: TransferFindings) -> None:
    """Nothing is made up."""
    assert find_headline(findings) is None


def test_the_guess_is_answered_by_what_was_measured_here() -> None:
    """A published rate is no answer."""
    assert QUESTION.find_answer(make_findings(PINNED)) == 20e9
    assert QUESTION.find_answer(make_findings(MEMORY)) == 20e9
    for nothing in (make_findings(), make_findings(PUBLISHED), make_findings(PINNED, link=TOO_FAST)):
        assert QUESTION.find_answer(nothing) is None
    assert QUESTION.ask(True) == "How fast is a large copy to the GPU at best?"
    assert QUESTION.say(QUESTION.options[6]).replace(NBSP, " ") == "16.0 GB/s"


def test_every_term_is_defined() -> None:
    """In all explanations of the points made here."""
    for points in (memory_points(), link_points(), published_points(), [*memory_points(), *published_points()]):
        told = tell(find_transfer_findings(points))
        for text in (told.answer, told.see, told.why, told.so_what, *told.caveats):
            assert {span.term for span in parse(text) if span.term} <= set(GLOSSARY)
