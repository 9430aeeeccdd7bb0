"""The small turns of phrase that all explanations share."""

from collections.abc import Sequence

from gpuexplain.units import NBSP, format_count, format_plus_minus, format_significant

_NUMBER_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def say_n(n: float) -> str:
    """Return ``n = 1,024``, unbreakable."""
    return f"n{NBSP}={NBSP}{format_count(n)}"


def say_sizes(sizes: Sequence[float]) -> str:
    """Return ``n = 64``, or ``n = 64, 128 and 256``."""
    return f"n{NBSP}={NBSP}{join_words([format_count(n) for n in sizes])}"


def say_between(low: float, high: float) -> str:
    """Return ``between n = 64 and n = 128``: two sizes that were measured."""
    return f"between {say_n(low)} and {say_n(high)}"


def say_about_n(n: float) -> str:
    """Return ``about n = 640``: an estimate between measured sizes has two digits at most."""
    return f"about n{NBSP}={NBSP}{format_significant(n, 2)}"


def say_number(count: int) -> str:
    """Return a count as a word up to twelve, in digits above."""
    return _NUMBER_WORDS[count] if 0 <= count < len(_NUMBER_WORDS) else format_count(count)


def count_of(count: int, singular: str, plural: str | None = None) -> str:
    """Return ``one point``, ``three points``, ``24 points``."""
    return f"{say_number(count)} {singular if count == 1 else plural or singular + 's'}"


def say_interval(centre: float | None, low: float | None, high: float | None) -> str:
    """Return `` (± 1.2 %)``, with its space in front; nothing where there is no interval."""
    if not centre or low is None or high is None or high <= low:
        return ""
    return f" ({format_plus_minus((high - low) / 2 / centre)})"
