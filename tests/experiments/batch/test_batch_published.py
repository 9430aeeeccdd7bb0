"""Published sweeps and anybody's file as points of this experiment."""

from pathlib import Path

import pytest

from gpuexplain.experiments.batch.conclude import find_batch_findings
from gpuexplain.experiments.batch.published import default_published, points_of_file, published_results
from gpuexplain.experiments.batch.series import FILE_SERIES, LOOKS, read_series
from gpuexplain.experiments.batch.spec import BatchParams
from gpuexplain.experiments.contract import FileOrigin
from gpuexplain.model import Dtype, Flag, Source, Status
from gpuexplain.store.series_files import read_series as read_file
from gpuexplain.store.series_files import read_series_file

CASES = Path(__file__).parents[2] / "cases"


def test_published_sweeps_are_points_with_their_source() -> None:
    """Of the part and the network that the source names; keys fit an address and differ."""
    results = published_results()
    assert [result.key for result in results] == [
        "V100 ResNet-50 inference fp32",
        "V100 ResNet-50 inference fp16",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb two-layer network inference fp32",
    ]
    for result in results:
        for point in result.points:
            assert (point.source, point.source_note, point.experiment) == (Source.PUBLISHED, result.source, "batch")
            assert point.series in LOOKS
            assert point.items == point.x
            assert point.gauges is None
    first = results[0].points[0]
    assert first.rate_items == pytest.approx(96)
    assert first.device_name == "V100"


def test_they_reach_the_verdicts_that_were_published_beside_them() -> None:
    """Knees at 64, 128 and 128."""
    knees = [find_batch_findings(result.points).series[0].knee.knee_batch for result in published_results()]
    assert knees == [64, 128, 128]


@pytest.mark.parametrize(("dtype", "wanted"), [("fp32", Dtype.FP32), ("autocast", Dtype.FP16)])
def test_the_default_is_a_whole_curve_in_the_precision_asked_for(dtype: str, wanted: Dtype) -> None:
    """For any model: it shows the shape."""
    for model in ("mlp", "convnet", "transformer"):
        found = default_published(BatchParams(model=model, dtype=dtype))
        assert found is not None
        assert (found.dtype, found.points[0].x, found.points[-1].x) == (wanted, 1.0, 256.0)


def test_a_file_of_rates_becomes_recorded_points() -> None:
    """Named by the file; the part where the visitor names it."""
    series = read_series_file("batch", CASES / "b_unstable.csv")
    points = points_of_file(series, FileOrigin("b_unstable.csv", "RTX 9000", Dtype.FP16))
    assert [(p.x, p.rate_items) for p in points] == [(1, 100), (8, 950), (16, 500), (32, pytest.approx(1000))]
    assert {(p.source, p.source_note, p.device_name, p.dtype, p.series) for p in points} == {
        (Source.RECORDED, "b_unstable.csv", "RTX 9000", Dtype.FP16, FILE_SERIES)
    }
    (found,) = find_batch_findings(points).series
    assert (found.knee.knee_batch, found.knee.knee_unstable) == (8, True)


def test_a_file_of_seconds_keeps_bounds_status_and_flags() -> None:
    """As the file says."""
    text = (
        "batch,seconds,seconds_lo,seconds_hi,status,flags\n1,0.5,0.4,0.6,ok,\n2,0.6,0.5,0.7,ok,under_load\n4,,,,oom,\n"
    )
    points = points_of_file(read_file("batch", text.encode(), "mine.csv"), FileOrigin("mine.csv"))
    assert [(p.x, p.median_s, p.status) for p in points] == [
        (1.0, 0.5, Status.OK),
        (2.0, 0.6, Status.OK),
        (4.0, None, Status.OOM),
    ]
    assert (points[0].ci_low_s, points[0].ci_high_s) == (0.4, 0.6)
    assert points[1].flags == (Flag.UNDER_LOAD,)
    assert points[0].device_name == "mine.csv"


def test_every_series_name_means_what_it_says() -> None:
    """There and back."""
    for series in LOOKS:
        assert read_series(series).id == series
    assert read_series("mlp_training_cpu").work == "MLP training step"
    assert read_series(FILE_SERIES).work == "step"
