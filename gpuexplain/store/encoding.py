"""How are points and other models written as JSON without losing anything, NaN and infinity included?"""

from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from gpuexplain.model import Point

# A relative error may be NaN or infinite, and pydantic writes those as null. As the strings "NaN",
# "Infinity" and "-Infinity" the text stays valid JSON, and float fields read them back.
_NON_FINITE: Final = "strings"


def dump_json(content: Any, *, indent: int | None = None) -> str:
    """Return ``content`` (a model, or dicts, lists and scalars) as JSON that loses nothing."""
    plain = content.model_dump() if isinstance(content, BaseModel) else content
    return to_json(plain, inf_nan_mode=_NON_FINITE, indent=indent).decode()


def load_json(text: str) -> Any:
    """Return what ``dump_json`` wrote as dicts, lists and scalars.

    Raises:
        ValueError: If the text is not JSON.
    """
    return from_json(text)


def load_point(text: str) -> Point:
    """Return the point that ``dump_json`` wrote.

    Raises:
        pydantic.ValidationError: If the text is not a point of this schema version.
    """
    return Point.model_validate_json(text)
