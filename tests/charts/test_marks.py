"""Points become lines, bands, whiskers, open markers and crosses."""

import pytest
from charts_made import LOOKS, NO_INTERVAL, NO_TIME, make_point

from gpuexplain.charts.marks import Line, Reading, cross_trace, line_traces, read_rate, read_time, split_lines
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, Entity, with_alpha
from gpuexplain.model import Flag, Point, Source, Status

CPU = ENTITY_STYLES[Entity.CPU].light
AMBER = ENTITY_STYLES[Entity.WARNING].light
PAPER = PALETTES["light"].background


def line_of(*points: Point, is_ghost: bool = False) -> Line:
    """Return the line of points of one series."""
    return Line(LOOKS[points[0].series], points, is_ghost)


def test_a_time_is_read_with_its_interval_or_its_extremes() -> None:
    """Under six samples there is no interval."""
    assert read_time(make_point()) == Reading(1e-3, 0.9e-3, 1.1e-3, is_interval=True)
    assert read_time(make_point(**NO_INTERVAL)) == Reading(1e-3, 0.8e-3, 2e-3)
    assert read_time(make_point(status=Status.SKIPPED, **NO_TIME)) is None


def test_a_rate_turns_the_interval_round() -> None:
    """The shortest time is the highest rate."""
    reading = read_rate(make_point())
    assert reading is not None
    assert (reading.value, reading.low, reading.high) == pytest.approx((2e9, 2e6 / 1.1e-3, 2e6 / 0.9e-3))
    assert read_rate(make_point(flops=None)) is None


def test_each_origin_of_a_series_is_its_own_line() -> None:
    """Beside what was measured here the published line is a ghost, and lies below."""
    published = make_point("gpu", source=Source.PUBLISHED)
    lines = split_lines([make_point("cpu", 128.0), published, make_point("cpu", 64.0)], LOOKS)
    assert [(line.source, line.is_ghost) for line in lines] == [(Source.PUBLISHED, True), (Source.MEASURED, False)]
    assert [p.x for p in lines[1].points] == [64.0, 128.0]


def test_alone_a_published_line_is_no_ghost() -> None:
    """A page with nothing measured here must not look faded."""
    (line,) = split_lines([make_point("gpu", source=Source.PUBLISHED)], LOOKS)
    assert not line.is_ghost
    assert line_traces(line, read_time, "light")[-1].marker.color == (PAPER,)


def test_a_file_beside_what_others_published_is_the_ghost() -> None:
    """With nothing measured here the published line leads; a file alone does."""
    published = make_point("gpu", source=Source.PUBLISHED)
    mine = make_point("gpu", source=Source.RECORDED, device="file:mine.csv")
    assert [(line.source, line.is_ghost) for line in split_lines([published, mine], LOOKS)] == [
        (Source.RECORDED, True),
        (Source.PUBLISHED, False),
    ]
    assert [line.is_ghost for line in split_lines([mine], LOOKS)] == [False]


def test_unknown_series_are_not_drawn() -> None:
    """An imported file may hold more than this page knows."""
    assert split_lines([make_point("tpu")], LOOKS) == []


def test_a_line_has_a_band_that_can_be_seen() -> None:
    """Filled, with an edge, behind the line and without a hover of its own."""
    band, line = line_traces(line_of(make_point(x=64.0), make_point(x=128.0)), read_time, "light")
    assert list(band.x) == [64.0, 128.0, 128.0, 64.0]
    assert list(band.y) == [1.1e-3, 1.1e-3, 0.9e-3, 0.9e-3]
    assert (band.fillcolor, band.hoverinfo) == (with_alpha(CPU, 0.3), "skip")
    assert (line.line.color, line.line.dash, line.marker.symbol) == (CPU, "solid", "circle")


def test_a_band_does_not_bridge_points_without_an_interval() -> None:
    """They have whiskers, and a single point between has no band."""
    points = [make_point(x=64.0), make_point(x=128.0, **NO_INTERVAL), make_point(x=256.0)]
    (line,) = line_traces(line_of(*points), read_time, "light")
    assert line.error_y.array == pytest.approx((0.0, 1e-3, 0.0))
    assert line.error_y.arrayminus == pytest.approx((0.0, 0.2e-3, 0.0))


def test_no_whiskers_where_all_have_intervals() -> None:
    """An empty error bar costs bytes and a hover."""
    assert line_traces(line_of(make_point()), read_time, "light")[-1].error_y.array is None


@pytest.mark.parametrize("flag", [Flag.UNDER_LOAD, Flag.SUSPECT, Flag.THROTTLED, Flag.DRIFTING, Flag.ABOVE_PEAK])
def test_a_point_not_to_trust_is_open_and_amber(flag: Flag) -> None:
    """Its neighbour stays filled."""
    line = line_traces(line_of(make_point(flags=(flag,)), make_point(x=128.0)), read_time, "light")[-1]
    assert line.marker.color == (PAPER, CPU)
    assert line.marker.line.color == (AMBER, CPU)


def test_an_unconverged_point_is_filled() -> None:
    """Its band says it."""
    line = line_traces(line_of(make_point(flags=(Flag.NOT_CONVERGED,))), read_time, "light")[-1]
    assert line.marker.color == (CPU,)


def test_a_ghost_is_faint_dotted_and_open() -> None:
    """The same hue at 45 %."""
    ghost = line_of(make_point(source=Source.RECORDED), is_ghost=True)
    line = line_traces(ghost, read_time, "light")[-1]
    assert (line.line.color, line.line.dash) == (with_alpha(CPU, 0.45), "dot")
    assert line.marker.color == (PAPER,)


def test_siblings_of_one_hue_differ_in_dash_and_marker() -> None:
    """Colour is never alone."""
    line = line_traces(line_of(make_point("gpu")), read_time, "dark")[-1]
    assert (line.line.dash, line.marker.symbol) == ("dashdot", "pentagon")
    assert line.line.color == ENTITY_STYLES[Entity.GPU].dark


def test_a_case_without_a_time_is_a_cross_with_its_reason() -> None:
    """In its row, in the colour of its series; the line leaves it out."""
    failed = make_point(x=128.0, status=Status.OOM, reason="3 GiB needed, 2 GiB free", **NO_TIME)
    line = line_of(make_point(), failed)
    (cross,) = cross_trace([line], [1e-7], "light")
    assert (list(cross.x), list(cross.y)) == ([128.0], [1e-7])
    assert (cross.marker.symbol, cross.marker.line.color) == ("x-thin", CPU)
    assert "out of memory: 3 GiB needed, 2 GiB free" in cross.hovertext[0]
    assert list(line_traces(line, read_time, "light")[-1].x) == [64.0]
    assert cross_trace([line_of(make_point())], [1.0], "light") == []


def test_a_line_without_any_time_draws_nothing() -> None:
    """Only crosses remain."""
    assert line_traces(line_of(make_point(status=Status.FAILED, **NO_TIME)), read_time, "light") == []
