"""Whatever is sent through whichever door: taken, or refused in clear words; no traceback, no growth."""

import gc
import tracemalloc

import pytest

from tests.limits.doors import Door, doors, knock_once, try_door

DOORS = doors()
# At least so many in all, and so large a part of each door's that goes all the way through it.
LEAST_INPUTS = 1_000
LEAST_TAKEN = 0.2
INPUTS_PER_DOOR = 100
# A cache may fill; what grows by more each time is a leak.
MOST_GROWTH_BYTES = 64 * 2**10

TALLIES: dict[str, tuple[int, int]] = {}
KEPT: list[tuple[Door, object]] = []


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_everything_is_taken_or_clearly_refused(door: Door) -> None:
    """The inputs are the same on every machine; one in five at least is valid enough to be taken."""
    tally = try_door(door, INPUTS_PER_DOOR)
    TALLIES[door.name] = (tally.n_inputs, tally.n_taken)
    KEPT.extend((door, kept) for kept in tally.kept)
    assert tally.n_taken >= LEAST_TAKEN * tally.n_inputs, f"{tally.n_taken} of {tally.n_inputs} taken"


def test_the_doors_saw_enough() -> None:
    """All together."""
    if len(TALLIES) < len(DOORS):
        pytest.skip("only some of the doors were tried")
    assert sum(n_inputs for n_inputs, _ in TALLIES.values()) >= LEAST_INPUTS


def test_nothing_stays_behind() -> None:
    """The same inputs once more take no more memory: nothing of a refused input is kept."""
    if not KEPT:
        pytest.skip("no door was tried")
    grown = []
    tracemalloc.start()
    try:
        for _ in range(2):
            for door, given_input in KEPT:
                knock_once(door, given_input)
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert grown[1] - grown[0] < MOST_GROWTH_BYTES, grown
