"""Snapshots are kept as long as they are small, and every change makes a newer one."""

from collections.abc import Callable

import pytest
from fake_measure import FakeExperiment, FakeParams, make_point

from gpuexplain.engine.board import Board
from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.limits import KEPT_JOBS, KEPT_SAMPLES
from gpuexplain.engine.ticket import Ticket, make_ticket, tell_ahead
from gpuexplain.errors import EngineError, QueueFullError
from gpuexplain.hardware.machine import Machine

MakeTicket = Callable[[str], Ticket]


@pytest.fixture
def ticket(machine: Machine) -> MakeTicket:
    """Make the ticket of a run, its key the same as its id."""

    def make(run_id: str) -> Ticket:
        asked = {"run_id": run_id, "key": run_id, "device": "cpu", "now": 1.0}
        return make_ticket(FakeExperiment(), FakeParams(), machine, **asked)  # type: ignore[arg-type]

    return make


def _ended(run_id: str, n_samples: int) -> Job:
    points = (make_point(1, samples_s=(0.1,) * n_samples),)
    job = {"run_id": run_id, "key": run_id, "experiment": "fake", "params": {}, "created_at": 1.0}
    return Job.model_validate({**job, "state": JobState.DONE, "points": points})


def test_small_ended_jobs_are_kept_up_to_a_number() -> None:
    """The oldest go first."""
    board = Board(max_queue=1)
    for number in range(KEPT_JOBS + 2):
        board.add_ended(_ended(str(number), 1))
    assert (board.get("1"), board.get("2") is not None) == (None, True)


def test_large_ended_jobs_are_kept_up_to_their_samples() -> None:
    """The latest always stays."""
    board = Board(max_queue=1)
    for name in "abc":
        board.add_ended(_ended(name, KEPT_SAMPLES // 2))
    assert [board.get(name) is not None for name in "abc"] == [False, True, True]
    board.add_ended(_ended("huge", 2 * KEPT_SAMPLES))
    assert [board.get(name) is not None for name in ("b", "c", "huge")] == [False, False, True]


def test_a_job_that_runs_is_never_forgotten(ticket: MakeTicket) -> None:
    """However many end meanwhile."""
    board = Board(max_queue=1)
    board.queue(ticket("long"), "anna")
    assert board.take_next(0) == ticket("long")
    for number in range(2 * KEPT_JOBS):
        board.add_ended(_ended(str(number), 1))
    assert [job.run_id for job in board.active()] == ["long"]


def test_every_change_makes_a_newer_snapshot(ticket: MakeTicket) -> None:
    """The old one stays as it was; waiting for a change returns at once if there was one."""
    board = Board(max_queue=1)
    old = board.queue(ticket("a"), "anna")
    new = board.change("a", state=JobState.RUNNING)
    assert (old.state, new.state) == (JobState.QUEUED, JobState.RUNNING)
    assert board.wait_change("a", old.version, timeout=None) == new
    assert board.wait_change("a", new.version, timeout=0) == new
    assert board.wait_change("unknown", 0, timeout=None) is None


def test_a_closed_board_takes_nothing(ticket: MakeTicket) -> None:
    """What was active has ended with the reason; after reopening it takes jobs again."""
    board = Board(max_queue=1)
    board.queue(ticket("a"), "anna")
    board.close("The engine is stopped.", JobState.INTERRUPTED, now=2.0)
    last = board.get("a")
    assert last is not None
    assert (last.state, last.reason, last.finished_at) == (
        JobState.INTERRUPTED,
        "The engine is stopped.",
        2.0,
    )
    with pytest.raises(EngineError, match="The engine is stopped"):
        board.queue(ticket("b"), "anna")
    board.reopen()
    assert board.queue(ticket("b"), "anna").state is JobState.QUEUED


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], ""),
        (["matmul on cpu"], "1 run is ahead: matmul on cpu"),
        (["matmul on cpu", "batch on cuda:0"], "2 runs are ahead: matmul on cpu, batch on cuda:0"),
    ],
    ids=["none", "one", "two"],
)
def test_a_waiting_job_is_told_who_is_ahead(labels: list[str], said: str) -> None:
    """Nearest the front first."""
    assert tell_ahead(labels) == said


def test_a_held_place_is_one_for_all_jobs_in_it(ticket: MakeTicket) -> None:
    """It is taken while no job stands in it, needs no room in the queue, and comes back when freed."""
    board = Board(max_queue=2)
    board.hold("anna")
    board.queue(ticket("a"), "anna")
    with pytest.raises(QueueFullError, match="already have 2 runs"):
        board.queue(ticket("b"), "anna")
    board.queue(ticket("c"), "ben")
    assert board.queue(ticket("part"), "anna", in_held_place=True).state is JobState.QUEUED
    board.free("anna")
    assert [board.take_next(0), board.take_next(0)] == [ticket("a"), ticket("c")]
    board.change("a", state=JobState.DONE)
    assert board.queue(ticket("b"), "anna").state is JobState.QUEUED


def test_a_place_cannot_be_held_where_there_is_none(ticket: MakeTicket) -> None:
    """Neither beyond the visitor's share, nor in a full queue, nor when the engine has stopped."""
    board = Board(max_queue=2)
    board.queue(ticket("a"), "anna")
    board.queue(ticket("b"), "anna")
    with pytest.raises(QueueFullError, match="already have 2 runs"):
        board.hold("anna")
    with pytest.raises(QueueFullError, match="queue is full"):
        board.hold("ben")
    board.close("The engine is stopped.", JobState.INTERRUPTED, now=2.0)
    with pytest.raises(EngineError, match="The engine is stopped"):
        board.hold("cleo")
