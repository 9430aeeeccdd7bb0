"""For which work a GPU pays: plan and findings, by points whose answer is obvious."""

import pytest
from need_made import batch_points, cpu_points, gpu_points, make_point

from gpuexplain.errors import InputError
from gpuexplain.experiments.need import spec
from gpuexplain.experiments.need.conclude import (
    LEAST_ZONE,
    MOST_ZONE,
    BreakEvenBatch,
    Verdict,
    find_need_findings,
    findings_json,
    judge,
)
from gpuexplain.experiments.need.spec import NeedParams, plan_cases
from gpuexplain.findings import NotFound
from gpuexplain.hardware.inspect import inspect_machine
from gpuexplain.hardware.machine import Cpu, Gpu, Machine, Memory, Platform
from gpuexplain.model import Flag, Source, Status

GIB = 2**30


def make_machine(free_bytes: int = 8 * GIB, gpu: bool = True) -> Machine:
    """Return a machine with four threads, and a GPU."""
    gpus = (Gpu(name="NVIDIA A100", uuid="u", torch_device="cuda:0", memory_free_bytes=free_bytes),) if gpu else ()
    return Machine(
        cpu=Cpu(architecture="x86_64", logical_cpus=4, affinity_cpus=4, usable_threads=4),
        memory=Memory(total_bytes=16 * GIB, available_bytes=12 * GIB),
        platform=Platform(hostname="here", machine_id="m1", system="Testix", kernel="6", python="3.11"),
        gpus=gpus,
    )


# -- plan -----------------------------------------------------------------------------------------


def test_without_a_gpu_every_workload_runs_with_all_threads_and_with_one() -> None:
    """Eight kinds of work, two ways."""
    cases = plan_cases(NeedParams(), make_machine(gpu=False))
    assert {case.series for case in cases} == {
        f"{work}_{way}" for work in spec.WORKLOADS for way in (spec.ALL_THREADS, spec.ONE_THREAD)
    }
    assert {case.threads for case in cases} == {4, 1}
    assert len({case.id for case in cases}) == len(cases)


def test_with_a_gpu_every_workload_is_tried_there_instead_of_with_one_thread() -> None:
    """Also those that have no version for it: they end as unsupported, with the reason."""
    cases = plan_cases(NeedParams(), make_machine())
    assert {spec.SERIES[case.series][1] for case in cases} == {spec.ALL_THREADS, spec.ON_GPU}
    assert {case.device for case in cases if case.series.endswith("_gpu")} == {"cuda:0"}
    assert plan_cases(NeedParams(device="cpu"), make_machine())[0].device == "cpu"


def test_the_mlp_has_one_case_a_batch() -> None:
    """For the break-even by the amount of data."""
    for size, batches in spec.MLP_BATCHES.items():
        cases = plan_cases(NeedParams(size=size), make_machine(gpu=False))
        assert tuple(case.x for case in cases if case.series == "mlp_cpu") == batches
        assert spec.SHAPES[size][spec.MLP][0] in batches


def test_work_that_does_not_fit_is_refused_before_it_starts() -> None:
    """With the size it needs and what to do."""
    with pytest.raises(InputError, match=r"mlp_gpu needs about .* on cuda:0, .* Choose the small size"):
        plan_cases(NeedParams(size="medium"), make_machine(free_bytes=2**24))


def test_the_defaults_fit_this_machine() -> None:
    """A visitor who changes nothing can press Run."""
    assert plan_cases(NeedParams(), inspect_machine())


# -- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.2, 1.4, Verdict.PAYS),
        (0.6, 0.8, Verdict.SLOWER),
        (0.95, 1.05, Verdict.NO_DIFFERENCE),
        (1.05, 1.2, Verdict.CANNOT_TELL),
        (0.5, 2.0, Verdict.CANNOT_TELL),
        (0.85, 0.95, Verdict.CANNOT_TELL),
        (None, None, Verdict.CANNOT_TELL),
    ],
    ids=["above", "below", "within", "over the upper edge", "over both", "over the lower edge", "no interval"],
)
def test_the_whole_interval_decides(low: float | None, high: float | None, verdict: Verdict) -> None:
    """Above the zone, below it, within it; else it cannot be told, and why."""
    found, reason = judge(low, high, 0.10)
    assert found is verdict
    assert bool(reason) is (verdict is Verdict.CANNOT_TELL)


def test_the_gpu_pays_for_one_is_slower_for_one_and_no_different_for_the_rest() -> None:
    """20 times as fast, half as fast, equally fast."""
    findings = find_need_findings(gpu_points(convnet=0.5e-3, inference_one=20e-3))
    assert findings.has_gpu
    assert findings.device_name == "NVIDIA A100"
    by_name = {c.workload: c for c in findings.on_gpu}
    assert by_name["convnet"].verdict is Verdict.PAYS
    assert by_name["convnet"].ratio == pytest.approx(20)
    assert by_name["convnet"].low == pytest.approx(20 * 0.99 / 1.01)
    assert by_name["inference_one"].verdict is Verdict.SLOWER
    assert by_name["mlp"].verdict is by_name["transformer"].verdict is Verdict.NO_DIFFERENCE
    assert findings.of("convnet") is by_name["convnet"]


def test_what_has_no_version_for_the_gpu_cannot_be_told_and_says_why() -> None:
    """Its time on the CPU stays."""
    findings = find_need_findings(gpu_points())
    tree = findings.of("decision_tree")
    assert tree is not None
    assert (tree.verdict, tree.ratio, tree.plain_s) == (Verdict.CANNOT_TELL, None, 10e-3)
    assert tree.reason == "scikit-learn computes this on the CPU only."


def test_without_a_gpu_threads_are_compared_and_nothing_is_said_of_a_gpu() -> None:
    """All threads over one: 1.5."""
    findings = find_need_findings(cpu_points())
    assert not findings.has_gpu
    assert findings.on_gpu == ()
    assert [c.verdict for c in findings.compared] == [Verdict.PAYS] * 8
    assert all(c.is_by_threads and c.ratio == pytest.approx(1.5) for c in findings.compared)
    assert findings.threads == 2


def test_noise_widens_the_zone_but_never_beyond_a_quarter() -> None:
    """A run that tells apart only a half has no zone of that width: then nothing can be told."""
    assert find_need_findings(cpu_points()).zone == LEAST_ZONE
    middling = find_need_findings(cpu_points(wide=0.1))
    assert middling.zone == pytest.approx(0.1 * 2**0.5)
    noisy = find_need_findings(cpu_points(one_thread_s=12e-3, wide=0.4))
    assert noisy.zone == MOST_ZONE
    assert {c.verdict for c in noisy.compared} == {Verdict.CANNOT_TELL}


def test_a_time_without_an_interval_decides_nothing() -> None:
    """Five samples are too few."""
    points = [p.model_copy(update={"ci_low_s": None, "ci_high_s": None}) for p in cpu_points()]
    assert {c.verdict for c in find_need_findings(points).compared} == {Verdict.CANNOT_TELL}


# -- break-even by batch --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu_ms", "expected"),
    [
        ({"b1": 20, "b8": 10, "b64": 5, "b512": 1}, BreakEvenBatch(8, 64)),
        ({"b1": 5, "b8": 4}, BreakEvenBatch(None, 1)),
        ({"b1": 5, "b8": 20, "b64": 5}, BreakEvenBatch(8, 64)),
    ],
    ids=["in between", "from the smallest on", "a lucky point does not count"],
)
def test_break_even_is_where_every_larger_batch_pays(gpu_ms: dict[str, float], expected: BreakEvenBatch) -> None:
    """At it and at every larger one."""
    assert find_need_findings(batch_points(**gpu_ms)).break_even == expected


@pytest.mark.parametrize("gpu_ms", [{"b1": 5}, {"b1": 5, "b64": 20}], ids=["one batch", "slower at the largest"])
def test_without_a_paying_end_there_is_no_break_even(gpu_ms: dict[str, float]) -> None:
    """And a reason."""
    assert isinstance(find_need_findings(batch_points(**gpu_ms)).break_even, NotFound)


# -- trainings, and what else is told -------------------------------------------------------------


def test_trainings_are_whole_fits_and_a_thousand_steps() -> None:
    """10 ms a fit, 10 s for a thousand steps: all within a minute."""
    trainings = {t.workload: t for t in find_need_findings(cpu_points()).trainings}
    assert trainings["random_forest"].time_s == pytest.approx(10e-3)
    assert trainings["mlp"].time_s == pytest.approx(10.0)
    assert all(t.is_soon for t in trainings.values())
    assert set(trainings) == set(spec.TRAINED)


@pytest.mark.parametrize(("step_s", "soon"), [(0.1, False), (0.06, None)], ids=["longer", "the interval reaches over"])
def test_a_training_of_more_than_a_minute_is_not_soon(step_s: float, soon: bool | None) -> None:
    """A thousand steps of 0.1 s take 100 s."""
    (training,) = find_need_findings([make_point("convnet_cpu", step_s)]).trainings
    assert training.is_soon is soon


def test_what_has_no_point_yet_is_named() -> None:
    """While a run goes on, or when its time was up."""
    findings = find_need_findings([make_point("text_cpu", 1e-3), make_point("text_cpu_1_thread", 1e-3)])
    assert findings.missing == tuple(work for work in spec.WORKLOADS if work != "text")
    assert find_need_findings([]).missing == ()


def test_measured_points_come_before_others() -> None:
    """A recorded series beside them changes nothing."""
    recorded = [
        p.model_copy(update={"source": Source.RECORDED, "source_note": "elsewhere", "median_s": 1.0})
        for p in gpu_points()
    ]
    findings = find_need_findings([*recorded, *cpu_points()])
    assert findings.is_measured
    assert not findings.has_gpu


def test_disturbed_points_are_used_where_there_are_no_others_and_said() -> None:
    """Provisional."""
    busy = [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in cpu_points()]
    findings = find_need_findings(busy)
    assert findings.is_provisional
    assert findings.flagged == ((Flag.UNDER_LOAD, 16),)
    assert findings.with_verdict(Verdict.PAYS)


def test_failures_are_kept() -> None:
    """With their reason."""
    failed = make_point("random_forest_cpu", None, status=Status.UNSUPPORTED, reason="scikit-learn cannot be loaded")
    findings = find_need_findings([failed, make_point("text_cpu", 1e-3)])
    assert findings.failed == (("random_forest_cpu", Status.UNSUPPORTED, "scikit-learn cannot be loaded"),)


def test_json_has_the_published_names() -> None:
    """For scripts."""
    shown = findings_json(find_need_findings(gpu_points(convnet=0.5e-3)))
    row = next(c for c in shown["on_gpu"] if c["workload"] == "convnet")
    assert row["verdict"] == "pays"
    assert row["ratio"] == pytest.approx(20)
