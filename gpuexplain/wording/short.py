"""Round numbers of settings without needless zeros: 5 s, not 5.0 s."""

from gpuexplain.units import NBSP, format_percent, format_time


def format_budget(time_s: float) -> str:
    """Return a set time as ``5 s`` or ``2 ms``."""
    return _without_zeros(format_time(time_s))


def format_share(share: float) -> str:
    """Return a set share as ``2 %``."""
    return _without_zeros(format_percent(share))


def _without_zeros(text: str) -> str:
    number, space, unit = text.partition(NBSP)
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit
