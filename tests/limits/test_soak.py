"""Which process a long run is judged by, from made-up samples."""

from benchmarks.report import Figure
from benchmarks.slopes import Sample
from benchmarks.soak import Plan, Soaked, tell_soak


def life(pid: int, begin_s: int, end_s: int, mib: float, per_min: float = 0.0) -> list[Sample]:
    """Return three looks every 15 s at a process that grows by so much."""
    rounds = [s for s in range(begin_s, end_s, 15) for _ in range(3)]
    return [Sample(float(s), pid, int((mib + per_min * (s - begin_s) / 60) * 2**20), 5, 7) for s in rounds]


def memory_of_worker(worker: list[Sample]) -> Figure:
    """Return the figure of its memory."""
    soaked = Soaked(app=life(1, 0, 300, 200), worker=worker)
    return next(f for f in tell_soak(Plan(), soaked) if f.name.startswith("memory of the worker"))


def test_a_leak_at_rest_is_seen() -> None:
    """Five mebibytes a minute in 500."""
    assert memory_of_worker(life(2, 0, 300, 500, 5.0)).holds is False
    assert memory_of_worker(life(2, 0, 300, 500, 0.5)).holds is True


def test_the_worker_that_lived_longest_is_judged() -> None:
    """One that replaces it at the end loads its libraries first: that is no leak."""
    figure = memory_of_worker([*life(2, 0, 240, 500), *life(3, 240, 300, 250, 200.0)])
    assert figure.holds is True
    assert figure.name == "memory of the worker (of 2 the one that lived longest)"


def test_a_worker_that_came_later_is_judged_once_it_has_loaded() -> None:
    """Its first rounds do not count; what it does afterwards does."""
    loading = life(3, 30, 90, 250, 250.0)
    first = life(2, 0, 30, 500)
    assert memory_of_worker([*first, *loading, *life(3, 105, 330, 520)]).holds is True
    assert memory_of_worker([*first, *loading, *life(3, 105, 330, 520, 6.0)]).holds is False


def test_without_a_worker_there_is_nothing_to_judge() -> None:
    """Nobody pressed Run."""
    assert memory_of_worker([]).holds is None
