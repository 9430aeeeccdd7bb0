"""The CUDA path on a real device: clocks, correctness, memory."""

import importlib.util
from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.experiments.matmul.measure import Bench, measure  # noqa: E402
from gpuexplain.experiments.matmul.spec import (  # noqa: E402
    GPU_CALL,
    GPU_DEVICE,
    GPU_WITH_TRANSFER,
    MatmulParams,
    cases_of,
)
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.hardware.machine import Machine  # noqa: E402
from gpuexplain.measuring.cuda import limit_device_memory  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402
from gpuexplain.measuring.session import Outcome  # noqa: E402
from gpuexplain.measuring.stopwatch import OutOfMemoryError  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_fp32  # noqa: E402
from gpuexplain.model import Case, Clock, Dtype, Point, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"
THREADS = inspect_cpu().usable_threads
# Bounds of a right product: rounding the operands decides at 16 bits, the sums decide above.
ERRORS = {Dtype.FP64: (0.0, 5e-15), Dtype.FP32: (1e-8, 5e-6), Dtype.BF16: (1e-3, 6e-3), Dtype.FP16: (1e-4, 6e-4)}


@pytest.fixture(scope="module")
def machine() -> Machine:
    """This machine with its GPU."""
    return inspect_machine(probe_torch(THREADS))


@pytest.fixture(autouse=True)
def fresh_memory() -> Iterator[None]:
    """Leave the device as another test expects it."""
    yield
    torch.set_flush_denormal(False)
    torch.cuda.set_per_process_memory_fraction(1.0, torch.device(DEVICE))
    torch.cuda.empty_cache()


def gpu_cases(side: int, machine: Machine, dtype: Dtype = Dtype.FP32) -> dict[str, Case]:
    """Return the GPU cases of one square, by series."""
    cases = cases_of((side, side, side), True, MatmulParams(dtype=dtype), DEVICE, machine)
    return {case.series: case for case in cases if case.device == DEVICE}


def median_call_s(case: Case, machine: Machine, n_blocks: int = 9) -> float:
    """Return the median (seconds) of a case, warmed up."""
    with exact_fp32():
        watch = Bench(machine, THREADS).prepare(case)
        warm_s = [watch.call_once() for _ in range(5)][-1]
        n_calls = min(watch.most_calls, max(1, int(2e-3 / warm_s)))
        return sorted(watch.time_block(2, n_calls).call_s for _ in range(n_blocks))[n_blocks // 2]


def run_sweep(params: dict[str, object]) -> tuple[list[Point], Outcome]:
    """Run one sweep on the GPU and return its points and outcome."""
    session = KeepingSession()
    outcome = measure({"device": DEVICE, **params}, session)
    return list(session.by_case.values()), outcome


@pytest.mark.parametrize("side", [64, 1024, 4096])
def test_a_call_takes_longer_than_its_kernel_and_copies_longer_still(side: int, machine: Machine) -> None:
    """Three clocks around the same product; 5 % for the noise of a large one."""
    cases = gpu_cases(side, machine)
    device_s = median_call_s(cases[GPU_DEVICE], machine)
    call_s = median_call_s(cases[GPU_CALL], machine)
    assert call_s >= 0.95 * device_s
    assert median_call_s(cases[GPU_WITH_TRANSFER], machine) > call_s


def test_device_time_agrees_with_another_stopwatch(machine: Machine) -> None:
    """Triton's, which flushes the cache and uses events; a kernel of milliseconds."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    from triton.testing import do_bench

    case = gpu_cases(4096, machine)[GPU_DEVICE]
    with exact_fp32():
        left, right = (torch.rand(4096, 4096, device=DEVICE) * 2 - 1 for _ in range(2))
        theirs_s = do_bench(lambda: torch.mm(left, right), return_mode="median") / 1e3
    assert median_call_s(case, machine, n_blocks=25) == pytest.approx(theirs_s, rel=0.15)


@pytest.mark.parametrize("dtype", ERRORS, ids=str)
def test_a_small_sweep_is_right_in_every_format(dtype: Dtype) -> None:
    """Every GPU point ok, with the error of its format and how its clock was read."""
    points, outcome = run_sweep({"dtype": dtype, "largest_side": 512, "budget_s": 3.0})
    found = [p for p in points if p.device == DEVICE]
    assert {p.series for p in found} == {GPU_CALL, GPU_DEVICE, GPU_WITH_TRANSFER}
    assert {512.0, 16.0} <= {p.x for p in found}
    low, high = ERRORS[dtype]
    for point in found:
        assert point.status is Status.OK, point.reason
        assert point.rel_error is not None
        assert low <= point.rel_error <= high
        assert point.median_s is not None
        assert point.timing
        assert point.device_name
    assert not outcome.cancelled


def test_conditions_are_those_of_this_gpu() -> None:
    """Clock and temperature are reported, or said not to be."""
    points, _ = run_sweep({"largest_side": 64, "budget_s": 3.0})
    conditions = next(p.conditions for p in points if p.series == GPU_CALL and p.conditions)
    for name in ("sm_clock_mhz", "temperature_c"):
        assert getattr(conditions, name) is not None or name in conditions.not_reported


def test_a_memory_cap_is_set_in_bytes() -> None:
    """A share of what is free, beyond which this process gets nothing."""
    free_bytes, _ = torch.cuda.mem_get_info(torch.device(DEVICE))
    cap_bytes = limit_device_memory(DEVICE, 0.01)
    assert cap_bytes == pytest.approx(0.01 * free_bytes, rel=0.05)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2 * cap_bytes, dtype=torch.uint8, device=DEVICE)


def test_out_of_memory_is_an_outcome_and_the_device_goes_on(machine: Machine) -> None:
    """The same process measures the next case."""
    limit_device_memory(DEVICE, 0.005)
    free_bytes, _ = torch.cuda.mem_get_info(torch.device(DEVICE))
    side = int((0.02 * free_bytes / 4) ** 0.5)  # one operand alone is four times the cap
    bench = Bench(machine, THREADS)
    with pytest.raises(OutOfMemoryError, match="out of memory"):
        bench.prepare(gpu_cases(side, machine)[GPU_DEVICE])
    assert bench.prepare(gpu_cases(64, machine)[GPU_DEVICE]).call_once() > 0


def test_short_kernels_are_timed_behind_a_blocker(machine: Machine) -> None:
    """Event pairs do not resolve them one by one."""
    watch = Bench(machine, THREADS).prepare(gpu_cases(64, machine)[GPU_DEVICE])
    watch.call_once()
    watch.time_block(2, 256)
    assert watch.timing == "one event pair around k calls queued behind a blocking kernel, divided by k"


def test_exact_fp32_keeps_tf32_out(machine: Machine) -> None:
    """The error is that of fp32 on every card."""
    with exact_fp32():
        check = Bench(machine, THREADS).prepare(gpu_cases(512, machine)[GPU_CALL]).check()
    assert (check.failure, check.ran_as) == ("", "")
    assert gpu_cases(512, machine)[GPU_CALL].clock is Clock.CALL
