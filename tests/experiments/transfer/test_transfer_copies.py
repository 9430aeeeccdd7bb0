"""What is copied, whether it arrived, and what happens around a copy."""

import gc
import weakref
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from transfer_fakes import FakeCuda  # noqa: E402
from transfer_made import KIB, MIB  # noqa: E402

from gpuexplain.errors import UnsupportedError  # noqa: E402
from gpuexplain.experiments.transfer.buffers import Buffers, empty_pinned_cache, fresh_memory  # noqa: E402
from gpuexplain.experiments.transfer.clocks import CopyClock  # noqa: E402
from gpuexplain.experiments.transfer.copies import (  # noqa: E402
    PinThenCopy,
    check_copy,
    check_fresh_copy,
    copy_and_wait,
    copy_in_pieces,
    copy_to_fresh_memory,
    copy_without_waiting,
    judge_copy,
    rotate,
)
from gpuexplain.experiments.transfer.pattern import MOST_CHECKED_TILES, TILE_VALUES, Pattern  # noqa: E402
from gpuexplain.measuring.stopwatch import Check  # noqa: E402


@pytest.fixture(scope="module")
def pattern() -> Pattern:
    """The values to copy."""
    return Pattern()


def written(pattern: Pattern, start: int, stop: int) -> torch.Tensor:
    """Return the pattern from ``start`` to ``stop``."""
    values = torch.empty(stop)
    pattern.write(values, start, stop)
    return values[start:stop]


# -- the pattern ----------------------------------------------------------------------------------


def test_values_are_seeded_uniform_and_never_constant(pattern: Pattern) -> None:
    """In [-1, 1), the same every time."""
    values = written(pattern, 0, TILE_VALUES)
    assert torch.equal(values, written(Pattern(), 0, TILE_VALUES))
    assert -1 <= float(values.min()) < -0.99
    assert 0.99 < float(values.max()) < 1
    assert abs(float(values.mean())) < 0.01


def test_values_depend_on_their_place(pattern: Pattern) -> None:
    """A copy that lands one tile, or one value, beside its place is seen."""
    values = written(pattern, 0, 3 * TILE_VALUES)
    assert not torch.equal(values[:TILE_VALUES], values[TILE_VALUES : 2 * TILE_VALUES])
    assert pattern.count_wrong(values[: 2 * TILE_VALUES], 0) == 0
    assert pattern.count_wrong(values[TILE_VALUES : 2 * TILE_VALUES], 0) > 0.99 * TILE_VALUES
    assert pattern.count_wrong(values[1 : 2 * TILE_VALUES], 0) > 0


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 10), (5, 3 * TILE_VALUES), (TILE_VALUES - 1, TILE_VALUES + 1), (TILE_VALUES, 2 * TILE_VALUES)],
)
def test_parts_cover_a_stretch_once(pattern: Pattern, start: int, stop: int) -> None:
    """From its first to its last value, each part as long as it says."""
    parts = list(pattern.parts(start, stop))
    assert [first for first, _, _ in parts] == [start, *(last for _, last, _ in parts[:-1])]
    assert parts[-1][1] == stop
    assert all(len(values) == last - first for first, last, values in parts)


@pytest.mark.parametrize("at", [0, 999], ids=["first", "last"])
def test_one_wrong_value_is_found(pattern: Pattern, at: int) -> None:
    """And counted."""
    values = written(pattern, 4000, 5000).clone()
    values[at] += 1
    assert pattern.count_wrong(values, 4000) == 1


def test_of_a_large_copy_both_ends_and_some_between_are_looked_at(pattern: Pattern) -> None:
    """Not every byte of a gibibyte."""
    parts = pattern.checked_parts(100, 100 + 40 * TILE_VALUES)
    assert len(parts) == MOST_CHECKED_TILES
    assert parts[0][0] == 100
    assert parts[-1][1] == 100 + 40 * TILE_VALUES
    assert len(pattern.checked_parts(0, MOST_CHECKED_TILES * TILE_VALUES)) == MOST_CHECKED_TILES


def test_erasing_leaves_nothing_that_could_pass(pattern: Pattern) -> None:
    """What is looked at was zero before the copy."""
    values = written(pattern, 0, 2 * TILE_VALUES).clone()
    pattern.erase(values, 0)
    assert pattern.count_wrong(values, 0) == 2 * TILE_VALUES


# -- the buffers ----------------------------------------------------------------------------------


def test_buffers_are_made_when_asked_for_and_filled_as_far_as_needed() -> None:
    """A slice of one buffer for every size."""
    buffers = Buffers(3 * TILE_VALUES, "cpu", torch.empty)
    places = buffers.places(buffers.second, buffers.pageable, 64 * KIB, 8)
    assert len(places) == 8
    assert {start for start, _, _ in places} == {i * 16 * KIB for i in range(8)}
    for start, target, source in places:
        assert len(target) == len(source) == 16 * KIB
        assert source.data_ptr() == buffers.pageable.values.data_ptr() + 4 * start
        assert torch.equal(target, source)
        assert buffers.pattern.count_wrong(source, start) == 0
    assert buffers.places(buffers.second, buffers.pageable, 64 * KIB, 8) is places
    assert buffers.places(buffers.pageable, buffers.second, 64 * KIB, 8) is not places


def test_memory_that_cannot_be_pinned_says_why_and_what_stands_for_it() -> None:
    """Here there is no GPU to pin it for."""
    if torch.cuda.is_available():
        pytest.skip("memory can be pinned here")
    buffers = Buffers(1024, "cpu")
    with pytest.raises(UnsupportedError) as caught:
        _ = buffers.pinned
    assert str(caught.value).startswith("Memory cannot be pinned here (")
    assert str(caught.value).endswith("); the series from pageable memory stands for this one.")
    assert buffers.pageable.values.numel() == 1024


def test_giving_pinned_memory_back_never_fails() -> None:
    """Where there is none, nothing happens."""
    assert empty_pinned_cache() in (True, False)


def test_fresh_memory_is_zero_and_ours_alone() -> None:
    """Pages that the kernel has just handed out."""
    pages = fresh_memory(8 * KIB)
    assert bytes(pages[:]) == bytes(8 * KIB)
    pages.close()


# -- the ways to copy -----------------------------------------------------------------------------


def places_of(size: int = 64 * KIB, n_places: int = 4) -> tuple[list, Pattern]:
    """Return places whose targets hold the pattern."""
    buffers = Buffers(size * n_places // 4, "cpu", torch.empty)
    return buffers.places(buffers.second, buffers.pageable, size, n_places), buffers.pattern


WAYS = {
    "and wait": copy_and_wait,
    "without waiting": copy_without_waiting,
    "in pieces": copy_in_pieces(4 * KIB, wait=True),
    "in queued pieces": copy_in_pieces(4 * KIB, wait=False),
    "pinned first": lambda advance: PinThenCopy(advance, torch.clone),
}


@pytest.mark.parametrize("make", WAYS.values(), ids=list(WAYS))
def test_every_way_copies_the_next_place(make) -> None:
    """One after the other, whole."""
    places, pattern = places_of()
    operation = make(rotate(places))
    for start, target, _ in places:
        target.zero_()
        operation()
        assert pattern.count_wrong(target, start) == 0
    assert check_copy(make, places, pattern, lambda: None) == Check(0.0, 0, 0)


def nothing(advance):
    """Copy nothing."""
    return advance


def half(advance):
    """Copy half of a place."""

    def operation() -> None:
        _, target, source = advance()
        target[: len(target) // 2].copy_(source[: len(source) // 2])

    return operation


def elsewhere(advance):
    """Copy what stands one value further on."""

    def operation() -> None:
        _, target, source = advance()
        target.copy_(source.roll(1))

    return operation


@pytest.mark.parametrize("make", [nothing, half, elsewhere], ids=lambda make: make.__name__)
def test_a_copy_that_did_not_arrive_is_a_failure(make) -> None:
    """However fast it was."""
    places, pattern = places_of()
    check = check_copy(make, places, pattern, lambda: None)
    assert check.rel_error is None
    assert check.failure.startswith("The copy is wrong: ")


def test_a_check_waits_before_the_copy_and_after_it() -> None:
    """A copy on a stream of its own must not overtake the erasing, nor be read too soon."""
    places, pattern = places_of()
    log: list[str] = []

    def make(advance):
        def operation() -> None:
            log.append("copy")
            copy_and_wait(advance)()

        return operation

    check_copy(
        make,
        places,
        pattern,
        lambda: log.append("sync"),
        before=lambda: log.append("before"),
        after=lambda: log.append("after"),
    )
    assert log == ["sync", "before", "copy", "sync", "after"]


def count_mappings() -> int:
    """Return how many stretches of memory this process has."""
    return len(Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the kernel shows no mappings")
def test_a_copy_to_fresh_memory_gives_it_back() -> None:
    """Two hundred of them leave nothing behind, and the values are right."""
    places, pattern = places_of(MIB, 2)
    operation = copy_to_fresh_memory(rotate(places))
    before = count_mappings()
    for _ in range(200):
        operation()
    assert count_mappings() - before < 50
    assert check_fresh_copy(places, pattern) == Check(0.0, 0, 0)


def test_a_wrong_source_fails_the_fresh_copy_too() -> None:
    """The comparison is with the place, not with the source."""
    places, pattern = places_of()
    places[-1][2][7] = 5.0
    assert check_fresh_copy(places, pattern).failure.startswith("The copy is wrong: 1 of")


def test_a_pinned_copy_lives_until_after_the_synchronisation() -> None:
    """Its memory may not go to somebody else while the device reads it."""
    places, _ = places_of()
    kept: list[weakref.ref] = []

    def pin(source: torch.Tensor) -> torch.Tensor:
        copy = source.clone()
        kept.append(weakref.ref(copy))
        return copy

    operation = PinThenCopy(rotate(places), pin)
    operation()
    gc.collect()
    assert kept[0]() is not None
    operation.let_go()
    gc.collect()
    assert kept[0]() is None


@pytest.mark.parametrize(("n_wrong", "error"), [(0, 0.0), (3, None)])
def test_a_copy_is_exact_or_wrong(n_wrong: int, error: float | None) -> None:
    """There is no small error."""
    check = judge_copy(n_wrong)
    assert check.rel_error == error
    assert bool(check.failure) is bool(n_wrong)


# -- its clock ------------------------------------------------------------------------------------


def test_only_the_copy_and_one_synchronisation_are_timed() -> None:
    """What must happen between two copies costs nothing."""
    cuda = FakeCuda()
    now = [0.0]

    def spend(seconds: float, name: str):
        def step() -> None:
            cuda.log.append(name)
            now[0] += seconds

        return step

    clock = CopyClock(
        spend(2.0, "copy"), lambda: judge_copy(0), cuda, between=spend(50.0, "between"), clock=lambda: now[0]
    )
    block = clock.time_block(untimed=1, n_calls=1)
    assert cuda.log == ["between", "sync", "copy", "sync"] * 2
    assert (block.call_s, block.untimed_s) == (2.0, 2.0)
    assert clock.most_calls == 1
    assert clock.timing == "host clock around the copy and one synchronisation at its end"
