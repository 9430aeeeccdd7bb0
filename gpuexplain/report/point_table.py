"""The points of a result as rows of text, for the terminal and for a page that is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from gpuexplain.experiments.contract import Experiment
from gpuexplain.model import Point
from gpuexplain.units import NBSP, format_time
from gpuexplain.wording.phrases import join_words

NOTES = "notes"


@dataclass(frozen=True, slots=True)
class PointColumn:
    """One column: its heading and how a point is written in it."""

    heading: str
    write: Callable[[Point], str]
    justify: Literal["left", "right"] = "right"


def point_columns(experiment: Experiment) -> list[PointColumn]:
    """Return the columns in the order in which a reader wants them."""
    heading = experiment.x_heading
    return [
        PointColumn("series", lambda p: p.series, "left"),
        PointColumn(heading, lambda p: _without_heading(experiment.say_x(p.x), heading)),
        PointColumn("median", lambda p: format_time(p.median_s) if p.median_s is not None else str(p.status)),
        PointColumn("95 %", lambda p: f"±{p.half_width * 100:.1f} %" if p.half_width is not None else "-"),
        PointColumn("samples", lambda p: str(p.n_samples)),
        PointColumn("first call", lambda p: format_time(p.first_call_s) if p.first_call_s is not None else "-"),
        PointColumn("rate", lambda p: experiment.say_rate(p) or "-"),
        PointColumn("error", lambda p: f"{p.rel_error:.1e}" if p.rel_error is not None else "-"),
        PointColumn(NOTES, lambda p: " ".join(p.flags), "left"),
    ]


def _without_heading(text: str, heading: str) -> str:
    """Return ``512`` for ``n = 512`` under the heading ``n``, ``64`` for ``batch 64`` under ``batch``."""
    shown = text.replace(NBSP, " ")
    for start in (f"{heading} = ", f"{heading} "):
        if shown.startswith(start):
            return shown.removeprefix(start)
    return shown


def tell_reasons(experiment: Experiment, points: Sequence[Point]) -> list[str]:
    """Return a line for each reason that points give, with the sizes it is about."""
    sizes: dict[tuple[str, str, str], list[str]] = {}
    for p in points:
        if p.reason:
            sizes.setdefault((p.series, str(p.status), p.reason), []).append(experiment.say_x(p.x))
    return [
        f"{series}, {join_words(said).replace(NBSP, ' ')}: {tell_state(status, reason)}"
        for (series, status, reason), said in sizes.items()
    ]


def tell_state(state: str, reason: str) -> str:
    """Return how something ended, and why where that is known."""
    return f"{state}. {reason}" if reason else state
