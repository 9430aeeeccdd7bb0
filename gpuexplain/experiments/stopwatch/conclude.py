"""What each mistake does to the figure: by what factor, and whether that is beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.stopwatch.series import LANES, Lane
from gpuexplain.experiments.stopwatch.spec import COLD, MISTAKES, Way, ways_on
from gpuexplain.findings import to_json
from gpuexplain.model import Flag, Point, Source, Status

# The same bounds as everywhere: a ratio inside them is a tie.
MISLEADS_ABOVE, MISLEADS_BELOW = 1.05, 0.95
# One sample misleads if more than this share of single calls is off by more than OFF_BY.
OFF_BY = 0.10
OFF_SHARE = 0.05
FEWEST_SINGLES = 20  # below this a share of 5 % is less than one call


class Verdict(StrEnum):
    """What a mistake does here."""

    MISLEADS = "misleads"
    HARMLESS = "harmless"
    CANNOT_TELL = "cannot_tell"
    ABSENT = "absent"  # this device has no such mistake to make


@dataclass(frozen=True, slots=True)
class Trap:
    """One mistake beside the right figure; seconds a call. ``factor`` is wrong / right.

    ``factor_low`` and ``factor_high`` bound it by both 95 % intervals; for single calls they are the
    5th and 95th percentile of the calls.
    """

    id: str
    verdict: Verdict
    wrong_s: float | None = None
    factor: float | None = None
    factor_low: float | None = None
    factor_high: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LaneEvent:
    """One stretch in which the host or the device was busy (seconds from the first call)."""

    lane: Lane
    waits: bool  # whether the host waited for every call
    start_s: float
    length_s: float


@dataclass(frozen=True, slots=True)
class StopwatchFindings:
    """Everything the charts and words of this page may use beside the points."""

    n: float | None
    device: str
    device_name: str
    source: Source
    source_note: str
    right_s: float | None
    right_low_s: float | None
    right_high_s: float | None
    traps: tuple[Trap, ...]
    lanes: tuple[LaneEvent, ...]
    flagged: tuple[tuple[Flag, int], ...] = ()
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def worst(self) -> Trap | None:
        """The mistake that misleads most, by its factor in either direction."""
        misleading = [t for t in self.traps if t.verdict is Verdict.MISLEADS and t.factor]
        return max(misleading, key=lambda t: max(t.factor or 1, 1 / (t.factor or 1)), default=None)

    def of(self, mistake: str) -> Trap | None:
        """Return what was found of a mistake."""
        return next((t for t in self.traps if t.id == mistake), None)


NOTHING = StopwatchFindings(None, CPU, "", Source.MEASURED, "", None, None, None, (), ())


def find_stopwatch_findings(points: Sequence[Point]) -> StopwatchFindings:
    """Return what the points of one product say; those measured here come before any other."""
    timed = sorted((p for p in points if p.series in set(Way)), key=lambda p: p.source is not Source.MEASURED)
    if not timed:
        return NOTHING
    first = timed[0]
    own = [p for p in points if (p.device, p.source, p.source_note) == (first.device, first.source, first.source_note)]
    by_way = {p.series: p for p in own if p.series in set(Way)}
    good, is_provisional = most_trustworthy([by_way[Way.RIGHT]] if Way.RIGHT in by_way else [])
    right = good[0] if good else None
    return StopwatchFindings(
        n=first.x,
        device=first.device,
        device_name=first.device_name,
        source=first.source,
        source_note=first.source_note,
        right_s=right.median_s if right else None,
        right_low_s=right.ci_low_s if right else None,
        right_high_s=right.ci_high_s if right else None,
        traps=tuple(_find_trap(mistake, right, by_way) for mistake in MISTAKES),
        lanes=tuple(_events(own)),
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in by_way.values()))),
        is_provisional=is_provisional,
    )


def _find_trap(mistake: str, right: Point | None, by_way: dict[str, Point]) -> Trap:
    if right is None:
        return Trap(mistake, Verdict.CANNOT_TELL, reason="the right figure is missing")
    if mistake == COLD:
        return _find_cold(right)
    wrong = by_way.get(mistake)
    if wrong is None:
        return _find_absent(mistake, right)
    if wrong.status is not Status.OK or not wrong.median_s:
        return Trap(mistake, Verdict.CANNOT_TELL, reason=wrong.reason or "it has no time")
    return _find_single(right, wrong) if mistake == Way.SINGLE else _find_ratio(mistake, right, wrong)


def _find_absent(mistake: str, right: Point) -> Trap:
    if mistake in ways_on(right.device, right.threads or 1):
        return Trap(mistake, Verdict.CANNOT_TELL, reason="it was not measured in this run")
    reasons = {
        Way.NO_SYNC: "a call on a CPU returns when its work is done",
        Way.COPIES: "the operands are in the CPU's memory already",
        Way.ONE_THREAD: "this CPU has one thread only" if right.device == CPU else "a GPU does not use CPU threads",
    }
    return Trap(mistake, Verdict.ABSENT, reason=reasons[Way(mistake)])


def _find_cold(right: Point) -> Trap:
    if not right.first_call_s or not right.median_s:
        return Trap(COLD, Verdict.CANNOT_TELL, reason="the first call was not recorded")
    low = right.first_call_s / (right.ci_high_s or right.max_s or right.median_s)
    high = right.first_call_s / (right.ci_low_s or right.min_s or right.median_s)
    return _judge(COLD, right.first_call_s, right.first_call_s / right.median_s, low, high)


def _find_ratio(mistake: str, right: Point, wrong: Point) -> Trap:
    assert right.median_s
    assert wrong.median_s
    if None in (right.ci_low_s, right.ci_high_s, wrong.ci_low_s, wrong.ci_high_s):
        factor = wrong.median_s / right.median_s
        reason = "under six samples: no interval"
        return Trap(mistake, Verdict.CANNOT_TELL, wrong.median_s, factor, reason=reason)
    low = (wrong.ci_low_s or 0.0) / (right.ci_high_s or 1.0)
    high = (wrong.ci_high_s or 0.0) / (right.ci_low_s or 1.0)
    return _judge(mistake, wrong.median_s, wrong.median_s / right.median_s, low, high)


def _judge(mistake: str, wrong_s: float, factor: float, low: float, high: float) -> Trap:
    if low > MISLEADS_ABOVE or high < MISLEADS_BELOW:
        return Trap(mistake, Verdict.MISLEADS, wrong_s, factor, low, high)
    if low >= MISLEADS_BELOW and high <= MISLEADS_ABOVE:
        return Trap(mistake, Verdict.HARMLESS, wrong_s, factor, low, high)
    return Trap(mistake, Verdict.CANNOT_TELL, wrong_s, factor, low, high, "the intervals are too wide")


def _find_single(right: Point, wrong: Point) -> Trap:
    """Judge by the calls themselves: how often is one of them far from the right figure?"""
    assert right.median_s
    ratios = sorted(sample_s / right.median_s for sample_s in wrong.samples_s)
    if not ratios:
        return Trap(Way.SINGLE, Verdict.CANNOT_TELL, wrong.median_s, reason="its single calls were not kept")
    low, high = ratios[int(0.05 * len(ratios))], ratios[min(len(ratios) - 1, int(0.95 * len(ratios)))]
    worst = max(ratios, key=lambda ratio: max(ratio, 1 / ratio))
    off = sum(abs(ratio - 1) > OFF_BY for ratio in ratios) / len(ratios)
    trap = Trap(Way.SINGLE, Verdict.HARMLESS, worst * right.median_s, worst, low, high)
    if len(ratios) < FEWEST_SINGLES:
        return Trap(
            Way.SINGLE, Verdict.CANNOT_TELL, trap.wrong_s, worst, low, high, f"only {len(ratios)} calls were taken"
        )
    return Trap(Way.SINGLE, Verdict.MISLEADS, trap.wrong_s, worst, low, high) if off > OFF_SHARE else trap


def _events(points: Sequence[Point]) -> list[LaneEvent]:
    found = [
        LaneEvent(*LANES[p.series], start_s=p.x, length_s=p.median_s)
        for p in points
        if p.series in LANES and p.median_s
    ]
    return sorted(found, key=lambda event: (not event.waits, event.start_s))


def flag_points(points: Sequence[Point], findings: StopwatchFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: one size has no neighbours to be out of line with."""
    return list(points)


def findings_json(findings: StopwatchFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
