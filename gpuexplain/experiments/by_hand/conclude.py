"""Does the time of one product predict the time of the whole stack?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuexplain.analysis.trust import most_trustworthy
from gpuexplain.experiments.by_hand.counting import Count
from gpuexplain.experiments.by_hand.spec import GPU_PRODUCT, GPU_STACK, PRODUCT, STACK
from gpuexplain.findings import to_json
from gpuexplain.model import Flag, Point, Source, Status

# A prediction from one product leaves out biases, nonlinearities and what the caches do: this far is near.
NEAR = 0.25


class Verdict(StrEnum):
    """How the prediction stands beside the measurement."""

    HELD = "held"
    NOT_HELD = "not_held"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The stack on one device: predicted from one product, and measured; seconds, with bounds."""

    device: str
    device_name: str
    rate_flops: float | None  # of the one product
    predicted_s: float | None
    predicted_low_s: float | None
    predicted_high_s: float | None
    measured_s: float | None
    measured_low_s: float | None
    measured_high_s: float | None
    factor: float | None  # measured / predicted
    verdict: Verdict
    reason: str = ""
    near: float = NEAR


@dataclass(frozen=True, slots=True)
class ByHandFindings:
    """Everything the charts and words of this page may use beside the points."""

    count: Count | None
    predictions: tuple[Prediction, ...]
    source: Source
    flagged: tuple[tuple[Flag, int], ...] = ()
    failed: tuple[tuple[str, Status, str], ...] = ()
    is_provisional: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether "on this machine" may be said of it."""
        return self.source is Source.MEASURED


def find_by_hand_findings(points: Sequence[Point]) -> ByHandFindings:
    """Return what the points say; those measured here come before any other."""
    ordered = sorted(points, key=lambda p: p.source is not Source.MEASURED)
    own = [p for p in ordered if (p.source, p.source_note) == (ordered[0].source, ordered[0].source_note)]
    stack = next((p for p in own if p.series in (STACK, GPU_STACK) and len(p.shape) == 4), None)
    predictions, provisional = [], False
    for product_series, stack_series in ((PRODUCT, STACK), (GPU_PRODUCT, GPU_STACK)):
        pair = [p for p in own if p.series in (product_series, stack_series)]
        if not pair:
            continue
        product, product_provisional = _trusted(pair, product_series)
        whole, whole_provisional = _trusted(pair, stack_series)
        predictions.append(_predict(pair[0], product, whole))
        provisional = provisional or product_provisional or whole_provisional
    return ByHandFindings(
        count=Count(stack.shape[0], stack.shape[1], stack.shape[3]) if stack else None,
        predictions=tuple(predictions),
        source=own[0].source if own else Source.MEASURED,
        flagged=tuple((f, n) for f in Flag if (n := sum(f in p.flags for p in own))),
        failed=tuple((p.series, p.status, p.reason) for p in own if p.status is not Status.OK),
        is_provisional=provisional,
    )


def _trusted(points: Sequence[Point], series: str) -> tuple[Point | None, bool]:
    good, is_provisional = most_trustworthy([p for p in points if p.series == series])
    return (good[0] if good else None), is_provisional


def _predict(any_point: Point, product: Point | None, stack: Point | None) -> Prediction:
    depth = stack.shape[3] if stack is not None and len(stack.shape) == 4 else None
    predicted: list[float | None] = [None, None, None]
    if product is not None and product.median_s and depth:
        predicted = [t * depth if t else None for t in (product.median_s, product.ci_low_s, product.ci_high_s)]
    measured = (stack.median_s, stack.ci_low_s, stack.ci_high_s) if stack is not None else (None, None, None)
    factor = measured[0] / predicted[0] if measured[0] and predicted[0] else None
    verdict, reason = _judge(factor, predicted, measured)
    return Prediction(
        device=any_point.device,
        device_name=any_point.device_name,
        rate_flops=product.rate_flops if product is not None else None,
        predicted_s=predicted[0],
        predicted_low_s=predicted[1],
        predicted_high_s=predicted[2],
        measured_s=measured[0],
        measured_low_s=measured[1],
        measured_high_s=measured[2],
        factor=factor,
        verdict=verdict,
        reason=reason,
    )


def _judge(
    factor: float | None, predicted: Sequence[float | None], measured: Sequence[float | None]
) -> tuple[Verdict, str]:
    if factor is None:
        return Verdict.CANNOT_TELL, "one of the two has no time"
    if None in (*predicted, *measured):
        return Verdict.CANNOT_TELL, "one of the two has no interval"
    low = (measured[1] or 0.0) / (predicted[2] or 1.0)
    high = (measured[2] or 0.0) / (predicted[1] or 1.0)
    if low >= 1 - NEAR and high <= 1 + NEAR:
        return Verdict.HELD, ""
    if low > 1 + NEAR or high < 1 - NEAR:
        return Verdict.NOT_HELD, ""
    return Verdict.CANNOT_TELL, "the intervals are too wide"


def flag_points(points: Sequence[Point], findings: ByHandFindings) -> list[Point]:  # noqa: ARG001
    """Return the points as they are: no rule of this page needs the whole series."""
    return list(points)


def findings_json(findings: ByHandFindings) -> dict[str, Any]:
    """Return the findings for ``--json``."""
    shown = to_json(findings)
    assert isinstance(shown, dict)
    return shown
