"""The anatomy of a training step: plan, findings, words, charts, script and a real run."""

import re
import subprocess
import sys
import zlib
from types import SimpleNamespace

import pytest
from step_made import MIB, make_point, memory, points

from gpuexplain.errors import InputError
from gpuexplain.experiments.step import spec
from gpuexplain.experiments.step.chart import draw_main, draw_second
from gpuexplain.experiments.step.conclude import Bound, Idle, Verdict, WorkersGain, find_step_findings
from gpuexplain.experiments.step.experiment import STEP
from gpuexplain.experiments.step.snippet import write_snippet
from gpuexplain.experiments.step.spec import StepParams, plan_cases
from gpuexplain.experiments.step.words import (
    claim_main,
    claim_second,
    describe_main,
    describe_second,
    find_headline,
    tell,
    tell_first_to_try,
    tell_idle,
    tell_verdict,
    tell_workers,
)
from gpuexplain.findings import NotFound
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.model import Dtype, Flag, Point, Source, Status
from gpuexplain.units import NBSP
from gpuexplain.wording.glossary import GLOSSARY
from gpuexplain.wording.markup import parse, plain

torch = pytest.importorskip("torch")

from torch.autograd import DeviceType  # noqa: E402

from gpuexplain.experiments.step.data import PackedExamples  # noqa: E402
from gpuexplain.experiments.step.idle import covered_s, work_on_device  # noqa: E402
from gpuexplain.experiments.step.measure import measure  # noqa: E402
from gpuexplain.experiments.step.memory import measure_components, predict_components  # noqa: E402
from gpuexplain.measuring.models import NETWORKS, Workload, build_network  # noqa: E402


def bare(text: str) -> str:
    return plain(text).replace(NBSP, " ")


# -- plan and data --------------------------------------------------------------------------------


def test_a_cpu_copies_nothing() -> None:
    """Its memory is where the data are."""
    series = {case.series for case in plan_cases(StepParams(device="cpu"), inspect_machine())}
    assert spec.COPY not in series
    assert {spec.LOAD, spec.FORWARD, spec.BACKWARD, spec.STEP, spec.STEP_LOADED, spec.INFERENCE} <= series


def test_a_step_that_does_not_fit_is_refused() -> None:
    """With what it needs and what there is."""
    machine = inspect_machine()
    small = machine.model_copy(update={"memory": machine.memory.model_copy(update={"available_bytes": 2**24})})
    with pytest.raises(InputError, match="Choose a smaller batch"):
        plan_cases(StepParams(device="cpu", model="convnet", batch=4096), small)


def test_packed_examples_come_back_as_they_were() -> None:
    """Within the step of one packed value; whole numbers exactly."""
    inputs, targets = torch.rand(8, 32) * 2 - 1, torch.rand(8, 32)
    packed = PackedExamples(inputs, targets, 100)
    assert len(packed) == 100
    got, target = packed[9]
    assert torch.allclose(got, inputs[1], atol=1 / 127)
    assert torch.equal(target, targets[1])
    tokens = torch.randint(1000, (4, 16))
    assert torch.equal(PackedExamples(tokens, tokens, 4)[2][0], tokens[2])


# -- findings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "bound", "share"),
    [
        (points(**{spec.LOAD: 20e-3}), Bound.INPUT, 20 / 35),
        ([*points(), make_point(spec.COPY, 20e-3)], Bound.TRANSFER, 20 / 36),
        (points(product_s=20e-3), Bound.COMPUTE, 12e8 / 14e-3 / 100e9),
        (points(product_s=10e-3), Bound.MEMORY, 12e8 / 14e-3 / 200e9),
        (
            [p.model_copy(update={"device": "cuda:0"}) for p in points(product_s=1e-3)],
            Bound.LAUNCH,
            12e8 / 14e-3 / 2e12,
        ),
    ],
    ids=["input", "transfer", "compute", "memory", "launch"],
)
def test_what_binds_the_step(given: list[Point], bound: Bound, share: float) -> None:
    """By the share of a part, else by the speed of a large product."""
    found = find_step_findings(given).verdict
    assert isinstance(found, Verdict)
    assert (found.bound, found.share) == (bound, pytest.approx(share))


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        (spec.BACKWARD, "forward or backward has no time"),
        (spec.PRODUCT, "the large product to compare with has no time"),
    ],
)
def test_where_it_cannot_be_told(missing: str, reason: str) -> None:
    """With its reason."""
    found = find_step_findings([p for p in points() if p.series != missing]).verdict
    assert isinstance(found, NotFound)
    assert found.reason == reason


def wide(points: list[Point], series: str) -> list[Point]:
    """Return the points, one of them so uncertain that its interval is 60 % to 140 %."""
    changed = {"ci_low_s": 0.6, "ci_high_s": 1.4}
    return [
        p.model_copy(update={name: f * (p.median_s or 0.0) for name, f in changed.items()}) if p.series == series else p
        for p in points
    ]


def on_gpu(points: list[Point]) -> list[Point]:
    return [p.model_copy(update={"device": "cuda:0", "threads": None}) for p in points]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            wide(points(**{spec.LOAD: 10e-3}), spec.LOAD),
            "loading takes 28 % to 49 % of it, on both sides of the 40 % that decide",
        ),
        (
            wide([*points(), make_point(spec.COPY, 10e-3)], spec.COPY),
            "copying takes 27 % to 47 % of it, on both sides of the 40 % that decide",
        ),
        (
            wide(points(product_s=12e-3), spec.BACKWARD),
            "it runs at 41 % to 68 % of the speed of one large product, on both sides of the 50 % that decide",
        ),
        (
            on_gpu(wide(points(product_s=1.1e-3), spec.BACKWARD)),
            "it runs at 3.8 % to 6.2 % of the speed of one large product, on both sides of the 5.0 % that decide",
        ),
        ([make_point(spec.LOAD, 1e-3, ci_low_s=None), *points()[1:]], "a part has no interval"),
        ([*points()[:-1], make_point(spec.PRODUCT, 10e-3, ci_high_s=None)], "a part has no interval"),
    ],
    ids=["input", "transfer", "compute", "launch", "few samples", "few samples of the product"],
)
def test_too_noisy_to_say_what_binds_the_step(given: list[Point], reason: str) -> None:
    """The interval lies on both sides of what decides."""
    found = find_step_findings(given).verdict
    assert isinstance(found, NotFound)
    assert bare(found.reason) == reason


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        (points(), Bound.INPUT),
        ([*points(), make_point(spec.COPY, 1e-3)], Bound.TRANSFER),
        (points(product_s=10e-3), Bound.COMPUTE),
        (points(product_s=20e-3), Bound.MEMORY),
        (on_gpu(points(product_s=10e-3)), Bound.LAUNCH),
    ],
    ids=["input", "transfer", "compute", "memory", "launch"],
)
def test_what_does_not_bind_the_step(given: list[Point], bound: Bound) -> None:
    """Each verdict has a step that it does not hold for."""
    found = find_step_findings(given).verdict
    assert isinstance(found, Verdict)
    assert found.bound is not bound


def test_a_gpu_that_waits_though_its_data_are_there_is_launch_bound() -> None:
    """Idle for 12 of 16 ms, of which loading explains only 1 in 16."""
    given = on_gpu([*points(product_s=5e-3), make_point(spec.IDLE, 12e-3)])
    found = find_step_findings(given).verdict
    assert isinstance(found, Verdict)
    assert found.bound is Bound.LAUNCH
    fed = find_step_findings(on_gpu([*points(product_s=5e-3), make_point(spec.IDLE, 2e-3)])).verdict
    assert isinstance(fed, Verdict)
    assert fed.bound is Bound.MEMORY


def test_idle_time_is_a_share_of_the_whole_step() -> None:
    """4 of 16 ms, with the bounds of its interval."""
    found = find_step_findings([*points(), make_point(spec.IDLE, 4e-3)]).idle
    assert isinstance(found, Idle)
    assert (found.share, found.low, found.high) == (
        pytest.approx(0.25), pytest.approx(0.2475), pytest.approx(0.2525),
    )  # fmt: skip
    assert isinstance(find_step_findings(points()).idle, NotFound)


def test_a_device_that_is_never_idle_has_an_idle_time_of_nothing() -> None:
    """Zero is a measurement."""
    never = make_point(spec.IDLE, None).model_copy(update={"median_s": 0.0, "ci_low_s": 0.0, "ci_high_s": 0.0})
    found = find_step_findings([*points(), never]).idle
    assert isinstance(found, Idle)
    assert found.share == 0.0


@pytest.mark.parametrize(
    ("loaded", "helps"),
    [
        (make_point(spec.STEP_LOADED, 8e-3), True),
        (make_point(spec.STEP_LOADED, 16e-3), False),
        (make_point(spec.STEP_LOADED, 15e-3, ci_low_s=8e-3, ci_high_s=30e-3), None),
        (make_point(spec.STEP_LOADED, 8e-3, ci_low_s=None), None),
    ],
    ids=["help", "do not", "too noisy", "no interval"],
)
def test_workers_help_or_not_or_cannot_be_told(loaded: Point, helps: bool | None) -> None:
    """By the interval of the gain."""
    given = [p for p in points() if p.series != spec.STEP_LOADED]
    found = find_step_findings([*given, loaded]).workers
    assert isinstance(found, WorkersGain)
    assert found.helps is helps


def test_counted_memory_is_compared_with_what_was_measured() -> None:
    """8 MiB as counted; 20 MiB are more than a quarter off."""
    as_counted = find_step_findings([*points(), *memory()]).components
    assert [c.agrees for c in as_counted] == [True] * 4
    off = find_step_findings([*points(), *memory(activations=20 * MIB)]).components
    assert [c.agrees for c in off] == [True, True, True, False]


def test_forward_and_backward_are_most_of_the_computing() -> None:
    """12 of 15 ms."""
    assert find_step_findings(points()).matrix_share == pytest.approx(12 / 15)


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Nothing is measured yet. Press Run: a training step is taken apart, part by part."),
        (points(), "On this machine this training step is memory-bound: backward takes 50 % of it."),
        (
            [p for p in points() if p.series != spec.PRODUCT],
            "On this machine what binds this training step cannot be told; backward takes 50 % of it.",
        ),
        (
            [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in points()],
            "On this machine, busy with other work meanwhile, this training step is memory-bound: backward takes 50 % of "
            "it.",
        ),
        (
            [p.model_copy(update={"source": Source.RECORDED}) for p in points()],
            "In a recorded run, this training step is memory-bound: backward takes 50 % of it.",
        ),
    ],
    ids=["nothing", "memory", "cannot tell", "busy", "recorded"],
)
def test_the_answer(given: list[Point], said: str) -> None:
    """One sentence with its number."""
    assert bare(tell(find_step_findings(given)).answer) == said


@pytest.mark.parametrize(
    ("verdict", "device", "said", "first"),
    [
        (
            Verdict(Bound.INPUT, 0.57), "cpu",
            "It is input-bound: the CPU waits 57 % of the step for its data.",
            "First to try: Load ahead with workers, or unpack the data once instead of in every epoch.",
        ),
        (
            Verdict(Bound.TRANSFER, 0.5, 0.48, 0.53), "cuda:0",
            "It is transfer-bound: 50 % (48 % to 53 %) of the step is the way to the GPU.",
            "First to try: Pin the memory that is copied from, copy the next batch during this one, send fewer bytes.",
        ),
        (
            Verdict(Bound.COMPUTE, 0.8), "cuda:0",
            "It is compute-bound: it computes at 80 % of the speed of one large product.",
            "First to try: Lower precision where the model allows it; then a faster device is the only thing left.",
        ),
        (
            Verdict(Bound.LAUNCH, 0.02), "cuda:0",
            "It is launch-bound: at 2.0 % of the speed of one large product the GPU mostly waits to be told what to do.",
            "First to try: Give every launch more to do: a larger batch, fused operations, a captured graph.",
        ),
        (
            Verdict(Bound.MEMORY, 0.3), "cpu",
            "It is memory-bound: at 30 % of the speed of one large product its multipliers wait for numbers (arithmetic "
            "intensity).",
            "First to try: Fuse operations and use a 16-bit format: the products wait for numbers, not for multipliers.",
        ),
        (
            NotFound("it", "forward or backward has no time"), "cpu",
            "What binds the step cannot be told: forward or backward has no time.",
            "Run Standard or Thorough before deciding: these points do not decide it.",
        ),
    ],
    ids=["input", "transfer", "compute", "launch", "memory", "cannot tell"],
)  # fmt: skip
def test_each_verdict_has_its_first_thing_to_try(
    verdict: Verdict | NotFound, device: str, said: str, first: str
) -> None:
    """With the number that decides it."""
    assert (bare(tell_verdict(verdict, device)), bare(tell_first_to_try(verdict))) == (said, first)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (WorkersGain(2.0, 1.9, 2.1, True), "With two loading workers the step is 2.00 × as fast (1.90 to 2.10)."),
        (
            WorkersGain(0.9, 0.85, 0.95, False),
            "Two loading workers do not help here (0.900 × (0.850 to 0.950)): loading needs cores, too.",
        ),
        (
            WorkersGain(0.9, 0.85, 0.95, False, 1),
            "One loading worker does not help here (0.900 × (0.850 to 0.950)): loading needs cores, too.",
        ),
        (
            WorkersGain(1.1, None, None, None, 4),
            "Whether loading ahead with four loading workers helps cannot be told (1.10 ×).",
        ),
        (
            NotFound("workers", "the step was not timed both with workers and without"),
            "Whether workers help cannot be said: the step was not timed both with workers and without.",
        ),
    ],
    ids=["help", "do not", "one does not", "cannot tell", "missing"],
)
def test_what_workers_gain(gain: WorkersGain | NotFound, said: str) -> None:
    """With bounds where there are some."""
    assert bare(tell_workers(gain)) == said


@pytest.mark.parametrize(
    ("idle", "device", "said"),
    [
        (
            Idle(4e-3, 0.25, 0.24, 0.26), "cpu",
            "For 25 % (24 % to 26 %) of the whole step the CPU's threads have nothing to do.",
        ),
        (
            Idle(4e-3, 0.25, 0.2496, 0.2504), "cpu",
            "For 25 % of the whole step the CPU's threads have nothing to do.",
        ),
        (Idle(4e-3, 0.25, None, None), "cuda:0", "For 25 % of the whole step the GPU has nothing to do."),
        (NotFound("idle time", "it was not measured"), "cpu", ""),
    ],
    ids=["cpu", "narrow", "gpu", "not measured"],
)  # fmt: skip
def test_idle_time_is_told(idle: Idle | NotFound, device: str, said: str) -> None:
    """As a share of the step."""
    assert bare(tell_idle(idle, device)) == said


def test_memory_is_told_against_that_of_the_device() -> None:
    """72 MiB of 16 GiB."""
    device = make_point(spec.DEVICE_MEMORY, None, bytes=16.0 * 1024 * MIB, shape=(4, 0))
    said = bare(tell(find_step_findings([*points(), *memory(), device])).see)
    assert said.endswith("as counted from the shape. Together 72.0 MiB, 0.44 % of the 16.0 GiB that this computer has.")
    on_card = bare(tell(find_step_findings(on_gpu([*points(), *memory(), device]))).see)
    assert on_card.endswith("0.44 % of the 16.0 GiB that the GPU has.")


def test_memory_is_told_by_component() -> None:
    """And where the count is off."""
    said = bare(tell(find_step_findings([*points(), *memory(activations=20 * MIB)])).see)
    assert (
        "It keeps weights 16.0 MiB, gradients 16.0 MiB, optimiser state 32.0 MiB and activations 20.0 MiB; the count is "
        "off for activations (counted 8.00 MiB)."
    ) in said


def test_a_step_out_of_memory_is_a_caveat() -> None:
    """With its reason."""
    failed = make_point(spec.FORWARD, None, status=Status.OOM, reason="Out of memory.")
    assert claim_main(find_step_findings([failed])) == "Nothing to draw: the points say why"
    assert tell(find_step_findings([failed])).answer == "Nothing could be measured here: Out of memory."
    caveats = tell(find_step_findings([failed])).caveats
    assert caveats == ("Forward has no time at this batch (oom): Out of memory.",)


def test_titles_and_text_alternatives() -> None:
    """The chart's title is its finding."""
    findings = find_step_findings([*points(), *memory()])
    assert bare(claim_main(findings)) == "Backward takes 50 % of the step"
    assert bare(claim_second(findings)) == "Optimiser state is 44 % of 72.0 MiB"
    assert bare(describe_main(findings)).startswith("Parts of one training step in order: loading 1.00 ms, forward 4")
    assert "weights 16.0 MiB" in bare(describe_second(findings))
    headline = find_headline(findings)
    assert headline is not None
    assert (bare(headline.number), headline.detail) == ("4.00 k examples/s", "batch 64")


@pytest.mark.parametrize("given", [[], points()], ids=["nothing", "all"])
def test_every_term_has_its_definition(given: list[Point]) -> None:
    """A tooltip never comes up empty."""
    words = tell(find_step_findings(given))
    spans = parse(" ".join([words.answer, words.see, words.why, words.so_what]))
    assert {span.term for span in spans if span.term} <= set(GLOSSARY)


# -- charts ---------------------------------------------------------------------------------------


def test_every_part_begins_where_the_one_before_it_ended() -> None:
    """A waterfall."""
    bars, _ = draw_main(points(), find_step_findings(points()), "light").data
    assert list(bars.base) == pytest.approx([0, 1e-3, 5e-3, 6e-3, 14e-3])
    assert list(bars.x) == pytest.approx([1e-3, 4e-3, 1e-3, 8e-3, 2e-3])


def test_wholes_stand_under_the_parts_and_begin_at_nothing() -> None:
    """The step, what is idle in it, the step with workers, and inference with one example."""
    given = [*points(), make_point(spec.IDLE, 4e-3)]
    figure = draw_main(given, find_step_findings(given), "light")
    parts, wholes = figure.data
    assert list(wholes.x) == [16e-3, 4e-3, 14e-3, 1e-3]
    assert wholes.base is None
    assert max(wholes.y) < min(parts.y) - 1
    assert list(figure.layout.yaxis.ticktext)[-4:] == ["whole step", "idle in it", "with two workers", "inference, one"]


def test_the_axis_of_memory_says_how_much_the_device_has() -> None:
    """0.44 % of 16 GiB."""
    device = make_point(spec.DEVICE_MEMORY, None, bytes=16.0 * 1024 * MIB, shape=(4, 0))
    given = [*points(), *memory(), device]
    title = draw_second(given, find_step_findings(given), "light").layout.xaxis.title.text
    assert title.replace(NBSP, " ").endswith("together 0.44 % of 16.0 GiB")


def test_counted_memory_is_a_mark_beside_the_measured_bar() -> None:
    """Never drawn as measured."""
    given = [*points(), *memory(activations=20 * MIB)]
    measured, counted = draw_second(given, find_step_findings(given), "dark").data
    assert (measured.name, measured.x[3], counted.name, counted.x[3]) == ("measured", 20 * MIB, "counted", 8 * MIB)


def test_without_points_both_charts_say_what_to_do() -> None:
    """A page is never empty."""
    findings = find_step_findings([])
    for draw in (draw_main, draw_second):
        assert "Press Run" in draw([], findings, "light").layout.annotations[0].text


# -- the real thing -------------------------------------------------------------------------------


class Kept:
    """Keeps the last point of each case."""

    def __init__(self) -> None:
        self.points: dict[tuple[str, tuple[int, ...]], Point] = {}

    def point(self, point: Point) -> None:
        self.points[point.series, point.shape] = point

    def progress(self, progress: object) -> None:
        pass

    def cancelled(self) -> bool:
        return False


def test_a_real_step_is_taken_apart_and_its_memory_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, gradients and Adam's state are exactly what the shape says."""
    monkeypatch.setitem(spec.SHAPES, "mlp", (32, 2))
    session = Kept()
    measure({"device": "cpu", "batch": 8, "budget_s": 2.0}, session)
    series = {p.series for p in session.points.values() if p.median_s}
    assert {spec.LOAD, spec.FORWARD, spec.LOSS, spec.BACKWARD, spec.OPTIMISER, spec.STEP, spec.STEP_LOADED} <= series
    points = list(session.points.values())
    step, idle = (next(p for p in points if p.series == name) for name in (spec.STEP, spec.IDLE))
    assert step.n_samples == idle.n_samples
    assert 0 <= (idle.median_s or 0.0) < (step.median_s or 0.0)
    assert next(p.bytes for p in points if p.series == spec.DEVICE_MEMORY) == float(
        spec.device_memory_bytes("cpu", inspect_machine()) or 0
    )
    components = {c.name: c for c in find_step_findings(list(session.points.values())).components}
    weights = 4 * 2 * (32 * 32 + 32)
    assert components[spec.WEIGHTS].measured_bytes == weights == components[spec.WEIGHTS].predicted_bytes
    assert components[spec.GRADIENTS].measured_bytes == weights
    assert components[spec.OPTIMISER_STATE].measured_bytes == pytest.approx(2 * weights, rel=0.01)
    assert components[spec.ACTIVATIONS].measured_bytes > 0


def test_autocast_runs_and_keeps_its_activations_in_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights stay in fp32."""
    monkeypatch.setitem(spec.SHAPES, "mlp", (32, 2))
    session = Kept()
    measure({"device": "cpu", "dtype": "autocast", "data": "slow", "workers": 1, "batch": 8, "budget_s": 2.0}, session)
    found = {p.series: p for p in session.points.values() if p.source is Source.MEASURED}
    assert {found[name].dtype for name in (spec.FORWARD, spec.STEP)} == {Dtype.BF16}
    assert all(p.status is Status.OK for p in found.values())
    assert found[spec.MEMORY_PREFIX + spec.WEIGHTS].bytes == 4 * 2 * (32 * 32 + 32)
    assert found[spec.STEP_LOADED].shape[3] == 1


@pytest.mark.parametrize("model", ["mlp", "convnet", "transformer"])
@pytest.mark.parametrize("dtype", ["fp32", "autocast"])
def test_what_a_forward_pass_keeps_is_as_counted_by_hand(
    model: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By torch's own hooks, within 2 %: the norms' running numbers are not counted."""
    monkeypatch.setitem(spec.SHAPES, model, (64, 2))
    params = StepParams(model=model, dtype=dtype, batch=8)
    half = torch.bfloat16 if dtype == "autocast" else None
    workload = Workload(build_network(NETWORKS[model], 64, 2), "cpu", half, is_training=True)
    rows = workload.network.make_rows(8, torch.Generator().manual_seed(0))
    inputs, targets = (t.clone() for t in rows)
    measured, predicted = measure_components(workload, inputs, targets), predict_components(params)
    assert measured[spec.ACTIVATIONS] == pytest.approx(predicted[spec.ACTIVATIONS], rel=0.02)
    assert measured[spec.WEIGHTS] == predicted[spec.WEIGHTS]


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (make_point(spec.STEP, 16e-3), "4.00 k examples/s"),
        (memory()[0], "16.0 MiB"),
        (memory()[1], "16.0 MiB, counted"),
        (make_point(spec.IDLE, 4e-3, items=64.0), ""),
        (make_point(spec.PRODUCT, 10e-3), "200 GFLOP/s"),
    ],
    ids=["step", "measured", "counted", "idle", "product"],
)
def test_a_table_says_what_each_row_is(point: Point, said: str) -> None:
    """Bytes are no rate."""
    assert STEP.say_rate(point).replace(NBSP, " ") == said


def test_slow_data_take_longer_to_unpack() -> None:
    """Each example is unpacked as often as its kind of data says."""
    unpacked: list[bytes] = []
    inputs = torch.rand(2, 8)
    data = PackedExamples(inputs, inputs, 2, spec.UNPACKINGS["slow"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zlib, "decompress", lambda packed, real=zlib.decompress: unpacked.append(packed) or real(packed))
        data[0]
    assert len(unpacked) == spec.UNPACKINGS["slow"] == 1000


class Event:
    """An event of a profiler."""

    def __init__(self, start: int, end: int, device: object, *, annotation: bool = False) -> None:
        self.time_range = SimpleNamespace(start=start, end=end)
        self.device_type, self.is_user_annotation = device, annotation


def test_a_gpu_is_busy_while_a_kernel_or_a_copy_runs() -> None:
    """What overlaps counts once; the host's calls and named regions, which span gaps, do not count."""
    gpu, cpu = DeviceType.CUDA, DeviceType.CPU
    events = [
        Event(0, 1000, gpu, annotation=True), Event(0, 900, cpu),
        Event(100, 200, gpu), Event(150, 300, gpu), Event(500, 600, gpu), Event(510, 520, gpu),
    ]  # fmt: skip
    assert covered_s(work_on_device(events)) == pytest.approx(300e-6)


def test_the_script_runs_alone() -> None:
    """It prints every part."""
    script = write_snippet(StepParams(batch=8), None).replace(
        "width, depth, device = 8, 1024", "width, depth, device = 8, 32"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=115, check=True)
    assert "optimiser" in done.stdout
    assert re.search(r"^median_s=\d", done.stdout, re.MULTILINE)
