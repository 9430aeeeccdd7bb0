"""Small turns of phrase."""

import pytest

from gpuexplain.units import NBSP
from gpuexplain.wording.phrases import (
    count_of,
    join_words,
    say_about_n,
    say_between,
    say_interval,
    say_n,
    say_number,
    say_sizes,
)


@pytest.mark.parametrize(
    ("words", "told"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_are_joined_in_words(words: list[str], told: str) -> None:
    """With one "and"."""
    assert join_words(words) == told


def test_a_list_can_end_in_another_word() -> None:
    """Or."""
    assert join_words(["a", "b"], last="or") == "a or b"


def test_sizes_are_unbreakable_and_separated() -> None:
    """No line ends between n and its number."""
    assert say_n(1024) == f"n{NBSP}={NBSP}1,024"
    assert say_sizes([64, 128, 2048]) == f"n{NBSP}={NBSP}64, 128 and 2,048"
    assert say_between(64, 128) == f"between n{NBSP}={NBSP}64 and n{NBSP}={NBSP}128"


@pytest.mark.parametrize(("n", "told"), [(82.4, "82"), (643.0, "640"), (1734.0, "1,700")])
def test_an_estimate_has_two_digits(n: float, told: str) -> None:
    """Between two measured sizes no more is known."""
    assert say_about_n(n) == f"about n{NBSP}={NBSP}{told}"


def test_small_counts_are_words() -> None:
    """Up to twelve."""
    assert [say_number(count) for count in (0, 1, 12, 13, 1024)] == ["no", "one", "twelve", "13", "1,024"]
    assert [count_of(count, "point") for count in (1, 2)] == ["one point", "two points"]
    assert count_of(2, "series", "series") == "two series"


def test_an_interval_is_told_in_percent_or_not_at_all() -> None:
    """Half its width, of the centre."""
    assert say_interval(2.0, 1.9, 2.1).replace(NBSP, " ") == " (± 5.0 %)"
    assert say_interval(2.0, None, 2.1) == say_interval(None, 1.0, 2.0) == say_interval(2.0, 2.0, 2.0) == ""
