"""A tour goes through several experiments: one after the other, within its time, shared, to a clear end."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fake_measure import MODULE, FakeParams

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.tour import (
    FLOOR_S,
    TOUR_S,
    Tour,
    TourPart,
    TourState,
    check_tour_budget,
    next_budget_s,
    plan_parts,
)
from gpuexplain.engine.tour_guide import TourGuide
from gpuexplain.errors import EngineError, InputError, QueueFullError
from gpuexplain.hardware.machine import Machine
from gpuexplain.model import Params
from gpuexplain.settings import Settings
from gpuexplain.store.run import RunState
from gpuexplain.store.runs import RunStore

PATIENCE_S = 20.0
Submit = Callable[..., Job]
MakeRunner = Callable[..., Runner]


@dataclass(frozen=True, slots=True)
class Lab:
    """An experiment of which a tour knows its settings."""

    id: str
    script: str = "point"
    seconds: float = 11.0
    measuring_version: int = 1
    measure_module: str = MODULE
    params_type: type[Params] = field(default=FakeParams)

    @property
    def tour_params(self) -> FakeParams:
        """Its run on a tour."""
        return FakeParams(script=self.script, budget_s=self.seconds)


class OtherParams(Params):
    """Settings of another experiment."""


FOUR = (Lab("one"), Lab("two"), Lab("three"), Lab("four"))


@pytest.fixture
def guide(runner: Runner) -> TourGuide:
    """A guide on a started runner."""
    return TourGuide(runner, most_s=600)


def until(guide: TourGuide, has: Callable[[Tour], bool]) -> Tour:
    """Wait until the tour has a property, and return it."""
    deadline = time.monotonic() + PATIENCE_S
    tour = guide.latest()
    while tour is None or not has(tour):
        assert time.monotonic() < deadline, tour
        assert tour is None or tour.is_active, tour
        tour = guide.wait_change(-1 if tour is None else tour.version, 0.5)
    return tour


def ended(guide: TourGuide) -> Tour:
    """Wait for the end of the tour."""
    return until(guide, lambda tour: not tour.is_active)


def part_runs(number: int) -> Callable[[Tour], bool]:
    """Whether the part of that number runs."""
    return lambda tour: tour.parts[number].state is JobState.RUNNING


# -- the way through ------------------------------------------------------------------------------


def test_every_experiment_has_its_turn_as_an_ordinary_run(
    guide: TourGuide, runner: Runner, machine: Machine, store: RunStore
) -> None:
    """One after the other in the order given, each stored under its experiment with its budget."""
    guide.begin(FOUR, machine, "anna")
    tour = ended(guide)
    assert (tour.state, tour.reason, tour.share) == (TourState.DONE, "", 1.0)
    runs = [store.load_run(part.run_id) for part in tour.parts]
    assert [run.experiment for run in runs] == ["one", "two", "three", "four"]
    assert [run.params["budget_s"] for run in runs] == [11.0] * 4
    assert [run.started_at for run in runs] == sorted(run.started_at or 0 for run in runs)
    assert tour.run_ids == {run.experiment: run.id for run in runs}
    assert tour.finished_at is not None


def test_a_tour_measures_anew(guide: TourGuide, machine: Machine) -> None:
    """Whoever asks to measure gets a measurement, not an earlier answer."""
    guide.begin(FOUR[:1], machine, "anna")
    first = ended(guide)
    guide.begin(FOUR[:1], machine, "anna")
    second = until(guide, lambda tour: not tour.is_active and tour.run_ids != first.run_ids)
    assert second.state is TourState.DONE
    assert second.version > first.version


def test_progress_grows_over_the_whole_tour(guide: TourGuide, machine: Machine, tmp_path: Path) -> None:
    """The bar of the tour is half way when the second of two parts begins."""
    gate = tmp_path / "gate"
    labs = (Lab("one"), Lab("two", f"point file={gate}"))
    guide.begin(labs, machine, "anna")
    tour = until(guide, lambda t: t.parts[1].share > 0)
    assert tour.share == pytest.approx(0.75)
    assert tour.current == tour.parts[1]
    gate.touch()
    shares = [tour.share for tour in guide.follow()]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("script", ["point known", "point unknown", "point signal=SIGKILL"])
def test_a_part_that_fails_does_not_end_the_tour(guide: TourGuide, machine: Machine, script: str) -> None:
    """Its reason is told, its points are kept, the others are measured."""
    guide.begin((Lab("one"), Lab("two", script), Lab("three")), machine, "anna")
    tour = ended(guide)
    assert tour.state is TourState.DONE
    assert [part.has_failed for part in tour.parts] == [False, True, False]
    assert tour.parts[1].reason
    assert [part.n_points for part in tour.parts] == [1, 1, 1]


def test_a_part_that_cannot_be_asked_does_not_end_the_tour(guide: TourGuide, machine: Machine) -> None:
    """A refusal by the runner is that part's failure."""
    guide.begin((Lab("one", params_type=OtherParams), Lab("two")), machine, "anna")
    tour = ended(guide)
    assert [part.state for part in tour.parts] == [JobState.FAILED, JobState.DONE]
    assert "Cannot run one with FakeParams" in tour.parts[0].reason


# -- the time ---------------------------------------------------------------------------------------


def made(*parts: tuple[float, float | None, float], budget_s: float = TOUR_S) -> Tour:
    """Return a tour of parts (wanted, given, spent); those with a budget are over."""
    return Tour(
        budget_s=budget_s,
        visitors=("anna",),
        created_at=0.0,
        parts=tuple(
            TourPart(
                experiment=str(number),
                wanted_s=wanted_s,
                budget_s=given_s,
                spent_s=spent_s,
                state=None if given_s is None else JobState.DONE,
            )
            for number, (wanted_s, given_s, spent_s) in enumerate(parts)
        ),
    )


AHEAD = (11.0, None, 0.0)


@pytest.mark.parametrize(
    ("tour", "budget_s"),
    [
        (made(AHEAD, AHEAD, AHEAD, AHEAD), 11.0),
        (made((11, 11, 12), (11, 11, 12), (11, 11, 12), AHEAD), 11.0),
        (made((11, 11, 17), AHEAD, AHEAD, AHEAD), 8.3),  # (60 - 17 - 3 x 6) / 3
        (made((11, 11, 17), (11, 8.3, 14.3), AHEAD, AHEAD), 8.3),  # the same again fits exactly
        (made((11, 11, 90), AHEAD, AHEAD, AHEAD), FLOOR_S),
        (made((11, 11, 0), AHEAD, AHEAD, AHEAD), 11.0),
        (made((20, None, 0), (20, None, 0), (20, None, 0), (20, None, 0)), 14.0),
        (made((5, None, 0), (15, None, 0), budget_s=16), 3.5),
    ],
    ids=[
        "plenty",
        "as planned",
        "one overran",
        "two overran",
        "all gone",
        "failed at once",
        "too much",
        "in proportion",
    ],
)
def test_the_next_part_gets_its_share_of_what_is_left(tour: Tour, budget_s: float) -> None:
    """Never more than it wants, never under the floor; overruns are expected to happen again."""
    assert next_budget_s(tour, most_s=600) == pytest.approx(budget_s, abs=0.05)


@pytest.mark.parametrize("overrun_s", [0, 1, 2, 4, 8])
def test_parts_that_overrun_alike_end_in_time(overrun_s: float) -> None:
    """As long as the floor does not have to hold, the whole tour takes no more than its time."""
    tour = made(AHEAD, AHEAD, AHEAD, AHEAD)
    for number in range(4):
        given_s = next_budget_s(tour, most_s=600)
        part = tour.parts[number].model_copy(
            update={"budget_s": given_s, "spent_s": given_s + overrun_s, "state": JobState.DONE}
        )
        tour = tour.model_copy(update={"parts": (*tour.parts[:number], part, *tour.parts[number + 1 :])})
    assert tour.spent_s <= TOUR_S + 0.2  # budgets are rounded to tenths


def test_the_operators_longest_run_holds_for_every_part() -> None:
    """Even under the floor."""
    assert next_budget_s(made(AHEAD), most_s=5) == 5
    assert next_budget_s(made(AHEAD), most_s=0.5) == 0.5
    assert [part.wanted_s for part in plan_parts([("one", 11)], TOUR_S, 5)] == [5]


def test_a_longer_tour_wants_longer_parts() -> None:
    """In proportion to the usual one."""
    assert [part.wanted_s for part in plan_parts([("one", 11), ("two", 10)], 120, 600)] == [22, 20]


@pytest.mark.parametrize("budget_s", [0, -5, 11.9, 2405, float("nan"), float("inf")])
def test_a_budget_that_cannot_be_used_is_told(budget_s: float) -> None:
    """With what is allowed."""
    with pytest.raises(
        InputError, match=r"budget=\S+ cannot be used\. Allowed: seconds for the whole tour, 12 to 2,404"
    ):
        check_tour_budget(budget_s, n_parts=4, most_s=600)


@pytest.mark.parametrize("most_s", [0.5, 2, 5, 600])
def test_some_budget_is_always_allowed(most_s: float) -> None:
    """However short the operator's longest run is."""
    with pytest.raises(InputError, match="to") as raised:
        check_tour_budget(0, 4, most_s)
    least, largest = str(raised.value).removesuffix(".").split(", ", 2)[-1].replace(",", "").split(" to ")
    assert check_tour_budget(float(least), 4, most_s) <= check_tour_budget(float(largest), 4, most_s)


# -- visitors -----------------------------------------------------------------------------------------


def test_visitors_who_ask_at_once_share_one_tour(
    guide: TourGuide, runner: Runner, machine: Machine, tmp_path: Path, store: RunStore
) -> None:
    """One flight: each experiment is measured once, for all of them."""
    gate = tmp_path / "gate"
    labs = (Lab("one", f"point file={gate}"), Lab("two"))
    names = [f"visitor {number}" for number in range(6)]
    threads = [threading.Thread(target=guide.begin, args=(labs, machine, name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tour = until(guide, part_runs(0))
    assert sorted(tour.visitors) == names
    gate.touch()
    tour = ended(guide)
    assert len(store.list_runs()) == 2
    job = runner.job(tour.parts[1].run_id)
    assert job is not None
    assert sorted(job.visitors) == names


def test_a_tour_counts_as_one_run_of_its_visitor(
    guide: TourGuide, runner: Runner, submit: Submit, machine: Machine, tmp_path: Path
) -> None:
    """One more may wait beside it, a second one not; the tour goes on all the same, and gives its place back."""
    gate = tmp_path / "gate"
    guide.begin((Lab("one", f"file={gate}"), Lab("two"), Lab("three")), machine, "anna")
    until(guide, part_runs(0))
    own = submit(runner, "point", "anna", tag="own")
    with pytest.raises(QueueFullError, match="already have 2 runs"):
        submit(runner, "point", "anna", tag="more")
    gate.touch()
    assert ended(guide).state is TourState.DONE
    assert runner.wait(own.run_id, PATIENCE_S).state is JobState.DONE  # type: ignore[union-attr]
    blocker = submit(runner, "polite", "anna", tag="a")
    submit(runner, "point", "anna", tag="b")
    runner.cancel(blocker.run_id, "anna")


def test_others_measure_between_two_parts(
    guide: TourGuide, runner: Runner, submit: Submit, machine: Machine, tmp_path: Path
) -> None:
    """Whoever waits is next, before the tour's second part: nobody waits for a whole tour."""
    gate = tmp_path / "gate"
    guide.begin((Lab("one", f"file={gate}"), Lab("two")), machine, "anna")
    until(guide, part_runs(0))
    bens = submit(runner, "point", "ben")
    gate.touch()
    tour = ended(guide)
    job, second = runner.job(bens.run_id), runner.job(tour.parts[1].run_id)
    assert job is not None
    assert second is not None
    assert (job.started_at or 0) < (second.started_at or 0)


def test_a_full_queue_does_not_end_a_tour_on_its_way(
    guide: TourGuide, runner: Runner, submit: Submit, machine: Machine, tmp_path: Path
) -> None:
    """Its place is kept; a new tour is refused with the reason."""
    gate = tmp_path / "gate"
    guide.begin((Lab("one", f"file={gate}"), Lab("two")), machine, "anna")
    until(guide, part_runs(0))
    for number in range(3):
        submit(runner, f"file={gate}", f"v{number}", tag=str(number))
    with pytest.raises(QueueFullError, match="queue is full"):
        TourGuide(runner, 600).begin(FOUR, machine, "zoe")
    gate.touch()
    assert ended(guide).state is TourState.DONE


def test_waiting_for_others_takes_nothing_from_the_tours_time(
    guide: TourGuide, runner: Runner, submit: Submit, machine: Machine, tmp_path: Path
) -> None:
    """Only what its own runs took counts."""
    gate = tmp_path / "gate"
    first = submit(runner, f"file={gate}", "ben")
    guide.begin((Lab("one"),), machine, "anna")
    until(guide, lambda tour: tour.parts[0].state is JobState.QUEUED)
    time.sleep(0.3)
    gate.touch()
    runner.wait(first.run_id, PATIENCE_S)
    tour = ended(guide)
    job = runner.job(tour.parts[0].run_id)
    assert job is not None
    assert job.started_at is not None
    assert job.finished_at is not None
    assert job.started_at - job.created_at >= 0.3
    assert tour.spent_s == job.finished_at - job.started_at


# -- its end ------------------------------------------------------------------------------------------


def test_cancel_ends_the_whole_tour(guide: TourGuide, machine: Machine, store: RunStore) -> None:
    """The running part stops and keeps its points; the parts behind it never begin."""
    guide.begin((Lab("one"), Lab("two", "point polite"), Lab("three")), machine, "anna")
    until(guide, lambda tour: tour.parts[1].n_points == 1)
    with pytest.raises(EngineError, match="asked for by somebody else"):
        guide.leave("ben")
    assert guide.leave("anna")
    tour = ended(guide)
    assert (tour.state, tour.reason) == (TourState.CANCELLED, "Cancelled. What was measured until then is kept.")
    assert [part.state for part in tour.parts] == [JobState.DONE, JobState.CANCELLED, None]
    assert [run.state for run in store.list_runs()] == [RunState.CANCELLED, RunState.DONE]
    assert guide.leave("anna") is False


def test_cancelling_its_running_part_ends_the_tour(guide: TourGuide, runner: Runner, machine: Machine) -> None:
    """Cancel means stop, on whichever page it is pressed."""
    guide.begin((Lab("one", "point polite"), Lab("two")), machine, "anna")
    tour = until(guide, lambda tour: tour.parts[0].n_points == 1)
    runner.cancel(tour.parts[0].run_id, "anna")
    assert ended(guide).state is TourState.CANCELLED


def test_the_last_visitor_of_a_shared_tour_ends_it(guide: TourGuide, runner: Runner, machine: Machine) -> None:
    """The one who asked first may go; a latecomer may end it then."""
    guide.begin((Lab("one", "point polite"), Lab("two")), machine, "anna")
    until(guide, lambda tour: tour.parts[0].n_points == 1)
    guide.begin((Lab("one", "point polite"), Lab("two")), machine, "ben")
    assert guide.leave("anna")
    tour = guide.latest()
    assert tour is not None
    assert (tour.is_active, tour.visitors) == (True, ("ben",))
    job = runner.job(tour.parts[0].run_id)
    assert job is not None
    assert job.visitors == ("ben",)
    assert guide.leave("ben")
    assert ended(guide).state is TourState.CANCELLED


def test_a_part_that_somebody_else_needs_goes_on_without_the_tour(
    guide: TourGuide, runner: Runner, machine: Machine
) -> None:
    """The tour ends at once; the run it shared belongs to the other one now."""
    lab = Lab("one", "point polite")
    guide.begin((lab, Lab("two")), machine, "anna")
    tour = until(guide, lambda tour: tour.parts[0].n_points == 1)
    runner.join(tour.parts[0].run_id, "ben")
    guide.leave("anna")
    assert ended(guide).state is TourState.CANCELLED
    job = runner.job(tour.parts[0].run_id)
    assert job is not None
    assert (job.state, job.visitors) == (JobState.RUNNING, ("ben",))
    runner.cancel(job.run_id, "ben")


def test_a_tour_that_is_ending_is_not_joined(guide: TourGuide, machine: Machine) -> None:
    """Who asks in the seconds between cancel and end is told to try again."""
    guide.begin((Lab("one", "point deaf"), Lab("two")), machine, "anna")
    until(guide, lambda tour: tour.parts[0].n_points == 1)
    guide.leave("anna")
    with pytest.raises(EngineError, match=r"just ending\. Start it again in a moment"):
        guide.begin(FOUR, machine, "ben")
    assert ended(guide).state is TourState.CANCELLED
    guide.begin(FOUR, machine, "ben")
    until(guide, lambda tour: tour.state is TourState.DONE)


def test_the_end_of_the_engine_ends_the_tour(make_runner: MakeRunner, machine: Machine) -> None:
    """It says why, and nothing hangs."""
    runner = make_runner()
    guide = TourGuide(runner, most_s=600)
    guide.begin((Lab("one", "point polite"), Lab("two")), machine, "anna")
    until(guide, lambda tour: tour.parts[0].n_points == 1)
    runner.stop()
    tour = ended(guide)
    assert (tour.state, tour.parts[0].state) == (TourState.INTERRUPTED, JobState.INTERRUPTED)
    assert "stopped" in tour.reason


def test_nothing_is_measured_where_the_operator_forbids_it(
    make_runner: MakeRunner, settings: Settings, machine: Machine
) -> None:
    """The tour is refused as a run is."""
    shows = TourGuide(make_runner(settings.model_copy(update={"read_only": True})), most_s=600)
    with pytest.raises(EngineError, match="GPUEXPLAIN_READ_ONLY"):
        shows.begin(FOUR, machine, "anna")
    assert shows.latest() is None


def test_whoever_begins_a_tour_sees_its_first_part_asked(guide: TourGuide, machine: Machine) -> None:
    """A page that is drawn right after the click shows what runs."""
    tour = guide.begin((Lab("one", "polite"), Lab("two")), machine, "anna")
    assert tour.parts[0].state is not None
    assert tour.parts[0].run_id
    guide.leave("anna")
    ended(guide)
