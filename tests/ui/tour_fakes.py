"""A guide that does what the test says; nothing moves by itself."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ui_fakes import FakeRunner

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.neighbours import check_neighbours
from gpuexplain.engine.tour import TOUR_S, Tour, TourState, note_job, plan_parts
from gpuexplain.errors import QueueFullError
from gpuexplain.experiments.contract import Experiment
from gpuexplain.hardware.machine import Machine


@dataclass
class FakeGuide:
    """Keeps one tour as the test sets it; its first part runs from the start."""

    runner: FakeRunner
    tour: Tour | None = None
    refuses: str = ""
    begun: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    machine: Machine | None = None

    def begin(self, experiments: Sequence[Experiment], machine: Machine, visitor: str, confirmed: bool = False) -> Tour:
        """Take the tour and run its first part."""
        if self.refuses:
            raise QueueFullError(self.refuses)
        if not confirmed:
            check_neighbours("auto", machine)
        self.begun.append((tuple(e.id for e in experiments), visitor))
        self.experiments, self.machine = {e.id: e for e in experiments}, machine
        wanted = [(e.id, e.tour_params.sweep_budget_s) for e in experiments]
        parts = plan_parts(wanted, TOUR_S, 600)
        self.tour = Tour(budget_s=TOUR_S, visitors=(visitor,), parts=parts, created_at=time.time())
        self.run_part(experiments[0].id)
        return self.tour

    def run_part(self, name: str, **changes: object) -> Job:
        """Give a part its job, or change the job that it has."""
        assert self.tour is not None
        number = next(n for n, part in enumerate(self.tour.parts) if part.experiment == name)
        part = self.tour.parts[number]
        if not part.run_id:
            experiment = self.experiments[name]
            params = experiment.tour_params.model_copy(update={"budget_s": part.wanted_s})
            job = self.runner.submit(
                experiment, params, self.machine, self.tour.visitors[0], fresh=True, confirmed=True
            )
        else:
            job = self.runner.jobs[part.run_id]
        if changes:
            job = self.runner.change(job.run_id, **changes)
        parts = list(self.tour.parts)
        parts[number] = note_job(part.model_copy(update={"budget_s": part.wanted_s}), job)
        self.change(parts=tuple(parts))
        return job

    def end_part(self, name: str, state: JobState = JobState.DONE, **changes: object) -> Job:
        """End the job of a part."""
        return self.run_part(name, state=state, finished_at=time.time(), **changes)

    def change(self, **changes: object) -> None:
        """Replace fields of the tour."""
        assert self.tour is not None
        self.tour = self.tour.model_copy(update={"version": self.tour.version + 1, **changes})

    def end(self, state: TourState = TourState.DONE, reason: str = "") -> None:
        """End the tour."""
        self.change(state=state, reason=reason, finished_at=time.time())

    def latest(self) -> Tour | None:
        """Return the tour as set."""
        return self.tour

    def leave(self, visitor: str) -> bool:
        """Note the wish, end the tour."""
        self.left.append(visitor)
        self.end(TourState.CANCELLED)
        return True
