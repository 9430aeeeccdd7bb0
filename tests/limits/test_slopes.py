"""Whether something grows, from samples whose slope is known."""

import random

import pytest

from benchmarks.slopes import find_slope, tell_slope


def line(per_min: float, noise: float, n_samples: int = 120) -> list[tuple[float, float]]:
    """Return a sample a second along a line."""
    chance = random.Random(1)
    return [(float(s), 100 + per_min * s / 60 + chance.gauss(0, noise)) for s in range(n_samples)]


@pytest.mark.parametrize("per_min", [0.0, 3.0, -5.0])
def test_the_slope_of_a_line_is_found_within_its_interval(per_min: float) -> None:
    """Per minute, from samples in seconds."""
    slope = find_slope(line(per_min, noise=0.2))
    assert slope is not None
    assert abs(slope.per_min - per_min) <= slope.half_width < 0.5


@pytest.mark.parametrize(
    ("per_min", "noise", "verdict", "holds"),
    [(0.0, 0.2, ": flat", True), (9.0, 0.2, ": grows", False), (2.0, 30.0, ": cannot tell", None)],
    ids=["flat", "leak", "noise"],
)
def test_the_verdict_needs_certainty(per_min: float, noise: float, verdict: str, holds: bool | None) -> None:
    """Noise is neither a leak nor a proof that there is none."""
    figure = tell_slope("memory", line(per_min, noise), "MiB/min", 2.0)
    assert verdict in figure.found
    assert figure.holds is holds


def test_few_samples_say_so() -> None:
    """A few seconds prove nothing."""
    assert tell_slope("memory", line(0, 1, 19), "MiB/min", 2.0).found == "19 samples are too few"


def test_what_stays_the_same_is_flat() -> None:
    """Without any noise at all."""
    assert tell_slope("handles", [(float(s), 40.0) for s in range(60)], "a minute", 1.0).holds is True
