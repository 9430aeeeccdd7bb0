"""Names beside scattered points: near, inside, on nothing."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuexplain.charts.callouts import MARKER_PX, PLOTS_PX, Callout, callout_annotation, place_callouts

Box = tuple[float, float, float, float]


def boxes(callouts: list[Callout], offsets: list[tuple[int, int]], plot: tuple[float, float]) -> list[Box]:
    """Return the outlines of placed names in a plot of that size."""
    outlines = []
    for callout, (across, up) in zip(callouts, offsets, strict=True):
        x, y = callout.x * plot[0] + across, callout.y * plot[1] + up
        width, height = callout.size_px
        outlines.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    return outlines


def overlap(one: Box, other: Box) -> bool:
    """Whether two outlines share more than an edge."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 1 and high > 1


def names(*places: tuple[float, float]) -> list[Callout]:
    """Return short names at these places."""
    return [Callout(f"fp{i} 2 B", "#000", x, y) for i, (x, y) in enumerate(places)]


CROWDS = {
    "one": [(0.5, 0.5)],
    "a corner": [(0.99, 0.99), (0.01, 0.01)],
    "two on one spot": [(0.5, 0.5), (0.5, 0.5)],
    "a CPU": [
        (0.03, 0.3),
        (0.2, 0.38),
        (0.2, 0.38),
        (0.56, 0.13),
        (0.67, 0.09),
        (0.68, 0.05),
        (0.79, 0.27),
        (0.81, 0.3),
    ],
}


@pytest.mark.parametrize("plot", PLOTS_PX, ids=["phone", "laptop"])
@pytest.mark.parametrize("places", CROWDS.values(), ids=list(CROWDS))
def test_names_lie_on_no_other_name_and_on_no_point(
    places: list[tuple[float, float]], plot: tuple[float, float]
) -> None:
    """On a phone and on a laptop alike; and no name leaves the plot."""
    callouts = names(*places)
    outlines = boxes(callouts, place_callouts(callouts), plot)
    assert not any(overlap(one, other) for one, other in combinations(outlines, 2))
    half = MARKER_PX / 2 - 2
    points = [(x * plot[0] - half, y * plot[1] - half, x * plot[0] + half, y * plot[1] + half) for x, y in places]
    assert not any(overlap(outline, point) for outline in outlines for point in points)
    for left, bottom, right, top in outlines:
        assert left >= -1
        assert right <= plot[0] + 1
        assert bottom >= -1
        assert top <= plot[1] + 1


def test_a_name_keeps_off_points_that_have_none() -> None:
    """Those of an earlier run, which stay unnamed."""
    (callout,) = names((0.5, 0.5))
    obstacle = (0.5 + 30 / PLOTS_PX[1][0], 0.5)
    (free,), (kept_off,) = place_callouts([callout]), place_callouts([callout], [obstacle])
    outline = boxes([callout], [kept_off], PLOTS_PX[1])[0]
    x, y = obstacle[0] * PLOTS_PX[1][0], obstacle[1] * PLOTS_PX[1][1]
    assert not (outline[0] < x < outline[2] and outline[1] < y < outline[3])
    assert free != (0, 0)


def test_a_lonely_name_stands_close_by() -> None:
    """No line is needed to find its point."""
    (callout,) = names((0.5, 0.5))
    ((across, up),) = place_callouts([callout])
    width, height = callout.size_px
    assert abs(across) <= width / 2 + 14
    assert abs(up) <= height / 2 + 14


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=9))
def test_placing_is_repeatable_and_complete(places: list[tuple[float, float]]) -> None:
    """Every name gets a place, the same one each time: a chart must not jump while it is polled."""
    callouts = names(*places)
    assert place_callouts(callouts) == place_callouts(callouts)
    assert len(place_callouts(callouts)) == len(callouts)


def test_the_annotation_joins_name_and_point() -> None:
    """Pixels up are negative in Plotly; the point is in axis units."""
    callout = Callout("bf16", "#123456", 0.5, 0.5)
    drawn = callout_annotation(callout, (20, 30), (-3.0, 12.0), line_color="#999999", ground="rgba(0,0,0,0)")
    assert (drawn["x"], drawn["y"], drawn["ax"], drawn["ay"]) == (-3.0, 12.0, 20, -30)
    assert (drawn["text"], drawn["font"]["color"], drawn["arrowcolor"]) == ("bf16", "#123456", "#999999")
    assert (drawn["showarrow"], drawn["arrowhead"]) == (True, 0)


def test_an_early_name_makes_room_for_later_ones() -> None:
    """Eleven names at random heights over the errors of the usual formats: no two lie on each other, in no plot."""
    chance = random.Random(1)
    errors = (0.03, 0.25, 0.45, 0.5, 0.62, 0.68, 0.72, 0.85, 0.9)
    for _ in range(20):
        callouts = [
            Callout(chance.choice(["fp8 e4m3 1 B", "int8 1 B", "fp32 4 B"]), "", chance.choice(errors), chance.random())
            for _ in range(11)
        ]
        offsets = place_callouts(callouts)
        for plot in PLOTS_PX:
            assert not any(overlap(*pair) for pair in combinations(boxes(callouts, offsets, plot), 2))
