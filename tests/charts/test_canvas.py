"""What the lines of a chart are called."""

import pytest
from charts_made import LOOKS, make_point

from gpuexplain.charts.canvas import Canvas
from gpuexplain.charts.marks import read_time, split_lines
from gpuexplain.model import Point, Source
from gpuexplain.units import format_time


def named(*points: Point) -> list[tuple[str, bool]]:
    """Return the names beside the lines, and whether they are faint."""
    labels = Canvas(split_lines(points, LOOKS), read_time, "light").names()
    return sorted((label.text, label.is_faint) for label in labels)


def elsewhere(series: str = "gpu", **changes: object) -> Point:
    """Return a point that was not measured here."""
    return make_point(series, **{"source": Source.RECORDED, **changes})


HERE = make_point("cpu")
GHOSTS = {
    "the same series, earlier": (elsewhere("cpu", device="cpu"), "earlier"),
    "a published part": (elsewhere(source=Source.PUBLISHED, device_name="NVIDIA RTX 3080"), "RTX 3080<br>published"),
    "a long name": (elsewhere(device_name="Radeon Instinct MI300X"), "Radeon Instin…<br>recorded"),
    "a file": (elsewhere(device="file:mine.csv", device_name="RTX 3080"), "mine.csv"),
    "a hostile file": (elsewhere(device="file:<b>$x$</b>"), "&lt;b&gt;&#36;x&#36;&lt;/b&gt;"),
}


@pytest.mark.parametrize(("ghost", "name"), GHOSTS.values(), ids=list(GHOSTS))
def test_a_ghost_is_called_by_where_it_is_from(ghost: Point, name: str) -> None:
    """Faint, beside the bold name of what was measured here."""
    assert named(HERE, ghost) == sorted([("CPU", False), (name, True)])


def test_an_earlier_series_that_is_not_measured_now_keeps_its_name() -> None:
    """Two words, two lines."""
    assert named(make_point("gpu"), elsewhere("cpu", device="cpu")) == [("CPU<br>earlier", True), ("GPU", False)]


def test_of_several_series_in_a_file_each_has_its_own_name() -> None:
    """And the file's."""
    mine = {"device": "file:mine.json", "source": Source.RECORDED}
    assert named(HERE, elsewhere("cpu", **mine), elsewhere("gpu", **mine)) == [
        ("CPU", False),
        ("CPU<br>mine.json", True),
        ("GPU<br>mine.json", True),
    ]


def test_no_name_leaves_the_plot_to_the_left() -> None:
    """A short new curve beside a long old one that rises past it."""
    old = [elsewhere("cpu", x=16.0 * 2**i, median_s=1e-6 * 3**i, device="cpu") for i in range(10)]
    new = [make_point("cpu", x=16.0, median_s=1e-6)]
    (label,) = [
        label for label in Canvas(split_lines([*new, *old], LOOKS), read_time, "light").names() if label.text == "CPU"
    ]
    assert not label.is_left


def test_where_names_take_the_room_there_are_fewer_sizes_on_the_axis() -> None:
    """They would touch each other on a phone."""
    sizes = [2.0**power for power in range(4, 14)]
    lines = [make_point("cpu", x=size, median_s=1e-6 * size) for size in sizes]
    wide = [elsewhere("gpu", x=size, median_s=1e-5 * size, device="file:" + 40 * "m") for size in sizes]

    def ticks(*points: Point) -> int:
        canvas = Canvas(split_lines(points, LOOKS), read_time, "light")
        return len(canvas.layout([("t", None)], "time", format_time, "size")["xaxis"]["tickvals"])

    assert ticks(*lines) > ticks(*lines, *wide) >= 3
