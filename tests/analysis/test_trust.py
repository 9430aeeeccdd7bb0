"""Which points of a series may be concluded from: clean ones alone, else disturbed ones that say so."""

from gpuexplain.analysis.trust import most_trustworthy, trustworthy_enough
from gpuexplain.model import Clock, Dtype, Flag, Point

FLAGGED = (Flag.DRIFTING,)


def point(x: float, *flags: Flag) -> Point:
    """Return a timed point of a series."""
    fields = {"experiment": "scaling", "series": "strong", "x": x, "shape": (int(x),), "dtype": Dtype.FP32}
    fields |= {"device": "cpu", "device_name": "Fake CPU", "clock": Clock.CALL, "timing": "a clock", "flops": 1.0}
    return Point.model_validate({**fields, "n_samples": 9, "median_s": 0.1, "flags": flags})


def xs(points: list) -> list[float]:
    """Return the sizes."""
    return [p.x for p in points]


def test_a_disturbed_point_never_stands_beside_a_clean_one() -> None:
    """Disturbed ones are used where there is nothing else."""
    good, is_provisional = most_trustworthy([point(1, *FLAGGED), point(2)])
    assert (xs(good), is_provisional) == ([2.0], False)
    good, is_provisional = most_trustworthy([point(1, *FLAGGED), point(2, *FLAGGED)])
    assert (xs(good), is_provisional) == ([1.0, 2.0], True)
    assert not any(p.flags for p in good)


def test_what_says_nothing_without_its_base_keeps_it() -> None:
    """All of the series speak, provisionally; clean ones alone where they are enough, or where nothing is."""
    mixed = [point(1, *FLAGGED), point(2)]
    good, is_provisional = trustworthy_enough(mixed, lambda points: len(points) > 1)
    assert (xs(good), is_provisional) == ([1.0, 2.0], True)
    good, is_provisional = trustworthy_enough(mixed, bool)
    assert (xs(good), is_provisional) == ([2.0], False)
    good, is_provisional = trustworthy_enough(mixed, lambda points: len(points) > 2)
    assert (xs(good), is_provisional) == ([2.0], False)
