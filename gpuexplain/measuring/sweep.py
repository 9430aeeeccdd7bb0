"""The anytime sweep: cases sampled in rounds until each is narrow enough or the time is up.

First visits go from small to large, because a case's cost is predicted from the smaller ones of its
series; from then on every round visits the open cases in a random order, so that a drifting clock
hits them alike. After the first visits every point exists; further rounds narrow it.
"""

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gpuexplain.errors import UnsupportedError
from gpuexplain.measuring.conditions import ConditionsMonitor, NoConditions
from gpuexplain.measuring.ledger import Ledger
from gpuexplain.measuring.sampling import (
    MOST_SHARE_OF_ONE_CASE,
    fits_explicit,
    fits_preset,
    predict_call_s,
    warmup_is_over,
)
from gpuexplain.measuring.session import Outcome, Session
from gpuexplain.measuring.stopwatch import LaunchLimitError, OutOfMemoryError, Stopwatch
from gpuexplain.measuring.track import Track
from gpuexplain.model import Case, Point, Status
from gpuexplain.units import format_time

# Changed points are handed over this often: often enough to watch, rarely enough not to disturb.
HAND_OVER_S = 0.5
# Where the answer lies is looked at once, when the coarse sweep has used this share of the budget
# or every case has converged.
REFINE_AT_SHARE = 0.4

Refine = Callable[[Sequence[Point], Sequence[Case]], Sequence[Case]]
Predict = Callable[[float, Sequence[tuple[float, float]]], float | None]


class Sweep:
    """One run of one experiment's cases within a budget (seconds)."""

    def __init__(
        self,
        experiment: str,
        cases: Sequence[Case],
        prepare: Callable[[Case], Stopwatch],
        session: Session,
        *,
        budget_s: float,
        device_names: dict[str, str],
        refine: Refine | None = None,
        conditions: ConditionsMonitor | NoConditions | None = None,
        clock: Callable[[], float] = time.perf_counter,
        seed: int = 0,
        say_x: Callable[[float], str] = str,
        most_call_s: float = math.inf,
        release: Callable[[Case], None] = lambda _: None,
        predict: Predict = predict_call_s,
    ) -> None:
        """Prepare a sweep; ``run`` starts it.

        Args:
            experiment: Its id.
            cases: What to measure.
            prepare: Makes the stopwatch of a case; what it raises as ``stopwatch`` names it is an outcome.
            session: Where points and progress go.
            budget_s: Seconds to spend.
            device_names: What each device is called.
            refine: Returns further cases where the answer lies.
            conditions: Watches what else goes on.
            clock: Seconds.
            seed: Of the order within a round.
            say_x: Words a size, for the progress.
            most_call_s: Cases predicted to take longer than this are left out.
            release: Frees what a case that ran out of memory left behind.
            predict: Returns the seconds of a call from its work and the (work, seconds) of its series.
        """
        self._experiment = experiment
        self._cases = sorted(cases, key=lambda case: case.work)
        self._say_x = say_x
        self._most_call_s = most_call_s
        self._release = release
        self._predict_s = predict
        self._prepare = prepare
        self._session = session
        self._budget_s = budget_s
        self._device_names = device_names
        self._refine = refine
        self._conditions = conditions or NoConditions()
        self._clock = clock
        self._random = random.Random(seed)
        self._tracks: list[Track] = []
        self._ledger = Ledger(budget_s)
        self._start_s = self._handed_over_s = clock()

    def run(self) -> Outcome:
        """Measure until every case is done, the time is up or somebody cancels."""
        with _no_garbage_collection():  # a collection inside a block would be timed as work
            return self._run()

    def _run(self) -> Outcome:
        self._conditions.start()
        cancelled = self._first_visits(self._cases)
        cancelled = cancelled or self._check_results()
        while not cancelled:
            visited, cancelled = self._round()
            if self._refine and not cancelled and (not visited or self._elapsed_s > self._refine_at_s):
                cancelled = self._refine_once()
                continue
            if not visited:
                break
        self._hand_over(everything=True)
        return Outcome(cancelled=cancelled, coverage=self._ledger.coverage(self._elapsed_s))

    # -- time ---------------------------------------------------------------------------------

    @property
    def _elapsed_s(self) -> float:
        return self._clock() - self._start_s

    @property
    def _remaining_s(self) -> float:
        return self._budget_s - self._elapsed_s

    @property
    def _refine_at_s(self) -> float:
        return REFINE_AT_SHARE * self._budget_s

    # -- first visits ---------------------------------------------------------------------------

    def _first_visits(self, cases: Sequence[Case]) -> bool:
        """Prepare, warm up and sample each case once, small to large; True when cancelled."""
        for case in cases:
            if self._session.cancelled():
                return True
            if self._is_beyond_memory(case):
                continue
            predicted_s = self._predict(case)
            refusal = self._refuse(case, predicted_s)
            if refusal is None:
                continue  # a preset leaves out what it cannot measure well
            track = Track(case)
            self._tracks.append(track)
            if refusal:
                track.end(Status.SKIPPED, refusal)
            else:
                self._ledger.predicted_call_s = max(self._ledger.predicted_call_s, predicted_s or 0.0)
                self._guarded(track, self._first_visit)
            if track.status is Status.OOM:
                self._prove_recovery(track)
            self._tell_progress(f"warming up {self._say_x(case.x)}")
            self._hand_over(just=track)
        return False

    def _is_beyond_memory(self, case: Case) -> bool:
        """Whether a smaller case of this series did not fit: then this one is not tried."""
        return any(t.status is Status.OOM and t.case.series == case.series for t in self._tracks)

    def _prove_recovery(self, failed: Track) -> None:
        """Free what the case left behind and run the smallest good one of its device again; say how that went."""
        self._release(failed.case)
        good = [t for t in self._tracks if t.case.device == failed.case.device and t.is_ready]
        if not good:
            return
        why = failed.reason.rstrip(".")
        smallest = min(good, key=lambda t: t.case.memory_bytes)
        self._guarded(smallest, self._sample)
        size = self._say_x(smallest.case.x)
        if smallest.is_ready:
            failed.end(Status.OOM, f"{why}. Afterwards {size} ran again: only this size does not fit.")
        else:
            failed.end(Status.OOM, f"{why}. Afterwards {size} failed too.")

    def _predict(self, case: Case) -> float | None:
        # By the fastest calls: on a busy machine a few that waited would shut out every larger size.
        known = [(t.case.work, t.fastest_call_s) for t in self._tracks if t.case.series == case.series and t.samples_s]
        return self._predict_s(case.work, known)

    def _refuse(self, case: Case, predicted_s: float | None) -> str | None:
        """Return "" to admit a case, a reason to show it as skipped, None to leave it out silently."""
        call_s = predicted_s or 0.0
        if call_s > self._most_call_s:
            too_long = f"One call would take about {format_time(call_s)}, over {format_time(self._most_call_s)}."
            return too_long if case.explicit else None
        if case.explicit:
            if fits_explicit(call_s, self._remaining_s):
                return ""
            return (
                f"One call would take about {format_time(call_s)}; of {format_time(self._budget_s)} only "
                f"{format_time(max(0.0, self._remaining_s))} are left. Give the run more time."
            )
        return "" if fits_preset(call_s, self._budget_s) and call_s <= self._remaining_s else None

    def _first_visit(self, track: Track) -> None:
        started_s = self._clock()
        track.stopwatch = self._prepare(track.case)
        self._ledger.prepare_s += self._clock() - started_s
        track.first_call_s = track.stopwatch.call_once()
        calls_s = [track.first_call_s]
        while not warmup_is_over(calls_s, self._budget_s):
            calls_s.append(track.stopwatch.call_once())
        track.warmup_s = calls_s[1:]
        track.spent_s += sum(calls_s)
        self._ledger.warmup_s += sum(calls_s)
        # The warm-up just ran: the caches hold this case, no further untimed calls are needed.
        self._sample(track, untimed=0)

    # -- rounds -----------------------------------------------------------------------------------

    def _round(self) -> tuple[bool, bool]:
        """Visit every due case once, in random order; return (anything visited, cancelled)."""
        due = [track for track in self._tracks if self._is_due(track)]
        if not due:  # only slow cases are left: they need not wait for anybody
            due = [track for track in self._tracks if track.is_open and self._affordable(track)]
        self._random.shuffle(due)
        visited = False
        for track in due:
            if self._session.cancelled():
                return visited, True
            if self._affordable(track):
                self._guarded(track, self._sample)
                visited = True
                self._tell_progress(f"round {self._ledger.rounds + 1}")
                self._hand_over()
        self._ledger.rounds += visited
        return visited, False

    def _is_due(self, track: Track) -> bool:
        fair = track.spent_s <= MOST_SHARE_OF_ONE_CASE * self._elapsed_s
        return track.is_open and fair and self._affordable(track)

    def _affordable(self, track: Track) -> bool:
        return track.plan().cost_s(track.call_s) <= self._remaining_s

    def _sample(self, track: Track, untimed: int | None = None) -> None:
        plan = track.plan()
        assert track.stopwatch is not None
        block = track.stopwatch.time_block(plan.untimed if untimed is None else untimed, plan.n_calls)
        track.add(block, plan.n_calls)
        track.spent_s += block.timed_s + block.untimed_s
        self._ledger.timed_s += block.timed_s
        self._ledger.warmup_s += block.untimed_s
        self._conditions.note(track.case)

    def _guarded(self, track: Track, visit: Callable[[Track], None]) -> None:
        """Run a visit; an outcome of the case (out of memory, unsupported) ends the case only."""
        outcome: tuple[Status, str] | None = None
        try:
            visit(track)
        except OutOfMemoryError as error:
            outcome = Status.OOM, str(error)
        except LaunchLimitError as error:
            outcome = Status.LAUNCH_LIMIT, str(error)
        except UnsupportedError as error:
            outcome = Status.UNSUPPORTED, str(error)
        if outcome:  # outside the except block: the exception holds the tensors
            track.end(*outcome)

    # -- refinement and checks ------------------------------------------------------------------

    def _refine_once(self) -> bool:
        refine, self._refine = self._refine, None
        assert refine is not None
        points = [self._point(track) for track in self._tracks]
        extra = sorted(refine(points, self._cases), key=lambda case: case.work)
        known = {track.case.id for track in self._tracks}
        cancelled = self._first_visits([case for case in extra if case.id not in known])
        return cancelled or self._check_results()

    def _check_results(self) -> bool:
        """Compare each unchecked result with float64; True when cancelled meanwhile."""
        for track in self._tracks:
            if self._session.cancelled():
                return True
            if track.stopwatch and track.check is None:
                started_s = self._clock()
                self._guarded(track, _check)
                self._ledger.verify_s += self._clock() - started_s
        return False

    # -- telling ----------------------------------------------------------------------------------

    def _point(self, track: Track) -> Point:
        conditions = self._conditions.of(track.case)
        return track.point(
            self._experiment,
            self._device_names.get(track.case.device, ""),
            conditions,
            self._conditions.flags(track.case),
        )

    def _hand_over(self, just: Track | None = None, everything: bool = False) -> None:
        now_s = self._clock()
        if just is None and not everything and now_s - self._handed_over_s < HAND_OVER_S:
            return
        for track in [just] if just else list(self._changed(everything)):
            self._session.point(self._point(track))
            track.changed = False
        self._handed_over_s = now_s

    def _changed(self, everything: bool) -> Iterator[Track]:
        if everything:
            self._conditions.finish()
        return (track for track in self._tracks if track.changed or everything)

    def _tell_progress(self, phase: str) -> None:
        self._session.progress(self._ledger.progress(phase, self._elapsed_s))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _check(track: Track) -> None:
    assert track.stopwatch is not None
    track.take_check(track.stopwatch.check())
