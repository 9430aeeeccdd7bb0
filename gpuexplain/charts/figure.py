"""What every chart shares: transparent ground, one grid, no legend, the finding as its title."""

import copy
import textwrap
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SHADE_OPACITY, Entity, Theme, with_alpha

FONT = 'Inter, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'  # the page's
TITLE_CHARACTERS = 40  # a line of the title on a chart 343 px wide
TITLE_LINE_PX = 20
ABOVE_TITLE_PX = 26  # the top margin besides the lines of the title
# What stays of it without a title: the first row of words above a plot stands in it.
ABOVE_PLOT_PX = 14
HEIGHT_PX = 480

Words = Sequence[tuple[str, Entity | None]]  # a sentence in pieces; named entities carry their colour


def color_words(words: Words, theme: Theme, width: int = TITLE_CHARACTERS) -> str:
    """Return a sentence as Plotly text: wrapped, entities in their colour."""
    plain = "".join(text for text, _ in words)
    breaks = {len(row) for row in _running(textwrap.wrap(plain, width, break_on_hyphens=False))}
    out, position = "", 0
    for text, entity in words:
        piece = ""
        for character in text:
            piece += "<br>" if position in breaks and character == " " else literal(character)
            position += 1
        out += piece if entity is None else f'<span style="color:{ENTITY_STYLES[entity].color(theme)}">{piece}</span>'
    return out


def _running(rows: Sequence[str]) -> list[str]:
    return [" ".join(rows[: i + 1]) for i in range(len(rows) - 1)]


def base_layout(title: Words, theme: Theme, *, left: int, right: int) -> dict[str, Any]:
    """Return the layout without axes; margins in px are for the tick labels and the line labels."""
    palette = PALETTES[theme]
    text = color_words(title, theme)
    return {
        "template": "none",  # None would take the default in, which Streamlit fills with placeholders
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": palette.text},
        "title": {
            "text": f"<b>{text}</b>",
            "x": 0,
            "xanchor": "left",
            "xref": "container",
            "y": 1,
            "yanchor": "top",
            "yref": "container",
            # Plotly anchors the middle of a title of several lines: each further one would rise over the top.
            "pad": {"l": 4, "t": 6 + TITLE_LINE_PX / 2 * text.count("<br>")},
            "font": {"size": 15, "color": palette.text},
        },
        "margin": {"l": left, "r": right, "t": ABOVE_TITLE_PX + TITLE_LINE_PX * (text.count("<br>") + 1), "b": 52},
        "meta": {"title": [[piece, entity.value if entity else ""] for piece, entity in title]},
        "height": HEIGHT_PX,
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "bgcolor": palette.second,
            "bordercolor": palette.muted,
            "font": {"size": 12, "color": palette.text},
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": palette.muted},
        "dragmode": False,
    }


def without_title(figure: go.Figure) -> tuple[Words, go.Figure]:
    """Return the title in pieces, and the figure without it: lower by its lines, the plot as large as before.

    A title inside a figure breaks at the same places on every screen; above it, the page breaks it.
    """
    meta = figure.layout.meta
    if not isinstance(meta, dict) or not figure.layout.title.text:
        return [], figure
    n_lines = figure.layout.title.text.count("<br>") + 1
    height_px = TITLE_LINE_PX * n_lines + ABOVE_TITLE_PX - ABOVE_PLOT_PX
    bare = copy.deepcopy(figure)  # go.Figure(figure) would take in a default template
    bare.update_layout(title={"text": ""}, meta=None)
    bare.layout.margin.t = (figure.layout.margin.t or 0) - height_px
    bare.layout.height = (figure.layout.height or HEIGHT_PX) - height_px
    return [(piece, Entity(name) if name else None) for piece, name in meta["title"]], bare


def empty_figure(title: str, hint: str, theme: Theme) -> go.Figure:
    """Return a chart with nothing to draw that says what to do."""
    layout = base_layout([(title, None)], theme, left=16, right=16)
    layout |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    layout["annotations"] = [
        {
            "text": "<br>".join(textwrap.wrap(hint, TITLE_CHARACTERS)),
            "xref": "paper",
            "yref": "paper",
            "x": 0.5,
            "y": 0.5,
            "showarrow": False,
            "font": {"size": 14, "color": PALETTES[theme].muted},
        }
    ]
    return go.Figure(layout=layout)


def shaded_range(low: float, high: float, color: str) -> dict[str, Any]:
    """Return a shaded range of x (axis units) over the whole height."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": low,
        "x1": high,
        "y0": 0,
        "y1": 1,
        "fillcolor": with_alpha(color, SHADE_OPACITY),
        "line": {"width": 0},
        "layer": "below",
    }


def vertical_line(x: float, color: str) -> dict[str, Any]:
    """Return a dotted line at x (axis units): an estimate."""
    return _segment({"xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1}, color, "dot", 2)


def level_line(y: float, color: str, dash: str, *, width: float = 1.5) -> dict[str, Any]:
    """Return a line at y (axis units) over the whole width: a floor, a best, a peak."""
    return _segment({"xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y}, color, dash, width)


def guide_line(start: tuple[float, float], end: tuple[float, float], color: str) -> dict[str, Any]:
    """Return a straight guide between two (x, y) in axis units: a slope to compare with."""
    place = {"xref": "x", "yref": "y", "x0": start[0], "y0": start[1], "x1": end[0], "y1": end[1]}
    return _segment(place, color, "longdash", 1.5)


def _segment(place: dict[str, Any], color: str, dash: str, width: float) -> dict[str, Any]:
    line = {"color": color, "dash": dash, "width": width}
    return {"type": "line", "line": line, "layer": "below", **place}


def note(text: str, color: str, theme: Theme, **place: Any) -> dict[str, Any]:
    """Return a small text that stays readable on top of a line; ``place`` is Plotly's."""
    return {
        "text": text,
        "showarrow": False,
        "font": {"size": 12, "color": color},
        "bgcolor": with_alpha(PALETTES[theme].background, 0.75),
        "borderpad": 1,
        **place,
    }
