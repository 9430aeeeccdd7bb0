"""What the adviser rests on, what it says, and how it is asked."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from adviser_made import copies, keep, make_machine, make_point, products

from gpuexplain.adviser.evidence import Missing, gather
from gpuexplain.adviser.params import AdviceParams
from gpuexplain.adviser.words import AdviceWords, tell_advice
from gpuexplain.analysis.advice import BreakEvenPasses, Span, advise
from gpuexplain.asked import check_params
from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Dtype, Flag, Point, Source
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain

ROOT = Path(__file__).resolve().parents[2]
# 256 x 1024 x 1024 x 8: 4.29 GFLOP a pass.
PARAMS = AdviceParams()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    opened = RunStore(f"sqlite:///{tmp_path / 'runs.db'}")
    yield opened
    opened.close()


def say(store: RunStore, machine: Machine, params: AdviceParams = PARAMS, now_s: float = 1000.0 + 7200) -> AdviceWords:
    """Return the words for what the store holds."""
    basis = gather(params, store, machine)
    return tell_advice(advise(params.stack, basis.cpu, basis.gpu, basis.link), basis, now_s)


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


def keep_gpu_machine(store: RunStore, cpu_rate: float = 100e9, gpu_rate: float = 10e12) -> Machine:
    """Store products of both devices and copies of a machine with a GPU; return it."""
    machine = make_machine(gpu=True)
    both = [*products("cpu", cpu_rate), *products("gpu_call", gpu_rate, "cuda:0")]
    keep(store, machine, "matmul", both)
    keep(store, machine, "transfer", [*copies("h2d_pageable", 10e9), *copies("h2d_pinned", 20e9)])
    return machine


# -- what it rests on -----------------------------------------------------------------------------


def test_an_empty_store_names_what_to_run() -> None:
    """Products and the bandwidth of the CPU's memory."""
    store = RunStore("sqlite://")
    basis = gather(PARAMS, store, make_machine())
    assert basis.missing == (
        Missing("matmul", "cpu", "products on the CPU"),
        Missing("memory", "cpu", "bandwidth of the CPU's memory"),
    )
    assert basis.evidence == ()
    assert basis.part is not None


def test_with_a_gpu_more_can_be_missing(store: RunStore) -> None:
    """Its products, its memory, the copies."""
    missing = gather(PARAMS, store, make_machine(gpu=True)).missing
    assert [(m.experiment, m.device) for m in missing] == [
        ("matmul", "cpu"), ("memory", "cpu"), ("matmul", "cuda:0"), ("memory", "cuda:0"), ("transfer", "cuda:0"),
    ]  # fmt: skip


def test_only_runs_of_this_machine_count_and_the_newest_first(store: RunStore) -> None:
    """Those of another one are faster, older or not over."""
    here = make_machine()
    keep(store, make_machine(machine_id="elsewhere"), "matmul", products("cpu", 9e12), at=5000)
    keep(store, here, "matmul", products("cpu", 50e9), at=100)
    newest = keep(store, here, "matmul", products("cpu", 100e9), at=200)
    keep(store, here, "matmul", products("cpu", 1e9), at=300, state=RunState.RUNNING)
    basis = gather(PARAMS, store, here)
    assert [e.run_id for e in basis.evidence] == [newest]
    assert basis.cpu.products[0].work / basis.cpu.products[0].span.centre == pytest.approx(100e9)


def test_a_run_without_what_is_needed_is_passed_over(store: RunStore) -> None:
    """A run in bf16 says nothing of fp32, nor does an imported one of this machine."""
    here = make_machine()
    useful = keep(store, here, "matmul", products("cpu", 100e9), at=100)
    half = [p.model_copy(update={"dtype": Dtype.BF16}) for p in products("cpu", 1e12)]
    keep(store, here, "matmul", half, at=200)
    recorded = [p.model_copy(update={"source": Source.RECORDED}) for p in products("cpu", 1e12)]
    keep(store, here, "matmul", recorded, at=300)
    assert [e.run_id for e in gather(PARAMS, store, here).evidence] == [useful]


def test_suspect_points_are_no_basis(store: RunStore) -> None:
    """As in every conclusion."""
    here = make_machine()
    keep(store, here, "matmul", [p.model_copy(update={"flags": (Flag.SUSPECT,)}) for p in products("cpu", 9e15)])
    assert gather(PARAMS, store, here).cpu.products == ()


def busy(points: list[Point]) -> list[Point]:
    """Return the points as measured beside other work."""
    return [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in points]


def test_a_quiet_run_comes_before_a_newer_one_of_a_busy_machine(store: RunStore) -> None:
    """Stalled calls of a busy machine would make any GPU look a thousand times as fast."""
    here = make_machine()
    quiet = keep(store, here, "matmul", products("cpu", 100e9), at=100)
    keep(store, here, "matmul", busy(products("cpu", 1e8)), at=200)
    (evidence,) = gather(PARAMS, store, here).evidence
    assert (evidence.run_id, evidence.was_busy) == (quiet, False)


def test_a_run_of_a_busy_machine_serves_where_there_is_no_other_and_says_so(store: RunStore) -> None:
    """Better an answer that says so than none; one quiet size among busy ones is not enough."""
    here = make_machine()
    points = [*busy(products("cpu", 1e10))[1:], products("cpu", 1e11)[0]]
    run_id = keep(store, here, "matmul", points)
    assert gather(PARAMS, store, here).evidence[0].was_busy
    assert bare(say(store, here).rests_on[0]) == (
        f"Products on the CPU: run {run_id} of matmul, 2 h ago, while other work used the machine: run it again when it "
        "is quiet."
    )


def test_the_best_stream_is_the_bandwidth(store: RunStore) -> None:
    """Of copy, triad and read."""
    here = make_machine()
    streams = [
        make_point("memory", "copy", 1.0, shape=(1,), bytes=10e9),
        make_point("memory", "read", 1.0, shape=(1,), bytes=12e9),
        make_point("memory", "walk", 1.0, shape=(1,), bytes=99e9, flops=1.0),
    ]
    keep(store, here, "memory", streams)
    assert gather(PARAMS, store, here).cpu.bandwidth_bytes_s == pytest.approx(12e9)


def test_device_time_and_call_time_enclose_the_gpu(store: RunStore) -> None:
    """Queued launches are nearer to the first, one at a time to the second."""
    machine = make_machine(gpu=True)
    keep(store, machine, "matmul", [*products("gpu_device", 10e12, "cuda:0"), *products("gpu_call", 5e12, "cuda:0")])
    timed = gather(PARAMS, store, machine).gpu.products[0]
    assert timed.span.centre == pytest.approx(timed.work / 10e12)
    assert timed.span.low == pytest.approx(0.99 * timed.work / 10e12)
    assert timed.span.high == pytest.approx(1.01 * timed.work / 5e12)


def test_pinned_and_pageable_copies_enclose_the_link(store: RunStore) -> None:
    """A plain loop copies from pageable memory."""
    machine = keep_gpu_machine(store)
    copy = gather(PARAMS, store, machine).link.copies[-1]
    assert (copy.span.low, copy.span.centre) == (pytest.approx(0.99 * 1e9 / 20e9), pytest.approx(1e9 / 10e9))


def test_without_a_gpu_a_data_sheet_bounds_it() -> None:
    """Peak, bandwidth, memory and the link on paper."""
    basis = gather(AdviceParams(part="NVIDIA L4"), RunStore("sqlite://"), make_machine())
    assert basis.part is not None
    assert basis.gpu.products == ()
    assert basis.gpu.peak_flops == pytest.approx(30.3e12, rel=0.01)
    assert basis.link_name == "PCIe 4.0 x16"
    assert basis.link.peak_bytes_s == pytest.approx(31.5e9, rel=0.05)


# -- what it says ---------------------------------------------------------------------------------


def test_the_gpu_pays(store: RunStore) -> None:
    """A hundred passes: 4.3 s on the CPU, 43 ms and its copies on the GPU."""
    words = say(store, keep_gpu_machine(store))
    assert bare(words.answer) == "NVIDIA L4 pays: with its copies it should be about 92.3 × as fast as the CPU."
    told = [bare(fact) for fact in words.facts]
    assert told[0] == (
        "256 examples through eight layers of 1,024 x 1,024 are 4.29 GFLOP a pass; 100 passes over data that are "
        "copied in once."
    )
    assert told[1] == (
        "On the CPU (Test CPU) a pass should take 42.9 ms (34.0 ms to 54.2 ms); all 100 passes 4.29 s (3.40 s to "
        "5.42 s)."
    )
    assert told[3] == (
        "Copying 33.0 MiB of weights and data in, and one batch of results out, takes 3.57 ms (1.76 ms to 3.60 ms)."
    )
    assert told[4] == "Break-even: one pass over the same data (1.0, up to 1.0)."
    assert told[5] == "The CPU: 36.0 MiB fit the 6.00 GiB that a run may take."


def test_the_cpu_is_enough(store: RunStore) -> None:
    """One pass over a gigabyte."""
    words = say(store, keep_gpu_machine(store), AdviceParams(passes=1, data_mib=1024))
    assert bare(words.answer) == "The CPU is enough: it needs 42.9 ms, and NVIDIA L4 with its copies 111 ms."
    assert bare(words.facts[4]) == "Break-even: three passes over the same data (1.0, up to 3.3)."


def test_too_close_to_tell(store: RunStore) -> None:
    """Both devices equally fast."""
    words = say(store, keep_gpu_machine(store, gpu_rate=101e9))
    assert bare(words.answer) == "Whether NVIDIA L4 pays cannot be told: the two intervals overlap."


def test_a_gpu_that_is_not_faster_never_breaks_even(store: RunStore) -> None:
    """However often the data are used."""
    words = say(store, keep_gpu_machine(store, gpu_rate=50e9))
    assert bare(words.facts[4]) == (
        "Break-even: none, for a pass on the GPU is not faster, so no number of passes pays for the copies."
    )


def test_what_does_not_fit_is_said_first(store: RunStore) -> None:
    """300 layers of 16384 need 300 GiB."""
    words = say(store, keep_gpu_machine(store), AdviceParams(width=16_384, depth=300))
    assert bare(words.answer) == (
        "It does not fit NVIDIA L4; use a smaller batch or model, or a part with more memory."
    )
    assert bare(words.facts[-1]) == "NVIDIA L4: 300 GiB do not fit the 16.0 GiB that a run may take."


def test_nothing_measured_says_so_and_what_would_help(store: RunStore) -> None:
    """Never a guess."""
    words = say(store, make_machine())
    assert bare(words.answer) == "Whether a GPU pays cannot be told: no product was measured on Test CPU."
    assert bare(words.facts[1]) == "On the CPU (Test CPU) no time can be given: no product was measured on Test CPU."
    assert bare(words.facts[4]) == "Break-even: not known, for no product was measured on Test CPU."
    assert [text for _, text in words.missing] == [
        "Not measured yet: products on the CPU.",
        "Not measured yet: bandwidth of the CPU's memory.",
    ]


def test_without_a_gpu_a_bound_is_called_a_bound(store: RunStore) -> None:
    """With its source; never a measurement."""
    machine = make_machine()
    keep(store, machine, "matmul", products("cpu", 100e9))
    words = say(store, machine, AdviceParams(part="NVIDIA L4"))
    assert bare(words.answer).startswith("NVIDIA L4 could be at most ")
    assert bare(words.answer).endswith(
        " × as fast, by its data sheet. No GPU was measured here, so whether it pays cannot be told."
    )
    assert "a bound from its data sheet, not a measurement." in bare(words.facts[2])
    assert "on NVIDIA L4 a pass takes at least" in bare(words.facts[2]).replace("On", "on", 1)
    assert any(
        line.startswith("NVIDIA L4, published peak: 30.3 TFLOP/s in fp32. Source: ")
        for line in map(bare, words.rests_on)
    )
    assert any(line.startswith("PCIe 4.0 x16, on paper: ") for line in map(bare, words.rests_on))
    assert bare(words.facts[-1]) == "NVIDIA L4: 36.0 MiB fit the 24.0 GB of its data sheet."


def test_a_bound_can_rule_a_part_out(store: RunStore) -> None:
    """The copy alone takes longer."""
    machine = make_machine()
    keep(store, machine, "matmul", products("cpu", 100e9))
    words = say(store, machine, AdviceParams(part="NVIDIA L4", passes=1, data_mib=4096))
    assert bare(words.answer).startswith("No NVIDIA L4 pays here: even at its peak on paper it needs ")
    assert bare(words.answer).endswith(" with its copies, and the CPU 42.9 ms.")
    assert bare(words.facts[4]).startswith("Break-even: at the very least ")


def test_what_it_rests_on_is_named_with_its_age(store: RunStore) -> None:
    """Two hours old."""
    machine = make_machine()
    run_id = keep(store, machine, "matmul", products("cpu", 100e9))
    assert bare(say(store, machine).rests_on[0]) == f"Products on the CPU: run {run_id} of matmul, 2 h ago."


def test_a_stack_far_from_every_product_is_a_guess(store: RunStore) -> None:
    """One of a hundred thousand times the work."""
    machine = make_machine()
    keep(store, machine, "matmul", products("cpu", 100e9))
    words = say(store, machine, AdviceParams(width=16_384, depth=1, batch=65_536))
    assert bare(words.answer) == (
        "Whether a GPU pays cannot be told: no product of about this size was measured on Test CPU."
    )
    assert bare(words.facts[1]).endswith("No product of about this size was measured: take it as a guess.")


# -- test mine ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time_s", "expected"),
    [
        (
            0.0430,
            "Measured on the CPU, 2 h ago: 43.0 ms a pass; predicted 42.9 ms (34.0 ms to 54.2 ms): the prediction held.",
        ),
        (
            0.0860,
            "Measured on the CPU, 2 h ago: 86.0 ms a pass; predicted 42.9 ms (34.0 ms to 54.2 ms): it was 2.00 × that, "
            "so trust the measurement.",
        ),
    ],
    ids=["held", "not held"],
)
def test_a_measurement_of_the_stack_stands_beside_the_prediction(store: RunStore, time_s: float, expected: str) -> None:
    """The run of "One layer by hand" with these very sizes."""
    machine = make_machine()
    keep(store, machine, "matmul", products("cpu", 100e9))
    other = make_point("by_hand", "stack", 9.0, shape=(1, 1024, 1024, 8))
    keep(store, machine, "by_hand", [other, make_point("by_hand", "stack", time_s, shape=(256, 1024, 1024, 8))])
    assert [bare(line) for line in say(store, machine).measured] == [expected]


def test_without_a_prediction_the_measurement_stands_alone(store: RunStore) -> None:
    """Nothing to compare it with."""
    machine = make_machine()
    keep(store, machine, "by_hand", [make_point("by_hand", "stack", 0.05, shape=(256, 1024, 1024, 8))])
    assert [bare(line) for line in say(store, machine).measured] == [
        "Measured on the CPU, 2 h ago: 50.0 ms a pass; there was no prediction to compare it with."
    ]


def test_inference_of_the_same_mlp_counts_too(store: RunStore) -> None:
    """From the batch page; its training does not."""
    machine = make_machine()
    point = make_point("batch", "cpu", 0.05, x=256.0, shape=(256, 1024, 8))
    keep(store, machine, "batch", [point], BatchParams(mode="training", width=1024, depth=8))
    assert say(store, machine).measured == ()
    keep(store, machine, "batch", [point], BatchParams(mode="inference", width=1024, depth=8))
    assert len(say(store, machine).measured) == 1


def test_the_test_run_is_the_very_stack() -> None:
    """In the shortest preset."""
    params = AdviceParams(width=512, depth=3, batch=7).test_params
    assert (params.batch, params.width, params.depth, params.preset) == (7, 512, 3, "quick")


# -- asking ---------------------------------------------------------------------------------------


def test_bad_values_say_what_is_allowed() -> None:
    """As everywhere."""
    reading = check_params(AdviceParams, {"width": "0", "part": "a toaster"})
    assert set(reading.problems) == {
        "width='0' cannot be used. Allowed: inputs and outputs, 1 to 16384.",
        "part='a toaster' cannot be used. Allowed: a part of the reference table, as its driver prints it: used where no "
        "GPU works here.",
    }


def advise_on_the_command_line(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Ask a real process; nothing may be measured in it, so it answers without a worker."""
    return subprocess.run(
        [sys.executable, "-m", "gpuexplain", "advise", *arguments],
        cwd=ROOT, env={**os.environ, "GPUEXPLAIN_HOME": str(home), "GPUEXPLAIN_READ_ONLY": "true"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def test_the_command_line_advises(tmp_path: Path) -> None:
    """Words, and what to run first."""
    done = advise_on_the_command_line(tmp_path, "--width", "512", "--part", "NVIDIA L4")
    assert done.returncode == 0, done.stderr
    assert "Whether a GPU pays cannot be told: no product was measured on" in done.stdout
    assert "Run: python -m gpuexplain run matmul --device cpu" in done.stdout
    assert "NVIDIA L4, published peak: 30.3" in done.stdout


def test_the_command_line_advises_as_json(tmp_path: Path) -> None:
    """What is endless is null."""
    done = advise_on_the_command_line(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["advice"]["pays"] == "cannot_tell"
    assert told["advice"]["gpu"]["one_pass"]["high"] is None
    assert told["missing"][0]["experiment"] == "matmul"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--width", "-3"], "gpuexplain: width='-3' cannot be used. Allowed: inputs and outputs, 1 to 16384."),
        (["--device", "cuda:7"], "device='cuda:7' cannot be used:"),
    ],
    ids=["size", "device"],
)
def test_the_command_line_refuses_in_one_line(tmp_path: Path, arguments: list[str], error: str) -> None:
    """With what is allowed, and exit status 2."""
    done = advise_on_the_command_line(tmp_path, *arguments)
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_spans_and_break_even_are_plain_numbers(store: RunStore) -> None:
    """For scripts that read the findings."""
    machine = keep_gpu_machine(store)
    basis = gather(PARAMS, store, machine)
    advice = advise(PARAMS.stack, basis.cpu, basis.gpu, basis.link)
    assert isinstance(advice.break_even, BreakEvenPasses)
    assert isinstance(advice.gpu.one_pass, Span)
