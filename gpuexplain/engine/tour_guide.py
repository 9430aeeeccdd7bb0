"""Who leads a tour from one experiment to the next, and who may end it?

Only one part at a time is in the queue, always at its end: other visitors measure between two parts,
so nobody waits for more than one of them. The tour holds one place of whoever asked for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol

from gpuexplain.engine.jobs import Job, JobState
from gpuexplain.engine.neighbours import check_neighbours
from gpuexplain.engine.runner import Runner
from gpuexplain.engine.ticket import Measurable
from gpuexplain.engine.tour import (
    TOUR_S,
    Tour,
    TourPart,
    TourState,
    check_tour_budget,
    next_budget_s,
    note_job,
    plan_parts,
)
from gpuexplain.errors import EngineError, GpuExplainError, InputError
from gpuexplain.hardware.machine import Machine

LOG = logging.getLogger("gpuexplain.engine")

# How long a look at a job lasts; a job that we left may go on for others without another change.
_LOOK_S = 0.5
_BEGIN_S = 2.0  # a leader queues its first part within milliseconds


class Tourable(Measurable, Protocol):
    """The part of an ``Experiment`` that a tour uses."""

    @property
    def tour_params(self) -> Any:
        """The settings of its run on a tour of ``TOUR_S``."""


class TourGuide:
    """At most one tour at a time on a runner; every method may be called from any thread."""

    def __init__(self, runner: Runner, most_s: float, clock: Callable[[], float] = time.time) -> None:
        """Prepare; nothing is measured before ``begin``.

        Args:
            runner: Who measures; it must be started.
            most_s: The operator's longest run.
            clock: Seconds since the epoch.
        """
        self._runner = runner
        self._most_s = most_s
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._tour: Tour | None = None
        self._is_cancelling = False

    def latest(self) -> Tour | None:
        """Return the tour that is under way, else the one that ended last, if there is one."""
        with self._changed:
            return self._tour

    def begin(
        self,
        experiments: Sequence[Tourable],
        machine: Machine,
        visitor: str,
        budget_s: float = TOUR_S,
        *,
        confirmed: bool = False,
    ) -> Tour:
        """Start a tour and return at once; the one under way is joined instead.

        Every part measures anew, and everything else about it is an ordinary run.

        Raises:
            InputError: If the budget cannot be used.
            ConfirmationError: If another process computes on a GPU of the tour and nobody confirmed it.
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If nothing is measured here (read-only), the engine has stopped, or a cancelled
                tour has not ended yet.
        """
        wanted_s = [(e.id, e.tour_params.sweep_budget_s) for e in experiments]
        with self._changed:
            if self._tour is not None and self._tour.is_active:
                if self._is_cancelling:
                    raise EngineError("The tour before is just ending. Start it again in a moment.")
                return self._join(self._tour, visitor)
            for experiment in () if confirmed else experiments:
                check_neighbours(experiment.tour_params.device, machine)
            if budget_s != TOUR_S:
                check_tour_budget(budget_s, len(experiments), self._most_s)
            self._runner.hold_place(visitor)
            parts = plan_parts(wanted_s, budget_s, self._most_s)
            version = 0 if self._tour is None else self._tour.version + 1
            self._tour = Tour(
                version=version, budget_s=budget_s, visitors=(visitor,), parts=parts, created_at=self._clock()
            )
            self._is_cancelling = False
            leader = threading.Thread(
                target=self._lead, args=(tuple(experiments), machine, visitor), name="gpuexplain-tour", daemon=True
            )
            leader.start()
            # Whoever asked sees the first part wait or run at once.
            self._changed.wait_for(self._has_begun, _BEGIN_S)
            return self._tour

    def leave(self, visitor: str) -> bool:
        """Stop the tour under way, its running part included; what was measured is kept.

        A visitor who shares it with others only leaves it; the last one stops it. Returns False, and
        does nothing, if there is none.

        Raises:
            EngineError: If the visitor has no part in it.
        """
        with self._changed:
            tour = self._tour
            if tour is None or not tour.is_active:
                return False
            if visitor not in tour.visitors:
                raise EngineError("This tour was asked for by somebody else, who can cancel it.")
            others = tuple(name for name in tour.visitors if name != visitor)
            if others:
                self._change(visitors=others)
            else:
                self._is_cancelling = True
                self._change(reason="Stopping after the current step.")
            if tour.current is not None and tour.current.run_id:
                with suppress(EngineError):  # it ended, or somebody left it already
                    self._runner.cancel(tour.current.run_id, visitor)
            return True

    def wait_change(self, version: int, timeout: float | None = None) -> Tour | None:
        """Return the latest tour once it is newer than ``version`` or has ended, or after ``timeout`` s."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._tour is None or self._tour.version > version or not self._tour.is_active, timeout
            )
            return self._tour

    def follow(self) -> Iterator[Tour]:
        """Yield the tour now and after every change; the last one has ended."""
        tour = self.latest()
        while tour is not None:
            yield tour
            if not tour.is_active:
                return
            tour = self.wait_change(tour.version)

    def _has_begun(self) -> bool:
        tour = self._tour
        return tour is None or not tour.is_active or tour.parts[0].state is not None

    def _join(self, tour: Tour, visitor: str) -> Tour:
        if visitor in tour.visitors:
            return tour
        if tour.current is not None and tour.current.run_id:
            with suppress(EngineError):  # it ended meanwhile: the next part takes this visitor along
                self._runner.join(tour.current.run_id, visitor)
        return self._change(visitors=(*tour.visitors, visitor))

    def _lead(self, experiments: Sequence[Tourable], machine: Machine, holder: str) -> None:
        """Go through all parts; the thread of one tour."""
        state, reason = TourState.INTERRUPTED, "The tour stopped on an internal error. The log has the details."
        try:
            for number, experiment in enumerate(experiments):
                try:
                    job = self._submit(number, experiment, machine)
                except InputError as error:  # this one cannot be asked here; the others can
                    self._change_part(number, state=JobState.FAILED, reason=str(error))
                    continue
                if job is None or not self._accompany(number, job):
                    break
            state, reason = self._tell_end()
        except GpuExplainError as error:  # the engine has stopped
            reason = str(error)
        finally:
            self._runner.free_place(holder)
            with self._changed:
                self._change(state=state, reason=reason, finished_at=self._clock())

    def _submit(self, number: int, experiment: Tourable, machine: Machine) -> Job | None:
        """Queue a part for all visitors of the tour; None if they have left."""
        with self._changed:
            tour = self._tour
            if tour is None or self._is_cancelling:
                return None
            budget_s = next_budget_s(tour, self._most_s)
            params = experiment.tour_params.model_copy(update={"budget_s": budget_s})
            first, *others = tour.visitors
            job = self._runner.submit(
                experiment, params, machine, first, fresh=True, confirmed=True, in_held_place=True
            )
            for visitor in others:
                with suppress(EngineError):
                    job = self._runner.join(job.run_id, visitor)
            self._change_part(number, budget_s=budget_s)
            self._note(number, job)
            return job

    def _accompany(self, number: int, job: Job) -> bool:
        """Watch a part to its end; return whether the tour goes on."""
        while True:
            with self._changed:
                tour = self._note(number, job)
                has_left = self._is_cancelling and not set(tour.visitors).intersection(job.visitors)
            if has_left or job.state in (JobState.CANCELLED, JobState.INTERRUPTED):
                return False
            if not job.state.is_active:
                return True
            job = self._runner.wait_change(job.run_id, job.version, _LOOK_S) or job

    def _tell_end(self) -> tuple[TourState, str]:
        with self._changed:
            assert self._tour is not None
            interrupted = next((p for p in self._tour.parts if p.state is JobState.INTERRUPTED), None)
            if interrupted is not None:
                return TourState.INTERRUPTED, interrupted.reason
            # Cancelling its running part on the page of that experiment ends the tour, too.
            is_cancelled = self._is_cancelling or any(p.state is JobState.CANCELLED for p in self._tour.parts)
            if is_cancelled:
                return TourState.CANCELLED, "Cancelled. What was measured until then is kept."
            return TourState.DONE, ""

    def _note(self, number: int, job: Job) -> Tour:
        with self._changed:
            assert self._tour is not None
            part = note_job(self._tour.parts[number], job)
            return self._tour if part == self._tour.parts[number] else self._put(number, part)

    def _change_part(self, number: int, **changes: Any) -> Tour:
        with self._changed:
            assert self._tour is not None
            return self._put(number, self._tour.parts[number].model_copy(update=changes))

    def _put(self, number: int, part: TourPart) -> Tour:
        assert self._tour is not None
        return self._change(parts=(*self._tour.parts[:number], part, *self._tour.parts[number + 1 :]))

    def _change(self, **changes: Any) -> Tour:
        with self._changed:
            assert self._tour is not None
            self._tour = self._tour.model_copy(update={**changes, "version": self._tour.version + 1})
            self._changed.notify_all()
            return self._tour
