"""Which colour, dash and marker belongs to which entity: one table for charts, words and widgets."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

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
