"""The turns of phrase that all rulings share."""

from collections.abc import Callable

from gpuexplain.units import format_factor, format_percent, format_significant
from gpuexplain.wording.markup import mark

THE_CPU = mark("cpu", "the CPU")
THE_GPU = mark("gpu", "the GPU")


def say_device(device: str) -> str:
    """Return the CPU or the GPU, in its colour."""
    return THE_CPU if device == "cpu" else THE_GPU


def say_factor(factor: float, low: float | None, high: float | None) -> str:
    """Return ``1.80 × (1.70 to 1.90)``; without bounds the factor alone."""
    bounds = f" ({format_significant(low)} to {format_significant(high)})" if low and high else ""
    return f"{format_factor(factor)}{bounds}"


def say_share(share: float, low: float | None, high: float | None) -> str:
    """Return ``45.0 % (44.5 to 45.5 %)``; without bounds the share alone."""
    if low is None or high is None:
        return format_percent(share, 3)
    return f"{format_percent(share, 3)} ({format_significant(low * 100)} to {format_percent(high, 3)})"


def say_span(middle: float, low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return ``12.0 ms (11.9 ms to 12.1 ms)``; without bounds the middle alone."""
    return write(middle) + (f" ({write(low)} to {write(high)})" if low and high else "")


def say_speed(factor: float, low: float | None, high: float | None) -> str:
    """Return ``is 2.00 × (1.96 to 2.04) as fast as``; of what is slower ``takes 4.00 × (3.92 to 4.08) as long as``."""
    if factor >= 1:
        return f"is {say_factor(factor, low, high)} as fast as"
    return f"takes {say_factor(1 / factor, 1 / high if high else None, 1 / low if low else None)} as long as"
