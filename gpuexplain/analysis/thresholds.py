"""When does a measured figure lie above, at or under a limit?

Rates are turned into times and back, so a figure that stands exactly on a limit can miss it by a few
units in the last place. These comparisons forgive that and nothing that a measurement could resolve.
"""

# A thousand times above the rounding of a few float64 operations, a million times under any noise.
ROUNDING = 1e-9


def exceeds(figure: float, limit: float) -> bool:
    """Whether ``figure`` lies above ``limit``; standing on it is not above."""
    return figure > limit * (1 + ROUNDING)


def reaches(figure: float, limit: float) -> bool:
    """Whether ``figure`` is at least ``limit``."""
    return figure >= limit * (1 - ROUNDING)


def falls_short(figure: float, limit: float) -> bool:
    """Whether ``figure`` lies under ``limit``; standing on it is not under."""
    return not reaches(figure, limit)
