"""Tables of points in a terminal and in a pipe: vital columns are whole, others go first."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from gpuexplain.cli.printing import print_points, print_words
from gpuexplain.experiments.contract import Explanation
from gpuexplain.model import Dtype, Flag, Point, Status
from gpuexplain.registry import EXPERIMENTS

BATCH = replace(
    EXPERIMENTS["matmul"],
    x_heading="batch",
    say_x=lambda x: f"batch {x:g}",
    say_rate=lambda p: "12.3 samples/s" if p.median_s else "",
    tell=lambda _: Explanation("**The [[gpu:GPU]]** wins [by far].", "What " * 30, "", "", ("Mind this.",)),
)


def point(**changes: object) -> Point:
    """Return a point with everything a row can show."""
    return Point.model_validate(
        {
            "experiment": "batch",
            "series": "transformer_training_step",
            "x": 4096,
            "dtype": Dtype.FP32,
            "device": "cpu",
            "flags": (Flag.NOT_CONVERGED, Flag.FEW_SAMPLES, Flag.BELOW_TIMER_RESOLUTION),
            "n_samples": 1234,
            "median_s": 0.0123,
            "ci_low_s": 0.012,
            "ci_high_s": 0.0126,
            "first_call_s": 0.5,
            "rel_error": 1.2e-7,
            **changes,
        }
    )


def printed(*points: Point, width: int, is_terminal: bool) -> list[str]:
    """Return the lines of a console of this width."""
    screen = StringIO()
    console = Console(
        file=screen, width=width, force_terminal=is_terminal, color_system=None, soft_wrap=True, markup=False
    )
    print_points(BATCH, points, console)
    return [line.rstrip() for line in screen.getvalue().splitlines()]


VITAL = ("transformer_training_step", "4096", "12.3 ms", "±2.4 %", "12.3 samples/s")
FLAGS = ("not_converged", "few_samples", "below_timer_resolution")


@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_pipe_gets_every_column_whole(width: int) -> None:
    """One row is one line, whatever a terminal would have been."""
    header, row = printed(point(), width=width, is_terminal=False)
    assert header.split() == [
        "series", "batch", "median", "95", "%", "samples", "first", "call", "rate", "error", "notes",
    ]  # fmt: skip
    assert all(text in row.replace("\xa0", " ") for text in (*VITAL, *FLAGS, "1234", "500 ms", "1.2e-07"))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_terminal_keeps_what_is_vital(width: int) -> None:
    """At 80 columns no vital cell and no flag is cut; what had to go is named."""
    lines = printed(point(), width=width, is_terminal=True)
    text = "\n".join(lines).replace("\xa0", " ")
    assert [vital for vital in (*VITAL, *FLAGS) if vital not in text] == []
    assert "Left out at this width: first call" in text


def test_a_wide_terminal_leaves_nothing_out() -> None:
    """No remark where there is nothing to remark."""
    assert len(printed(point(), width=200, is_terminal=True)) == 2


def test_a_table_fits_80_columns_where_it_can() -> None:
    """The usual names and flags do."""
    lines = printed(point(series="cpu_1_thread", flags=(Flag.NOT_CONVERGED,)), width=80, is_terminal=True)
    assert max(len(line) for line in lines[:2]) <= 80


def test_a_point_that_did_not_work_says_why_under_the_table() -> None:
    """The status stands in its row; the reason is a sentence of its own, once."""
    failed = {"median_s": None, "ci_low_s": None, "ci_high_s": None, "n_samples": 0, "status": Status.OOM}
    lines = printed(
        point(**failed, reason="Not enough memory."), point(**failed, x=8192, reason="Not enough memory."),
        width=80, is_terminal=True,
    )  # fmt: skip
    assert "oom" in lines[1]
    assert lines[-1] == "transformer_training_step, batch 4096 and batch 8192: oom. Not enough memory."


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
def test_words_are_plain_and_never_cut(is_terminal: bool) -> None:
    """Marks and bold are gone, brackets stay; a terminal breaks lines between words."""
    screen = StringIO()
    console = Console(
        file=screen, width=40, force_terminal=is_terminal, color_system=None, soft_wrap=True, markup=False
    )
    print_words(BATCH, None, console)
    text = screen.getvalue()
    assert "The GPU wins [by far]." in text
    assert text.count("What") == 30
    assert "Mind this." in text
    assert (max(len(line) for line in text.splitlines()) <= 40) is is_terminal
