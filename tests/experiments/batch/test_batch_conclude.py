"""What the points of a batch sweep say."""

import json

import pytest
from batch_made import (
    CPU,
    GIB,
    GPU,
    MIB,
    affine,
    cpu_points,
    gpu_points,
    make_point,
    out_of_memory,
    published_points,
    resident,
)

from gpuexplain.experiments.batch.conclude import find_batch_findings, findings_json, flag_points, held_bytes
from gpuexplain.findings import (
    Alignment,
    BatchCeiling,
    CrossoverVerdict,
    FreeBatch,
    MemoryFitStatus,
    NotFound,
    Saturation,
)
from gpuexplain.model import Conditions, Flag, Gauges, Point, Source, Status


def test_nothing_says_nothing() -> None:
    """No points, no series, no headline."""
    findings = find_batch_findings([])
    assert (findings.series, findings.crossover, findings.headline_series, findings.baseline) == ((), None, None, None)


def test_the_knee_of_an_affine_step_is_where_the_fixed_part_is_a_tenth() -> None:
    """4 ms and 40 us an example: 24.4 k a second at 4,096, 90 % of that from 1,024 on."""
    (series,) = find_batch_findings(cpu_points()).series
    assert (series.knee.best_batch, series.knee.knee_batch) == (4096, 1024)
    assert (series.knee.knee_low, series.knee.knee_high) == (1024, 1024)
    assert series.knee.saturation is Saturation.SATURATED
    assert series.at_knee is not None
    assert series.at_knee.step_s == pytest.approx(4e-3 + 1024 * 40e-6)
    assert series.at_knee.rate_items == pytest.approx(1024 / series.at_knee.step_s)
    assert series.best is not None
    assert series.best.rate_flops == pytest.approx(5767168 * series.best.rate_items)
    assert (series.width, series.depth, series.threads) == (512, 4, 2)


def test_free_memory_and_ceiling_come_with_the_series() -> None:
    """Free up to 16 (at 32 a step takes 1.31 x the smallest), 20 KiB an example, 8 GiB to fill."""
    (series,) = find_batch_findings(cpu_points()).series
    assert isinstance(series.free, FreeBatch)
    assert (series.free.smallest, series.free.largest) == (1, 16)
    assert series.memory.status is MemoryFitStatus.OK
    assert series.memory.bytes_per_example == pytest.approx(20 * 1024)
    assert series.memory.fixed_bytes == pytest.approx(30 * MIB)
    assert isinstance(series.ceiling, BatchCeiling)
    assert series.ceiling.limit_bytes == 8 * GIB
    assert series.ceiling.predicted_batch == pytest.approx((8 * GIB - 30 * MIB) / (20 * 1024), rel=1e-6)
    assert (series.ceiling.largest_ran, series.ceiling.first_failed, series.ceiling.agrees) == (4096, None, None)


def test_a_batch_that_ran_out_of_memory_is_the_found_ceiling() -> None:
    """It does not disturb the knee."""
    points = [
        *(
            p.model_copy(update={"gauges": resident(30 * MIB + int(p.x) * MIB // 8, 512 * MIB)})
            for p in cpu_points()[:12]
        ),
        out_of_memory(CPU, 4096),
    ]
    (series,) = find_batch_findings(points).series
    assert series.ceiling == BatchCeiling(512 * MIB, 3856, 2048, 4096, True)
    assert series.knee.first_failed == 4096
    assert series.ran_out_of_memory.endswith("only this size does not fit.")
    assert series.launch_limit is None


def test_a_launch_limit_is_no_ceiling() -> None:
    """The driver refused the shape, not the memory."""
    refused = make_point(GPU, 131072, None, status=Status.LAUNCH_LIMIT, reason="invalid configuration argument")
    (series,) = find_batch_findings([*gpu_points(), refused]).series
    assert series.launch_limit == 131072
    assert isinstance(series.ceiling, BatchCeiling)
    assert series.ceiling.first_failed is None
    assert series.ran_out_of_memory == ""


def test_the_gpu_leads_the_page_and_the_cpu_is_its_baseline() -> None:
    """With who wins by batch; both measured here, the same step."""
    findings = find_batch_findings([*cpu_points((1, 4, 16, 64, 256)), *gpu_points()])
    assert findings.headline_series is findings.of(GPU)
    assert findings.baseline is findings.of(CPU)
    assert findings.crossover is not None
    assert findings.crossover.verdict is CrossoverVerdict.GPU_ALWAYS
    assert findings.crossover.speedup_n == 256
    assert findings.crossover.speedup == pytest.approx((4e-3 + 256 * 40e-6) / (5e-4 + 256 * 0.4e-6))


def test_other_steps_are_not_compared() -> None:
    """Inference on one device says nothing of training on the other."""
    inference = [p.model_copy(update={"series": "mlp_inference_gpu"}) for p in gpu_points()]
    assert find_batch_findings([*cpu_points(), *inference]).crossover is None
    assert find_batch_findings([*cpu_points(), *published_points()]).crossover is None


def test_a_published_series_leads_only_where_nothing_was_measured() -> None:
    """Its knee is told as the source gives it."""
    alone = find_batch_findings(published_points())
    assert alone.headline_series is not None
    assert (alone.headline_series.knee.knee_batch, alone.headline_series.is_measured) == (64, False)
    assert alone.headline_series.memory.status is MemoryFitStatus.TOO_FEW_POINTS
    beside = find_batch_findings([*published_points(), *cpu_points()])
    assert beside.headline_series is beside.of(CPU)


def test_disturbed_points_do_where_there_is_nothing_else() -> None:
    """And the finding says so."""
    busy = [p.model_copy(update={"flags": (Flag.UNDER_LOAD,)}) for p in cpu_points()]
    (series,) = find_batch_findings(busy).series
    assert series.is_provisional
    assert series.knee.knee_batch == 1024
    assert series.flagged == ((Flag.UNDER_LOAD, 13),)
    mixed = find_batch_findings([*busy[:6], *cpu_points()[6:]]).series[0]
    assert not mixed.is_provisional
    assert mixed.smallest is not None
    assert mixed.smallest.batch == 64


def test_one_sample_is_no_neighbours_match() -> None:
    """Dense points of two samples decide nothing about multiples of 64; with intervals they do."""
    dense = affine(CPU, 4e-3, 40e-6, (63, 64, 65, 127, 128, 129))
    assert isinstance(find_batch_findings(dense).series[0].alignment, Alignment)
    found = find_batch_findings([sampled(p, 2) for p in dense]).series[0].alignment
    assert found == NotFound("alignment", "4 pairs are too uncertain to tell; run with a larger budget")


def sampled(point: Point, n_samples: int) -> Point:
    """Return a point with this many samples, 3 % apart, too few for an interval."""
    bounds = {"ci_low_s": None, "ci_high_s": None, "min_s": 0.985 * point.median_s, "max_s": 1.015 * point.median_s}
    return point.model_copy(update={"n_samples": n_samples, **bounds})


@pytest.mark.parametrize(
    ("n_samples", "low", "high"), [(1, 1, 4096), (2, 1, 4096), (3, 1024, 1024), (5, 1024, 1024)], ids=str
)
def test_a_knee_is_placed_by_extremes_from_three_samples_on(n_samples: int, low: int, high: int) -> None:
    """One or two leave it anywhere."""
    knee = find_batch_findings([sampled(p, n_samples) for p in cpu_points()]).series[0].knee
    assert (knee.knee_batch, knee.knee_low, knee.knee_high) == (1024, low, high)


def test_utilisation_is_that_of_the_driver() -> None:
    """Where the conditions hold it."""
    busy = Conditions(gpu_utilisation=0.25)
    (series,) = find_batch_findings([p.model_copy(update={"conditions": busy}) for p in gpu_points()]).series
    assert series.smallest is not None
    assert series.smallest.utilisation == 0.25


@pytest.mark.parametrize(
    ("gauges", "held"),
    [
        (None, None),
        (Gauges(memory_resident_bytes=5), 5),
        (Gauges(memory_allocated_bytes=7, memory_reserved_bytes=9), 7),
        (Gauges(not_reported={"memory_resident_bytes": "why"}), None),
    ],
    ids=["not read", "CPU", "GPU", "not reported"],
)
def test_held_memory_is_allocated_or_resident(gauges: Gauges | None, held: int | None) -> None:
    """Whichever the device has."""
    assert held_bytes(make_point(CPU, 1, 1e-3, gauges=gauges)) == held


def test_nothing_is_flagged_afterwards() -> None:
    """A slow small batch may be true: other kernels serve it."""
    points = cpu_points()
    assert flag_points(points, find_batch_findings(points)) == points


def test_findings_are_published_under_their_names() -> None:
    """The knee of the headline series at the top, then every series, as plain JSON."""
    points = [*cpu_points(), *gpu_points()]
    told = json.loads(json.dumps(findings_json(find_batch_findings(points)), allow_nan=False))
    assert {"best_throughput", "best_batch", "knee_batch", "knee_unstable", "saturated"} <= set(told)
    assert told["headline_series"] == GPU
    assert told["series"][CPU]["memory"]["status"] == "ok"
    assert told["series"][CPU]["free"]["largest"] == 16
    assert told["crossover"]["verdict"] == "gpu_always"


@pytest.mark.parametrize(
    "points",
    [[], [make_point(CPU, 64, None, status=Status.FAILED, reason="wrong")]],
    ids=["none", "failed"],
)
def test_findings_without_a_result_are_json_too(points: list[Point]) -> None:
    """Nothing is made up."""
    told = findings_json(find_batch_findings(points))
    assert told.get("best_throughput") is None
    json.dumps(told, allow_nan=False)


def test_of_a_series_with_two_origins_the_measured_one_counts() -> None:
    """An earlier run drawn faint does not change the answer."""
    earlier = [p.model_copy(update={"source": Source.RECORDED, "median_s": 1.0}) for p in cpu_points()]
    (series,) = find_batch_findings([*earlier, *cpu_points()]).series
    assert series.is_measured
    assert series.knee.knee_batch == 1024
