"""Number formats on a real GPU: what runs, how exact it is, which switch decides, what a part refuses."""

from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("torch sees no CUDA device", allow_module_level=True)

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.precision.bench import Bench  # noqa: E402
from gpuexplain.experiments.precision.conclude import find_precision_findings  # noqa: E402
from gpuexplain.experiments.precision.demonstrate import demonstrate  # noqa: E402
from gpuexplain.experiments.precision.measure import measure  # noqa: E402
from gpuexplain.experiments.precision.products import explained_refusals  # noqa: E402
from gpuexplain.experiments.precision.spec import FORMATS, Inputs, PrecisionParams, plan_cases  # noqa: E402
from gpuexplain.experiments.precision.support import find_refusal  # noqa: E402
from gpuexplain.findings import TradeOff  # noqa: E402
from gpuexplain.hardware.cpu import inspect_cpu  # noqa: E402
from gpuexplain.hardware.inspect import inspect_machine  # noqa: E402
from gpuexplain.hardware.machine import Machine  # noqa: E402
from gpuexplain.measuring.energy import EnergyReading, NotReported, measure_energy, open_gpu_counter  # noqa: E402
from gpuexplain.measuring.probe import probe_torch  # noqa: E402
from gpuexplain.measuring.session import Outcome  # noqa: E402
from gpuexplain.measuring.stopwatch import Check  # noqa: E402
from gpuexplain.measuring.torch_setup import exact_fp32, use_devices  # noqa: E402
from gpuexplain.model import Case, Dtype, Point, Status  # noqa: E402
from tests.gpu.keeping_session import KeepingSession  # noqa: E402

DEVICE = "cuda:0"
THREADS = inspect_cpu().usable_threads
CAPABILITY = torch.cuda.get_device_capability(0)
HAS_TF32 = CAPABILITY >= (8, 0)
HAS_FP8 = CAPABILITY >= (8, 9)
# Bounds of a right product: rounding the operands decides at 16 bits and below, the sums decide above.
ERRORS = {
    Dtype.FP64: (0.0, 5e-15),
    Dtype.FP32: (1e-8, 5e-6),
    Dtype.TF32: (1e-5, 1e-3) if HAS_TF32 else (1e-8, 5e-6),
    Dtype.BF16: (1e-3, 6e-3),
    Dtype.FP16: (1e-4, 6e-4),
    Dtype.FP8: (2e-2, 6e-2),
    Dtype.FP8_E5M2: (3e-2, 9e-2),
    Dtype.INT8: (3e-3, 2e-2),
}


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


def case_of(series: str, side: int, machine: Machine) -> Case:
    """Return one case of the GPU."""
    cases = plan_cases(PrecisionParams(device=DEVICE, largest_side=side), machine)
    return next(case for case in cases if case.series == series and case.x == side)


def check(series: str, side: int, machine: Machine, inputs: Inputs = Inputs.UNIFORM) -> Check:
    """Run one product or step and compare it with float64."""
    with exact_fp32():
        use_devices([DEVICE])
        bench = Bench(machine, THREADS, inputs, {DEVICE: NotReported("not asked")})
        return bench.prepare(case_of(series, side, machine)).check()


def run_sweep(params: dict[str, object]) -> tuple[list[Point], Outcome]:
    """Run one sweep on the GPU and return its points and outcome."""
    session = KeepingSession()
    outcome = measure({"device": DEVICE, **params}, session)
    return list(session.by_case.values()), outcome


@pytest.mark.parametrize("side", [64, 1024])
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_a_product_errs_as_much_as_its_format(dtype: Dtype, side: int, machine: Machine) -> None:
    """Where the part has the format; else it says what would help."""
    if find_refusal(dtype, DEVICE, machine):
        with pytest.raises(UnsupportedError, match="compute capability"):
            check(str(dtype), side, machine)
        return
    found = check(str(dtype), side, machine)
    assert found.failure == ""
    low, high = ERRORS[dtype]
    assert found.rel_error is not None
    assert low <= found.rel_error <= high


def test_the_switch_decides_between_fp32_and_tf32_and_is_restored(machine: Machine) -> None:
    """Told by the error; the process keeps its own setting."""
    before = torch.backends.cuda.matmul.fp32_precision
    exact, loose = check("fp32", 1024, machine), check("tf32", 1024, machine)
    assert torch.backends.cuda.matmul.fp32_precision == before
    assert exact.ran_as == ""
    assert loose.ran_as == ("" if HAS_TF32 else "fp32")


def test_a_wide_range_overflows_fp16_and_nothing_else_that_floats(machine: Machine) -> None:
    """The kernel of int8 is right on what was left of its operands."""
    assert check("fp16", 1024, machine, Inputs.BADLY_SCALED).failure
    for series in ("fp32", "bf16"):
        assert check(series, 1024, machine, Inputs.BADLY_SCALED).failure == ""
    lost = check("int8", 1024, machine, Inputs.BADLY_SCALED)
    assert lost.failure == ""
    assert lost.rel_error is not None
    assert lost.rel_error > 0.5


def multiply_too_few_rows() -> None:
    """Ask for a product that no kernel of int8 takes."""
    small = torch.ones(8, 8, dtype=torch.int8, device=DEVICE)
    with explained_refusals(Dtype.INT8):
        torch._int_mm(small, small)


def test_an_eight_bit_refusal_leaves_the_device_alive(machine: Machine) -> None:
    """Whatever torch says against a shape, the next product runs."""
    with pytest.raises(UnsupportedError):
        multiply_too_few_rows()
    assert check("int8", 64, machine).failure == ""


@pytest.mark.parametrize("series", ["step_fp32", "step_autocast"])
def test_a_training_step_has_the_gradients_of_its_format(series: str, machine: Machine) -> None:
    """Against the same step in float64."""
    found = check(series, 256, machine)
    assert (found.failure, found.ran_as) == ("", "")
    assert found.rel_error is not None
    low, high = (1e-8, 1e-4) if series == "step_fp32" else (1e-5, 0.1)
    assert low < found.rel_error < high


def test_sums_lose_the_same_on_a_gpu() -> None:
    """16-bit additions round alike everywhere."""
    points = list(demonstrate(DEVICE, "this GPU"))
    lost = {(p.series, p.x): p.rel_error for p in points}
    assert lost["sum_bf16", 4096] == lost["sum_fp16", 4096] == 1.0
    assert (lost["sum_fp32", 4096] or 1.0) < 1e-4
    assert (lost["sum_bf16_in_fp32", 4096] or 1.0) < 1e-2


def test_a_quick_sweep_measures_every_format_the_part_has() -> None:
    """Products by device time, training steps by call time, nothing failed, energy refused or reported."""
    points, outcome = run_sweep({"budget_s": 15.0})
    assert not outcome.cancelled
    timed = [p for p in points if p.n_samples]
    expected = {str(dtype) for dtype in FORMATS if HAS_FP8 or not dtype.value.startswith("fp8")}
    assert expected | {"step_fp32", "step_autocast"} <= {p.series for p in timed}
    assert not [p.reason for p in points if p.status is Status.FAILED]
    for point in timed:
        assert "inputs" in point.timing
        assert ("event pair" in point.timing) is (not point.series.startswith("step"))
    gauges = [p.gauges for p in timed if p.gauges]
    assert any(g.energy_j for g in gauges) or all(g.not_reported.get("energy_j") for g in gauges)
    device = find_precision_findings(points).headline
    assert device is not None
    assert device.is_measured
    assert isinstance(device.trade_off, TradeOff)


def test_energy_of_a_call_is_that_of_a_card(machine: Machine) -> None:
    """Between an idle card's and twice the enforced limit, or not reported with the reason."""
    gpu = machine.gpu(DEVICE)
    assert gpu is not None
    counter = open_gpu_counter(gpu.mig_uuid or gpu.uuid)
    if isinstance(counter, NotReported):
        pytest.skip(counter.reason)
    left, right = (torch.rand(4096, 4096, device=DEVICE) for _ in range(2))

    def run_calls(n_calls: int) -> None:
        for _ in range(n_calls):
            torch.mm(left, right)
        torch.cuda.synchronize()

    run_calls(3)
    reading = measure_energy(counter, run_calls, 0.01)
    assert isinstance(reading, EnergyReading)
    power_w = reading.energy_j * reading.n_calls / reading.block_s
    assert 10 < power_w < 2 * (gpu.power_limit_w or 1000)
