"""Who may measure next, and how does it go? The engine's front door, for pages, command line and tests."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from gpuexplain.engine.board import Board
from gpuexplain.engine.counts import Counted, Counts
from gpuexplain.engine.flight import Flight
from gpuexplain.engine.jobs import EngineStatus, Job, JobState
from gpuexplain.engine.key import compute_key, resolve_device
from gpuexplain.engine.limits import Limits
from gpuexplain.engine.neighbours import check_neighbours
from gpuexplain.engine.recorder import Recorder
from gpuexplain.engine.resuming import read_resumable_params
from gpuexplain.engine.stored_jobs import job_from_run
from gpuexplain.engine.ticket import Measurable, Ticket, make_ticket
from gpuexplain.engine.watch import Watch
from gpuexplain.engine.worker_process import default_command
from gpuexplain.engine.worker_slot import WorkerSlot
from gpuexplain.errors import EngineError, InputError, StoreError
from gpuexplain.hardware.machine import Machine, TorchProbe
from gpuexplain.logs import log_event
from gpuexplain.model import Params, Point
from gpuexplain.settings import Settings
from gpuexplain.store.run import new_run_id
from gpuexplain.store.runs import RunStore

LOG = logging.getLogger("gpuexplain.engine")

_STOP_S = 10.0
_STOPPED = "The engine is stopped. Start the app again."
_BROKEN = "The engine stopped on an internal error. The log has the details; restart the app."


class Runner(Watch):
    """One queue and one worker; every method may be called from any thread.

    A *visitor* is any stable name of who asks: keep it the same across tabs and reloads of one person,
    for it carries the right to cancel and the limit of two runs.
    """

    def __init__(
        self,
        store: RunStore,
        settings: Settings,
        worker_command: Sequence[str] | None = None,
        clock: Callable[[], float] = time.time,
        *,
        limits: Limits | None = None,
        warm: bool = True,
    ) -> None:
        """Prepare; nothing runs before ``start``.

        Args:
            store: Where runs are kept.
            settings: The operator's limits.
            worker_command: How a worker is started; with our interpreter by default.
            clock: Seconds since the epoch, for the times that are shown and stored.
            limits: How long to wait for what.
            warm: Whether a worker loads torch at once, before the first run asks for it.
        """
        limits = limits or Limits()
        super().__init__(Board(settings.max_queue), store, limits.foreign_poll_s)
        self._settings = settings
        self._clock = clock
        self._limits = limits
        self._warm = warm
        self._slot = WorkerSlot(worker_command or default_command(), self._limits, probes=warm)
        self._unsaved: list[Recorder] = []
        self._counts = Counts()
        self._next_orphans_s = 0.0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def start(self) -> None:
        """Begin to serve, without waiting; runs that a dead process left behind are marked interrupted."""
        if self._thread is not None:
            return
        self._end_orphans()
        self._stopping.clear()
        self._board.reopen()
        if self._warm and not self._settings.read_only:
            self.warm_up()
        self._thread = threading.Thread(target=self._serve, name="gpuexplain-engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the worker and wait for it; a running job becomes INTERRUPTED, its points are kept."""
        if self._thread is None:
            return
        self._stopping.set()
        self._thread.join(_STOP_S)
        self._thread = None

    def warm_up(self) -> None:
        """Start a worker soon, unless there is one, so that the next run begins fast."""
        self._slot.probed.clear()
        self._slot.wants_start = True

    def submit(
        self,
        experiment: Measurable,
        params: Params,
        machine: Machine,
        visitor: str = "",
        fresh: bool = False,
        *,
        confirmed: bool = False,
        in_held_place: bool = False,
    ) -> Job:
        """Ask for a run and return at once.

        The same request of several visitors is one flight. A finished, undisturbed run of the same key
        answers at once (state DONE, its own times), unless ``fresh``.

        Args:
            experiment: What to measure.
            params: Of ``experiment.params_type``.
            machine: As inspected, with the worker's probe: it decides what ``auto`` means.
            visitor: Who asks.
            fresh: Measure even if there is a result.
            confirmed: Measure although another process computes on the GPU.
            in_held_place: Use the place that ``hold_place`` kept for this visitor.

        Raises:
            InputError: If the params are of another experiment or over the operator's limit.
            ConfirmationError: If another process computes on the GPU and nobody confirmed the run.
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If nothing is measured here (read-only), or the engine has stopped.
        """
        self._check(experiment, params)
        key = compute_key(experiment.id, experiment.measuring_version, params, machine)
        if (shared := self._board.join(key, visitor)) is not None:
            return shared
        if not fresh and (answer := self._find_answer(key, visitor)) is not None:
            return answer
        if not confirmed:
            check_neighbours(params.device, machine)
        return self._queue(experiment, params, machine, visitor, key, in_held_place=in_held_place)

    def resume(
        self, experiment: Measurable, run_id: str, machine: Machine, visitor: str = "", *, confirmed: bool = False
    ) -> Job:
        """Go on with a run that was interrupted or crashed, as a new run that begins with its points.

        Every case is measured anew, in one sweep: what is known is shown until its turn has come. The
        interrupted run stays as it is.

        Raises:
            InputError: If there is no such run, it ended in another way, or this machine is not what it was.
            ConfirmationError: If another process computes on the GPU and nobody confirmed the run.
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If nothing is measured here (read-only), or the engine has stopped.
        """
        run = self._store.load_run(run_id)
        params = read_resumable_params(run, experiment, machine)
        self._check(experiment, params)
        if (shared := self._board.join(run.key, visitor)) is not None:
            return shared
        if not confirmed:
            check_neighbours(params.device, machine)
        return self._queue(experiment, params, machine, visitor, run.key, known=run.points)

    def hold_place(self, visitor: str) -> None:
        """Keep one of a visitor's two places for jobs that follow one another: they count as one.

        Raises:
            QueueFullError: If the queue, or the visitor's share of it, is full.
            EngineError: If nothing is measured here (read-only), or the engine has stopped.
        """
        self._check_measures()
        self._board.hold(visitor)

    def free_place(self, visitor: str) -> None:
        """Give back what ``hold_place`` kept."""
        self._board.free(visitor)

    def join(self, run_id: str, visitor: str) -> Job:
        """Take part in an active job of somebody else: it then goes on when they leave.

        Raises:
            EngineError: If the job is not active here.
        """
        return self._board.watch(run_id, visitor)

    def cancel(self, run_id: str, visitor: str = "") -> bool:
        """Stop a job: asked first, ended by force within two seconds; its points are kept.

        A visitor who shares a job with others only leaves it; the last one stops it. A queued job is
        just removed. Returns False, and does nothing, if the job had ended already.

        Raises:
            EngineError: If there is no such job, or the visitor has no part in it.
        """
        return self._board.leave(run_id, visitor, self._clock())

    def status(self) -> EngineStatus:
        """Return what runs now."""
        active = self._board.active()
        running = next((job for job in active if job.state is not JobState.QUEUED), None)
        return EngineStatus(
            worker="busy" if running else self._slot.state,
            worker_restarts=max(0, self._slot.starts - 1),
            queue_length=sum(job.state is JobState.QUEUED for job in active),
            not_stored=len(self._unsaved),
            running=running,
            read_only=self._settings.read_only,
        )

    def counts(self) -> Counted:
        """Return how many runs ended how, and how often the store failed, since this engine was made."""
        return self._counts.read()

    def probe(self) -> TorchProbe | None:
        """Return what torch said in the latest worker; None before one has loaded it."""
        return self._slot.probe

    def wait_for_probe(self, timeout: float | None = None) -> TorchProbe | None:
        """Return what torch says, once a worker has loaded it; None if none did within ``timeout`` s."""
        self._slot.probed.wait(timeout)
        return self._slot.probe

    def _queue(
        self,
        experiment: Measurable,
        params: Params,
        machine: Machine,
        visitor: str,
        key: str,
        known: tuple[Point, ...] = (),
        *,
        in_held_place: bool = False,
    ) -> Job:
        self._check_measures()
        now, device = self._clock(), resolve_device(params.device, machine)
        run_id = new_run_id(now)
        ticket = make_ticket(experiment, params, machine, run_id=run_id, key=key, device=device, now=now, known=known)
        job = self._board.queue(ticket, visitor, in_held_place=in_held_place)
        if job.run_id == run_id:  # else it was joined
            what = {"experiment": experiment.id, "device": device, "budget_s": params.sweep_budget_s}
            log_event(LOG, logging.INFO, "run_queued", run=run_id, **what, known_points=len(known) or None)
        return job

    def _check_measures(self) -> None:
        if self._settings.read_only:
            raise EngineError(
                "Nothing is measured here (GPUEXPLAIN_READ_ONLY is set). Look at an earlier run, "
                "or install GPU Explain on your own machine."
            )
        if self._thread is None:
            raise EngineError(_STOPPED)

    def _check(self, experiment: Measurable, params: Params) -> None:
        if not isinstance(params, experiment.params_type):
            raise InputError(
                f"Cannot run {experiment.id} with {type(params).__name__}: it takes {experiment.params_type.__name__}."
            )
        if params.sweep_budget_s > self._settings.max_budget_s:
            raise InputError(
                f"A budget of {params.sweep_budget_s:g} s is too long here: "
                f"at most {self._settings.max_budget_s:g} s (GPUEXPLAIN_MAX_BUDGET_S)."
            )

    def _find_answer(self, key: str, visitor: str) -> Job | None:
        try:
            run = self._store.latest_complete(key)
        except StoreError as error:  # then it is measured
            LOG.warning("%s", error)
            return None
        if run is None:
            return None
        return self._board.get(run.id) or self._board.add_ended(job_from_run(run, visitor))

    def _serve(self) -> None:
        """Run one job after the other until stopped."""
        try:
            while not self._stopping.is_set():
                if (ticket := self._board.take_next(self._limits.idle_poll_s)) is not None:
                    self._fly(ticket)
                else:
                    self._slot.tend()
                    if time.monotonic() >= self._next_orphans_s:
                        self._end_orphans()
                self._save_rest()
        finally:
            why = _STOPPED if self._stopping.is_set() else _BROKEN
            self._board.close(why, JobState.INTERRUPTED, self._clock())
            self._slot.kill()
            self._slot.end()
            for recorder in self._unsaved:
                if not recorder.write():
                    log_event(LOG, logging.ERROR, "run_lost", run=recorder.ticket.run_id, problem=recorder.problem)
            log_event(LOG, logging.INFO, "engine_stopped", reason=why)

    def _end_orphans(self) -> None:
        """Mark the runs of processes that are gone as interrupted; measuring goes on if that fails."""
        self._next_orphans_s = time.monotonic() + self._limits.orphans_s
        try:
            for run_id in self._store.interrupt_orphans():
                log_event(LOG, logging.WARNING, "run_orphaned", run=run_id)
        except StoreError as error:
            LOG.warning("%s", error)

    def _fly(self, ticket: Ticket) -> None:
        recorder = Recorder(self._store, ticket, self._clock(), self._limits, self._counts)
        Flight(
            ticket,
            slot=self._slot,
            board=self._board,
            recorder=recorder,
            limits=self._limits,
            clock=self._clock,
            is_stopping=self._stopping.is_set,
        ).fly()
        if (job := self._board.get(ticket.run_id)) is not None:
            self._counts.note_end(job)
        if not recorder.is_complete:
            self._unsaved.append(recorder)

    def _save_rest(self) -> None:
        """Try again to store what a failing store did not take."""
        for recorder in self._unsaved:
            recorder.tick()
            if recorder.is_complete and self._board.get(recorder.ticket.run_id):
                self._board.change(recorder.ticket.run_id, reason=recorder.reason)
        self._unsaved = [recorder for recorder in self._unsaved if not recorder.is_complete]
