"""Where names stand: at the end of their line, never on one another, never cut off."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LINE_HEIGHT_PX = 15  # one line of a 12 px label
AIR_PX = 4  # between two names: those of an old and a new curve must not read as one
# The plot area of the smallest chart: what does not overlap here does not on a larger one.
SMALLEST_PLOT_PX = 230
NARROWEST_PLOT_PX = 180
# What a name may rise above the plot: that much stays free there, whatever stands above the chart.
RISE_PX = 12
CHARACTER_PX = 7.2  # a bold 12 px character, generously
FAINT_CHARACTER_PX = 6.5  # one that is not bold
LABEL_GAP_PX = 8


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A name wanted at (log10 x, log10 y), the end of a line."""

    text: str  # may hold <br>
    color: str
    x: float
    y: float
    is_left: bool = False  # stands above and left of the end: another line goes on to the right
    is_faint: bool = False  # the name of a line that was not measured here

    @property
    def height_px(self) -> float:
        """Height of all its lines, and the air to the next name."""
        return LINE_HEIGHT_PX * (self.text.count("<br>") + 1) + AIR_PX

    @property
    def width_px(self) -> float:
        """Width of its longest line, roughly."""
        character_px = FAINT_CHARACTER_PX if self.is_faint else CHARACTER_PX
        return character_px * max(len(html.unescape(row)) for row in self.text.split("<br>"))


def spread(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return centres as near to ``wanted`` as possible such that boxes of ``heights`` do not overlap.

    Boxes keep their order; those that touch are moved as one block around their mean.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[list[int], float]] = []  # members from below, lower edge
    for i in order:
        members, edge = [i], wanted[i] - heights[i] / 2
        while blocks and _top(blocks[-1], heights) > edge:
            members = blocks.pop()[0] + members
            edge = _edge(members, wanted, heights)
        blocks.append((members, edge))
    placed = [0.0] * len(wanted)
    for members, edge in blocks:
        for i in members:
            placed[i] = edge + heights[i] / 2
            edge += heights[i]
    return placed


def _top(block: tuple[list[int], float], heights: Sequence[float]) -> float:
    return block[1] + sum(heights[i] for i in block[0])


def _edge(members: Sequence[int], wanted: Sequence[float], heights: Sequence[float]) -> float:
    below, edges = 0.0, []
    for i in members:
        edges.append(wanted[i] - below - heights[i] / 2)
        below += heights[i]
    return sum(edges) / len(edges)


def label_annotations(
    labels: Sequence[EndLabel],
    y_range: tuple[float, float],
    ground: str = "rgba(0,0,0,0)",
    x_range: tuple[float, float] | None = None,
) -> list[dict[str, Any]]:
    """Return the labels as annotations, moved apart by pixels so that zooming keeps them at their lines.

    The ranges are those of the axes (log10); without ``x_range`` no two names share a height, however
    far apart they stand. ``ground`` is the background of a name: a level that runs through it must not
    strike it out.
    """
    ends = [(label.y - y_range[0]) * SMALLEST_PLOT_PX / (y_range[1] - y_range[0]) for label in labels]
    wanted = [end + LABEL_GAP_PX * label.is_left for label, end in zip(labels, ends, strict=True)]
    per_x = NARROWEST_PLOT_PX / (x_range[1] - x_range[0]) if x_range else 0.0
    spans = [_span_px(label, per_x) if x_range else (0.0, 1.0) for label in labels]
    placed = list(wanted)
    for group in _groups(spans):
        heights = [labels[i].height_px for i in group]
        centres = _inside(spread([wanted[i] for i in group], heights), heights)
        for i, centre in zip(group, centres, strict=True):
            placed[i] = centre
    return [
        {
            "text": label.text if label.is_faint else f"<b>{label.text}</b>",
            "x": label.x,
            "y": label.y,
            "xanchor": "right" if label.is_left else "left",
            "yanchor": "middle",
            "align": "left",
            "xshift": -LABEL_GAP_PX / 2 if label.is_left else LABEL_GAP_PX,
            "yshift": round(centre - end, 1),
            "showarrow": False,
            "font": {"size": 12, "color": label.color},
            "bgcolor": ground,
        }
        for label, end, centre in zip(labels, ends, placed, strict=True)
    ]


def _inside(centres: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Return the centres with what would leave the chart at its top pushed down, and what is in the way with it."""
    placed = list(centres)
    limit = float(SMALLEST_PLOT_PX + RISE_PX)
    for i in sorted(range(len(placed)), key=lambda i: -placed[i]):
        placed[i] = min(placed[i], limit - heights[i] / 2)
        limit = placed[i] - heights[i] / 2
    return placed


def _span_px(label: EndLabel, per_x: float) -> tuple[float, float]:
    """Return where a name begins and ends from left to right."""
    near = label.x * per_x
    return (near - label.width_px, near) if label.is_left else (near, near + label.width_px)


def _groups(spans: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Return the positions of spans that overlap, directly or through others, together."""
    groups: list[list[int]] = []
    reached = float("-inf")
    for i in sorted(range(len(spans)), key=lambda i: spans[i][0]):
        if spans[i][0] >= reached:
            groups.append([])
        groups[-1].append(i)
        reached = max(reached, spans[i][1])
    return groups


def margin_for(labels: Sequence[EndLabel]) -> int:
    """Return the right margin (px) in which every label fits."""
    return round(max((label.width_px for label in labels if not label.is_left), default=0) + LABEL_GAP_PX + 4)
