"""Conditions, tables and marked text on a page that is kept."""

from dataclasses import replace

import pytest
from report_made import MATMUL, make_points

from gpuexplain.model import Conditions, Flag, Point, Status
from gpuexplain.report.chapter import say_when
from gpuexplain.report.condition_words import summarise_conditions
from gpuexplain.report.point_table import point_columns, tell_reasons
from gpuexplain.report.text import pairs, to_html


def with_conditions(**changes: object) -> Point:
    """Return a point that was taken under these conditions."""
    return make_points(64, conditions=Conditions.model_validate(changes))[0]


def test_conditions_are_ranges_over_the_points() -> None:
    """One value where it did not change; words are joined; what nobody reported says why."""
    points = [
        with_conditions(sm_clock_mhz=1980, power_w=300.4, throttle_reasons=("power cap",)),
        with_conditions(sm_clock_mhz=1980, power_w=512.9, throttle_reasons=("heat", "power cap")),
        with_conditions(not_reported={"temperature_c": "the driver does not say", "power_w": "not yet"}),
        make_points(64, conditions=None)[0],
    ]
    assert summarise_conditions(points) == [
        ("GPU clock, MHz", "1,980"),
        ("GPU power, W", "300 to 513"),
        ("throttle reasons", "heat, power cap"),
        ("GPU temperature, °C", "not reported (the driver does not say)"),
    ]


def test_nothing_is_said_of_conditions_that_nobody_recorded() -> None:
    """No empty rows."""
    assert summarise_conditions(make_points(64, conditions=None)) == []


@pytest.mark.parametrize(
    ("heading", "said", "cell"),
    [("n", "n\xa0=\xa0512", "512"), ("batch", "batch 64", "64"), ("size", "4\xa0MiB", "4 MiB")],
    ids=["n", "batch", "size"],
)
def test_a_heading_is_not_repeated_in_every_cell(heading: str, said: str, cell: str) -> None:
    """But a size keeps its unit."""
    experiment = replace(MATMUL, x_heading=heading, say_x=lambda _: said)
    column = point_columns(experiment)[1]
    assert (column.heading, column.write(make_points(64)[0])) == (heading, cell)


def test_a_row_writes_status_rate_and_flags() -> None:
    """A point without a time shows how it ended."""
    good, bad = (
        make_points(64, flags=(Flag.DRIFTING, Flag.SUSPECT))[0],
        make_points(64, median_s=None, status=Status.OOM)[0],
    )
    columns = {column.heading: column for column in point_columns(MATMUL)}
    assert columns["median"].write(bad) == "oom"
    assert columns["rate"].write(good) == MATMUL.say_rate(good)
    assert columns["rate"].write(make_points(64, flops=None)[0]) == "-"
    assert columns["notes"].write(good) == "drifting suspect"


def test_a_reason_is_said_once_for_all_its_sizes() -> None:
    """In the order of the points."""
    points = make_points(64, 128, status=Status.SKIPPED, reason="Give the run more time.")
    assert tell_reasons(MATMUL, points) == [
        "cpu, n = 64 and n = 128: skipped. Give the run more time.",
        "cpu_1_thread, n = 64 and n = 128: skipped. Give the run more time.",
    ]


def test_marks_become_elements_and_the_rest_is_escaped() -> None:
    """Colours, terms, bold and code; a < stays a <."""
    assert to_html("[[cpu:the CPU]] is **fast** & `x<y`") == (
        '<span class="cpu">the CPU</span> is <strong>fast</strong> &amp; <code>x&lt;y</code>'
    )
    assert to_html("[[term:crossover|overtakes]]").startswith('<abbr title="')
    assert to_html("[[nothing:a<b]]") == "a&lt;b"


def test_pairs_are_escaped() -> None:
    """Labels may be names of variables."""
    assert pairs([("a<b", 'c"d')]) == "<dl><dt>a&lt;b</dt><dd>c&quot;d</dd></dl>"
    assert pairs([]) == ""


def test_a_moment_is_written_out() -> None:
    """A page that is kept has no "just now"."""
    assert say_when(0) == "1 January 1970, 00:00 UTC"
