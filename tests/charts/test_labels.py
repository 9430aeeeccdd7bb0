"""Names at the ends of lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuexplain.charts.labels import (
    AIR_PX,
    RISE_PX,
    SMALLEST_PLOT_PX,
    EndLabel,
    label_annotations,
    margin_for,
    spread,
)

BOX = 15.0


def test_names_apart_stay_where_they_are() -> None:
    """Nothing moves without need."""
    assert spread([0.0, 20.0, 100.0], [BOX] * 3) == [0.0, 20.0, 100.0]


def test_names_on_one_another_move_apart_evenly() -> None:
    """Around their mean, in their order."""
    assert spread([10.0, 10.0], [BOX] * 2) == [2.5, 17.5]
    assert spread([12.0, 10.0], [BOX] * 2) == [18.5, 3.5]


def test_a_moved_block_takes_its_neighbours_along() -> None:
    """Three that touch only after the first two were moved."""
    assert spread([0.0, 0.0, 16.0], [BOX] * 3) == pytest.approx([-29 / 3, 16 / 3, 61 / 3])


def test_a_name_of_two_lines_takes_more_room() -> None:
    """Heights need not be equal."""
    assert spread([0.0, 0.0], [30.0, 10.0]) == [-10.0, 10.0]


@given(st.lists(st.floats(-500, 500), min_size=1, max_size=8))
def test_names_never_overlap(wanted: list[float]) -> None:
    """However the lines end."""
    placed = sorted(spread(wanted, [BOX] * len(wanted)))
    assert all(above - below >= BOX - 1e-6 for below, above in pairwise(placed))


def label(text: str, y: float, **changes: object) -> EndLabel:
    """Return a name at the end x = 1,000."""
    return EndLabel(text, "#000000", 3.0, y, **changes)  # type: ignore[arg-type]


def test_names_are_tied_to_their_line_and_shifted_in_pixels() -> None:
    """So they move with it when a reader zooms."""
    first, second = label_annotations([label("a", 0.5), label("b", 0.5)], (0.0, 1.0))
    assert (first["x"], first["y"], first["xanchor"]) == (3.0, 0.5, "left")
    assert second["yshift"] - first["yshift"] == BOX + AIR_PX


def test_a_name_to_the_left_takes_no_room_to_the_right() -> None:
    """It ends before its line does, and is no reason for a margin."""
    (annotation,) = label_annotations([label("one thread", 0.5, is_left=True)], (0.0, 1.0))
    assert (annotation["xanchor"], annotation["xshift"] < 0) == ("right", True)
    assert margin_for([label("one thread", 0.5, is_left=True)]) == margin_for([])


def test_the_margin_fits_the_longest_line_of_a_name() -> None:
    """A break makes a name narrower."""
    assert margin_for([label("GPU<br>published", 0.0)]) == margin_for([label("published", 0.0)])
    assert margin_for([label("published", 0.0)]) > 9 * 6.5


def test_names_that_stand_side_by_side_keep_their_height() -> None:
    """On the narrowest chart too: the new curve has not reached the end of the old one."""
    labels = [EndLabel("CPU", "#000000", 1.0, 0.5), EndLabel("earlier", "#000000", 3.0, 0.5)]
    shifts = [words["yshift"] for words in label_annotations(labels, (0.0, 1.0), x_range=(0.0, 3.0))]
    assert shifts == [0, 0]
    near = [EndLabel("CPU", "#000000", 2.9, 0.5), labels[1]]
    first, second = label_annotations(near, (0.0, 1.0), x_range=(0.0, 3.0))
    assert second["yshift"] - first["yshift"] == BOX + AIR_PX


def test_a_name_to_the_left_keeps_clear_of_one_that_begins_before_it() -> None:
    """It takes its whole height."""
    labels = [EndLabel("one thread", "#000000", 1.2, 0.5, is_left=True), EndLabel("CPU", "#000000", 1.0, 0.52)]
    left, right = label_annotations(labels, (0.0, 1.0), x_range=(0.0, 3.0))
    apart = (0.52 - 0.5) * SMALLEST_PLOT_PX + right["yshift"] - left["yshift"]
    assert abs(apart) >= BOX + AIR_PX - 0.2


def test_the_name_of_what_was_not_measured_here_is_not_bold() -> None:
    """Old beside new: only the new one speaks loud."""
    old, new = label_annotations([label("earlier", 0.1, is_faint=True), label("CPU", 0.9)], (0.0, 1.0))
    assert (old["text"], new["text"]) == ("earlier", "<b>CPU</b>")


def test_no_name_leaves_the_chart_at_its_top() -> None:
    """A name of three lines at the highest point, and the one below it, move down."""
    labels = [label("a<br>b<br>c", 1.0), label("d", 0.98), label("e", 0.2)]
    annotations = label_annotations(labels, (0.0, 1.0))
    centres = [words["y"] * SMALLEST_PLOT_PX + words["yshift"] for words in annotations]
    tops = [centre + one.height_px / 2 for centre, one in zip(centres, labels, strict=True)]
    assert max(tops) <= SMALLEST_PLOT_PX + RISE_PX + 0.1
    assert centres[0] - centres[1] >= (labels[0].height_px + labels[1].height_px) / 2 - 0.2
    assert annotations[2]["yshift"] == 0
