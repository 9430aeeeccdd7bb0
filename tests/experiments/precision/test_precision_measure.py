"""A real sweep on the CPU of this machine, and the logic around it with stand-ins."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from precision_made import GIB, GPU, make_machine, make_point  # noqa: E402
from precision_measured import KeepingSession, measure_session  # noqa: E402

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.precision import bench as bench_module  # noqa: E402
from gpuexplain.experiments.precision import measure as measure_module  # noqa: E402
from gpuexplain.experiments.precision.bench import Bench, SwitchedStopwatch  # noqa: E402
from gpuexplain.experiments.precision.measure import (  # noqa: E402
    MarkingSession,
    emulations,
    open_counter,
    too_slow_points,
)
from gpuexplain.experiments.precision.spec import (  # noqa: E402
    FORMATS,
    Inputs,
    PrecisionParams,
    inputs_of,
    overrides_of,
    plan_cases,
)
from gpuexplain.measuring.energy import NotReported  # noqa: E402
from gpuexplain.measuring.stopwatch import Block, Check  # noqa: E402
from gpuexplain.model import Case, Dtype, Flag, Status  # noqa: E402

SERIES = {str(dtype) for dtype in FORMATS} | {"step_fp32", "step_autocast"}


def settle(mode: str) -> None:
    """Set both switches, as somebody else in the process might."""
    torch.backends.cuda.matmul.fp32_precision = mode
    torch.backends.mkldnn.matmul.fp32_precision = mode


# -- a real sweep -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept() -> KeepingSession:
    """The probe size, every format."""
    session = measure_session({"largest_side": 64, "budget_s": 6.0})[0]
    if any(p.status is Status.SKIPPED for p in session.points):
        pytest.skip("the machine was too busy to call every format three times in six seconds")
    return session


def test_every_format_is_measured_and_checked(swept: KeepingSession) -> None:
    """Times, errors and counts for eight formats and two training steps."""
    found = {p.series: p for p in swept.points if p.series in SERIES}
    assert set(found) == SERIES
    for point in found.values():
        assert point.status is Status.OK, point.reason
        assert point.median_s is not None
        assert point.median_s > 0
        assert point.rel_error is not None
        assert (point.nan_count, point.inf_count) == (0, 0)
        assert inputs_of(point.timing) is Inputs.UNIFORM
    errors = {name: point.rel_error or 0.0 for name, point in found.items()}
    assert errors["fp64"] < errors["fp32"] < errors["fp16"] < errors["bf16"] < errors["int8"] < errors["fp8"]
    assert errors["fp8"] < errors["fp8_e5m2"]


def test_operands_are_counted_and_energy_is_told_or_refused(swept: KeepingSession) -> None:
    """A short run does not read energy, and says so."""
    gauges = {p.series: p.gauges for p in swept.points if p.series in SERIES}
    assert gauges["fp32"].clipped_count == gauges["fp32"].zeroed_count == 0
    assert gauges["int8"].zeroed_count > 0
    reason = {"energy_j": "energy is read in runs of 15 s or more"}
    assert all(found.energy_j is None and found.not_reported == reason for found in gauges.values())


def test_what_gets_lost_is_checked_in_the_same_run(swept: KeepingSession) -> None:
    """Five sums of each kind, and the subnormal number that the measuring process flushes."""
    checked = [p for p in swept.points if p.series not in SERIES]
    assert len(checked) == 5 * 4 + 1
    assert next(p for p in checked if p.series == "subnormal").rel_error == 1.0


def test_a_wide_range_fails_fp16_only_and_shows_what_eight_bits_lose() -> None:
    """Overflow is a failed point with its count; a right kernel on lost operands is a point with its error."""
    machine = make_machine()
    bench = Bench(machine, 2, Inputs.BADLY_SCALED, {"cpu": NotReported("no counter")})
    cases = plan_cases(PrecisionParams(largest_side=64), machine)
    checks = {case.series: bench.prepare(case).check() for case in cases}
    assert {name for name, check in checks.items() if check.failure} == {"fp16"}
    assert checks["fp16"].nan_count > 0
    assert "NaN" in checks["fp16"].failure
    assert checks["fp16"].gauges.clipped_count > 0
    assert (checks["int8"].rel_error or 0.0) > 0.5
    assert (checks["bf16"].rel_error or 1.0) < 0.01
    assert checks["fp32"].gauges.not_reported == {"energy_j": "no counter"}


def test_a_selection_measures_only_that() -> None:
    """And fp32 to compare with."""
    session, _ = measure_session({"largest_side": 64, "budget_s": 0.5, "dtypes": "8_bit"})
    assert {p.series for p in session.points if p.series in SERIES} == {"fp32", "fp8", "fp8_e5m2", "int8"}


def test_a_cancelled_sweep_says_so() -> None:
    """Before the first case nothing was timed."""
    session, outcome = measure_session({"largest_side": 64, "budget_s": 0.5}, stop=True)
    assert outcome.cancelled
    assert not any(p.n_samples for p in session.points)


@pytest.mark.parametrize("mode", ["ieee", "tf32"])
def test_a_sweep_gives_the_process_its_switches_back(mode: str) -> None:
    """Whatever they were."""
    before = torch.backends.cuda.matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision
    try:
        settle(mode)
        measure_session({"largest_side": 64, "budget_s": 0.5, "dtypes": "16_bit"})
        assert torch.backends.cuda.matmul.fp32_precision == torch.backends.mkldnn.matmul.fp32_precision == mode
    finally:
        torch.backends.cuda.matmul.fp32_precision, torch.backends.mkldnn.matmul.fp32_precision = before


def test_variables_that_overrule_the_switch_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the timing of every product."""
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    session, _ = measure_session({"largest_side": 64, "budget_s": 0.5, "dtypes": "8_bit"})
    noted = {overrides_of(p.timing) for p in session.points if p.series in SERIES and p.n_samples}
    assert noted == {("NVIDIA_TF32_OVERRIDE=0",)}


# -- the switch around a clock --------------------------------------------------------------------


class SpyingStopwatch:
    """Notes in which mode it was used; its way of reading the clock changes with the first block."""

    most_calls, resolution_s, cache_ratio, timing = 5, 1e-9, None, "one way"

    def __init__(self) -> None:
        self.modes: list[str] = []

    def _look(self) -> None:
        self.modes.append(torch.backends.cuda.matmul.fp32_precision)

    def call_once(self) -> float:
        self._look()
        return 1.0

    def time_block(self, untimed: int, n_calls: int) -> Block:
        self._look()
        self.timing = "another way"
        return Block(1.0, 1.0, 0.0)

    def check(self) -> Check:
        self._look()
        return Check(1e-7, 0, 0)


def test_a_switched_stopwatch_runs_in_its_mode_and_leaves_it() -> None:
    """Call, block and check; between them the mode is the process's own."""
    before = torch.backends.cuda.matmul.fp32_precision
    spy = SpyingStopwatch()
    watch = SwitchedStopwatch(spy, "tf32", "uniform inputs")
    assert watch.timing == "one way; uniform inputs"
    watch.call_once()
    assert torch.backends.cuda.matmul.fp32_precision == before
    watch.time_block(1, 1)
    watch.check()
    assert spy.modes == ["tf32"] * 3
    assert torch.backends.cuda.matmul.fp32_precision == before
    assert (watch.most_calls, watch.timing) == (5, "another way; uniform inputs")


# -- a GPU that is not there ----------------------------------------------------------------------


def gpu_case(series: str, machine: object) -> Case:
    """Return the probe of a format on the GPU."""
    cases = plan_cases(PrecisionParams(largest_side=64, device=GPU), machine)
    return next(case for case in cases if case.series == series)


def test_a_format_that_the_part_lacks_is_unsupported_before_torch_is_asked() -> None:
    """The reason says what would help."""
    machine = make_machine(gpu_free_bytes=GIB, capability="8.0")
    bench = Bench(machine, 2, Inputs.UNIFORM, {GPU: NotReported("no counter")})
    with pytest.raises(UnsupportedError, match="or newer"):
        bench.prepare(gpu_case("fp8", machine))


def test_emulated_series_are_known_before_the_run() -> None:
    """bf16 on Turing, and autocast where it has to use it; nothing on Ampere."""
    turing = make_machine(gpu_free_bytes=GIB, capability="7.5", bf16_native=False)
    cases = plan_cases(PrecisionParams(largest_side=64), turing)
    assert list(emulations(cases, turing)) == ["bf16"]
    ampere = make_machine(gpu_free_bytes=GIB)
    assert emulations(plan_cases(PrecisionParams(largest_side=64), ampere), ampere) == {}


def test_emulated_points_are_marked_with_the_reason() -> None:
    """A reason that is there already stays; a case that failed is not emulated."""
    inner = KeepingSession()
    session = MarkingSession(inner, {"bf16": "no units"})
    session.point(make_point("bf16", 64, 1.0))
    session.point(make_point("bf16", 128, 1.0, reason="ran as fp32, by its error"))
    session.point(make_point("bf16", 256, None, status=Status.OOM, reason="full"))
    session.point(make_point("fp32", 64, 1.0))
    told = {(p.series, p.x): (p.flags, p.reason) for p in inner.points}
    assert told == {
        ("bf16", 64): ((Flag.EMULATED,), "no units"),
        ("bf16", 128): ((Flag.EMULATED,), "ran as fp32, by its error"),
        ("bf16", 256): ((), "full"),
        ("fp32", 64): ((), ""),
    }
    assert session.points == inner.points


# -- formats that are too slow --------------------------------------------------------------------


def cpu_cases() -> list[Case]:
    """Return the usual plan."""
    return plan_cases(PrecisionParams(), make_machine())


def test_a_format_that_ends_early_is_skipped_with_its_predicted_time() -> None:
    """From the size before: 100 ms at 256 are 800 ms at 512."""
    call_s = 2 * 256**3 / 1e12
    slow = make_point("bf16", 256, call_s / 0.1, min_s=0.1)
    points = [make_point("fp32", side, 0.1) for side in (256, 512, 1024)]
    (skipped,) = too_slow_points(cpu_cases(), [*points, slow], longest_s=0.3)
    assert (skipped.series, skipped.x, skipped.status, skipped.device) == ("bf16", 512, Status.SKIPPED, "cpu")
    assert skipped.reason.replace("\u00a0", " ") == (
        "One call would take about 800 ms, by n = 256; this run allows 300 ms each. Give it more time, or name the size."
    )


def test_one_slow_call_makes_no_format_slow() -> None:
    """A busy machine: the median waited, the fastest call did not, so nothing is claimed."""
    call_s = 2 * 256**3 / 1e12
    waited = make_point("bf16", 256, call_s / 0.1, min_s=0.1, warmup_s=(0.1, 0.001))
    points = [make_point("fp32", side, 0.1) for side in (256, 512)]
    assert list(too_slow_points(cpu_cases(), [*points, waited], longest_s=0.3)) == []


def test_what_nobody_reached_is_not_called_too_slow() -> None:
    """Sizes beyond the largest one measured were out of reach for all."""
    points = [make_point(name, 256, 0.001) for name in ("fp32", "bf16")]
    assert list(too_slow_points(cpu_cases(), points, longest_s=0.0001)) == []


def test_a_size_that_has_its_own_outcome_is_not_skipped_again() -> None:
    """Out of memory says more than too slow."""
    failed = make_point("bf16", 512, None, status=Status.OOM, reason="full")
    slow = make_point("bf16", 256, 0.0001)
    points = [make_point("fp32", side, 0.1) for side in (256, 512)]
    assert list(too_slow_points(cpu_cases(), [*points, slow, failed], longest_s=0.3)) == []


# -- energy ---------------------------------------------------------------------------------------


class SteadyCounter:
    """Rises by 2 J at every look."""

    scope = "a test"

    def __init__(self) -> None:
        self.joules = 0.0

    def read_j(self) -> float:
        self.joules += 2.0
        return self.joules


def test_energy_is_read_at_the_largest_size_of_each_series() -> None:
    """Smaller ones have no figure and no reason: they were not asked."""
    machine = make_machine()
    bench = Bench(machine, 2, Inputs.UNIFORM, {"cpu": SteadyCounter()})
    cases = [c for c in plan_cases(PrecisionParams(largest_side=128), machine) if c.series == "fp32"]
    watches = [bench.prepare(case) for case in cases]  # first all visits, then the checks
    small, large = (watch.check() for watch in watches)
    assert (small.gauges.energy_j, small.gauges.not_reported) == (None, {})
    assert large.gauges.energy_j is not None
    assert large.gauges.energy_j > 0


def test_a_failed_result_is_not_worth_its_energy() -> None:
    """Overflow: nothing was computed."""
    machine = make_machine()
    bench = Bench(machine, 2, Inputs.BADLY_SCALED, {"cpu": SteadyCounter()})
    (case,) = [c for c in plan_cases(PrecisionParams(largest_side=64), machine) if c.series == "fp16"]
    check = bench.prepare(case).check()
    assert check.failure
    assert (check.gauges.energy_j, check.gauges.not_reported) == (None, {})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which GPU's counter was asked for."""
    asked: list[str] = []
    monkeypatch.setattr(measure_module, "open_gpu_counter", lambda uuid: asked.append(uuid) or SteadyCounter())
    monkeypatch.setattr(measure_module, "open_cpu_counter", lambda: asked.append("cpu") or SteadyCounter())
    return asked


@pytest.mark.parametrize(
    ("device", "budget_s", "asked"),
    [(GPU, 15.0, ["GPU-1"]), ("cpu", 15.0, ["cpu"]), (GPU, 11.0, []), ("cuda:7", 15.0, [])],
    ids=["GPU", "CPU", "short run", "unknown GPU"],
)
def test_the_counter_of_the_measured_device_is_opened(
    opened: list[str], device: str, budget_s: float, asked: list[str]
) -> None:
    """By its UUID; a short run has better use for the time."""
    found = open_counter(device, make_machine(gpu_free_bytes=GIB), budget_s)
    assert opened == asked
    assert isinstance(found, NotReported) is (not asked)


def test_a_mig_instance_is_asked_for_by_its_own_name(opened: list[str]) -> None:
    """So that the counter can refuse it: the card's would count the neighbours."""
    machine = make_machine(gpu_free_bytes=GIB)
    instance = machine.gpus[0].model_copy(update={"mig_uuid": "MIG-1"})
    open_counter(GPU, machine.model_copy(update={"gpus": (instance,)}), 60.0)
    assert opened == ["MIG-1"]


# -- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("device", "emptied"), [("cpu", 0), (GPU, 1)])
def test_what_did_not_fit_is_freed(monkeypatch: pytest.MonkeyPatch, device: str, emptied: int) -> None:
    """The originals of that size, and a GPU's cache."""
    calls: list[int] = []
    monkeypatch.setattr(bench_module.torch.cuda, "empty_cache", lambda: calls.append(1))
    bench = Bench(make_machine(), 2, Inputs.UNIFORM, {})
    bench._originals[64, False] = (torch.ones(1), torch.ones(1))
    bench.release(SimpleNamespace(device=device, dtype=Dtype.FP32))
    assert (bench._originals, len(calls)) == ({}, emptied)
