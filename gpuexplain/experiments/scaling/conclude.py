"""What more devices gain: speed-up, efficiency, the share of the exchange, and what an exchange costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from gpuexplain.analysis.scaling import SerialShare, Speedup, find_serial_share, find_speedups
from gpuexplain.analysis.transfer_fit import find_transfer_fit
from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.scaling.spec import ALL_REDUCE, SILENT, STRONG, WEAK
from gpuexplain.findings import NotFound, TransferFit, to_json
from gpuexplain.model import Flag, Point, Source, Status

# "n devices are n times as fast" holds when the interval of the speed-up reaches this share of n.
IDEAL_WITHIN = 0.95
# Devices that the law, labelled a model, is drawn for where only one or two were measured.
MODEL_COUNTS = (1, 2, 4, 8)


class Verdict(StrEnum):
    """Whether "two devices are twice as fast" held here."""

    HELD = "held"
    NOT_HELD = "not_held"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Communication:
    """The share of a step that goes to exchanging gradients, on ``count`` devices; bounds from both intervals."""

    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScalingFindings:
    """Everything the charts and words of this page may use beside the points."""

    device: str
    device_name: str
    source: Source
    threads: int | None  # of each process, where the devices are processes on a CPU
    strong: tuple[Speedup, ...]
    weak: tuple[Speedup, ...]  # factor = examples a second over those of one device
    serial: SerialShare | NotFound
    communication: Communication | NotFound
    exchange: TransferFit | None
    verdict: Verdict
    reason: str = ""
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def most(self) -> Speedup | None:
        """The strong speed-up of the largest count, where there is more than one device."""
        return self.strong[-1] if len(self.strong) > 1 else None

    @property
    def is_cpu(self) -> bool:
        """Whether the devices are processes on a CPU."""
        return self.device == CPU


def find_scaling_findings(points: Sequence[Point]) -> ScalingFindings:
    """Return what the points say; those measured here come before any other."""
    ordered = sorted(points, key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in ordered if (p.source, p.source_note) == (ordered[0].source, ordered[0].source_note)]
    by_series: dict[str, list[Point]] = {}
    provisional = False
    for series in (STRONG, SILENT, WEAK, ALL_REDUCE):
        by_series[series], is_provisional = most_trustworthy([p for p in own if p.series == series])
        provisional = provisional or is_provisional
    strong = find_speedups(by_series[STRONG])
    verdict, reason = _judge(strong)
    first = own[0] if own else None
    return ScalingFindings(
        device=first.device if first else CPU,
        device_name=first.device_name if first else "",
        source=first.source if first else Source.MEASURED,
        threads=first.threads if first else None,
        strong=strong,
        weak=_find_weak(by_series[WEAK]),
        serial=find_serial_share(strong),
        communication=_find_communication(by_series[STRONG], by_series[SILENT]),
        exchange=_find_exchange(by_series[ALL_REDUCE]),
        verdict=verdict,
        reason=reason,
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
    )


def _judge(strong: Sequence[Speedup]) -> tuple[Verdict, str]:
    if len(strong) < 2:
        return Verdict.CANNOT_TELL, "there is one device only"
    most = strong[-1]
    if most.low is None or most.high is None:
        return Verdict.CANNOT_TELL, "the speed-up has no interval"
    if most.high < IDEAL_WITHIN * most.workers:
        return Verdict.NOT_HELD, ""
    if most.low >= IDEAL_WITHIN * most.workers:
        return Verdict.HELD, ""
    return Verdict.CANNOT_TELL, "the interval of the speed-up holds both"


def _find_weak(points: Sequence[Point]) -> tuple[Speedup, ...]:
    """Return the speed-up in examples a second: every device has as much to do as the one had."""
    times = find_speedups(points)  # time of one device / time of n, of n times the work
    return tuple(
        Speedup(
            s.workers,
            s.factor * s.workers,
            s.low * s.workers if s.low is not None else None,
            s.high * s.workers if s.high is not None else None,
        )
        for s in times
    )


def _find_communication(strong: Sequence[Point], silent: Sequence[Point]) -> Communication | NotFound:
    quiet = {p.x: p for p in silent}
    pairs = [(p, quiet[p.x]) for p in strong if p.x in quiet]
    if not pairs:
        return NotFound("communication", "it takes two devices to exchange anything")
    loud, still = max(pairs, key=lambda pair: pair[0].x)
    if not (loud.median_s and still.median_s):
        return NotFound("communication", "a step has no time")
    if not (loud.ci_low_s and loud.ci_high_s and still.ci_low_s and still.ci_high_s):
        return NotFound("communication", "a step has no interval")
    low, high = 1 - still.ci_high_s / loud.ci_low_s, 1 - still.ci_low_s / loud.ci_high_s
    if high <= 0:
        return NotFound("communication", "the step is no slower with the exchange than without")
    return Communication(int(loud.x), max(0.0, 1 - still.median_s / loud.median_s), max(0.0, low), high)


def _find_exchange(points: Sequence[Point]) -> TransferFit | None:
    timed = [p for p in points if p.bytes and p.median_s]
    if not timed:
        return None
    return find_transfer_fit(pd.DataFrame({"bytes": [p.bytes for p in timed], "seconds": [p.median_s for p in timed]}))


def flag_points(points: Sequence[Point], findings: ScalingFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: no rule of this page needs the whole series."""
    return list(points)


def findings_json(findings: ScalingFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
