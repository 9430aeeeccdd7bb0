"""A run that would disturb somebody else on the GPU is asked about first."""

from collections.abc import Callable

import pytest
from fake_measure import FakeExperiment, FakeParams

from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.neighbours import tell_neighbours
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.tour_guide import TourGuide
from gpuexplain.errors import ConfirmationError
from gpuexplain.hardware.machine import Gpu, Machine, TorchProbe


def with_gpus(machine: Machine, *others: int | None) -> Machine:
    """Return the machine with a GPU for each number of foreign processes on it."""
    gpus = tuple(
        Gpu(name=f"Card {n}", uuid=f"GPU-{n}", torch_device=f"cuda:{n}", compute_processes=count)
        for n, count in enumerate(others)
    )
    return machine.model_copy(update={"gpus": gpus, "torch": TorchProbe(version="2.13.0")})


@pytest.mark.parametrize(
    ("others", "device", "said"),
    [
        ((1,), "auto", "Another process computes on Card 0 (cuda:0) right now. "),
        ((0, 3), "cuda:1", "3 others compute on Card 1 (cuda:1) right now. "),
        ((0, 3), "auto", ""),
        ((2,), "cpu", ""),
        ((None,), "cuda:0", ""),
        ((), "auto", ""),
    ],
    ids=["one", "three on the second", "not on the first", "on the CPU", "not told", "no GPU"],
)
def test_who_else_computes_is_told(machine: Machine, others: tuple[int | None, ...], device: str, said: str) -> None:
    """Only of the GPU that the run would use, and only what the driver tells for certain."""
    told = tell_neighbours(device, with_gpus(machine, *others))
    remedy = (
        "A run takes some of its time and memory, and is itself measured under load. "
        "Choose another device, wait, or confirm that the run may disturb."
    )
    assert told == (f"{said}{remedy}" if said else "")


def test_nothing_is_queued_before_somebody_confirms(
    runner: Runner, machine: Machine, experiment: FakeExperiment
) -> None:
    """What is there already, or under way, disturbs nobody anew."""
    shared = with_gpus(machine, 1)
    with pytest.raises(ConfirmationError, match=r"Another process computes on Card 0 \(cuda:0\)"):
        runner.submit(experiment, FakeParams(script="point"), shared, "anna")
    assert runner.active_jobs() == ()
    on_cpu = runner.submit(experiment, FakeParams(script="point", device="cpu"), shared, "anna")
    assert runner.wait(on_cpu.run_id, 60).state is JobState.DONE
    job = runner.submit(experiment, FakeParams(script="point polite"), shared, "anna", confirmed=True)
    assert runner.submit(experiment, FakeParams(script="point polite"), shared, "ben").run_id == job.run_id
    runner.cancel(job.run_id, "anna")
    runner.cancel(job.run_id, "ben")
    runner.wait(job.run_id, 60)
    done = runner.submit(experiment, FakeParams(script="point"), shared, "anna", confirmed=True)
    runner.wait(done.run_id, 60)
    assert runner.submit(experiment, FakeParams(script="point"), shared, "ben").run_id == done.run_id


def test_a_tour_is_asked_about_before_it_begins(
    runner: Runner, machine: Machine, make_tourable: Callable[[str], FakeExperiment]
) -> None:
    """Once for all of its parts."""
    guide = TourGuide(runner, 600)
    with pytest.raises(ConfirmationError, match="Another process computes"):
        guide.begin([make_tourable("a")], with_gpus(machine, 1), "anna")
    assert guide.latest() is None
    guide.begin([make_tourable("a"), make_tourable("b")], with_gpus(machine, 1), "anna", confirmed=True)
    *_, last = guide.follow()
    assert [part.state for part in last.parts] == [JobState.DONE, JobState.DONE]


@pytest.fixture
def make_tourable() -> Callable[[str], FakeExperiment]:
    """Make an experiment that a tour can visit."""

    class Tourable(FakeExperiment):
        tour_params = FakeParams(script="point", budget_s=2)

    return lambda name: Tourable(id=name)
