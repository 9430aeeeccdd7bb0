"""A chart under its finding: the page breaks the title to its own width and chooses the height."""

from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from gpuexplain.charts.figure import HEIGHT_PX, Words, without_title
from gpuexplain.ui.rich_text import words_html

CHART_CONFIG = {"displaylogo": False, "displayModeBar": False, "responsive": True}

EMPTY_PX = 160.0  # a hint needs no room for a chart


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure without its title, and the title in pieces; both are shared by every viewer."""

    title: Words
    figure: go.Figure

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw yet, only what to do."""
        return not self.figure.data

    @property
    def height_px(self) -> float:
        """What the figure needs on the narrowest screen; wider ones give it more."""
        return EMPTY_PX if self.is_empty else float(self.figure.layout.height or HEIGHT_PX)


def make_panel(figure: go.Figure) -> Panel:
    """Return a figure as the page shows it."""
    return Panel(*without_title(figure))


def show_panel(panel: Panel, name: str, alt: str) -> None:
    """Write title and chart into the container ``name``, which the style rules know by its height."""
    height = f"<style>.st-key-{name}{{--gx-chart-px:{panel.height_px:g}px}}</style>"
    title = f'<h2 class="gx-chart-title">{words_html(panel.title)}</h2>' if panel.title else ""
    st.html(height + title)
    # As high as the style rules say: the spec has no say in what differs between screens.
    st.plotly_chart(panel.figure, theme=None, key=f"{name}-chart", config=CHART_CONFIG, alt=alt, height="stretch")
