"""How is one job brought from its worker to the board and the store, whatever happens on the way?"""

import logging
import time
from collections.abc import Callable

from gpuexplain.engine.board import Board
from gpuexplain.engine.jobs import JobState
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.protocol import (
    CancelRequest,
    FailedEvent,
    FinishedEvent,
    PointEvent,
    ProgressEvent,
    RunRequest,
    StartedEvent,
    WaitingEvent,
)
from gpuexplain.engine.recorder import Recorder
from gpuexplain.engine.ticket import Ticket
from gpuexplain.engine.worker_process import Ended, Garbage, Heard
from gpuexplain.engine.worker_slot import WorkerSlot
from gpuexplain.errors import EngineError
from gpuexplain.logs import log_event
from gpuexplain.measuring.session import Coverage

LOG = logging.getLogger("gpuexplain.engine")

_KEPT = "Points measured until then are kept; run it again."


class Flight:
    """One job on one worker; ``fly`` returns when it has ended, in one of the ways of ``JobState``."""

    def __init__(
        self,
        ticket: Ticket,
        *,
        slot: WorkerSlot,
        board: Board,
        recorder: Recorder,
        limits: Limits,
        clock: Callable[[], float],
        is_stopping: Callable[[], bool],
    ) -> None:
        """Prepare the flight; nothing starts yet."""
        self._ticket = ticket
        self._run_id = ticket.run_id
        self._slot = slot
        self._board = board
        self._recorder = recorder
        self._limits = limits
        self._clock = clock
        self._is_stopping = is_stopping
        self._points = {point.case_id: point for point in ticket.known}
        self._begun = time.monotonic()
        self._started: float | None = None
        self._is_waiting = False
        self._cancel_asked: float | None = None
        self._is_terminated = False
        self._is_relaunched = False
        self._has_ended = False
        self._shown_problem = ""

    def fly(self) -> None:
        """Run the job to its end."""
        self._launch()
        while not self._has_ended:
            if (heard := self._slot.hear(self._limits.poll_s)) is not None:
                self._take(heard)
            if not self._has_ended:
                self._check_clocks()
                self._recorder.tick()
                self._show_problem()

    def _launch(self) -> None:
        """Hand the job to a worker."""
        try:
            self._slot.ensure()
        except EngineError as error:
            self._end(JobState.FAILED, str(error))
            return
        request = RunRequest(
            job_id=self._run_id,
            measure_module=self._ticket.measure_module,
            params=self._ticket.params,
            label=self._ticket.label,
        )
        self._slot.send(request)

    def _take(self, heard: Heard) -> None:
        """Act on what the worker said."""
        match heard:
            case Ended():
                self._take_end()
            case Garbage():
                self._give_up(JobState.CRASHED, f"The measuring process broke off: {heard.problem}")
            case _ if getattr(heard, "job_id", None) != self._run_id:
                return
            case PointEvent(point=point):
                self._points[point.case_id] = point
                self._recorder.add(point)
                self._board.change(self._run_id, points=tuple(self._points.values()))
            case ProgressEvent(progress=progress):
                self._board.change(self._run_id, progress=progress)
            case WaitingEvent(holder=holder):
                self._is_waiting = True
                self._board.change(self._run_id, state=JobState.WAITING, ahead=holder)
            case StartedEvent():
                self._is_waiting, self._started = False, time.monotonic()
                self._board.change(self._run_id, state=JobState.RUNNING, ahead="", started_at=self._clock())
                log_event(LOG, logging.INFO, "run_started", run=self._run_id, experiment=self._ticket.experiment)
            case FinishedEvent(cancelled=cancelled, coverage=coverage, restart=restart):
                self._replace_worker(restart)
                reason = f"Cancelled. {_KEPT}" if cancelled else ""
                self._end(JobState.CANCELLED if cancelled else JobState.DONE, reason, coverage)
            case FailedEvent(reason=reason, restart=restart):
                self._replace_worker(restart)
                self._end(JobState.FAILED, reason)

    def _take_end(self) -> None:
        """Say why the worker ended, unless it was told to."""
        how, _ = self._slot.end()
        self._slot.wants_start = True
        if not self._is_relaunched and self._started is None and self._cancel_asked is None:
            # It died before it began, perhaps while idle: nothing was measured, so another one may try.
            self._is_relaunched = True
            self._launch()
        elif self._is_terminated:
            self._end(JobState.CANCELLED, f"Cancelled in the middle of a step. {_KEPT}")
        else:
            self._end(JobState.CRASHED, f"The measuring process {how}. {_KEPT}")

    def _check_clocks(self) -> None:
        """Stop what was cancelled, what takes too long, and what went silent."""
        now = time.monotonic()
        if self._is_stopping():
            self._give_up(JobState.INTERRUPTED, f"The app was stopped during the run. {_KEPT}")
        elif self._board.is_cancelling(self._run_id):
            self._press_cancel(now)
        elif late := self._tell_late(now):
            self._give_up(JobState.CRASHED, f"{late} and was ended. {_KEPT}")

    def _tell_late(self, now: float) -> str:
        """Return which wait is over, "" while none is."""
        limits, budget_s = self._limits, self._ticket.budget_s
        deadline_s = budget_s * limits.deadline_factor + limits.deadline_grace_s
        if self._slot.is_silent:
            return f"The measuring process gave no sign of life for {limits.silent_s:g} s"
        if self._started is not None:
            late = f"The run took more than {deadline_s:g} s for a budget of {budget_s:g} s"
            return late if now - self._started > deadline_s else ""
        if not self._is_waiting and now - self._begun > limits.start_s:
            return f"The measuring process was not ready within {limits.start_s:g} s"
        return ""

    def _press_cancel(self, now: float) -> None:
        """Ask first, then terminate, then kill; two seconds in all."""
        if self._cancel_asked is None:
            self._cancel_asked = now
            self._slot.send(CancelRequest(job_id=self._run_id))
        waited_s = now - self._cancel_asked
        if waited_s > self._limits.polite_cancel_s + self._limits.terminate_s:
            self._give_up(JobState.CANCELLED, f"Cancelled in the middle of a step. {_KEPT}")
        elif waited_s > self._limits.polite_cancel_s and not self._is_terminated:
            self._is_terminated = True
            self._slot.terminate()

    def _give_up(self, state: JobState, reason: str) -> None:
        """End the worker by force and the job in ``state``; points on their way still count."""
        self._slot.kill()
        _, unheard = self._slot.end()
        self._slot.wants_start = state is not JobState.INTERRUPTED
        for heard in unheard:
            if isinstance(heard, PointEvent):
                self._take(heard)
        self._end(state, reason)

    def _replace_worker(self, restart: bool) -> None:
        if restart:
            self._slot.end()
            self._slot.wants_start = True

    def _end(self, state: JobState, reason: str, coverage: Coverage | None = None) -> None:
        """Write the end to the store first, so that whoever sees it can load it."""
        self._has_ended = True
        finished_at = self._clock()
        took_s = time.monotonic() - (self._begun if self._started is None else self._started)
        started_at = finished_at - took_s  # by a clock that nobody sets: the wall's may have been set meanwhile
        self._log_end(state, reason, took_s)
        self._slot.rest()
        self._recorder.finish(state, reason, coverage, started_at, finished_at)
        self._board.change(
            self._run_id,
            state=state,
            reason=" ".join(filter(None, [reason, self._recorder.problem])),
            coverage=coverage,
            ahead="",
            started_at=None if self._started is None else started_at,
            finished_at=finished_at,
        )

    def _log_end(self, state: JobState, reason: str, took_s: float) -> None:
        is_bad = state in (JobState.CRASHED, JobState.FAILED)
        log_event(
            LOG,
            logging.WARNING if is_bad else logging.INFO,
            "run_ended",
            run=self._run_id,
            experiment=self._ticket.experiment,
            state=state.value,
            points=len(self._points),
            took_s=took_s,
            reason=reason,
            last_words=self._slot.last_words if is_bad else "",
        )

    def _show_problem(self) -> None:
        """Say while the run goes on that the store does not take it (or takes it again)."""
        if self._recorder.problem != self._shown_problem and self._cancel_asked is None:
            self._shown_problem = self._recorder.problem
            self._board.change(self._run_id, reason=self._shown_problem)
