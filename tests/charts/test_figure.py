"""The ground that every chart stands on, and its colours."""

import plotly.graph_objects as go
import pytest

from gpuexplain.charts.figure import (
    HEIGHT_PX,
    base_layout,
    color_words,
    empty_figure,
    note,
    shaded_range,
    vertical_line,
    without_title,
)
from gpuexplain.charts.literal import literal
from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SOFT_OPACITY, Entity, Theme, with_alpha

THEMES: tuple[Theme, ...] = ("light", "dark")


def luminance(color: str) -> float:
    """Return the relative luminance of ``#RRGGBB`` as WCAG 2 defines it."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def mix(color: str, ground: str, alpha: float) -> str:
    """Return what a translucent colour looks like on a ground."""
    parts = [(int(color[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(alpha * top + (1 - alpha) * below):02X}" for top, below in parts)


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_of_a_word_has_text_contrast(theme: Theme) -> None:
    """4.5 to 1 on the page and on the second background."""
    palette = PALETTES[theme]
    words = [palette.text, palette.muted, *(style.color(theme) for style in ENTITY_STYLES.values())]
    assert min(contrast(word, palette.background) for word in words) >= 4.5
    assert contrast(palette.muted, palette.second) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_of_a_word_has_text_contrast_in_a_warning(theme: Theme) -> None:
    """Caveats name the CPU and the GPU in their colours, on a ground that is tinted itself."""
    palette = PALETTES[theme]
    ground = mix(ENTITY_STYLES[Entity.WARNING].color(theme), palette.background, SOFT_OPACITY)
    words = [palette.text, palette.muted, *(style.color(theme) for style in ENTITY_STYLES.values())]
    assert min(contrast(word, ground) for word in words) >= 4.5


def test_alpha_keeps_the_hue() -> None:
    """As Plotly reads it."""
    assert with_alpha("#0072B2", 0.45) == "rgba(0,114,178,0.45)"


def test_a_title_is_wrapped_for_a_narrow_chart_and_coloured() -> None:
    """A break never splits a number from its unit, and colours survive it."""
    words = [("The GPU", Entity.GPU), (" overtakes ", None), ("the CPU", Entity.CPU), (" between 64 and 128", None)]
    assert color_words(words, "light", width=24) == (
        '<span style="color:#0072B2">The GPU</span> overtakes <span style="color:#B34E00">the<br>CPU</span>'
        " between 64 and 128"
    )


def test_the_layout_is_transparent_without_template_or_legend() -> None:
    """The page's own ground shows; the title starts at the left edge."""
    layout = base_layout([("A finding", None)], "dark", left=60, right=40)
    figure = go.Figure(layout=layout)
    assert figure.layout.template.layout.to_plotly_json() == {}
    assert (figure.layout.paper_bgcolor, figure.layout.plot_bgcolor) == ("rgba(0,0,0,0)",) * 2
    assert figure.layout.showlegend is False
    assert (figure.layout.title.text, figure.layout.title.xanchor) == ("<b>A finding</b>", "left")
    assert (figure.layout.margin.l, figure.layout.margin.r) == (60, 40)


def test_a_longer_title_gets_more_room() -> None:
    """Each line of it."""
    short = base_layout([("short", None)], "light", left=0, right=0)
    long = base_layout([("a much longer finding that needs a second line of text", None)], "light", left=0, right=0)
    assert long["margin"]["t"] - short["margin"]["t"] == 20


def test_an_empty_chart_says_what_to_do() -> None:
    """No axes, one sentence."""
    figure = empty_figure("Nothing is measured yet", "Press Run.", "light")
    assert [words.text for words in figure.layout.annotations] == ["Press Run."]
    assert (figure.layout.xaxis.visible, figure.layout.yaxis.visible, len(figure.data)) == (False, False, 0)


def test_shades_lie_below_and_notes_stay_readable() -> None:
    """Nothing covers the points."""
    assert shaded_range(64, 128, "#0072B2")["layer"] == vertical_line(80, "#0072B2")["layer"] == "below"
    words = note("floor", "#000000", "light", x=1, bgcolor="rgba(0,0,0,0)")
    assert (words["x"], words["bgcolor"], words["showarrow"]) == (1, "rgba(0,0,0,0)", False)


def test_a_title_can_stand_above_its_figure_instead() -> None:
    """In pieces with their entities; the plot stays as large, and the figure given is left as it is."""
    words = [("The GPU", Entity.GPU), (" overtakes the CPU between n = 64 and 128", None)]
    figure = go.Figure(layout=base_layout(words, "light", left=0, right=0))
    title, bare = without_title(figure)
    assert title == words
    assert bare.layout.title.text == ""
    assert bare.layout.meta is None
    plots = [fig.layout.height - fig.layout.margin.t for fig in (figure, bare)]
    assert plots[0] == plots[1]
    assert (figure.layout.height, bare.layout.margin.t) == (HEIGHT_PX, 14)
    assert len(bare.to_json()) < len(figure.to_json())
    assert "The GPU" in figure.layout.title.text


def test_a_figure_of_another_make_keeps_its_title() -> None:
    """Nothing is known of its pieces."""
    figure = go.Figure(layout={"title": {"text": "mine"}})
    assert without_title(figure) == ([], figure)


HOSTILE = "<img src=x onerror=alert(1)>$\\int$&amp;.csv"


def test_a_foreign_name_is_shown_as_it_is() -> None:
    """No tag, no entity and no formula is left in it for Plotly to read."""
    assert literal(HOSTILE) == "&lt;img src=x onerror=alert(1)&gt;&#36;\\int&#36;&amp;amp;.csv"
    assert literal("RTX 4090") == "RTX 4090"
    assert literal(HOSTILE) in color_words([(HOSTILE, Entity.GPU)], "light", width=200)
    assert "<img" not in base_layout([(HOSTILE, None)], "light", left=0, right=0)["title"]["text"]
