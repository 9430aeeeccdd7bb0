"""What more devices gain: speed-up, efficiency, the share of the exchange, and what an exchange costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from gpuexplain.analysis.scaling import SerialShare, Speedup, find_serial_share, find_speedups, has_base
from gpuexplain.analysis.transfer_fit import find_transfer_fit
from gpuexplain.analysis.trust import trustworthy_enough
from gpuexplain.experiments.devices import CPU
from gpuexplain.experiments.scaling.spec import ALL_REDUCE, SILENT, STRONG, WEAK
from gpuexplain.findings import NotFound, TransferFit, to_json
from gpuexplain.hardware.links import find_pcie_link
from gpuexplain.model import Flag, Point, Source, Status
from gpuexplain.units import format_percent

# "n devices are n times as fast" holds when the interval of the speed-up reaches this share of n.
IDEAL_WITHIN = 0.95
# Devices that the model is drawn for.
MODEL_COUNTS = (1, 2, 4, 8)
# Where one device is all there is, the model lets gradients cross this link: the usual one of a computer's GPUs.
MODEL_LINK = (4, 16)  # PCIe generation and lanes


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


NO_MODEL = NotFound("a model of more devices", "no step was measured")


@dataclass(frozen=True, slots=True)
class Model:
    """What more devices would gain if computing shrank as 1 / n: computed, never measured.

    The exchange is as measured here, or, with one device, the gradients cross a link: a ring moves
    2 (n - 1) / n of them through every device (Patarasuk and Yuan, Journal of Parallel and Distributed
    Computing 69, 2009), none of it hidden behind computing.
    """

    speedups: tuple[tuple[int, float], ...]
    link: str = ""  # empty: the exchange as measured
    link_bytes_s: float | None = None
    link_source: str = ""
    gradient_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class PublishedSpeedups:
    """What others measured on GPUs: examples a second over those of one, each with as much to do as the one had."""

    name: str
    source: str
    speedups: tuple[Speedup, ...]


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
    model: Model | NotFound = NO_MODEL
    published: tuple[PublishedSpeedups, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED

    @property
    def most(self) -> Speedup | None:
        """The strong speed-up of the largest count, where there is more than one device."""
        return self.strong[-1] if len(self.strong) > 1 else None

    @property
    def is_unsure(self) -> bool:
        """Whether the points do not even say if all devices are faster than one."""
        most = self.most
        if most is None or most.low is None or most.high is None:
            return most is not None
        return most.low < 1 < most.high

    @property
    def is_cpu(self) -> bool:
        """Whether the devices are processes on a CPU."""
        return self.device == CPU


def find_scaling_findings(points: Sequence[Point]) -> ScalingFindings:
    """Return what the points say; those measured here come before any other, published ones stand beside them."""
    ordered = sorted(
        (p for p in points if p.source is not Source.PUBLISHED), key=lambda p: p.source is not Source.MEASURED
    )
    published = find_published([p for p in points if p.source is Source.PUBLISHED])
    own = [p for p in ordered if (p.source, p.source_note) == (ordered[0].source, ordered[0].source_note)]
    by_series: dict[str, list[Point]] = {}
    provisional = False
    for series in (STRONG, SILENT, WEAK, ALL_REDUCE):
        is_enough = has_base if series in (STRONG, WEAK) else bool
        by_series[series], is_provisional = trustworthy_enough([p for p in own if p.series == series], is_enough)
        provisional = provisional or is_provisional
    strong = find_speedups(by_series[STRONG])
    verdict, reason = _judge(strong)
    communication = _find_communication(by_series[STRONG], by_series[SILENT])
    first = own[0] if own else None
    return ScalingFindings(
        device=first.device if first else CPU,
        device_name=first.device_name if first else "",
        source=first.source if first else Source.PUBLISHED if published else Source.MEASURED,
        threads=first.threads if first else None,
        strong=strong,
        weak=_find_weak(by_series[WEAK]),
        serial=find_serial_share(strong),
        communication=communication,
        exchange=_find_exchange(by_series[ALL_REDUCE]),
        verdict=verdict,
        reason=reason,
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
        model=_find_model(strong, communication, by_series[STRONG]),
        published=published,
    )


def _find_model(
    strong: Sequence[Speedup], communication: Communication | NotFound, steps: Sequence[Point]
) -> Model | NotFound:
    """Return the model from the measured exchange, or, with one device, from a link that the reference knows."""
    if not strong:
        return NO_MODEL
    if len(strong) > 1:
        if isinstance(communication, NotFound):
            return NotFound(NO_MODEL.what, communication.reason)
        return _model_of_exchange(strong[-1], communication)
    one = next((p for p in steps if p.x == 1), None)
    link = find_pcie_link(*MODEL_LINK)
    if one is None or not one.median_s or not one.bytes or link is None or link.typical_to_device_bytes_s is None:
        return NotFound(NO_MODEL.what, "the gradients, or the link, are not known")
    rate, step_s = link.typical_to_device_bytes_s, one.median_s
    speedups = tuple((n, step_s / (step_s / n + 2 * (n - 1) / n * one.bytes / rate)) for n in MODEL_COUNTS)
    return Model(speedups, link.label, rate, link.source, one.bytes)


def _model_of_exchange(most: Speedup, communication: Communication) -> Model | NotFound:
    step = 1 / most.factor  # of the time of one device
    fixed = communication.share * step
    counts = [n for n in MODEL_COUNTS if n >= most.workers]
    if len(counts) < 2:
        return NotFound(NO_MODEL.what, f"{most.workers} devices were measured")
    return Model(tuple((n, 1 / ((step - fixed) * most.workers / n + fixed)) for n in counts))


def find_published(points: Sequence[Point]) -> tuple[PublishedSpeedups, ...]:
    """Return what others published, by the name of the run; only weak scaling is read."""
    found = []
    for device in dict.fromkeys(p.device for p in points):
        own = [p for p in points if p.device == device and p.series == WEAK]
        if speedups := _find_weak(own):
            found.append(PublishedSpeedups(own[0].device_name, own[0].source_note, speedups))
    return tuple(found)


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
    if low <= 0:
        most = format_percent(high)
        return NotFound("communication", f"it is at most {most} of a step, and the intervals allow nothing at all")
    return Communication(int(loud.x), 1 - still.median_s / loud.median_s, low, high)


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
