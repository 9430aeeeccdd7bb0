"""What a point says."""

import pytest
from charts_made import LOOKS, NO_INTERVAL, NO_TIME, make_point

from gpuexplain.charts.hover import hover_text
from gpuexplain.model import Clock, Flag, Point, Source, Status
from gpuexplain.units import NBSP

CASES = {
    "interval": (
        make_point(threads=2, device_name="A CPU"),
        "<b>CPU, 2 threads</b>|n = 64, fp32|median 1.00 ms ± 10 %|95 % interval 900 µs – 1.10 ms|2.00 GFLOP/s"
        "|24 samples|host clock around each call, synchronised|A CPU",
    ),
    "extremes": (
        make_point(threads=1, n_samples=1, **NO_INTERVAL),
        "<b>CPU, 1 thread</b>|n = 64, fp32|median 1.00 ms|min – max 800 µs – 2.00 ms|2.00 GFLOP/s|1 sample"
        "|host clock around each call, synchronised",
    ),
    "flags, shape and origin": (
        make_point(
            x=1290.2, shape=(1024, 4096, 512), flags=(Flag.SUSPECT, Flag.UNDER_LOAD), clock=Clock.DEVICE,
            source=Source.PUBLISHED, source_note="a journal",
        ),
        "<b>CPU</b>|n = 1,290, 1,024 × 4,096 × 512, fp32|median 1.00 ms ± 10 %|95 % interval 900 µs – 1.10 ms"
        "|2.00 GFLOP/s|24 samples|flags: suspect, under load|device events, without the launch|published (a journal)",
    ),
    "skipped": (
        make_point(status=Status.SKIPPED, reason="no time left", **NO_TIME),
        "<b>CPU</b>|n = 64, fp32|skipped: no time left|host clock around each call, synchronised",
    ),
    "failed without a reason": (
        make_point(status=Status.FAILED, **NO_TIME),
        "<b>CPU</b>|n = 64, fp32|failed: no reason given|host clock around each call, synchronised",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("point", "text"), CASES.values(), ids=list(CASES))
def test_a_point_says_what_it_is_and_how_sure(point: Point, text: str) -> None:
    """Line by line."""
    assert hover_text(point, LOOKS["cpu"]).replace(NBSP, " ").replace("<br>", "|") == text


def test_what_others_wrote_is_no_markup() -> None:
    """Names, notes and reasons come from anybody's file."""
    foreign = "<b>x</b>$y$"
    point = make_point(
        status=Status.FAILED,
        reason=foreign,
        device_name=foreign,
        source=Source.RECORDED,
        source_note=foreign,
        **NO_TIME,
    )
    text = hover_text(point, LOOKS["cpu"])
    assert text.count("&lt;b&gt;x&lt;/b&gt;&#36;y&#36;") == 3
    assert foreign not in text
