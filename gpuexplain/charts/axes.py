"""Where the ticks of a log axis stand and what they say: powers of two, SI units."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from gpuexplain.charts.theme import PALETTES, Theme
from gpuexplain.units import format_count

# More labels than this touch each other on a chart 343 px wide.
MOST_SIZE_LABELS = 6
# Under this many decades, decade ticks alone would leave one or two labels.
FEW_DECADES = 1.6

Range = tuple[float, float]  # in log10, as Plotly takes it


def log_range(numbers: Iterable[float], pad: float = 0.04, least: float = 0.6) -> Range:
    """Return a log10 range around positive numbers, padded by a share of its width.

    ``least`` is the smallest width in decades: one point must not fill the chart.
    """
    logs = [math.log10(number) for number in numbers if number > 0]
    if not logs:
        return (0.0, 1.0)
    low, high = min(logs), max(logs)
    if high - low < least:
        middle = (low + high) / 2
        low, high = middle - least / 2, middle + least / 2
    return (low - pad * (high - low), high + pad * (high - low))


def power_of_two_ticks(span: Range, most: int = MOST_SIZE_LABELS) -> tuple[list[float], list[str]]:
    """Return powers of two inside a log10 range; every second or third where all would touch."""
    first, last = math.ceil(span[0] / math.log10(2) - 1e-9), math.floor(span[1] / math.log10(2) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    sizes = [2.0**power for power in range(first, last + 1) if power % step == 0]
    return sizes, [format_count(size) for size in sizes]


def si_ticks(span: Range, write: Callable[[float], str]) -> tuple[list[float], list[str]]:
    """Return decades (1, 2, 5 steps in a short range), written with their SI unit and no ".00"."""
    steps = (1.0, 2.0, 5.0) if span[1] - span[0] < FEW_DECADES else (1.0,)
    decades = range(math.floor(span[0]), math.ceil(span[1]) + 1)
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    inside = [tick for tick in ticks if span[0] - 1e-9 <= math.log10(tick) <= span[1] + 1e-9]
    return inside, [_bare(write(tick)) for tick in inside]


def _bare(text: str) -> str:
    return re.sub(r"\.0+(?=\D)", "", text)


def size_axis(title: str, span: Range, theme: Theme) -> dict[str, Any]:
    """Return the layout of a log axis of sizes: power-of-two ticks, a mark per power, no grid."""
    sizes, texts = power_of_two_ticks(span)
    marks = [2.0**power for power in range(math.ceil(span[0] / math.log10(2)), 40) if 2.0**power <= 10 ** span[1]]
    return {
        **_log_axis(title, span, theme),
        "tickvals": sizes,
        "ticktext": texts,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": PALETTES[theme].muted,
        "tickangle": 0,
        "minor": {"tickvals": marks, "ticks": "outside", "ticklen": 3, "tickcolor": PALETTES[theme].line},
        "showgrid": False,
        "showline": True,
        "linecolor": PALETTES[theme].muted,
    }


def value_axis(title: str, span: Range, write: Callable[[float], str], theme: Theme) -> dict[str, Any]:
    """Return the layout of a log axis of values: SI ticks and the chart's only grid."""
    values, texts = si_ticks(span, write)
    return {
        **_log_axis(title, span, theme),
        "tickvals": values,
        "ticktext": texts,
        "automargin": True,  # "100 GFLOP/s" is wider than "10 ms"
        "showgrid": True,
        "gridcolor": PALETTES[theme].line,
        "gridwidth": 1,
    }


def _log_axis(title: str, span: Range, theme: Theme) -> dict[str, Any]:
    return {
        "type": "log",
        "range": list(span),
        "title": {
            "text": f"{title} (log)",
            "font": {"size": 12, "color": PALETTES[theme].muted},
            "standoff": 8,
        },
        "tickfont": {"size": 12, "color": PALETTES[theme].muted},
        "zeroline": False,
    }
