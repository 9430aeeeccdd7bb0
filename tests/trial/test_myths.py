"""The six myths: each holds in one test, fails in one, and is left open by a noisy one."""

import batch_made
import matmul_made
import memory_made
import precision_made
import pytest
import scaling_made
import step_made
import transfer_made
from trial_made import (
    CANNOT_TELL,
    HELD,
    NO_GPU,
    NOT_HELD,
    WITH_GPU,
    exhibits,
    need_point,
    need_points,
    no_interval,
    noisy,
)

from gpuexplain.experiments.step import spec as step_spec
from gpuexplain.experiments.transfer import spec as transfer_spec
from gpuexplain.model import Point
from gpuexplain.trial.court import MythVerdict, hold_trial
from gpuexplain.trial.evidence import Exhibit
from gpuexplain.trial.ruling import Lack, Outcome
from gpuexplain.trial.words import tell_answer
from gpuexplain.units import NBSP
from gpuexplain.wording.markup import plain


def _on_gpu(points: list[Point]) -> list[Point]:
    here = {"device": "cuda:0", "device_name": "NVIDIA A100-SXM4-80GB", "threads": None}
    return [p if p.series == step_spec.LOAD else p.model_copy(update=here) for p in points]


def _copies(pieces_s: float, noise: float, copy_s: float) -> list[Point]:
    return [
        *transfer_made.copies(transfer_spec.H2D_PINNED, 8e-6, 25e9),
        *transfer_made.pieces(transfer_spec.H2D_PIECES, pieces_s, 10e9, noise=noise),
        transfer_made.product(transfer_spec.CPU_PRODUCT, 15e-3),
        transfer_made.product(transfer_spec.GPU_PRODUCT, 0.2e-3),
        transfer_made.product(transfer_spec.PRODUCT_COPIES, copy_s),
    ]


_SMALL_AND_LARGE = [*matmul_made.cpu_points(), *matmul_made.gpu_points()]
_LARGE = [*matmul_made.cpu_points((512, 1024)), *matmul_made.gpu_points((512, 1024))]
_FAST_GPU = dict.fromkeys(("inference_one", "mlp", "convnet", "transformer"), 0.0001)

MYTH_CASES = {
    "M1 fails": (
        "M1",
        exhibits(matmul=_SMALL_AND_LARGE),
        NOT_HELD,
        "The GPU is faster at every size measured, 73.9 × (72.5 to 75.4) as fast at n = 1,024; copies included, the CPU is faster at n = 128, the GPU from n = 256 on.",
    ),
    "M1 holds": (
        "M1",
        exhibits(matmul=_LARGE),
        HELD,
        "The GPU is faster at every size measured, 73.9 × (72.5 to 75.4) as fast at n = 1,024; copies included, the GPU is faster at every size measured, 7.85 × (7.70 to 8.01) as fast at n = 1,024.",
    ),
    "M1 is noisy": (
        "M1",
        exhibits(matmul=noisy(_SMALL_AND_LARGE)),
        CANNOT_TELL,
        "The GPU and the CPU cannot be told apart clearly; copies included, the GPU and the CPU cannot be told apart clearly.",
    ),
    "M1 fails at everyday work": (
        "M1",
        exhibits(need=need_points({**_FAST_GPU, "inference_one": 0.004})),
        NOT_HELD,
        "Copies included, inference of one example on the GPU takes 4.00 × (3.92 to 4.08) as long as on the CPU.",
    ),
    "M1 holds at everyday work": (
        "M1",
        exhibits(need=need_points(_FAST_GPU)),
        HELD,
        "Copies included, the GPU gains least at inference of one example, which is 10.0 × (9.80 to 10.2) as fast as on the CPU.",
    ),
    "M2 fails": (
        "M2",
        exhibits(transfer=transfer_made.link_points()),
        NOT_HELD,
        "64.0 MiB copied to the GPU in pieces of 64.0 KiB take 2.37 × (2.32 to 2.42) the time of one copy. Of a product of n = 1,024 on the GPU, its operands copied there and its result back, 87 % is copying; the first product pays for it.",
    ),
    "M2 holds": (
        "M2",
        exhibits(transfer=_copies(0.0, 0.01, 1e-05)),
        HELD,
        "64.0 MiB copied to the GPU in pieces of 64.0 KiB take 1.00 × (0.980 to 1.02) the time of one copy. Of a product of n = 1,024 on the GPU, its operands copied there and its result back, 4.8 % is copying; the first product pays for it.",
    ),
    "M2 is noisy": (
        "M2",
        exhibits(transfer=_copies(3e-07, 0.04, 1e-05)),
        CANNOT_TELL,
        "64.0 MiB copied to the GPU in pieces of 64.0 KiB take 1.05 × (0.965 to 1.13) the time of one copy. Of a product of n = 1,024 on the GPU, its operands copied there and its result back, 4.8 % is copying; the first product pays for it.",
    ),
    "M2 fails in a step": (
        "M2",
        exhibits(step=_on_gpu([*step_made.points(), step_made.make_point(step_spec.COPY, 0.008)])),
        NOT_HELD,
        "Copying takes 33.3 % (32.9 to 33.8 %) of a training step.",
    ),
    "M2 holds in a step": (
        "M2",
        exhibits(step=_on_gpu([*step_made.points(), step_made.make_point(step_spec.COPY, 8e-05)])),
        HELD,
        "Copying takes 0.498 % (0.488 to 0.508 %) of a training step.",
    ),
    "M3 fails": (
        "M3",
        exhibits(batch=batch_made.cpu_points()),
        NOT_HELD,
        "On the CPU batch 4,096 does 24.4 k examples/s, 1.07 × those of batch 1,024, and holds 2.20 × the memory (110 MiB): more memory would fit more, and make nothing faster. Main memory stands in for that of a GPU.",
    ),
    "M3 holds": (
        "M3",
        exhibits(batch=batch_made.cpu_points((1, 2, 4, 8, 16, 32, 64))),
        HELD,
        "On the CPU batch 64 does 9.76 k examples/s: throughput still rises, so a larger batch, with more memory, would be faster. Main memory stands in for that of a GPU.",
    ),
    "M3 is noisy": (
        "M3",
        exhibits(batch=noisy(batch_made.cpu_points())),
        CANNOT_TELL,
        "On the CPU batch 4,096 does 24.4 k examples/s, 1.07 × those of batch 1,024, and holds 2.20 × the memory (110 MiB); whether more would be faster cannot be told.",
    ),
    "M3 fails by its bandwidth": (
        "M3",
        exhibits(memory=memory_made.points()),
        NOT_HELD,
        "Work that uses each number once runs at 100 % of what a bandwidth of 10.0 GB/s (9.90 GB/s to 10.1 GB/s) allows: bandwidth decides, however much memory there is.",
    ),
    "M3 is open where something else limits": (
        "M3",
        exhibits(memory=[*memory_made.points(1)[:-1], memory_made.walk_point(1, 2.0)]),
        CANNOT_TELL,
        "Work that uses each number once runs at 50 % of what a bandwidth of 10.0 GB/s (9.90 GB/s to 10.1 GB/s) allows: something else limits it.",
    ),
    "M4 fails": (
        "M4",
        exhibits(scaling=scaling_made.steps(0.1, 0.06, silent=0.05)),
        NOT_HELD,
        "Two processes on this CPU train 1.67 × (1.63 to 1.70) as fast as one, 83 % of the ideal; exchanging gradients is 17 % of the step. Processes stand in for GPUs here: they share their memory and its bandwidth.",
    ),
    "M4 holds": (
        "M4",
        exhibits(scaling=scaling_made.steps(0.1, 0.05)),
        HELD,
        "Two processes on this CPU train 2.00 × (1.96 to 2.04) as fast as one, 100 % of the ideal. Processes stand in for GPUs here: they share their memory and its bandwidth.",
    ),
    "M4 is noisy": (
        "M4",
        exhibits(scaling=scaling_made.steps(0.1, 0.052)),
        CANNOT_TELL,
        "Two processes on this CPU train 1.92 × (1.88 to 1.96) as fast as one, 96 % of the ideal. Processes stand in for GPUs here: they share their memory and its bandwidth. The interval of the speed-up holds both.",
    ),
    "M5 fails": (
        "M5",
        exhibits(step=_on_gpu(step_made.points(load=0.02))),
        NOT_HELD,
        "Loading, which runs on the CPU, takes 57.1 % (56.7 to 57.6 %) of a training step.",
    ),
    "M5 fails on a slow device all the more": (
        "M5",
        exhibits(step=step_made.points(load=0.02)),
        NOT_HELD,
        "Loading, which runs on the CPU, takes 57.1 % (56.7 to 57.6 %) of a training step. A faster device would shorten the rest only.",
    ),
    "M5 fails by what workers gain": (
        "M5",
        exhibits(step=_on_gpu(step_made.points())),
        NOT_HELD,
        "Loading, which runs on the CPU, takes 6.25 % (6.13 to 6.37 %) of a training step. Loaded ahead by workers, the whole step is 1.14 × (1.12 to 1.17) as fast: it had waited.",
    ),
    "M5 holds": (
        "M5",
        exhibits(step=_on_gpu(step_made.points(loaded_s=0.016))),
        HELD,
        "Loading, which runs on the CPU, takes 6.25 % (6.13 to 6.37 %) of a training step. Workers that load ahead gain nothing: the GPU is kept busy.",
    ),
    "M5 is noisy": (
        "M5",
        exhibits(step=_on_gpu(no_interval(step_made.points()))),
        CANNOT_TELL,
        "Loading, which runs on the CPU, takes 6.25 % of a training step. The numbers do not say whether the rest had to wait.",
    ),
    "M5 fails by its texts": (
        "M5",
        exhibits(need=need_points(_FAST_GPU)),
        NOT_HELD,
        "Preparing a text takes 10.0 µs on the CPU, a training step of a transformer 1.56 µs an example on the GPU: the preparing is the bottleneck.",
    ),
    "M5 holds with its texts": (
        "M5",
        exhibits(need=need_points(_FAST_GPU, text=6.4e-06)),
        HELD,
        "Preparing a text takes 100 ns on the CPU, a training step of a transformer 1.56 µs an example on the GPU: prepared ahead, texts do not hold it up.",
    ),
    "M6 fails": (
        "M6",
        exhibits(precision=precision_made.make_steps(2.0)),
        NOT_HELD,
        "With autocast a training step on the CPU is 2.00 × (1.96 to 2.04) as fast as in fp32 and errs by 0.40 %. Speed against exactness is a choice.",
    ),
    "M6 fails where it is slow": (
        "M6",
        exhibits(precision=precision_made.make_steps(0.04)),
        NOT_HELD,
        "With autocast a training step on the CPU takes 25.0 × (24.5 to 25.5) as long as in fp32 and errs by 0.40 %. Switched on without looking, it costs time here.",
    ),
    "M6 holds": (
        "M6",
        exhibits(precision=precision_made.make_steps(2.0, rel_error=3e-07)),
        HELD,
        "With autocast a training step on the CPU is 2.00 × (1.96 to 2.04) as fast as in fp32 and errs by 3.0 × 10⁻⁷. Here it gains speed and costs no digits.",
    ),
    "M6 is noisy": (
        "M6",
        exhibits(precision=precision_made.make_steps(1.1, spread=0.3)),
        CANNOT_TELL,
        "With autocast a training step on the CPU is 1.10 × (0.592 to 2.04) as fast as in fp32 and errs by 0.40 %. Whether that is faster or slower, the intervals do not say.",
    ),
}


def _verdict(myth_id: str, found: dict[str, Exhibit], machine: object = WITH_GPU) -> MythVerdict:
    return next(v for v in hold_trial(found, machine).myths if v.myth.id == myth_id)  # type: ignore[arg-type]


def _told(verdict: MythVerdict) -> str:
    return plain(tell_answer(verdict.deciding)).replace(NBSP, " ")


@pytest.mark.parametrize(("myth_id", "found", "outcome", "told"), MYTH_CASES.values(), ids=list(MYTH_CASES))
def test_a_myth_is_judged(myth_id: str, found: dict[str, Exhibit], outcome: Outcome, told: str) -> None:
    """With the numbers of the test that decided."""
    verdict = _verdict(myth_id, found)
    assert (verdict.outcome, _told(verdict)) == (outcome, told)


@pytest.mark.parametrize("myth_id", ["M1", "M2"])
def test_without_a_gpu_and_without_a_run_it_cannot_be_tested(myth_id: str) -> None:
    """No run is asked for that would decide nothing."""
    verdict = _verdict(myth_id, {}, NO_GPU)
    assert verdict.outcome is Outcome.UNTESTABLE
    assert _told(verdict) == "It takes a GPU, which this machine lacks."


def test_without_a_gpu_what_the_machine_can_tell_is_told() -> None:
    """Copies within main memory, called that; they decide nothing about a GPU."""
    verdict = _verdict("M2", exhibits(transfer=transfer_made.memory_points()), NO_GPU)
    assert verdict.outcome is Outcome.UNTESTABLE
    assert (
        _told(verdict)
        == "Decides nothing here: it takes a GPU. No copy to a GPU was measured. 64.0 MiB copied in main memory in pieces of 64.0 KiB take 1.21 × (1.19 to 1.24) the time of one copy."
    )


def test_a_run_on_the_cpu_of_a_machine_with_a_gpu_leaves_it_untested() -> None:
    """Another run of the lab can test it."""
    verdict = _verdict("M1", exhibits(matmul=matmul_made.cpu_points()), WITH_GPU)
    assert verdict.outcome is Outcome.UNTESTED
    assert verdict.deciding.ruling.lack is Lack.GPU


def test_one_device_cannot_test_two() -> None:
    """A CPU of one thread; with two threads processes can stand in."""
    assert _verdict("M4", {}, matmul_made.make_machine(threads=1)).outcome is Outcome.UNTESTABLE
    assert _verdict("M4", {}, matmul_made.make_machine(threads=2)).outcome is Outcome.UNTESTED
    assert _verdict("M4", {}, WITH_GPU).outcome is Outcome.UNTESTABLE
    assert _verdict("M4", exhibits(scaling=scaling_made.steps(0.1)), NO_GPU).outcome is Outcome.UNTESTED


def test_a_slow_device_that_waits_little_for_data_decides_nothing() -> None:
    """A GPU would shorten the rest of the step, and not the loading."""
    verdict = _verdict("M5", exhibits(step=step_made.points(loaded_s=16e-3)), NO_GPU)
    step = next(answer for _, answer in verdict.answers if answer.reading.lab == "step")
    assert step.ruling.outcome is Outcome.UNTESTABLE
    assert (
        plain(tell_answer(step)).replace(NBSP, " ")
        == "Decides nothing here: it takes a GPU. Loading, which runs on the CPU, takes 6.25 % (6.13 to 6.37 %) of a training step. A GPU would shorten the rest, and not the loading."
    )


def test_text_that_takes_little_of_a_slow_step_decides_nothing() -> None:
    """As with loading."""
    verdict = _verdict("M5", exhibits(need=need_points()), NO_GPU)
    text = next(answer for _, answer in verdict.answers if answer.reading.lab == "need")
    assert text.ruling.outcome is Outcome.UNTESTABLE
    assert (
        plain(tell_answer(text)).replace(NBSP, " ")
        == "Decides nothing here: it takes a GPU. Preparing a text takes 10.0 µs on the CPU, a training step of a transformer 200 µs an example on the CPU. A GPU would shorten the step, and not the preparing."
    )


def test_one_failure_outweighs_what_holds_and_what_is_open() -> None:
    """A myth claims something of all cases."""
    found = exhibits(matmul=_LARGE, need=[*need_points(_FAST_GPU), need_point("mlp_gpu", 1.0, x=1.0)])
    found |= exhibits(batch=noisy([*batch_made.cpu_points(), *batch_made.gpu_points()]))
    assert _verdict("M1", found).outcome is CANNOT_TELL
    found |= exhibits(matmul=_SMALL_AND_LARGE)
    assert _verdict("M1", found).outcome is NOT_HELD
