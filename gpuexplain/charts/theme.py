"""Which colour, dash and marker belongs to which entity: one table for charts, words and widgets."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from gpuexplain.model import Point

Theme = Literal["light", "dark"]


class Entity(StrEnum):
    """What a line or a word stands for."""

    CPU = "cpu"
    GPU = "gpu"
    TRANSFER = "transfer"
    OVERHEAD = "overhead"
    THEORY = "theory"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class EntityStyle:
    """How an entity looks; colour is never alone."""

    light: str
    dark: str
    dash: str
    marker: str | None

    def color(self, theme: Theme) -> str:
        """Return the text-contrast colour for a theme."""
        return self.dark if theme == "dark" else self.light


# Colour-blind safe; text-contrast variants first.
ENTITY_STYLES: dict[Entity, EntityStyle] = {
    Entity.CPU: EntityStyle("#B34E00", "#E8833A", "solid", "circle"),
    Entity.GPU: EntityStyle("#0072B2", "#5BB5F0", "solid", "square"),
    Entity.TRANSFER: EntityStyle("#A23E77", "#D98FBF", "dash", "diamond"),
    Entity.OVERHEAD: EntityStyle("#00785A", "#3FC79A", "dot", "triangle-up"),
    Entity.THEORY: EntityStyle("#66727F", "#8A97A6", "longdash", None),
    Entity.WARNING: EntityStyle("#8A6100", "#E5B93C", "solid", "circle-open"),
}


@dataclass(frozen=True, slots=True)
class Palette:
    """Page colours of one theme; ``muted`` still has text contrast on both backgrounds."""

    background: str
    second: str
    text: str
    muted: str
    line: str


PALETTES: dict[Theme, Palette] = {
    "light": Palette("#FFFFFF", "#F6F7F9", "#1B2430", "#5A6673", "#E3E7EC"),
    "dark": Palette("#10151C", "#19212B", "#E6EBF1", "#9AA7B5", "#2A3542"),
}

GHOST_OPACITY = 0.45  # lines that were not measured here
BAND_OPACITY = 0.3  # intervals must be seen on a projector
SHADE_OPACITY = 0.12  # shaded ranges lie behind everything
SOFT_OPACITY = 0.05  # a box's ground: words of every entity keep 4.5 to 1 on it


def with_alpha(color: str, alpha: float) -> str:
    """Return ``#RRGGBB`` as ``rgba(...)``."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


@dataclass(frozen=True, slots=True)
class SeriesLook:
    """How an experiment draws one series: the entity's hue, with what sets it apart from its siblings.

    ``label`` is written at the line's end and stays short; ``name`` is used in the hover.
    """

    entity: Entity
    label: str
    name: str
    dash: str | None = None  # None: the entity's own
    marker: str | None = None
    width: float = 2.4
    marker_size: float = 8
    say_size: Callable[[Point], str] | None = None  # the size in the hover; None: n and the number format

    @property
    def line_dash(self) -> str:
        """The dash of the line."""
        return self.dash or ENTITY_STYLES[self.entity].dash

    @property
    def symbol(self) -> str:
        """The marker symbol."""
        return self.marker or ENTITY_STYLES[self.entity].marker or "circle"

    def color(self, theme: Theme) -> str:
        """Return the hue of the entity."""
        return ENTITY_STYLES[self.entity].color(theme)
