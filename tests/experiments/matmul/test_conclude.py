"""What the points of a matmul sweep say."""

import json

import pytest
from matmul_made import cpu_points, cubic, gpu_points, make_point, published_points

from gpuexplain.experiments.matmul.conclude import find_matmul_findings, findings_json, flag_points, pair_frame
from gpuexplain.experiments.matmul.spec import CPU, CPU_ONE_THREAD, GPU_CALL, GPU_WITH_TRANSFER
from gpuexplain.findings import CrossoverVerdict, Plausibility
from gpuexplain.model import Flag, Source, Status


def test_nothing_says_nothing() -> None:
    """No points, no series, no pairs."""
    findings = find_matmul_findings([])
    assert (findings.series, findings.pairs, findings.headline_pair, findings.headline_series) == ((), (), None, None)


def test_each_pair_is_judged_in_the_order_of_interest() -> None:
    """CPU against GPU first, with the copies beside it."""
    findings = find_matmul_findings([*cpu_points(), *gpu_points()])
    assert [pair.id for pair in findings.pairs] == [
        "cpu vs gpu_call",
        "cpu vs gpu_device",
        "cpu_1_thread vs gpu_call",
        "cpu_1_thread vs cpu",
    ]
    crossovers = [pair.crossover for pair in findings.pairs]
    assert crossovers[0].verdict is CrossoverVerdict.GPU_ALWAYS
    assert crossovers[0].with_transfer is not None
    assert (crossovers[0].with_transfer.low, crossovers[0].with_transfer.high) == (128.0, 256.0)
    assert (crossovers[3].low, crossovers[3].high, crossovers[3].with_transfer) == (64.0, 256.0, None)


def test_a_pair_compares_common_trustworthy_sizes() -> None:
    """Flagged and failed points leave the frame, and what only one side measured."""
    baseline = [make_point(CPU, 64, 4e-3), make_point(CPU, 128, 8e-3), make_point(CPU, 256, 9e-3)]
    challenger = [
        make_point(GPU_CALL, 64, 2e-3),
        make_point(GPU_CALL, 128, 2e-3, flags=(Flag.SUSPECT,)),
        make_point(GPU_CALL, 256, None, status=Status.OOM, reason="out of memory"),
        make_point(GPU_CALL, 512, 2e-3),
    ]
    frame = pair_frame(baseline, challenger)
    assert frame.to_dict("records") == [
        {
            "n": 64.0,
            "cpu_seconds": 4e-3,
            "cpu_seconds_lo": 0.99 * 4e-3,
            "cpu_seconds_hi": 1.01 * 4e-3,
            "gpu_seconds": 2e-3,
            "gpu_seconds_lo": 0.99 * 2e-3,
            "gpu_seconds_hi": 1.01 * 2e-3,
        }
    ]


def test_copies_join_where_they_were_measured() -> None:
    """A size without them keeps its row."""
    sides = (64, 128)
    frame = pair_frame(cubic(CPU, 1e11, sizes=sides), cubic(GPU_CALL, 1e12, sizes=sides), [
        make_point(GPU_WITH_TRANSFER, 128, 5e-3)
    ])  # fmt: skip
    assert frame["n"].tolist() == [64.0, 128.0]
    assert frame["gpu_with_transfer_seconds"].isna().tolist() == [True, False]


def test_no_interval_is_no_bound() -> None:
    """A published point has a median only."""
    frame = pair_frame(cubic(CPU, 1e11, sizes=(512,)), published_points((512,)))
    assert frame["gpu_seconds_lo"].isna().all()


def suspicious() -> list:
    """Return a CPU whose n = 128 took longer than n = 256, and n = 512 did not."""
    times = {64: 1e-4, 128: 5e-3, 256: 1e-3, 512: 8e-3}
    return [make_point(CPU, side, time_s) for side, time_s in times.items()]


def test_a_size_slower_than_a_larger_one_is_suspect() -> None:
    """It is flagged and no part of any conclusion."""
    points = suspicious()
    findings = find_matmul_findings(points)
    flagged = flag_points(points, findings)
    assert [(p.x, p.flags) for p in flagged if p.flags] == [(128.0, (Flag.SUSPECT,))]


def test_a_finding_flags_only_the_origin_it_is_about() -> None:
    """A published point of the same size is not suspect because ours is."""
    other = make_point(CPU, 128, 1e-3, source=Source.PUBLISHED, source_note="a journal", device_name="Their CPU")
    points = [other, *suspicious()]
    flagged = flag_points(points, find_matmul_findings(points))
    assert [(p.source, p.x) for p in flagged if p.flags] == [(Source.MEASURED, 128.0)]


def test_the_measured_series_is_concluded_from_whatever_the_order() -> None:
    """A published GPU before a measured one does not take its place."""
    findings = find_matmul_findings([*published_points(), *cpu_points(), *gpu_points()])
    gpu = findings.of(GPU_CALL)
    assert gpu is not None
    assert gpu.is_measured


def test_a_rate_far_above_the_peak_is_flagged() -> None:
    """300 TFLOP/s of fp32 are no result of this card."""
    points = cubic(GPU_CALL, 300e12, sizes=(1024, 2048))
    findings = find_matmul_findings(points)
    assert findings.series[0].peak.plausibility is Plausibility.IMPLAUSIBLE
    assert [p.x for p in flag_points(points, findings) if Flag.ABOVE_PEAK in p.flags] == [
        findings.series[0].peak.best_n
    ]


def test_findings_are_published_under_their_names() -> None:
    """Peak of the headline series at the top, then every series and every pair, as plain JSON."""
    points = [*cpu_points(), *gpu_points()]
    told = json.loads(json.dumps(findings_json(find_matmul_findings(points)), allow_nan=False))
    assert {"best_tflops", "best_n", "n_at_90pct", "suspect_n", "dips_n", "decline_pct"} <= set(told)
    assert told["headline_series"] == "gpu_device"
    assert told["best_n"] == 1024.0
    assert set(told["series"]) == {CPU, CPU_ONE_THREAD, "gpu_call", "gpu_device", "gpu_with_transfer"}
    assert told["crossover"]["cpu_1_thread vs cpu"]["verdict"] == "crossed"
    assert told["crossover"]["cpu vs gpu_call"]["with_transfer"]["high"] == 256.0


@pytest.mark.parametrize("points", [[], [make_point(CPU, 64, None, status=Status.FAILED, reason="wrong")]], ids=["none", "failed"])  # fmt: skip
def test_findings_without_a_result_are_json_too(points: list) -> None:
    """Nothing is made up."""
    told = findings_json(find_matmul_findings(points))
    assert told.get("best_tflops") is None
    assert told["crossover"] == {}
    json.dumps(told, allow_nan=False)
